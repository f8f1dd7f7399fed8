package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/courant-platform/courant/test/rig"
)

// village is a forward proxy to a web with one site and one host that closes every
// connection.
func village(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Host + r.URL.Path {
		case "news.test/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><title>News</title><link rel="alternate" type="application/rss+xml" title="All news" href="/feed.xml"><p>Hello.`)
		case "news.test/two":
			fmt.Fprint(w, `<!doctype html><title>News</title><link rel="alternate" type="application/rss+xml" title="All news" href="/feed.xml">
<link rel="alternate" type="application/rss+xml" title="More" href="/2.xml"><p>Hello.`)
		case "news.test/feed.xml":
			w.Header().Set("Content-Type", "application/rss+xml")
			fmt.Fprint(w, `<rss version="2.0"><channel><title>News</title><link>http://news.test/</link><description>All of it</description>
<item><title>The mill turns</title><link>http://news.test/mill</link><description>&lt;p&gt;Since this morning.&lt;/p&gt;</description></item>
<item><title>The well is full</title><link>http://news.test/well</link><description>&lt;p&gt;To the brim.&lt;/p&gt;</description></item>
</channel></rss>`)
		case "dead.test/", "dead.test/robots.txt":
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				conn.Close()
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// step is one command as it is typed, and what its user sees.
type step struct {
	typed  string
	status int
	says   []string // each must be in the output; in that to stderr only if the status is not 0
}

func try(t *testing.T, run func(testing.TB, ...string) rig.Result, steps []step) {
	t.Helper()
	for _, s := range steps {
		r := run(t, strings.Fields(s.typed)...)
		said := r.Out
		if s.status != 0 {
			said += r.Err
			if lines := strings.Count(r.Err, "\n"); lines != 1 {
				t.Errorf("courant %s: the error has %d lines, want 1:\n%s", s.typed, lines, r.Err)
			}
		}
		if r.Status != s.status {
			t.Errorf("courant %s: exit status %d, want %d:\n%s%s", s.typed, r.Status, s.status, r.Out, r.Err)
		}
		for _, want := range s.says {
			if !strings.Contains(said, want) {
				t.Errorf("courant %s: %q is not in the output:\n%s%s", s.typed, want, r.Out, r.Err)
			}
		}
	}
}

func TestTheCommandsOfTheReadme(t *testing.T) {
	t.Parallel()
	c := programs.Courant(t, rig.Config(`robot.proxy = "`+village(t).URL+`"`, `robot.gap = "50ms"`))
	try(t, c.Bare, []step{
		{"version", 0, []string{"courant "}},
		{"config", 0, []string{"[robot]", "user_agent", "[schedule]", "min_interval"}},
		{"roles", 0, []string{"ROLE", "schedule", "robot", "parse", "pages", "serve"}},
		{"source list", 1, []string{"courant run"}},
	})
	c.Start(t)
	list := write(t, "list.opml", `<opml version="2.0"><body><outline text="Folder">
<outline type="rss" text="Mill &amp; well" xmlUrl="http://other.test/feed.xml"/><outline text="News" xmlUrl="http://news.test/feed.xml"/>
</outline></body></opml>`)
	try(t, c.Do, []step{
		{"source list", 0, []string{"There are no sources yet", "courant source add"}},
		{"source add http://news.test/feed.xml", 0, []string{"added http://news.test/feed.xml as news.test-feed", "2 items"}},
		{"source add http://news.test/feed.xml", 0, []string{"is there already, as news.test-feed"}},
		{"source add http://news.test/feed.xml --every 5m --trusted", 1, []string{"is there already", "--every and --trusted did not change", "courant source set news.test-feed"}},
		{"source set news.test-feed --every 5m --title Daily --folder News/Local", 0, []string{"changed news.test-feed"}},
		{"source set news.test-feed", 2, []string{"nothing is to be changed", "--title"}},
		{"source set news.test-feed --every 5", 2, []string{"is not a duration"}},
		{"source add http://news.test/", 0, []string{"http://news.test/ is a page with one feed", "http://news.test/feed.xml is there already, as news.test-feed"}},
		{"source add http://news.test/two", 1, []string{"it offers http://news.test/feed.xml", "it offers http://news.test/2.xml", "no feed", "was not kept"}},
		{"source add feed://news.test/two --keep", 0, []string{"no feed", "it is kept as news.test-two"}},
		{"source add http://dead.test/ http://dead.test/2", 1, []string{"http://dead.test/ was asked", "http://dead.test/2 was asked", "2 of 2 sources", "was not kept"}},
		{"source add --keep http://dead.test/", 0, []string{"http://dead.test/ was asked", "it is kept as dead.test"}},
		{"source import " + list, 0, []string{"1 sources added, 1 known already, 0 refused"}},
		{"source list", 0, []string{"news.test-feed", "other.test-feed", "news.test-two", "dead.test", "unreadable", "failing"}},
		{"source list --failing --sort failures", 0, []string{"dead.test", "news.test-two", " of 4 sources"}},
		{"source list --folder News", 0, []string{"news.test-feed", "1 of 4 sources"}},
		{"source list --match nowhere", 0, []string{"None of the 4 sources"}},
		{"source list --sort size", 2, []string{"--sort must be one of name"}},
		{"source show news.test-feed", 0, []string{"http://news.test/feed.xml", "answered 200"}},
		{"source show news.test-two", 0, []string{"offers", "http://news.test/feed.xml"}},
		{"story http://news.test/mill", 0, []string{"http://news.test/mill", "fetched"}},
		{"source remove dead.test", 0, nil},
		{"source remove dead.test", 1, []string{"there is no source"}},
		{"page http://news.test/nothing", 1, []string{"there is no page"}},
		{"fetch http://news.test/feed.xml", 0, []string{"answered 200"}},
	})
	if !rig.Until(settleTime, func() bool { return len(c.Newest(t)) == 2 }) {
		t.Fatalf("not 2 pages after %v", settleTime)
	}
	try(t, c.Do, []step{{"page http://news.test/mill", 0, []string{"The mill turns", "Since this morning."}}})
	if list := c.Do(t, "source", "list"); strings.Contains(list.Out, "dead.test") {
		t.Errorf("dead.test was removed and is still listed:\n%s", list.Out)
	}
	roundTrip(t, c)
}

// roundTrip exports the sources, imports them elsewhere and wants the same export.
func roundTrip(t *testing.T, c *rig.Courant) {
	t.Helper()
	first := c.Do(t, "source", "export")
	other := programs.Courant(t, "")
	if err := os.MkdirAll(other.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	file := write(t, "export.opml", first.Out)
	try(t, other.Do, []step{{"source import " + file, 0, []string{"3 sources added, 0 known already, 0 refused"}}})
	if again := other.Do(t, "source", "export"); again.Out != first.Out || !strings.Contains(first.Out, "Mill &amp; well") {
		t.Errorf("exported\n%s\nimported elsewhere and exported again\n%s", first.Out, again.Out)
	}
}

func TestTypos(t *testing.T) {
	t.Parallel()
	c := programs.Courant(t, `robot.gapp = "1s"`)
	try(t, c.Bare, []step{
		{"sorce list", 2, []string{"sorce", "source"}},
		{"source lst", 2, []string{"list"}},
		{"source list --jsn", 2, []string{"--jsn"}},
		{"source add", 2, []string{"source add URL"}},
		{"page", 2, []string{"page URL"}},
		{"run robto", 2, []string{"robto", "robot", "courant roles"}},
		{"run robot", 2, []string{"bus.kind", "store.url"}},
		{"run --listen 0.0.0.0:80", 2, []string{"admin_password"}},
	})
	try(t, c.Do, []step{
		{"config", 2, []string{"robot.gapp", "robot.gap", ":1:"}},
		{"run", 2, []string{"robot.gapp", "robot.gap"}},
	})
}

func TestASecondStartSaysWhoHoldsTheFolder(t *testing.T) {
	t.Parallel()
	c := programs.Courant(t, "")
	c.Start(t)
	try(t, c.Do, []step{
		{"run --listen 127.0.0.1:0", 1, []string{c.Data, fmt.Sprintf("process %d", c.PID()), c.Address, "--data"}},
	})
	if status, _ := c.Stop(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	c.Start(t) // the folder is free again
}

func write(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
