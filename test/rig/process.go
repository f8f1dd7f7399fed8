package rig

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a running program whose output goes to a file.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start starts a program; its output is appended to the file log.
func start(t testing.TB, log, name string, args ...string) *process {
	t.Helper()
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p := &process{cmd: command(name, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.cmd.Wait() // its status is in ProcessState
		close(p.done)
	}()
	return p
}

// command returns a command without the COURANT_ and proxy variables of our environment.
func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = tied()
	for _, e := range os.Environ() {
		key, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(key, "COURANT_") && !strings.HasSuffix(strings.ToUpper(key), "_PROXY") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	return cmd
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// end sends the signal and waits; it returns false if the process still ran after
// limit and was killed.
func (p *process) end(s syscall.Signal, limit time.Duration) bool {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false
	}
	select {
	case <-p.done:
		return true
	case <-time.After(limit):
	}
	p.cmd.Process.Kill() // an error means that it has just ended
	<-p.done
	return false
}

// tail returns the last 20 lines of a log.
func tail(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-20):], []byte("\n")))
}
