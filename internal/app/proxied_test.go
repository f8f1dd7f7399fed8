package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestAProxyIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	p := &Platform{Config: Defaults(), Logger: slog.New(slog.NewTextHandler(&log, nil))}
	p.Config.Robot.Proxy = "http://127.0.0.1:19001"
	for _, role := range []string{"websub", "robot"} {
		if _, err := p.client(role); err != nil {
			t.Fatal(err)
		}
	}
	if said := log.String(); strings.Count(said, "proxy") != 1 || !strings.Contains(said, "role=websub") {
		t.Errorf("it says %q", said)
	}
}
