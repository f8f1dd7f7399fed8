package feed_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"io"
	neturl "net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/feed"
)

// squeezed removes white space and lower-cases, so that spelling does not matter.
func squeezed(s string) string {
	if plain, err := neturl.PathUnescape(s); err == nil {
		s = plain
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFC.String(s))
}

// said is what a reading says: all its strings, and the names in its warnings.
type said struct {
	text  string
	names map[string]bool
}

func newSaid(t *testing.T, r *courant.Reading) said {
	s := said{names: map[string]bool{}}
	for _, w := range r.Warnings {
		switch w.Code {
		case "ignored", "bad-date", "bad-link", "bad-counter", "unknown-element", "misplaced-element", "repeated-element", "unknown-type":
			s.names[w.Element] = true
		}
	}
	plain := *r
	plain.Warnings = nil
	raw, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	collect(tree, func(v string) {
		b.WriteString(squeezed(v) + "\x00")
		for _, part := range shown(v, nil) {
			b.WriteString(squeezed(part))
		}
		b.WriteString("\x00")
	})
	s.text = b.String()
	return s
}

// collect calls f for all strings and numbers of a JSON value.
func collect(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case float64:
		raw, _ := json.Marshal(v)
		f(string(raw))
	case []any:
		for _, e := range v {
			collect(e, f)
		}
	case map[string]any:
		for _, e := range v {
			collect(e, f)
		}
	}
}

// hidden elements have contents that nobody sees.
func hidden(name string) bool {
	switch name {
	case "script", "style", "svg", "object", "applet", "select", "template", "textarea", "title", "map", "canvas", "noembed", "noframes", "xmp", "iframe":
		return true
	}
	return false
}

// shown returns the texts of HTML, each between two tags. The hidden elements go to left.
func shown(markup string, left map[string]bool) (texts []string) {
	z := html.NewTokenizer(strings.NewReader(markup))
	depth, until := 0, ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return texts
		case html.TextToken:
			if depth == 0 {
				texts = append(texts, string(z.Text()))
			}
			if depth == 0 && len(texts) > 0 {
				texts[len(texts)-1] = html.UnescapeString(texts[len(texts)-1])
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			if n := string(name); until == "" && hidden(n) {
				until, depth = n, 1
				if left != nil {
					left[n] = true
				}
			} else if n == until {
				depth++
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == until {
				if depth--; depth == 0 {
					until = ""
				}
			}
		}
	}
}

// has reports whether a value is in the output, as it is, as HTML, as an address
// relative to another one, or as a date.
func (s said) has(value string) bool {
	if strings.Contains(s.text, squeezed(value)) {
		return true
	}
	left := map[string]bool{}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value)); err == nil && len(raw) > 8 {
		return s.has(string(raw))
	}
	whole := true
	for _, part := range shown(value, left) {
		whole = whole && strings.Contains(s.text, squeezed(part))
	}
	for name := range left {
		whole = whole && (s.names[name] || name == "iframe") // nobody sees what is in an iframe
	}
	return whole || s.hasAddress(value) || s.hasDate(value) || s.hasWords(value)
}

func (s said) hasAddress(value string) bool {
	value = strings.TrimSpace(html.UnescapeString(value))
	if u, err := neturl.Parse(value); err == nil && strings.ContainsFunc(u.Host, func(r rune) bool { return r >= 0x80 }) {
		return strings.Contains(s.text, "xn--") && strings.Contains(s.text, squeezed(u.Path)) // in punycode
	}
	v := squeezed(value)
	for strings.HasPrefix(v, "../") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "/") {
		v = v[strings.IndexByte(v, '/')+1:]
	}
	return v != "" && !strings.ContainsAny(value, " \n") && strings.Contains(s.text, v)
}

var layouts = []string{time.RFC1123Z, time.RFC1123, time.RFC3339, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05",
	"2006-01-02", "2006-01", "2006", "2 Jan 2006 15:04:05 MST", "02 Jan 06 15:04:05 -0700", "Mon, 02 Jan 06 15:04:05 -0700", "2006-01-02T15:04:05-0700", "2006-01-02T150405-07:00", "20060102T15:04:05-07:00",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05-07:00", "2006-01-02 T 15:04:05-07:00", "2006-01-02T15:04:05 -07:00", "2006-01-02T 15:04:05-07:00", "2006-01-02 T15:04:05-07:00", "Mon, 2 Jan 2006 15:04 MST", "2006-01-02 15:04:05"}

func (s said) hasDate(value string) bool {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, strings.TrimSpace(value)); err == nil {
			zone, _ := at.Zone()
			return zone != "UTC" && zone != "" && zone != "GMT" || strings.Contains(s.text, squeezed(at.UTC().Format(time.RFC3339Nano)))
		}
	}
	return false
}

// hasWords reports whether all words of a short value are in the output, as for a person
// or a list of keywords.
func (s said) hasWords(value string) bool {
	words := strings.FieldsFunc(strings.ReplaceAll(html.UnescapeString(value), "mailto:", " "), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()<>,;\"-", r) })
	for _, w := range words {
		if !strings.Contains(s.text, squeezed(w)) {
			return false
		}
	}
	return len(words) > 0 && len(words) < 30
}

// interpreted elements and attributes decide how something is read; their values are not
// in the output.
var interpreted = map[string]bool{
	"ttl": true, "hour": true, "day": true, "updateperiod": true, "updatefrequency": true, "duration": true, "draft": true,
	"@version": true, "@type": true, "@rel": true, "@mode": true, "@ispermalink": true, "@xml:lang": true, "@xml:base": true, "@base": true, "@medium": true,
	"@isdefault": true, "@width": true, "@height": true, "@bitrate": true, "@role": true, "@length": true, "@filesize": true, "@duration": true, "@turbo": true,
	"@rdf:about": true, "@rdf:resource": true, "@about": true,
}

// text constructs contain HTML, whose attributes are those of the allow-list.
func isConstruct(local string) bool {
	switch local {
	case "title", "description", "summary", "content", "encoded", "subtitle", "tagline", "rights", "copyright", "info", "abstract", "body", "fullitem", "fulltext",
		"full-text", "div", "author", "creator":
		return true
	}
	return false
}

// node is an open element of the oracle.
type node struct {
	name, rel string
	text      strings.Builder
	named     bool // it or an element around it is named in a warning
	inText    bool
}

// lost walks a document with encoding/xml and returns what is neither in the output nor
// named.
func lost(body []byte, s said) (out []string) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(label string, r io.Reader) (io.Reader, error) {
		e, err := htmlindex.Get(label)
		if err != nil {
			return nil, err
		}
		return e.NewDecoder().Reader(r), nil
	}
	stack := []*node{{}}
	for {
		token, err := d.RawToken()
		if err != nil {
			return out
		}
		top := stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := open(s, top, token)
			out = append(out, lostAttrs(s, n, token)...)
			stack = append(stack, n)
		case xml.CharData:
			top.text.Write(token)
		case xml.EndElement:
			if len(stack) > 1 {
				out = append(out, lostText(s, top)...)
				stack = stack[:len(stack)-1]
			}
		}
	}
}

func rawName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

func local(name string) string { return strings.ToLower(name[strings.IndexByte(name, ':')+1:]) }

func open(s said, parent *node, token xml.StartElement) *node {
	n := &node{name: rawName(token.Name)}
	for _, a := range token.Attr {
		if a.Name.Local == "rel" {
			n.rel = strings.ToLower(a.Value)
		}
	}
	n.inText = parent.inText || isConstruct(local(parent.name)) && parent.name != ""
	n.named = parent.named || s.names[n.name] || s.names[parent.name+"/"+n.name] || s.names[n.name+`[@rel="`+n.rel+`"]`] ||
		s.names[n.name+`[@rel="alternate"]`] && n.rel == "" || n.inText && hidden(local(n.name)) && s.names[local(n.name)]
	return n
}

func lostAttrs(s said, n *node, token xml.StartElement) (out []string) {
	for _, a := range token.Attr {
		name := rawName(a.Name)
		switch {
		case n.named, n.inText, strings.HasPrefix(name, "xmlns"), strings.TrimSpace(a.Value) == "", interpreted["@"+strings.ToLower(name)], s.names[n.name+"/@"+name]:
		case !s.has(a.Value):
			out = append(out, n.name+"/@"+name+"="+a.Value)
		}
	}
	return out
}

func lostText(s said, n *node) []string {
	text := n.text.String()
	if n.named || strings.TrimSpace(text) == "" || interpreted[local(n.name)] || s.names[n.name+"/text()"] || s.has(text) {
		return nil
	}
	for _, part := range shown(text, nil) {
		if !strings.Contains(s.text, squeezed(part)) {
			return []string{n.name + "=" + part}
		}
	}
	return []string{n.name + "=" + text}
}

// whole reports whether a reading left whole items out, with a warning.
func whole(r *courant.Reading) bool {
	for _, w := range r.Warnings {
		switch w.Code {
		case "duplicate-item", "older-version", "empty-item", "draft", "too-many-items", "truncated", "too-long", "junk-after", "junk-before", "encoding":
			return false
		}
	}
	return true
}

func TestWhatAFeedSaysIsInTheReadingOrNamed(t *testing.T) {
	checked := 0
	check := func(path string, body []byte) {
		r, err := feed.Read(body, feed.Options{URL: url})
		if err != nil || r.Format == "unknown" || strings.HasPrefix(r.Format, "json") || !whole(r) || bytes.Contains(body, []byte("<!ENTITY")) {
			return
		}
		checked++
		for _, what := range lost(body, newSaid(t, r)) {
			if len(what) > 200 {
				what = what[:200]
			}
			t.Errorf("%s: lost %q", filepath.Base(path), what)
		}
	}
	for _, dir := range []string{"feedparser/tests/wellformed", "feedvalidator", "gofeed", "../samples/turbo"} {
		files(t, suite(t, dir), check)
	}
	t.Logf("%d files checked", checked)
	if checked < 1000 {
		t.Errorf("only %d files were checked", checked)
	}
}

// lostFields walks a JSON document and returns the strings that are neither in the output
// nor in a field that is named.
func lostFields(path string, v any, s said) (out []string) {
	if s.names[path] {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			out = append(out, lostFields(strings.TrimPrefix(path+"/"+strings.ToLower(name), "/"), value, s)...)
		}
	case []any:
		for _, value := range v {
			out = append(out, lostFields(path, value, s)...)
		}
	case string:
		if strings.TrimSpace(v) != "" && path != "version" && path != "hubs/type" && !s.has(v) {
			out = append(out, path+"="+v)
		}
	}
	return out
}

func TestWhatAJSONFeedSaysIsInTheReadingOrNamed(t *testing.T) {
	checked := 0
	check := func(path string, body []byte) {
		var tree any
		r, err := feed.Read(body, feed.Options{URL: url})
		if err != nil || json.Unmarshal(body, &tree) != nil || !strings.HasPrefix(r.Format, "json") || !whole(r) {
			return
		}
		checked++
		s := newSaid(t, r)
		for name := range s.names {
			s.names[strings.ToLower(name)] = true
		}
		for _, what := range lostFields("", tree, s) {
			t.Errorf("%s: lost %q", filepath.Base(path), what)
		}
	}
	check("all fields", []byte(jsonHead+`"user_comment": "A comment.", "home_page_url": "https://site.example/", "feed_url": "/f.json", "next_url": "/f2.json", "description": "D",
		"icon": "/i.png", "favicon": "/fav.ico", "language": "en", "authors": [{"name": "Ann", "url": "/ann", "avatar": "/ann.png"}], "hubs": [{"type": "WebSub", "url": "/hub"}],
		"_extension": {"about": "x", "key": "value"}, "items": [{"id": "1", "url": "/1", "external_url": "/else", "title": "One", "content_html": "<p>HTML</p><script>x</script>",
		"content_text": "Other text", "summary": "Sum", "image": "/im.png", "banner_image": "not an address at all", "date_published": "never", "date_modified": "2024-01-03T00:00:00Z",
		"authors": [{"name": "Bob", "_id": "b"}], "tags": ["a", "b"], "language": "de", "_x": 1, "attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg", "title": "A file",
		"size_in_bytes": 12, "duration_in_seconds": 61, "_bitrate": "high"}]}]}`))
	files(t, suite(t, "gofeed"), check)
	if checked < 3 {
		t.Errorf("only %d files were checked", checked)
	}
}

func TestWhatIsIgnoredIsNamedOnce(t *testing.T) {
	const item = `<item><title>T</title><itunes:explicit>no</itunes:explicit><guid foo="1">%d</guid><geo:Point><geo:lat>1</geo:lat></geo:Point>
		<slash:comments>5</slash:comments><podcast:chapters url="/c.json" type="application/json"/><podcast:transcript url="/t.srt"/></item>`
	for _, c := range []struct{ what, src, names string }{
		{"RSS", `<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title x="y">c</title><docs>d</docs><cloud domain="e"/><rating>f</rating>` +
			numbered(item, 3) + `</channel></rss>`,
			"title/@x docs cloud rating itunes:explicit guid/@foo geo:Point slash:comments podcast:chapters podcast:transcript"},
		{"text beside elements", `<rss><channel>stray<title>c</title><item><title>a</title>stray</item></channel></rss>`, "channel item"},
		{"a second value", rss(`<item><title>a</title><title>b</title><description>c</description><itunes:summary>d</itunes:summary><pubDate>2024-01-02T00:00:00Z</pubDate><dc:date>2024-01-03T00:00:00Z</dc:date></item>`),
			"title itunes:summary"},
		{"the same value twice", rss(`<item><title>a</title><title>a</title><description>c</description><itunes:summary>c</itunes:summary><pubDate>2024-01-02T00:00:00Z</pubDate><dc:date>2024-01-02T01:00:00+01:00</dc:date></item>`), ""},
		{"Atom", atom(`<id>x</id><link rel="edit" href="/e"/><link rel="edit" href="/f"/><generator uri="/g">G</generator><entry><id>1</id><title>t</title><link rel="via" href="/v"/>
			<contributor><name>n</name></contributor><category term="a" label="b" scheme="c"/><author><name>n</name><x>y</x></author><source><id>s</id></source></entry>`),
			`id link[@rel="edit"] generator/@uri link[@rel="via"] contributor category/@scheme category/@label author/x source/id`},
		{"CDF", `<CHANNEL HREF="/" LEVEL="1"><TITLE>T</TITLE><SCHEDULE><INTERVALTIME DAY="1"/></SCHEDULE><ITEM HREF="/1" PRECACHE="no"><TITLE>a</TITLE><USAGE VALUE="Channel"/></ITEM></CHANNEL>`,
			"CHANNEL/@LEVEL SCHEDULE ITEM/@PRECACHE USAGE"},
		{"elements inside the text", rss(`<item><description>&lt;p>a&lt;/p>&lt;script>b&lt;/script>&lt;svg>&lt;text>c&lt;/text>&lt;/svg></description></item><item><title>x&lt;style>y&lt;/style></title></item>`), "script svg style"},
		{"JSON", jsonHead + `"_a": 1, "items": [{"id": "1", "_b": {}, "user": 3}, {"id": "2", "_b": {}, "x": null}]}`, "_a items/_b items/user"},
	} {
		r := read(t, c.src)
		var names []string
		for _, w := range r.Warnings {
			if w.Code != "ignored" {
				continue
			}
			if names = append(names, w.Element); w.Level != courant.LevelInfo || w.Text == "" || w.Line < 1 {
				t.Errorf("%s: %+v", c.what, w)
			}
		}
		if got := strings.Join(names, " "); got != c.names {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.names)
		}
	}
}

func TestTheNamesOfWhatIsIgnoredAreBounded(t *testing.T) {
	r := read(t, rss("<item><title>a</title>"+numbered(`<x%d y%d="z"/>`, 5000)+"</item>"))
	if n := len(r.Warnings); n > 200 || !strings.Contains(r.Warnings[n-1].Text, "further elements") {
		t.Errorf("%d warnings, the last %+v", n, r.Warnings[n-1])
	}
}
