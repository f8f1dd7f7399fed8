package feed

import (
	"path"
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
)

// address resolves a link of the item; see resolve.
func (d *draft) address(ref string) string { return resolve(d.scope.base, ref) }

// resolve returns ref as an absolute address, or "" if it is not an address: prose, or
// a placeholder such as "N/A".
func resolve(base, ref string) string {
	ref = strings.TrimSpace(ref)
	if strings.Contains(ref, "&amp;") {
		ref = strings.ReplaceAll(ref, "&amp;", "&") // escaped twice: no address contains it
	}
	if link.IsPlain(ref) {
		return ref
	}
	switch strings.ToLower(ref) {
	case "", "n/a", "none", "null", "undefined", "#", "-":
		return ""
	}
	if strings.ContainsAny(ref, "<>") || isProse(ref) {
		return ""
	}
	if len(ref) > 4 && ref[:4] != "http" {
		ref = link.Feed(ref)
	}
	url := link.Resolve(base, ref)
	if len(url) == len(ref)+1 && url[:len(ref)] == ref {
		return ref // only a host: keep the spelling without the final slash
	}
	return url
}

// badLink is the text of the warning for a link that is not a web address.
const badLink = "the link is not a web address and was left out; write the whole address, beginning with http, and nothing else"

// url is resolve that warns of what is not an address.
func (r *reader) url(base, ref string) string {
	url := resolve(base, ref)
	if url == "" && strings.TrimSpace(ref) != "" {
		r.here("bad-link", badLink)
	}
	return url
}

// assumeBase resolves relative addresses against an address that the feed has for itself or
// its site, if nobody knows where the document comes from.
func (r *reader) assumeBase(own string) {
	if r.opt.URL == "" && r.scope.base == "" {
		r.scope.base = strings.Clone(own)
	}
}

// isProse reports whether text has several words before its first slash, unlike a path.
func isProse(ref string) bool {
	first, _, slash := strings.Cut(ref, "/")
	blanks := strings.Count(first, " ")
	return blanks > 1 || blanks == 1 && (!slash || strings.Contains(ref, "://"))
}

// pageLink resolves the link of a page. If the link contains more than an address,
// such as markup or prose, it extracts the address.
func (r *reader) pageLink(base, text string) string {
	text = strings.TrimSpace(text)
	if url := resolve(base, text); url != "" || text == "" {
		return url
	}
	if i := strings.Index(text, "http"); i > 0 {
		end := strings.IndexAny(text[i:], " \t\r\n\"'<>")
		if end < 0 {
			end = len(text) - i
		}
		if url := resolve("", text[i:i+end]); url != "" {
			r.here("bad-link", "the link contains more than an address and only the address was used; write the address and nothing else")
			return url
		}
	}
	r.here("bad-link", badLink)
	return ""
}

// file is a file attached to an item as the feed describes it.
type file struct{ url, kind, length, title, duration string }

// attach adds a file; a missing type is guessed from its name.
func (r *reader) attach(d *draft, f file) {
	url := r.url(d.scope.base, f.url)
	if url == "" {
		return
	}
	n, err := strconv.ParseInt(strings.TrimSpace(f.length), 10, 64)
	if err != nil || n < 0 {
		n = 0
	}
	kind := strings.ToLower(strings.TrimSpace(f.kind))
	e := courant.Enclosure{URL: url, Type: firstOf(kind, typeOf(url)), Length: n, Title: line(f.title), Duration: seconds(f.duration)}
	for i := range d.item.Enclosures {
		if known := &d.item.Enclosures[i]; known.URL == url {
			known.Title, known.Length, known.Duration = firstOf(known.Title, e.Title), max(known.Length, e.Length), max(known.Duration, e.Duration)
			return
		}
	}
	if len(d.item.Enclosures) >= maxList {
		r.cut.files++
		return
	}
	d.item.Enclosures = append(d.item.Enclosures, e)
}

// maxDuration is the longest duration in seconds that is believed.
const maxDuration = 30 * 24 * 60 * 60

// seconds reads a duration: seconds, minutes and seconds, or hours, minutes and seconds,
// separated by colons. It returns 0 for other text.
func seconds(text string) int64 {
	parts := strings.Split(strings.TrimSpace(text), ":")
	if len(parts) > 3 {
		return 0
	}
	total := 0.0
	for _, p := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || v < 0 || v > maxDuration {
			return 0
		}
		total = total*60 + v
	}
	if total > maxDuration {
		return 0
	}
	return int64(total)
}

// typeOf guesses a media type from the end of an address.
func typeOf(url string) string {
	url, _, _ = strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	switch strings.ToLower(path.Ext(url)) {
	case ".jpg", ".jpeg", ".jfif":
		return "image/jpeg"
	case ".png":
		return "image/png"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".avif":
		return "image/avif"
	case ".svg":
		return "image/svg+xml"
	case ".mp4", ".m4v":
		return "video/mp4"
	case ".webm":
		return "video/webm"
	case ".mov":
		return "video/quicktime"
	case ".mp3":
		return "audio/mpeg"
	case ".m4a":
		return "audio/mp4"
	case ".ogg", ".oga":
		return "audio/ogg"
	case ".pdf":
		return "application/pdf"
	}
	return ""
}
