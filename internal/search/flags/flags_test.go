package flags_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/search/flags"
)

func open(t *testing.T, text string) *flags.Flags {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flags")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &flags.Flags{Path: path, Known: []string{"share", "near"}, Old: map[string]string{"close": "near"}, Where: map[string]string{"zone": "a", "host": "web1"}, Log: slog.New(slog.DiscardHandler)}
}

func TestForcedGoesBeforeTheQueryBeforeTheFileBeforeTheProgram(t *testing.T) {
	for text, want := range map[string][2]float64{ // with a value of the query's own, and without
		"":                                {0.9, 1},
		"share = 0.5":                     {0.9, 0.5},
		"share = 0.5 forced":              {0.5, 0.5},
		"share = 0.5 forced zone=b":       {0.9, 1},
		"share = 0.3 zone=a host=web1":    {0.9, 0.3},
		"share = 0.3 zone=b\nshare = 0.4": {0.9, 0.4},
		"share = 0.3\nshare = 0.4 forced": {0.9, 0.3}, // the first one counts
		"# share = 0.3\n\nnear = true":    {0.9, 1},
		"share = x":                       {0.9, 1},
	} {
		f := open(t, text)
		if err := f.Read(); err != nil {
			t.Fatal(err)
		}
		if got := [2]float64{f.Float("share", 0.9, true, 1), f.Float("share", 0, false, 1)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestAFileWithAMistakeChangesNothing(t *testing.T) {
	f := open(t, "near = false")
	if err := f.Read(); err != nil || f.Bool("near", false, false, true) {
		t.Fatal(err)
	}
	for _, text := range []string{"x = 1", "near", "near =", "near = true planet=mars", "near = true loud"} {
		if err := os.WriteFile(f.Path, []byte("\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.Read(); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), f.Path+":2: ") {
			t.Errorf("%q: %v", text, err)
		}
		if f.Bool("near", false, false, true) {
			t.Errorf("%q changed something", text)
		}
	}
	if err := os.Remove(f.Path); err != nil {
		t.Fatal(err)
	}
	if err := f.Read(); err != nil || !f.Bool("near", false, false, true) {
		t.Errorf("without the file: %v", err)
	}
	if f = new(flags.Flags); f.Read() != nil || f.Float("share", 0, false, 1) != 1 {
		t.Error("without a file there are flags")
	}
}

func TestAFlagIsFoundByItsOldName(t *testing.T) {
	f := open(t, "close = false")
	if err := f.Read(); err != nil || f.Bool("near", false, false, true) {
		t.Errorf("got %v, %v", f.Bool("near", false, false, true), err)
	}
}
