package markup

import "strings"

// lazy is what is known of the last picture: a noscript element after a picture that a
// script would load repeats it.
type lazy struct {
	end    int  // offset after its tag
	late   bool // its address comes from an attribute for lazy loading
	script bool // a noscript element is open
	same   bool // the pictures of that element repeat it
}

// The attributes of an image that scripts for lazy loading read, the best first.
var (
	lazySets    = [...]string{"srcset", "data-srcset", "data-lazy-srcset", "data-src-set", "data-original-set", "lazy-srcset"}
	lazySources = [...]string{"data-src", "data-lazy-src", "data-original", "data-lazy", "data-orig-file", "data-original-src", "data-orig-src",
		"data-actualsrc", "data-cfsrc", "data-ezsrc", "data-echo", "data-hi-res-src", "data-full-src", "data-img-src", "data-large-file",
		"data-lazysrc", "data-ll-src", "data-image-src", "lazy-src", "lazysrc", "original-src", "file-src"}
)

// bestSource returns the address of the best version of the current image: the widest of
// its srcset, else that of the attributes for lazy loading, else its src. A source of the
// enclosing picture wins if only it states its width. late reports that a script would
// load the image.
func (c *Cleaner) bestSource() (url string, late bool) {
	s := &c.scan
	sets, others := s.sources()
	for i, name := range &lazySets {
		if !sets {
			break
		}
		if set, ok := s.lookupAttr(name); ok {
			if url, _ := best(set); url != "" {
				if url = c.address(url); url != "" {
					return url, i > 0
				}
			}
		}
	}
	if c.picture.open && c.picture.wide {
		return c.picture.url, false
	}
	for _, name := range &lazySources {
		if !others {
			break
		}
		if raw, ok := s.lookupAttr(name); ok && mayBeAddress(raw) {
			if url := c.address(raw); url != "" {
				return url, true
			}
		}
	}
	if raw, ok := s.lookupAttr("src"); ok {
		if url := c.address(raw); url != "" {
			return url, false
		}
	}
	if raw, ok := s.lookupAttr("data-src"); ok {
		return c.address(raw), true
	}
	return c.picture.url, false
}

// sources reports whether one of lazySets and one of lazySources may be there.
func (s *scanner) sources() (sets, others bool) {
	for i := range s.atts {
		name := s.atts[i].name
		n := len(name)
		if n < len("srcset") {
			continue
		}
		middle, last := name[n-3]|0x20, name[n-1]|0x20
		sets = sets || middle == 's' && last == 't'
		others = others || middle == 's' && last == 'c' || name[4] == '-'
	}
	return sets, others
}

// mayBeAddress excludes values that switch lazy loading on, such as "true" or "1".
func mayBeAddress(value string) bool {
	return strings.IndexByte(value, '.') >= 0 || strings.IndexByte(value, '/') >= 0
}

// noScript begins a noscript element, whose contents are shown: there are no scripts in
// a cleaned page. After a picture that a script would load, its pictures are repetitions.
func (c *Cleaner) noScript() {
	const window = 512
	s := &c.scan
	l := &c.lazy
	l.script, l.same = true, false
	if !l.late || s.pos-l.end > window || !s.closes("noscript") {
		return
	}
	between := strings.TrimSpace(lower(s.src[l.end:s.pos]))
	between = strings.TrimSpace(strings.TrimPrefix(between, "</picture>"))
	l.same = strings.HasPrefix(between, "<noscript") && strings.Count(between, "<") == 1
}

// repeats reports whether a picture in a noscript element is shown already.
func (c *Cleaner) repeats(url string) bool {
	if !c.lazy.script || c.lazy.same {
		return c.lazy.script
	}
	const last = 4
	images := c.found.Images
	for _, im := range images[max(0, len(images)-last):] {
		if im.URL == url {
			return true
		}
	}
	return false
}
