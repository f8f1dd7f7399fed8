package link

import (
	"strings"

	"github.com/courant-platform/courant"
)

// parts is a parsed URL. Every part but the scheme is escaped as in the standard.
type parts struct {
	scheme      string // http or https
	host        string // with the port, if it is not the default
	path        string // begins with a slash, without dot segments
	query       string
	fragment    string
	hasQuery    bool
	hasFragment bool
	userinfo    bool
}

func (p *parts) String() string {
	var b strings.Builder
	b.Grow(len(p.scheme) + len(p.host) + len(p.path) + len(p.query) + len(p.fragment) + 5)
	b.WriteString(p.scheme)
	b.WriteString("://")
	b.WriteString(p.host)
	b.WriteString(p.path)
	if p.hasQuery {
		b.WriteByte('?')
		b.WriteString(p.query)
	}
	if p.hasFragment {
		b.WriteByte('#')
		b.WriteString(p.fragment)
	}
	return b.String()
}

// parse parses raw, relative to base if it is not nil.
func parse(raw string, base *parts) (parts, error) {
	raw = strip(raw)
	scheme, rest, ok := cutScheme(raw)
	switch {
	case !ok && base == nil:
		return parts{}, courant.Errorf(courant.Invalid, "the URL is not absolute: it must begin with http:// or https://")
	case !ok:
		return relative(base.scheme, raw, base)
	case scheme != "http" && scheme != "https":
		return parts{}, courant.Errorf(courant.Invalid, "the scheme %.20q is not http or https", scheme)
	case base != nil && scheme == base.scheme && !(isSlash(rest, 0) && isSlash(rest, 1)):
		return relative(scheme, rest, base) // http:path, an old spelling of path
	}
	return authority(scheme, strings.TrimLeft(rest, `/\`))
}

// strip removes what the standard ignores: spaces and controls at the ends, tabs and
// line breaks everywhere.
func strip(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' || r == '\u00a0' || r == '\ufeff' })
	if !strings.ContainsAny(s, "\t\n\r") {
		return s
	}
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
}

// cutScheme splits "scheme:rest" and returns the scheme in lower case.
func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == ':' && i > 0:
			return strings.ToLower(s[:i]), s[i+1:], true
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return "", s, false
		}
	}
	return "", s, false
}

func isSlash(s string, i int) bool { return i < len(s) && (s[i] == '/' || s[i] == '\\') }

// authority parses what follows "http://".
func authority(scheme, rest string) (parts, error) {
	end := strings.IndexAny(rest, `/\?#`)
	if end < 0 {
		end = len(rest)
	}
	p := parts{scheme: scheme}
	hostport := rest[:end]
	if i := strings.LastIndexByte(hostport, '@'); i >= 0 {
		p.userinfo = true
		hostport = hostport[i+1:]
	}
	var err error
	if p.host, err = canonicalHost(scheme, hostport); err != nil {
		return parts{}, err
	}
	p.setPath("", rest[end:])
	return p, nil
}

// relative resolves a reference without a scheme.
func relative(scheme, ref string, base *parts) (parts, error) {
	if isSlash(ref, 0) && isSlash(ref, 1) {
		return authority(scheme, strings.TrimLeft(ref, `/\`))
	}
	p := *base
	p.hasFragment, p.fragment = false, ""
	switch {
	case ref == "":
	case ref[0] == '#':
		p.setFragment(ref[1:])
	case ref[0] == '?':
		p.setQuery(ref[1:])
	case isSlash(ref, 0):
		p.setPath("", ref)
	default:
		p.setPath(base.path[:strings.LastIndexByte(base.path, '/')+1], ref)
	}
	return p, nil
}

// setPath sets path, query and fragment; folder is already canonical.
func (p *parts) setPath(folder, rest string) {
	p.hasQuery, p.query = false, ""
	path, tail := rest, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		path, tail = rest[:i], rest[i:]
	}
	if strings.IndexByte(path, '\\') >= 0 {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	path = folder + escape(path, pathByte)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	p.path = removeDots(path)
	switch {
	case tail == "":
	case tail[0] == '?':
		p.setQuery(tail[1:])
	default:
		p.setFragment(tail[1:])
	}
}

func (p *parts) setQuery(s string) {
	query, fragment, ok := strings.Cut(s, "#")
	p.hasQuery, p.query = true, escape(query, queryByte)
	if ok {
		p.setFragment(fragment)
	}
}

func (p *parts) setFragment(s string) {
	p.hasFragment, p.fragment = true, escape(s, fragmentByte)
}

// removeDots removes "." and ".." segments, also escaped ones.
func removeDots(path string) string {
	if !strings.Contains(path, "/.") && !strings.Contains(path, "/%2") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); {
		end := strings.IndexByte(path[i+1:], '/') + i + 1
		last := end == i
		if last {
			end = len(path)
		}
		switch dots(path[i+1 : end]) {
		case 1:
			out = closeFolder(out, last)
		case 2:
			out = closeFolder(out[:max(strings.LastIndexByte(string(out), '/'), 0)], last)
		default:
			out = append(out, path[i:end]...)
		}
		i = end
	}
	return string(out)
}

func closeFolder(out []byte, last bool) []byte {
	if last {
		return append(out, '/')
	}
	return out
}

// dots returns 1 for the segment ".", 2 for "..", in any spelling, else 0.
func dots(segment string) int {
	n := 0
	for segment != "" {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && strings.EqualFold(segment[:3], "%2e"):
			segment = segment[3:]
		default:
			return 0
		}
		n++
	}
	if n > 2 {
		return 0
	}
	return n
}
