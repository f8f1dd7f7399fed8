// Package rules parses robots.txt by RFC 9309 and tells what an agent may fetch. It
// never fails: what it cannot parse forbids nothing.
package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxSize is how many bytes of a file are parsed: the minimum of RFC 9309 section 2.5.
const MaxSize = 500 << 10

// maxDelay bounds Crawl-delay, which is not part of the standard: a longer delay would
// amount to a ban.
const maxDelay = 10 * time.Minute

// Rules are the groups of a file that apply to one agent.
type Rules struct {
	rules []rule
	// Delay is the minimum time between two requests (Crawl-delay), 0 if the file has none.
	Delay time.Duration
	// Sitemaps are the addresses that the file names, for all agents.
	Sitemaps []string
}

type rule struct {
	pattern string // with non-ASCII bytes escaped
	plain   string // also with unreserved characters unescaped
	allow   bool
}

// Parse keeps what applies to the agent, a product token such as "courant": the
// groups that name it, else those of "*".
func Parse(text []byte, agent string) Rules {
	if len(text) > MaxSize {
		text = text[:MaxSize]
	}
	agent = Token(agent)
	var own, all group
	var reader reader
	for line := range lines(strings.TrimPrefix(string(text), "\ufeff")) {
		reader.line(line, agent, &own, &all)
	}
	chosen := all
	if own.seen {
		chosen = own
	}
	for i, r := range chosen.rules { // do not keep the whole text in memory
		chosen.rules[i].pattern, chosen.rules[i].plain = strings.Clone(r.pattern), strings.Clone(r.plain)
		if r.pattern == r.plain {
			chosen.rules[i].plain = chosen.rules[i].pattern
		}
	}
	for i, address := range reader.sitemaps {
		reader.sitemaps[i] = strings.Clone(address)
	}
	return Rules{rules: slices.Clip(chosen.rules), Delay: chosen.delay, Sitemaps: reader.sitemaps}
}

// lines splits at LF, CR and CRLF.
func lines(text string) func(func(string) bool) {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' })
}

// Token is the product token of a User-Agent, by which robots.txt names it, in lower
// case: the letters, '-' and '_' at its start.
func Token(agent string) string {
	for i := range len(agent) {
		c := agent[i] | 0x20
		if (c < 'a' || c > 'z') && agent[i] != '-' && agent[i] != '_' {
			return strings.ToLower(agent[:i])
		}
	}
	return strings.ToLower(agent)
}

// group collects the rules of all groups that name one agent.
type group struct {
	seen  bool
	rules []rule
	delay time.Duration
}

// reader is the state of the parser: which groups the current rules belong to.
type reader struct {
	inOwn, inAll bool
	named        bool // the current group has agents and no rules yet
	sitemaps     []string
}

func (r *reader) line(line, agent string, own, all *group) {
	key, value, ok := field(line)
	if !ok {
		return
	}
	switch key {
	case "user-agent":
		r.agent(value, agent, own, all)
		return
	case "sitemap":
		r.sitemaps = append(r.sitemaps, value)
		return
	}
	if key == "allow" || key == "disallow" {
		r.named = false // other lines may stand between the agents of a group
	}
	if r.inOwn {
		own.add(key, value)
	}
	if r.inAll {
		all.add(key, value)
	}
}

// agent begins a group, or adds an agent to the one that just began.
func (r *reader) agent(value, agent string, own, all *group) {
	if !r.named {
		r.inOwn, r.inAll = false, false
	}
	r.named = true
	if value == "*" || strings.HasPrefix(value, "* ") {
		r.inAll = true
	} else if agent != "" && Token(value) == agent {
		r.inOwn, own.seen = true, true
	}
	all.seen = all.seen || r.inAll
}

func (g *group) add(key, value string) {
	switch key {
	case "allow", "disallow":
		if value != "" {
			g.rules = append(g.rules, rule{pattern: escaped(value), plain: plain(value), allow: key == "allow"})
		}
	case "crawl-delay":
		s, err := strconv.ParseFloat(value, 64)
		if err == nil && s > 0 && !math.IsInf(s, 0) {
			g.delay = time.Duration(math.Ceil(min(s, maxDelay.Seconds())*1000)) * time.Millisecond
		}
	}
}

// field splits a line at its colon, or at its blank if there is none, and corrects
// common misspellings.
func field(line string) (key, value string, ok bool) {
	if i := strings.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	key, value, ok = strings.Cut(line, ":")
	if !ok {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return "", "", false
		}
		key, value = fields[0], fields[1]
	}
	key = strings.ToLower(strings.TrimSpace(key))
	switch {
	case key == "user-agent" || key == "useragent" || key == "user agent":
		key = "user-agent"
	case key == "dissallow" || key == "dissalow" || key == "disalow" || key == "diasllow" || key == "disallaw":
		key = "disallow"
	case key == "site-map":
		key = "sitemap"
	case key == "crawldelay":
		key = "crawl-delay"
	}
	return key, strings.TrimSpace(value), true
}

// Allowed reports whether a path, with its query, may be fetched. The longest
// matching rule decides; of two of equal length, the one that allows. robots.txt
// itself is always allowed. RFC 9309 treats %62 as b, the reference parser does not:
// a disallow rule applies to both spellings, an allow rule only to its own.
func (r Rules) Allowed(path string) bool {
	if path == "" {
		path = "/"
	}
	if path == "/robots.txt" {
		return true
	}
	other := plain(path)
	best, allow := -1, true
	for _, rule := range r.rules {
		if n := len(rule.pattern); n < best || n == best && !rule.allow {
			continue
		}
		if match(rule.pattern, path) || !rule.allow && match(rule.plain, other) {
			best, allow = len(rule.pattern), rule.allow
		}
	}
	return allow
}

// match compares from the start of the path; '*' matches any characters and '$' at
// the end of the pattern matches the end. It backtracks only to the last '*', so its
// cost is bounded by the product of the two lengths.
func match(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	p, s := 0, 0
	star, mark := -1, 0
	for {
		switch {
		case p == len(pattern) && (!anchored || s == len(path)):
			return true
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, s
			p++
		case p < len(pattern) && s < len(path) && pattern[p] == path[s]:
			p, s = p+1, s+1
		case star >= 0 && mark < len(path):
			mark++
			p, s = star+1, mark
		default:
			return false
		}
	}
}

// escaped writes non-ASCII bytes as %XX, and hexadecimal digits in upper case.
func escaped(s string) string { return respell(s, false) }

// plain also unescapes unreserved characters.
func plain(s string) string { return respell(s, true) }

func respell(s string, unescape bool) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == '%' || r >= 0x80 }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, was := s[i], false
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			n, _ := strconv.ParseUint(s[i+1:i+3], 16, 8)
			c, was = byte(n), true
			i += 2
		}
		if c >= 0x80 || was && !(unescape && unreserved(c)) {
			escape(&b, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func escape(b *strings.Builder, c byte) {
	const digits = "0123456789ABCDEF"
	b.Write([]byte{'%', digits[c>>4], digits[c&15]})
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// unreserved are the characters of RFC 3986 section 2.3.
func unreserved(c byte) bool {
	l := c | 0x20
	return 'a' <= l && l <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}
