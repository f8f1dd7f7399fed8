package link_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
)

func TestAURLHasOneSpelling(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"HTTPS://Site.Example:443/a/../b/%7euser/?utm_source=x&b=2&a=1&fbclid=z#top", "https://site.example/b/~user/?b=2&a=1"},
		{"http://site.example", "http://site.example/"},
		{"https://site.example/п", "https://site.example/%D0%BF"},
		{"http://пример.испытание/лента?q=дом", "http://xn--e1afmkfd.xn--80akhbyknj4f/%D0%BB%D0%B5%D0%BD%D1%82%D0%B0?q=%D0%B4%D0%BE%D0%BC"},
		{"https://bücher.example/Ä", "https://xn--bcher-kva.example/%C3%84"},
		{" \t\nhttp://a.example/x\n y ", "http://a.example/x%20y"},
		{"http://a.example:80/?", "http://a.example/"},
		{"http://a.example:8080/?utm_source=1", "http://a.example:8080/"},
		{"http://a.example/p;JSESSIONID=0A1B?id=2", "http://a.example/p?id=2"},
		{"http://a.example/p;jsessionid=0A1B/q;v=1;jsessionid=x", "http://a.example/p/q;v=1"},
		{"http://a.example/?PHPSESSID=1&id=2&ASPSESSIONIDQ=3", "http://a.example/?id=2"},
		{"http://a.example/?sid=0123456789abcdef0123456789ABCDEF&t=1", "http://a.example/?t=1"},
		{"http://a.example/?sid=12345", "http://a.example/?sid=12345"},
		{`http:\\a.example\b\c`, "http://a.example/b/c"},
		{"http://a.example./x", "http://a.example/x"},
		{"http://a.example/%2e%2E/%41%zz%2f", "http://a.example/A%25zz%2F"},
		{"http://a.example/a/./b/..", "http://a.example/a/"},
		{"http://127.1/", "http://127.0.0.1/"},
		{"http://0x7f000001/", "http://127.0.0.1/"},
		{"http://①②⑦.0.0.1/", "http://127.0.0.1/"},
		{"http://[::FFFF]:80/", "http://[::ffff]/"},
		{"https://a.example/?q=a&UTM_Medium=x&&b", "https://a.example/?q=a&&b"},
		{"http://my_site.a.example/", "http://my_site.a.example/"},
	} {
		got, err := link.Canonical(c.raw)
		if err != nil || got != c.want {
			t.Errorf("Canonical(%q) = %q, %v; want %q", c.raw, got, err, c.want)
		}
		again, err := link.Canonical(got)
		if err != nil || again != got {
			t.Errorf("Canonical(%q) = %q, %v; want the same", got, again, err)
		}
	}
}

func TestInvalidAddressesAreRefused(t *testing.T) {
	for _, raw := range []string{
		"", "a", "/a", "//a.example/", "ftp://a.example/", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd",
		"http://", "http:///", "http://user@a.example/", "http://u:p@a.example/", "http://a b.example/", "http://a.example:65536/",
		"http://a.example:x/", "http://[::1", "http://[fe80::1%25lo]/", "http://256.0.0.1/", "http://a..example/",
		"http://" + strings.Repeat("a", 64) + ".example/", "http://a.example/" + strings.Repeat("x", 2048),
		"http://xn--a.example/",
	} {
		got, err := link.Canonical(raw)
		if !errors.Is(err, courant.Invalid) {
			t.Errorf("Canonical(%.40q) = %q, %v; want an Invalid error", raw, got, err)
		}
	}
}

func TestReferencesAreResolvedAgainstTheBase(t *testing.T) {
	const base = "https://site.example/a/b?q#f"
	for _, c := range []struct{ ref, want string }{
		{"c", "https://site.example/a/c"}, {"/c", "https://site.example/c"}, {"//x.example/y", "https://x.example/y"},
		{"?z", "https://site.example/a/b?z"}, {"#g", "https://site.example/a/b?q#g"}, {"", "https://site.example/a/b?q"},
		{"../../../c", "https://site.example/c"}, {"http://x.example", "http://x.example/"},
		{"http://x.example/?utm_source=1#top", "http://x.example/?utm_source=1#top"},
		{"javascript:alert(1)", ""}, {"java\nscript:alert(1)", ""}, {"mailto:a@b.example", ""}, {"data:,x", ""},
		{"http://u@x.example/", ""}, {`\c`, "https://site.example/c"}, {"https:c", "https://site.example/a/c"},
		{"a:b", ""}, {"./a:b", "https://site.example/a/a:b"}, {" c d ", "https://site.example/a/c%20d"},
	} {
		if got := link.Resolve(base, c.ref); got != c.want {
			t.Errorf("Resolve(%q) = %q, want %q", c.ref, got, c.want)
		}
	}
	if got := link.Resolve("", "a"); got != "" {
		t.Errorf("a relative reference without a base gives %q", got)
	}
}

func TestHostAndDomainOfAURL(t *testing.T) {
	for _, c := range []struct{ url, host, authority, domain string }{
		{"https://A.B.example.co.uk:8080/x", "a.b.example.co.uk", "a.b.example.co.uk:8080", "example.co.uk"},
		{"http://[::1]:80/", "::1", "[::1]:80", "::1"},
		{"http://127.0.0.1/", "127.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"http://u@a.example?x", "a.example", "a.example", "a.example"},
		{"nothing", "", "", ""},
	} {
		if got := link.Host(c.url); got != c.host {
			t.Errorf("Host(%q) = %q", c.url, got)
		}
		if got := link.Authority(c.url); got != c.authority {
			t.Errorf("Authority(%q) = %q", c.url, got)
		}
		if got := link.Domain(link.Host(c.url)); got != c.domain {
			t.Errorf("Domain of %q = %q", c.url, got)
		}
	}
}

func TestDigestsOfAHostBeginAlike(t *testing.T) {
	host, own := sha256.Sum256([]byte("a.example")), sha256.Sum256([]byte("http://a.example/1"))
	if got, want := link.Digest("http://a.example/1"), append(host[:4:4], own[:12]...); !bytes.Equal(got[:], want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// suite returns the path of a public suite, or skips.
func suite(t *testing.T, name string) string {
	shared := os.Getenv("COURANT_SHARED")
	if shared == "" {
		shared = "../../../../shared"
	}
	path := filepath.Join(shared, "suites", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("the public suites are not here; COURANT_SHARED names their folder")
	}
	return path
}

func TestWebPlatformURLsResolveAsTheStandardSays(t *testing.T) {
	raw, err := os.ReadFile(suite(t, "url/urltestdata.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []json.RawMessage
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	total, good := 0, 0
	for _, r := range cases {
		var c struct {
			Input, Href, Protocol, Username, Password string
			Base                                      *string
			Failure                                   bool
		}
		if json.Unmarshal(r, &c) != nil || c.Base == nil && c.Input == "" || c.Username+c.Password != "" {
			continue
		}
		base := ""
		if c.Base != nil {
			base = *c.Base
		}
		web := c.Protocol == "http:" || c.Protocol == "https:"
		if base != "" && !strings.HasPrefix(base, "http") || !web && !c.Failure {
			continue
		}
		total++
		if got := link.Resolve(base, c.Input); got == c.Href {
			good++
		} else {
			t.Logf("Resolve(%q, %q) = %q, the standard says %q", base, c.Input, got, c.Href)
		}
	}
	if t.Logf("%d of %d", good, total); good*100 < total*94 {
		t.Errorf("only %d of %d addresses are resolved as the standard says", good, total)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		"http://a.example/", "https://ü.example/%41?utm_x=1&b#c", `http:\\a\..\%2e`, "http://[::1]:80", "http://0x7f.1/?a&&utm_b",
		"http://a.example/%2%35", "http://xn--bcher-kva.example./", "http://%61.example/", "http://a/..//../b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := link.Canonical(s)
		if err != nil {
			return
		}
		if again, err := link.Canonical(c); err != nil || again != c {
			t.Errorf("Canonical(%q) = %q, then %q, %v", s, c, again, err)
		}
		if len(c) > link.MaxLength || strings.ContainsAny(c, "#@\\ \"<>") && strings.ContainsAny(c, "# \"<>") {
			t.Errorf("Canonical(%q) = %q", s, c)
		}
		if link.Resolve(c, "") != c {
			t.Errorf("Resolve(%q, \"\") = %q", c, link.Resolve(c, ""))
		}
	})
}

func BenchmarkCanonicalOfACanonicalURL(b *testing.B) {
	const url = "https://www.site.example/news/2024/05/17/a-rather-long-headline-of-an-article-12345.html?page=2"
	b.ReportAllocs()
	for b.Loop() {
		_, _ = link.Canonical(url)
	}
}

func BenchmarkCanonicalOfAnyURL(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = link.Canonical("HTTPS://Site.Example:443/a/../b/%7euser/?utm_source=x&b=2&a=1&fbclid=z#top")
	}
}

func TestBugCasesOfOtherReaders(t *testing.T) {
	for file, field := range map[string]string{"U01.json": "ascii", "U03.json": "key"} {
		raw, err := os.ReadFile(suite(t, "bugcases/urls/"+file))
		if err != nil {
			t.Fatal(err)
		}
		var lists map[string][]map[string]string
		if err := json.Unmarshal(raw, &lists); err != nil {
			t.Fatal(err)
		}
		for _, list := range lists {
			for _, c := range list {
				if got, err := link.Canonical(c["input"]); err != nil || got != c[field] {
					t.Errorf("%s: %s is %s, %v, want %s", file, c["input"], got, err, c[field])
				}
			}
		}
	}
}

func TestAPasswordInAnAddressIsNotShown(t *testing.T) {
	for address, want := range map[string]string{
		"http://user:pw@a.example/x": "http://xxxxx@a.example/x", "https://token@a.example": "https://xxxxx@a.example", "http://a@b@c.example?q": "http://xxxxx@c.example?q",
		"http://a.example/@b": "http://a.example/@b", "file:///etc/passwd": "file:///etc/passwd", "user@a.example": "user@a.example", "": "",
	} {
		if got := link.Redact(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}
