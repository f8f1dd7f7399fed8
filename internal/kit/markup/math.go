package markup

import (
	"bytes"
	"strings"
)

// maxFormula is the limit of nested elements of a formula.
const maxFormula = 64

// formula writes MathML as text on one line: x^2, (a+b)/2, √(x). MathML itself never
// reaches the output, because browsers parse HTML inside it by other rules, which attacks
// use.
type formula struct {
	c    *Cleaner
	open []term
	tex  []byte // the annotation, used if there is nothing else
}

// term is an open element of a formula.
type term struct {
	name  string
	count int  // children so far
	brace bool // it is in parentheses
}

// math reads a formula up to its end tag. A block ends it too, as in the HTML standard.
func (c *Cleaner) math() {
	s := &c.scan
	mark := len(c.dst)
	if s.shut() {
		return
	}
	f := formula{c: c, open: make([]term, 0, 8)}
	f.tex = appendEscapedText(nil, limited(s.attr("alttext")))
	for at := s.pos; ; at = s.pos {
		kind := s.next()
		if kind == endOfInput || kind == endToken && s.name == "math" {
			break
		}
		if kind == startToken && s.el.block {
			s.pos = at
			break
		}
		f.token(kind)
	}
	f.closeTo(0)
	if len(bytes.TrimSpace(c.dst[mark:])) == 0 {
		c.dst = append(c.dst[:mark], f.tex...)
	}
}

// token handles one token inside a formula. HTML elements inside it have no tags in the
// output.
func (f *formula) token(kind tokenKind) {
	s := &f.c.scan
	switch {
	case kind == textToken:
		f.text(s.text)
	case kind == startToken && s.el.drop:
		f.c.drop(s.name)
		if !s.el.raw {
			s.skip()
		}
	case kind == startToken && s.name == "annotation-xml" && s.closes(s.name):
		s.leave() // the formula in another notation
	case kind == startToken && s.el.special, s.el.void:
		f.c.drop(s.name) // pictures have no place in a formula
	case kind == startToken:
		f.start()
	default:
		f.end()
	}
}

// text writes text between tags without the white space around it.
func (f *formula) text(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	for i := len(f.open) - 1; i >= 0; i-- {
		switch f.open[i].name {
		case "annotation":
			if len(f.tex) == 0 && len(text) <= maxValue {
				f.tex = appendText(f.tex, text)
			}
			return
		}
	}
	f.c.dst = appendText(f.c.dst, text)
}

// start writes what comes before an element: the operator that its parent puts between
// its children, and a parenthesis around several elements.
func (f *formula) start() {
	s := &f.c.scan
	if len(f.open) > 0 {
		parent := &f.open[len(f.open)-1]
		f.c.dst = append(f.c.dst, between(parent.name, parent.count)...)
		parent.count++
	}
	if s.shut() || len(f.open) >= maxFormula {
		return
	}
	t := term{name: strings.Clone(s.name)}
	switch t.name {
	case "msqrt", "mroot":
		f.c.dst = append(f.c.dst, "√("...)
		t.brace = true
	case "mrow", "mstyle", "mpadded", "mfenced", "mfrac", "msup", "msub", "msubsup", "munder", "mover", "munderover", "mtable":
		if t.brace = t.name == "mfenced" || len(f.open) > 0 && groups(f.open[len(f.open)-1].name); t.brace {
			f.c.dst = append(f.c.dst, '(')
		}
	}
	f.open = append(f.open, t)
}

// end closes the nearest open element with the name of the current end tag.
func (f *formula) end() {
	for i := len(f.open) - 1; i >= 0; i-- {
		if f.open[i].name == f.c.scan.name {
			f.closeTo(i)
			return
		}
	}
}

// closeTo closes elements until n are open.
func (f *formula) closeTo(n int) {
	for len(f.open) > n {
		if f.open[len(f.open)-1].brace {
			f.c.dst = append(f.c.dst, ')')
		}
		f.open = f.open[:len(f.open)-1]
	}
}

// groups reports whether the children of an element need parentheses if they consist of
// several elements.
func groups(parent string) bool {
	switch parent {
	case "mfrac", "msup", "msub", "msubsup", "munder", "mover", "munderover":
		return true
	}
	return false
}

// between returns what stands before a child of an element that has count others.
func between(parent string, count int) string {
	if count == 0 {
		return ""
	}
	switch parent {
	case "mfrac":
		return "/"
	case "msup", "mover":
		return "^"
	case "msub", "munder":
		return "_"
	case "msubsup", "munderover":
		if count == 1 {
			return "_"
		}
		return "^"
	case "mroot", "mtable":
		return "; "
	case "mfenced", "mtr", "mlabeledtr":
		return ", "
	}
	return ""
}
