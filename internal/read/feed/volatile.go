package feed

import (
	"strings"

	"github.com/courant-platform/courant/internal/kit/link"
)

// html appends clean HTML without parts that differ between requests although nothing
// was edited: white space, counters, and what stable drops from addresses.
func (h *hasher) html(s string) {
	start := len(h.buf)
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			i = len(s)
		}
		h.run(s[:i])
		if s = s[i:]; s == "" {
			break
		}
		end := tagEnd(s)
		h.tag(s[:end])
		s = s[end:]
	}
	h.number(len(h.buf) - start)
}

// tagEnd returns the length of the tag at the beginning of s. Most tags are too short for
// the search of strings to pay.
func tagEnd(s string) int {
	for i := range min(len(s), 8) {
		if s[i] == '>' {
			return i + 1
		}
	}
	if end := strings.IndexByte(s, '>') + 1; end > 0 {
		return end
	}
	return len(s)
}

// run appends text between tags.
func (h *hasher) run(s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if isRagged(s) {
		s = strings.Join(strings.Fields(s), " ")
	}
	if len(s) <= maxCounter && isCounter(s) {
		s = strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' || c == ' ' || c == ',' || c == '.' || c == '\u00a0' || c == '\u202f' {
				return -1 // also 1 000 after 999
			}
			return c
		}, s)
	}
	h.buf = append(h.buf, s...)
}

// isRagged reports whether text has line breaks, tabs or double spaces; it may be true
// of other text. It compares eight bytes at a time.
func isRagged(s string) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i, last := 0, uint64(0)
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		x := w ^ ' '*ones
		blank := (x - ones) &^ x & high
		if (w-' '*ones)&^w&high|blank&(blank<<8|last) != 0 {
			return true
		}
		last = blank >> 56
	}
	for i = max(i-1, 0); i < len(s); i++ {
		if s[i] < ' ' || s[i] == ' ' && i+1 < len(s) && s[i+1] == ' ' {
			return true
		}
	}
	return false
}

// tag appends a tag with stable addresses.
func (h *hasher) tag(s string) {
	for {
		i := -1
		if len(s) > len(`<a b="http`) {
			i = strings.Index(s, `="http`)
		}
		if i < 0 || strings.IndexByte(s, '?') < 0 && strings.IndexByte(s, ';') < 0 {
			h.buf = append(h.buf, s...)
			return
		}
		h.buf = append(h.buf, s[:i+2]...)
		s = s[i+2:]
		end := strings.IndexByte(s, '"')
		if end < 0 {
			end = len(s)
		}
		h.buf = append(h.buf, stable(strings.ReplaceAll(s[:end], "&amp;", "&"))...)
		s = s[end:]
	}
}

// stable returns an address without parameters for tracking, sessions and requests;
// for an advertisement only the host.
func stable(url string) string {
	if i := strings.Index(url, ";jsessionid="); i >= 0 {
		rest := url[i+1:]
		url = url[:i]
		if q := strings.IndexByte(rest, '?'); q >= 0 {
			url += rest[q:]
		}
	}
	if strings.IndexByte(url, '?') < 0 {
		return url
	}
	if isAd(link.Host(url)) {
		return link.Host(url)
	}
	if canonical, err := link.Canonical(url); err == nil { // without tracking
		url = canonical
	}
	head, query, ok := strings.Cut(url, "?")
	if !ok {
		return url
	}
	kept := []string{head}
	for param := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(param, "="); !isVolatile(strings.ToLower(name)) {
			kept = append(kept, param)
		}
	}
	return strings.Join(kept, "&")
}

// isVolatile reports whether a parameter holds a session, a signature or a random
// number.
func isVolatile(name string) bool {
	switch name {
	case "", "_", "sid", "phpsessid", "jsessionid", "aspsessionid", "session", "sessionid", "session_id", "cfid", "cftoken",
		"token", "viewtoken", "view_token", "nonce", "rand", "random", "rnd", "cb", "cachebuster", "nocache", "timestamp", "ts",
		"expires", "signature", "sig", "key-pair-id", "policy", "hmac", "oh", "oe", "_nc_ohc", "_nc_gid":
		return true
	}
	return strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "x-goog-") || strings.HasPrefix(name, "utm_")
}

// isAd says whether a host serves advertisements.
func isAd(host string) bool {
	if strings.HasPrefix(host, "ad.") || strings.HasPrefix(host, "ads.") || strings.HasPrefix(host, "adserver.") {
		return true
	}
	for _, h := range [...]string{"doubleclick.net", "googlesyndication.com", "an.yandex.ru", "adfox.ru", "feedads.g.doubleclick.net",
		"pheedo.com", "adriver.ru", "buysellads.com", "carbonads.net", "mc.yandex.ru", "counter.yadro.ru", "top-fwz1.mail.ru"} {
		if host == h || strings.HasSuffix(host, "."+h) {
			return true
		}
	}
	return false
}

// maxCounter is the longest text of a counter in bytes.
const maxCounter = 72

// isCounter reports whether a short text counts something: a number beside a word for
// views, comments and the like, or "seen 10 times, 1 today".
func isCounter(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		end := i + 1
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		before := strings.TrimRight(s[:i], separators)
		after := strings.TrimLeft(s[end:], separators)
		if isCounted(before[strings.LastIndexAny(before, separators)+1:]) {
			return true
		}
		if n := strings.IndexAny(after, separators); n >= 0 {
			after = after[:n]
		}
		if isCounted(after) || after == "times" && hasAny(s, "een ", "ead ", "isited ", "iewed ") {
			return true
		}
		i = end
	}
	return false
}

// separators stand between a number and what it counts.
const separators = " :()[],.|"

func hasAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// isCounted reports whether a word is for something that is counted.
func isCounted(w string) bool {
	if len(w) < len("view") {
		return false
	}
	switch w = strings.ToLower(w); w {
	case "view", "views", "hits", "visits", "visitors", "comment", "comments", "likes", "shares", "downloads", "replies":
		return true
	}
	for _, stem := range [...]string{"просмотр", "прочит", "прочтен", "комментари", "посещен", "посетител", "лайк", "скачив",
		"aufrufe", "kommentare", "vues", "commentaire", "visitas", "comentario", "lecturas", "浏览", "阅读", "评论", "閲覧"} {
		if strings.HasPrefix(w, stem) {
			return true
		}
	}
	return false
}
