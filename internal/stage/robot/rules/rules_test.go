package rules

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRulesForAgentsPathsAndPatterns(t *testing.T) {
	for _, c := range []struct {
		robots, path string
		allowed      bool
	}{
		{"", "/", true},
		{"User-agent: *\nDisallow: /closed/\n", "/closed/a", false},
		{"User-agent: *\nDisallow: /closed/\n", "/open", true},
		{"User-agent: *\nDisallow: /\nUser-agent: courant\nAllow: /\n", "/a", true},
		{"User-agent: courant\nUser-agent: other\nDisallow: /a\n", "/a", false},
		{"User-agent: courantbot\nDisallow: /\n", "/a", true},
		{"User-agent: Courant/2.1\nDisallow: /\n", "/a", false},
		{"User-agent: *\nDisallow: /a\nAllow: /a/b\n", "/a/b/c", true},
		{"User-agent: *\nDisallow: /a\nAllow: /a\n", "/a", true},
		{"User-agent: *\nDisallow: /*.pdf$\n", "/x/y.pdf", false},
		{"User-agent: *\nDisallow: /*.pdf$\n", "/x/y.pdf?z", true},
		{"User-agent: *\nDisallow: /%7Ea/\n", "/~a/", false},
		{"User-agent: *\nDisallow: /ä\n", "/%C3%A4", false},
		{"User-agent: *\nDisallow: /\n", "/robots.txt", true},
		{"User-agent: *\nDisallow:\n", "/a", true},
		{"\ufeffUser-agent: *\r\nDisallow: /\r\n", "/a", false},
		{"User-agent: *\nDisallow: /a$b\n", "/a$b", false},
		{"user-agent: *\ncrawl-delay: 5\ndisallow: /x", "/x", false},
		{"Disallow: /\n", "/a", true},
	} {
		if got := Parse([]byte(c.robots), "courant").Allowed(c.path); got != c.allowed {
			t.Errorf("%q: %s allowed is %v", c.robots, c.path, got)
		}
	}
}

func TestCrawlDelayIsBounded(t *testing.T) {
	for text, want := range map[string]time.Duration{"1.5": 1500 * time.Millisecond, "1e9": 10 * time.Minute, "90": 90 * time.Second, "0.0001": time.Millisecond, "-1": 0, "NaN": 0, "x": 0, "Inf": 0} {
		if got := Parse([]byte("User-agent: *\nCrawl-delay: "+text), "courant").Delay; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestPublicCases(t *testing.T) {
	shared := os.Getenv("COURANT_SHARED")
	if shared == "" {
		shared = "../../../../../shared"
	}
	f, err := os.Open(filepath.Join(shared, "suites/robots/cases.jsonl"))
	if err != nil {
		t.Skip("the public suite is not beside the checkout: ", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c struct {
			Test, Robots, Agent, URL string
			Allowed, OK              bool
			Valid                    *string `json:"valid_agent"`
			Google                   bool    `json:"google_only"`
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Google {
			continue
		}
		if c.Valid != nil {
			if got := *c.Valid != "" && Token(*c.Valid) == strings.ToLower(*c.Valid); got != c.OK {
				t.Errorf("%s: %q is a token: %v", c.Test, *c.Valid, got)
			}
			continue
		}
		if got := Parse([]byte(c.Robots), c.Agent).Allowed(pathOf(c.URL)); got != c.Allowed {
			t.Errorf("%s: %q for %s: %s allowed is %v", c.Test, c.Robots, c.Agent, c.URL, got)
		}
	}
}

// pathOf leaves the spelling of the address as it is, as the suite wants.
func pathOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexAny(rest, "/?;"); i >= 0 {
		path, _, _ := strings.Cut(rest[i:], "#")
		if path[0] != '/' {
			path = "/" + path
		}
		return path
	}
	return "/"
}

func FuzzRules(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /*a*b$\nCrawl-delay: 1", "/aab")
	f.Add("user-agent courant\nallow: /%zz%4", "/%41%zz")
	f.Fuzz(func(t *testing.T, robots, path string) {
		r := Parse([]byte(robots), "courant")
		if r.Delay < 0 || r.Delay > maxDelay {
			t.Errorf("delay %v", r.Delay)
		}
		if r.Allowed(plain(path)) && !r.Allowed(plain(plain(path))) {
			t.Errorf("%q and its normal form differ", path)
		}
	})
}
