package storetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Bouncer starts pgbouncer in front of the server of Postgres, which gives each transaction
// another session, and returns its address. If it is not installed, it skips the test, or
// fails it if CI is set.
func Bouncer(t testing.TB, server string) string {
	t.Helper()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("pgbouncer is not installed; `make tools` installs it")
		}
		t.Skip("pgbouncer is not installed; `make tools` installs it")
	}
	dir, err := os.MkdirTemp("", "courant-pb-") // a short path: that of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := owner(t, dir)
	from := strings.TrimPrefix(strings.Fields(server)[0], "host=")
	ini := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s port=5432\n[pgbouncer]\nlisten_addr =\nlisten_port = 5432\nunix_socket_dir = %s\nauth_type = any\npool_mode = transaction\n"+
		"default_pool_size = 8\nmax_db_connections = 50\nmax_client_conn = 500\n", from, dir)
	text = strings.Replace(text, "auth_type = any", "auth_type = trust\nauth_file = "+filepath.Join(dir, "users"), 1)
	for name, content := range map[string]string{ini: text, filepath.Join(dir, "users"): "\"postgres\" \"\"\n"} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(path, ini)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 100 {
		if _, err := os.Stat(filepath.Join(dir, ".s.PGSQL.5432")); err == nil {
			return "host=" + dir + " user=postgres dbname=postgres sslmode=disable"
		}
		time.Sleep(50 * time.Millisecond) // until it listens; it gives no other signal
	}
	said, _ := os.ReadFile(log.Name())
	t.Fatalf("pgbouncer does not start: %s", said)
	return ""
}
