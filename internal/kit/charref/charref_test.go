package charref_test

import (
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/courant-platform/courant/internal/kit/charref"
)

func TestReferencesAreDecodedAsBrowsersDo(t *testing.T) {
	for _, c := range []struct {
		in, want string
		strict   bool
	}{
		{"a &amp; b &lt;c&gt; &quot;d&quot;", `a & b <c> "d"`, true},
		{"&#8217;&#x2019;&#146;&#39", "’’’'", true},
		{"&#24;&#0;&#xFFFE;x&#xD800;&#x110000;&#13;", "x\uFFFD\uFFFD\n", true},
		{"&copy 2020 &copy;", "&copy 2020 ©", true}, {"&copy 2020", "© 2020", false},
		{"?a=1&copy=2", "?a=1&copy=2", true}, {"&notit;", "&notit;", true}, {"&lol9;", "&lol9;", false},
		{"&hellip;&mdash;&acE;", "…—∾̳", true}, {"&;&#;&#x;&", "&;&#;&#x;&", false}, {"AT&T R&D", "AT&T R&D", false},
	} {
		if got := charref.String(c.in, c.strict); got != c.want {
			t.Errorf("String(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestEveryOldReferenceMeansWhatTheStandardLibrarySays(t *testing.T) {
	for v := range 0x30000 {
		if v < 0xa0 || v >= 0xd800 && v < 0xe000 || v&0xfffe == 0xfffe || v >= 0xfdd0 && v <= 0xfdef {
			continue
		}
		s := "&#" + itoa(v) + ";"
		if got := charref.String(s, true); got != html.UnescapeString(s) {
			t.Fatalf("%s is %q", s, got)
		}
	}
}

func itoa(v int) string {
	if v < 10 {
		return string(rune('0' + v))
	}
	return itoa(v/10) + string(rune('0'+v%10))
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"&amp;&#1;", "&acE;", "&ampx&notin", "&#x", "&#99999999999;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := charref.String(s, false); len(got) > 2*len(s)+4 {
			t.Errorf("%q grows to %q", s, got)
		}
		charref.String(s, true)
	})
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"&amp;", "&acE;x", "&ampx", "&#x1F600;", "&#xD800", "&#128;", "&", "&#", "&;", "&\xff;", "&CounterClockwiseContourIntegral;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, strict := range []bool{false, true} {
			for at := strings.IndexByte(s, '&'); at >= 0 && at < len(s); {
				r, second, n := charref.Decode(s[at:], strict)
				if n < 0 || n > len(s)-at || n == 0 && (r != 0 || second != 0) {
					t.Fatalf("%q: %q and %q, %d bytes", s[at:], r, second, n)
				}
				if out := charref.AppendRune(charref.AppendRune(nil, r), second); !utf8.Valid(out) {
					t.Fatalf("%q gives %q", s[at:], out)
				}
				next := strings.IndexByte(s[at+1:], '&')
				if next < 0 {
					break
				}
				at += 1 + next
			}
			if utf8.ValidString(s) && !utf8.ValidString(charref.String(s, strict)) {
				t.Fatalf("%q becomes %q", s, charref.String(s, strict))
			}
		}
	})
}
