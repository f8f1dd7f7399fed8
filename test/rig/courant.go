package rig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Courant is one installation with its own data folder; it may be running or stopped.
type Courant struct {
	Data    string // its folder
	Address string // http://…, since Ready
	Token   string

	program string
	config  string // file
	log     string // file with its output, of all starts
	process *process
}

// Courant creates the folder and the configuration file from a TOML text; it starts
// nothing. If the test fails, the end of the log is shown.
func (p *Programs) Courant(t testing.TB, config string) *Courant {
	t.Helper()
	dir := t.TempDir()
	c := &Courant{program: p.courant(t), Data: filepath.Join(dir, "data"), config: filepath.Join(dir, "courant.toml"), log: filepath.Join(dir, "courant.log")}
	c.Configure(t, config)
	t.Cleanup(func() {
		if c.process == nil {
			return
		}
		c.process.end(syscall.SIGKILL, time.Minute)
		if t.Failed() {
			t.Logf("last lines of courant's output:\n%s", tail(c.log))
		}
	})
	return c
}

// Configure writes another configuration, for the next start.
func (c *Courant) Configure(t testing.TB, config string) {
	t.Helper()
	if err := os.WriteFile(c.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Launch starts the program without waiting until it is ready.
func (c *Courant) Launch(t testing.TB, flags ...string) {
	t.Helper()
	c.Address, c.Token = "", ""
	c.process = start(t, c.log, c.program, append([]string{"run", "--data", c.Data, "--config", c.config, "--listen", "127.0.0.1:0"}, flags...)...)
}

// Start starts the program and waits until it is ready.
func (c *Courant) Start(t testing.TB, flags ...string) {
	t.Helper()
	c.Launch(t, flags...)
	c.Ready(t)
}

// Ready waits until /readyz answers 200.
func (c *Courant) Ready(t testing.TB) {
	t.Helper()
	ok := Until(30*time.Second, func() bool {
		if !c.process.running() {
			return true
		}
		if c.Address == "" {
			c.session()
		}
		if c.Address == "" {
			return false
		}
		resp, err := direct().Get(c.Address + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	if !ok || !c.process.running() {
		t.Fatalf("courant did not become ready:\n%s", tail(c.log))
	}
}

// session reads run.json of the running process, if it has been written yet.
func (c *Courant) session() {
	var s struct {
		PID     int
		Address string
		Token   string
	}
	text, err := os.ReadFile(filepath.Join(c.Data, "run.json"))
	if err != nil || json.Unmarshal(text, &s) != nil || s.PID != c.PID() {
		return
	}
	c.Address, c.Token = s.Address, s.Token
}

// PID returns the process ID.
func (c *Courant) PID() int { return c.process.pid() }

// Kill ends the process by SIGKILL.
func (c *Courant) Kill(t testing.TB) {
	t.Helper()
	if !c.process.running() {
		t.Errorf("courant exited before it was killed: %v\n%s", c.process.cmd.ProcessState, tail(c.log))
	}
	c.process.end(syscall.SIGKILL, time.Minute)
}

// Pause suspends the process until Resume.
func (c *Courant) Pause(t testing.TB) {
	t.Helper()
	c.signal(t, syscall.SIGSTOP)
}

// Resume ends a pause.
func (c *Courant) Resume(t testing.TB) {
	t.Helper()
	c.signal(t, syscall.SIGCONT)
}

func (c *Courant) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := c.process.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Stop sends SIGTERM and returns the exit status and how long the stop took.
func (c *Courant) Stop(t testing.TB) (status int, took time.Duration) {
	t.Helper()
	asked := time.Now()
	if !c.process.end(syscall.SIGTERM, 30*time.Second) {
		t.Errorf("courant did not stop within %v", time.Since(asked))
	}
	return c.process.cmd.ProcessState.ExitCode(), time.Since(asked)
}

// Printed returns the output of all starts.
func (c *Courant) Printed(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(c.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Result is the outcome of one run of the command line.
type Result struct {
	Status   int
	Out, Err string
}

// Bare runs a command without further flags, in a new empty folder.
func (c *Courant) Bare(t testing.TB, args ...string) Result {
	t.Helper()
	var out, problem bytes.Buffer
	cmd := command(c.program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &problem
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return Result{cmd.ProcessState.ExitCode(), out.String(), problem.String()}
}

// Do runs a command with this data folder and configuration.
func (c *Courant) Do(t testing.TB, args ...string) Result {
	t.Helper()
	return c.Bare(t, append(args, "--data", c.Data, "--config", c.config)...)
}

// Import adds sources; the program may be running or stopped.
func (c *Courant) Import(t testing.TB, sources []Source) {
	t.Helper()
	if len(sources) == 0 {
		t.Fatal("no sources to import")
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	var list bytes.Buffer
	for _, s := range sources {
		fmt.Fprintf(&list, `{"url":%q,"kind":%q}`+"\n", s.URL, s.Kind)
	}
	file := filepath.Join(t.TempDir(), "sources.json")
	if err := os.WriteFile(file, list.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := c.Do(t, "source", "import", file); r.Status != 0 {
		t.Fatalf("source import: %s%s", r.Out, r.Err)
	}
}

// Get requests a path with the token of the running process.
func (c *Courant) Get(t testing.TB, path string) (status int, body []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp, err := direct().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

// Listed is a page in the list of the newest.
type Listed struct {
	URL      string    `json:"url"`
	StoredAt time.Time `json:"stored_at"`
}

// Newest returns the newest pages, at most 1,000.
func (c *Courant) Newest(t testing.TB) []Listed {
	t.Helper()
	var list struct{ Pages []Listed }
	status, body := c.Get(t, "/api/v1/pages?limit=1000")
	if err := json.Unmarshal(body, &list); err != nil || status != http.StatusOK {
		t.Fatalf("list of pages: status %d, %v", status, err)
	}
	return list.Pages
}

// Config joins configuration lines, such as `robot.gap = "250ms"`.
func Config(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
