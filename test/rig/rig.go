// Package rig builds and runs the real programs for black-box tests: courant, and
// miniweb, the simulated web that judges it. What it starts ends with the test.
package rig

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Programs are the programs under test, built at first use, once per test binary.
// The zero value is ready.
type Programs struct {
	// mu guards dir and built, and is held while a program is built.
	mu    sync.Mutex
	dir   string
	built map[string]string
}

// Run runs the tests and removes what was built for them; a package's TestMain calls it.
func (p *Programs) Run(m *testing.M) int {
	defer func() { os.RemoveAll(p.dir) }()
	return m.Run()
}

func (p *Programs) courant(t testing.TB) string {
	t.Helper()
	root, err := module()
	if err != nil {
		t.Fatal(err)
	}
	return p.build(t, "courant", root, "./cmd/courant")
}

// miniweb builds miniweb from ../shared or the folder that COURANT_SHARED names; without
// it the test is skipped.
func (p *Programs) miniweb(t testing.TB) string {
	t.Helper()
	root, err := module()
	if err != nil {
		t.Fatal(err)
	}
	shared := os.Getenv("COURANT_SHARED")
	if shared == "" {
		shared = filepath.Join(root, "..", "shared")
	}
	dir := filepath.Join(shared, "tools", "miniweb")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Skipf("no simulated web in %s: set COURANT_SHARED to the folder that has tools/miniweb", dir)
	}
	return p.build(t, "miniweb", dir, ".")
}

func (p *Programs) build(t testing.TB, name, dir, pkg string) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if path, ok := p.built[name]; ok {
		return path
	}
	if p.dir == "" {
		dir, err := os.MkdirTemp("", "courant-rig-")
		if err != nil {
			t.Fatal(err)
		}
		p.dir, p.built = dir, map[string]string{}
	}
	path := filepath.Join(p.dir, name)
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	p.built[name] = path
	return path
}

// module returns the folder of the go.mod at or above the working folder.
func module() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", os.ErrNotExist
		}
		dir = up
	}
}

// Until waits until f returns true and reports whether it did so within limit.
func Until(limit time.Duration, f func() bool) bool {
	for end := time.Now().Add(limit); ; {
		if f() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		// We wait for other processes, which run in real time.
		time.Sleep(50 * time.Millisecond)
	}
}

// Pass lets real time pass, because the processes under test run in real time.
func Pass(d time.Duration) { time.Sleep(d) } // real time, see above
