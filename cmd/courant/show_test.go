package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
)

func TestASourceIsShownWithItsNextPollAndWhy(t *testing.T) {
	at := func(hour int) courant.Time {
		return courant.Time{Time: time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)}
	}
	for want, s := range map[string]api.SourceState{
		"never": {},
		"2026-01-02 09:00:00, every 8s: it follows the source": {Due: at(9), Interval: "8s", Why: "it follows the source"},
		"2026-01-02 11:00:00 at the earliest: the host rests\n  interval  every 8s: it follows the source": {
			Due: at(9), Interval: "8s", Why: "it follows the source", Wait: &api.SourceWait{Next: at(11), Reason: "the host rests"}},
		"as soon as possible: no robot runs": {Due: at(9), Wait: &api.SourceWait{Reason: "no robot runs"}},
	} {
		if got := nextPoll(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for want, s := range map[string]api.SourceState{
		"never": {}, "2026-01-02 09:00:00, no answer": {Checked: at(9)}, "2026-01-02 09:00:00, answered 304": {Checked: at(9), Status: 304},
	} {
		if got := checked(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for want, s := range map[string]api.HostSource{
		"has not answered yet":                             {},
		"gave no answer at 2026-01-02 09:00:00: too slow":  {Checked: at(9), Problem: "too slow"},
		"answered 503 at 2026-01-02 09:00:00: it is tired": {Checked: at(9), Status: 503, Problem: "it is tired"},
		"answered 200 at 2026-01-02 09:00:00":              {Checked: at(9), Status: 200},
	} {
		if got := lastAnswer(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOnlyActualSetbacksAreCounted(t *testing.T) {
	for want, h := range map[string]api.Host{"": {}, " (2 failures)": {Failures: 2}, " (1 failure, 3 refusals)": {Failures: 1, Refusals: 3}} {
		if got := setbacks(h); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := allOf("127.0.10.35") + ", " + allOf("a.example"); got != "all ports of 127.0.10.35 wait, all hosts of a.example wait" {
		t.Error(got)
	}
}

func TestAnAddressThatCannotBeFetchedIsAFailureEitherWay(t *testing.T) {
	data := t.TempDir()
	for _, form := range []string{"--json=false", "--json"} {
		status, out, complaint := invoke(t, "fetch", form, "--data", data, "nonsense", "http://user:secret@a.example/", "http://127.0.0.1/")
		if status != 1 || complaint != "courant: 3 of 3 addresses could not be fetched\n" || strings.Contains(out, "secret") || !strings.Contains(out, "is not a public one") {
			t.Errorf("%s: %d, %q, %q", form, status, out, complaint)
		}
		if form == "--json" && strings.Count(out, "\n") != 3 {
			t.Errorf("printed %q", out)
		}
	}
	if status, _, complaint := invoke(t, "fetch", "--server", "http://127.0.0.1:1", "http://127.0.0.1/"); status != 1 || !strings.Contains(complaint, "http://127.0.0.1:1 does not answer") {
		t.Errorf("%d, %q", status, complaint)
	}
}

func TestConfigAndRunNameTheKeyOfAFileThatCannotBeUsed(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.json")
	t.Setenv("COURANT_INDEX_MODEL", none)
	data := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{{"config"}, {"config", "--json"}, {"run", "--data", data, "--listen", "127.0.0.1:0"}} {
		status, out, complaint := invoke(t, args...)
		if status != exitFailed || out != "" || !strings.HasPrefix(complaint, "courant: index.model: ") || !strings.Contains(complaint, none) {
			t.Errorf("%q: %d %q %q", args, status, out, complaint)
		}
	}
}

func TestSourcesThatCameFromFilesAreLeftOutOfListsWithASentence(t *testing.T) {
	data := t.TempDir()
	list := write(t, "list.json", `[{"url":"http://import.invalid/shop","kind":"file","name":"shop"},{"url":"http://a.invalid/feed"}]`)
	status, out, complaint := invoke(t, "source", "import", list, "--data", data)
	if status != 0 || !strings.Contains(out, "1 sources added") || !strings.Contains(complaint, "shop was imported from a file") {
		t.Errorf("status %d, %q, %q", status, out, complaint)
	}
	if status, _, complaint := invoke(t, "import", write(t, "b.xml", "<rss version=\"2.0\"><channel><title>T</title></channel></rss>"), "--data", data); status != 0 {
		t.Fatalf("status %d, %q", status, complaint)
	}
	status, out, complaint = invoke(t, "source", "export", "--data", data)
	if status != 0 || strings.Contains(out, "import.invalid") || !strings.Contains(out, "http://a.invalid/feed") || !strings.Contains(complaint, "left out 1 sources") {
		t.Errorf("status %d, %q, %q", status, out, complaint)
	}
}
