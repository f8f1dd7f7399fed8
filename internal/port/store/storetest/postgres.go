package storetest

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Postgres starts a server for the test and returns its address. If PostgreSQL is not
// installed, it skips the test, or fails it if CI is set.
func Postgres(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("PostgreSQL is not installed; `make tools` installs it")
		}
		t.Skip("PostgreSQL is not installed; `make tools` installs it")
	}
	bin := filepath.Dir(found[0])
	dir, err := os.MkdirTemp("", "courant-pg-") // a short path: that of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := owner(t, dir)
	data := filepath.Join(dir, "data")
	run(t, as, filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
	ctl := filepath.Join(bin, "pg_ctl")
	run(t, as, ctl, "-D", data, "-w", "-l", filepath.Join(dir, "log"), "-o",
		"-c listen_addresses='' -c unix_socket_directories="+dir+" -c fsync=off -c max_connections=200", "start")
	t.Cleanup(func() { run(t, as, ctl, "-D", data, "-m", "immediate", "stop") })
	return "host=" + dir + " user=postgres dbname=postgres sslmode=disable"
}

// owner gives the folder to a user who may run PostgreSQL, because root may not.
func owner(t testing.TB, dir string) *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			t.Fatal(err)
		}
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func run(t testing.TB, as *syscall.Credential, name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	// The server that pg_ctl starts inherits our output: with a pipe, Run would wait for it
	out, err := os.CreateTemp("", "courant-pg-out-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		t.Fatalf("%s: %v: %s", name, err, text)
	}
}
