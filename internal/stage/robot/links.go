package robot

import (
	"net/http"
	"strings"

	"github.com/courant-platform/courant/internal/kit/link"
)

// Bounds of what is read from a response's Link header.
const (
	mostLinks  = 32      // links
	mostHubs   = 4       // hubs among them
	longestURL = 2 << 10 // bytes
)

// linked is the WebSub part of a response's Link header: absolute addresses.
type linked struct {
	hubs []string
	self string
}

// websubLinks reads the links hub and self of a header (RFC 8288 section 3, W3C
// WebSub section 4). Malformed links are skipped.
func websubLinks(h http.Header, base string) (out linked) {
	rest := strings.Join(h.Values("Link"), ",")
	for range mostLinks {
		_, after, ok := strings.Cut(rest, "<")
		target, after, closed := strings.Cut(after, ">")
		if !ok || !closed {
			return out
		}
		var rels []string
		rels, rest = relations(after)
		url := link.Resolve(base, strings.TrimSpace(target))
		if url == "" || len(url) > longestURL || strings.ContainsAny(url, " \t") {
			continue
		}
		out.add(url, rels)
	}
	return out
}

func (l *linked) add(url string, rels []string) {
	for _, rel := range rels {
		switch {
		case rel == "hub" && len(l.hubs) < mostHubs:
			l.hubs = append(l.hubs, url)
		case rel == "self" && l.self == "":
			l.self = url
		}
	}
}

// relations reads the parameters of a link up to the comma that ends it. The first
// rel counts.
func relations(params string) (rels []string, rest string) {
	for {
		params = strings.TrimLeft(params, " \t;")
		end := strings.IndexAny(params, "=;,")
		if end < 0 {
			return rels, ""
		}
		name, at := strings.ToLower(strings.TrimSpace(params[:end])), params[end]
		params = params[end+1:]
		if at == ',' {
			return rels, params
		}
		if at == ';' {
			continue
		}
		var value string
		value, params = parameter(params)
		if name == "rel" && rels == nil {
			rels = strings.Fields(strings.ToLower(value))
		}
	}
}

// parameter reads a value, quoted or not.
func parameter(s string) (value, rest string) {
	s = strings.TrimLeft(s, " \t")
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		value, rest, _ = strings.Cut(quoted, `"`)
		return value, rest
	}
	end := strings.IndexAny(s, ";,")
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}
