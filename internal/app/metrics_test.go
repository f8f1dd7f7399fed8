package app

import (
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// promtool is the tool of Prometheus that checks metrics and rules.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("promtool is not installed; `make tools` installs it")
	}
	if err != nil {
		t.Skip("promtool is not installed; `make tools` installs it")
	}
	return path
}

func TestEveryMetricIsExplained(t *testing.T) {
	name := regexp.MustCompile(`"(courant_[a-z_]*[a-z])"`)
	found := 0
	if err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range name.FindAllSubmatch(text, -1) {
			found++
			if helps[string(m[1])] == "" {
				t.Errorf("%s: %s has no help text", path, m[1])
			}
		}
		return err
	}); err != nil || found < 30 {
		t.Errorf("%d names, %v", found, err)
	}
}

func TestTheMetricsAreWellFormed(t *testing.T) {
	tool := promtool(t)
	p, err := Open(t.Context(), Defaults(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for name := range helps {
		switch {
		case strings.HasSuffix(name, "_total"):
			p.Metrics.Add(name, 1)
		case name == "courant_work_oldest_seconds":
			p.Metrics.Gauge(name, 1)
		case strings.HasSuffix(name, "_seconds"):
			p.Metrics.Observe(name, time.Second)
		case name != "courant_build_info" && name != "courant_disk_free_bytes" && name != "courant_store_bytes":
			p.Metrics.Gauge(name, 1)
		}
	}
	w := httptest.NewRecorder()
	p.Metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	text, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, has := range []string{"courant_build_info{", `courant_disk_free_bytes{of="data"} `, "courant_store_bytes "} {
		if !strings.Contains(string(text), has) {
			t.Errorf("there is no %s", has)
		}
	}
	cmd := exec.CommandContext(t.Context(), tool, "check", "metrics")
	cmd.Stdin = strings.NewReader(string(text))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestTheAlertRulesFire(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), promtool(t), "test", "rules", "courant_test.yml")
	cmd.Dir = filepath.Join("..", "..", "deploy", "prometheus")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
