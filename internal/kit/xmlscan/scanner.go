// Package xmlscan reads the XML of feeds and catalogues: one token at a time, without
// copying and without a DTD. It repairs and reports input that is not well formed
// and never fails. Time and memory are linear in the size of any input. It resolves
// namespaces, expands internal entities within limits, and fetches nothing.
package xmlscan

import "strings"

// Kind is the kind of a token.
type Kind uint8

// The kinds of token. An empty element gives a Start and an End; so does every
// element whose end tag is missing.
const (
	EOF Kind = iota
	Start
	End
	Text
)

// MaxDepth is the limit of nested elements; the tags of deeper ones are left out.
const MaxDepth = 256

const maxAttrs = 256

// Name is the name of an element: Space is the result of Scanner.Space for its
// namespace, Local is in lower case.
type Name struct{ Space, Local string }

// Attr is an attribute with its raw, undecoded value.
type Attr struct {
	Name, Value string

	read bool // somebody asked for it
}

// Fault is something that was repaired. Offset is its byte offset in the source.
type Fault struct {
	Code    string // stable
	Offset  int
	Element string // name as written, or that of the enclosing element
	Text    string // a sentence
}

// Scanner reads Source. The exported fields from Name on describe the current token
// and are valid until the next call of Next.
type Scanner struct {
	Source string
	// Space maps the URI of a namespace to a short key; uri is "" for an undeclared
	// prefix. If Space is nil, the key is the prefix.
	Space func(uri, prefix string) string
	// Rebase resolves an address against an xml:base inside the contents that Inner
	// returns, and such an xml:base against the enclosing one ("" if there is none).
	// If Rebase is nil, addresses stay as they are.
	Rebase func(base, ref string) string
	// Report is called for every fault; it may be nil.
	Report func(Fault)
	// Ignored is called for every attribute that nobody has asked for when the scanner
	// moves on from its Start, except declarations of namespaces and attributes inside
	// the contents that Inner and Skip read. It may be nil.
	Ignored func(attr string)
	// Refill returns the piece of the document that follows Source, "" at the end.
	// Offsets count from the beginning of the piece, which must be the beginning of a
	// token. It may be nil.
	Refill func() string

	Name   Name   // of a Start or End
	Raw    string // the name as written
	Attrs  []Attr // of a Start
	Text   string // of a Text; references are not decoded
	CDATA  bool
	Offset int // where the token begins

	kind    Kind
	pos     int
	push    bool            // the next call opens the current Start
	allRead bool            // the attributes of the current Start are marked as read
	empty   bool            // the current Start is an empty element
	strays  int             // end tags without a start tag
	over    int             // open elements beyond MaxDepth
	beyond  map[string]bool // their names
	open    []openTag
	spaces  []binding
	names   map[string]split
	told    map[string]bool // undeclared prefixes reported so far
	noQuote [2]bool         // no more double or single quotes in the source
	dtd     bool            // an external DTD may declare entities
	// the internal entities of the document, and the total length of their expansions
	entities map[string]*entity
	expanded int
	spent    bool // no more expansions
	openDTD  bool // an internal subset has no end
	openPI   bool // a processing instruction has no end
	deep     bool
	cut      bool
	buffer   []byte
	bases    []inlineBase // inside the contents that Inner reads
}

type openTag struct {
	raw  string
	name Name
}

// split is the name of an element in two parts; local is in lower case.
type split struct{ prefix, local string }

// binding binds a prefix to a key while more than depth elements are open.
type binding struct {
	prefix, key string
	depth       int
}

// Depth returns the number of elements around the current token.
func (s *Scanner) Depth() int { return len(s.open) }

// Parent returns the name as written of the innermost open element, "" if there is none.
func (s *Scanner) Parent() string {
	if len(s.open) == 0 {
		return ""
	}
	return s.open[len(s.open)-1].raw
}

// Rest returns the unread part of Source.
func (s *Scanner) Rest() string { return s.Source[s.pos:] }

// Truncated reports whether the source ended inside an element.
func (s *Scanner) Truncated() bool { return s.cut }

// Next moves to the next token and returns its kind.
func (s *Scanner) Next() Kind {
	s.kind = s.next()
	return s.kind
}

// Kind returns the kind of the current token.
func (s *Scanner) Kind() Kind { return s.kind }

// Unread makes Next return the current Start again, as a child of the elements that
// are open then.
func (s *Scanner) Unread() {
	s.push, s.empty = false, false
	s.pos = s.Offset
	s.unbind()
}

// CloseTo closes elements until depth are open, as if their end tags came here.
func (s *Scanner) CloseTo(depth int) {
	for len(s.open) > depth {
		s.pop()
	}
	s.over = 0
}

// next opens the element of the last Start and reads the next token.
func (s *Scanner) next() Kind {
	if s.push {
		s.push = false
		if s.Ignored != nil && !s.allRead && len(s.Attrs) > 0 {
			s.reportIgnored()
		}
		if s.open == nil {
			s.open = make([]openTag, 0, 8)
		}
		s.open = append(s.open, openTag{raw: s.Raw, name: s.Name})
	}
	if s.empty {
		s.empty = false
		s.pop()
		return End
	}
	for s.pos < len(s.Source) || s.refill() {
		s.Offset = s.pos
		rest := s.Source[s.pos:]
		switch {
		case rest[0] != '<' || !isMarkup(rest):
			return s.text(rest)
		case rest[1] == '!' && strings.HasPrefix(rest, "<![CDATA["):
			return s.cdata(rest)
		case rest[1] == '!' || rest[1] == '?':
			s.declaration(rest)
		case rest[1] == '/':
			if s.endTag(rest) {
				return End
			}
		default:
			if s.startTag() {
				return Start
			}
		}
	}
	return s.finish()
}

// refill moves to the next piece of the document.
func (s *Scanner) refill() bool {
	if s.Refill == nil || s.cut {
		return false
	}
	next := s.Refill()
	if next == "" {
		s.Refill = nil
		return false
	}
	s.Source, s.pos = next, 0
	s.noQuote, s.openDTD, s.openPI = [2]bool{}, false, false
	return true
}

// finish closes what is still open when the source ends.
func (s *Scanner) finish() Kind {
	if len(s.open) == 0 {
		return EOF
	}
	if !s.cut {
		s.cut = true
		s.fault("truncated", len(s.Source), s.open[len(s.open)-1].raw, "the document ends in the middle; send the whole document")
	}
	s.Offset = len(s.Source)
	s.pop()
	return End
}

// isMarkup reports whether the '<' at the beginning of s begins markup.
func isMarkup(s string) bool {
	if len(s) < 2 {
		return false
	}
	c := s[1]
	if c == '/' {
		return len(s) > 2 && isNameStart(s[2])
	}
	return isNameStart(c) || c == '!' || c == '?'
}

func isNameStart(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == ':' || c >= 0x80
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// text reads up to the next markup.
func (s *Scanner) text(rest string) Kind {
	end := 0
	for {
		if rest[end] == '<' {
			s.fault("stray-markup", s.pos+end, "", `the "<" does not begin a tag and was read as text; write &lt;`)
		}
		i := strings.IndexByte(rest[end+1:], '<')
		if i < 0 {
			end = len(rest)
			break
		}
		if end += i + 1; isMarkup(rest[end:]) {
			break
		}
	}
	s.Text, s.CDATA = rest[:end], false
	s.pos += end
	return Text
}

// cdata reads a CDATA section; one without an end extends to the end of the source.
func (s *Scanner) cdata(rest string) Kind {
	const open = len("<![CDATA[")
	s.CDATA = true
	if i := strings.Index(rest[open:], "]]>"); i >= 0 {
		s.Text = rest[open : open+i]
		s.pos += open + i + 3
		return Text
	}
	s.Text = rest[open:]
	s.pos = len(s.Source)
	s.cut = true
	s.fault("truncated", s.Offset, "", "the CDATA section has no end; add ]]>, or send the whole document")
	return Text
}

// fault reports a repair.
func (s *Scanner) fault(code string, offset int, element, text string) {
	if s.Report != nil {
		if element == "" && len(s.open) > 0 {
			element = s.open[len(s.open)-1].raw
		}
		s.Report(Fault{Code: code, Offset: offset, Element: element, Text: text})
	}
}
