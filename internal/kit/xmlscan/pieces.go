package xmlscan

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/courant-platform/courant/internal/kit/charset"
)

const (
	pieceSize = 1 << 20
	headSize  = 64 << 10
	// maxToken is the longest tag, text or CDATA section in bytes.
	maxToken = 4 << 20
)

// Pieces cuts a document of any size into pieces for Scanner.Refill. Each is in UTF-8
// and begins where a token does. Memory holds one piece at a time.
type Pieces struct {
	Encoding string // WHATWG name, set by the first call of Next
	Healed   bool   // the encoding differs from the declared one, or bytes were invalid

	src      io.Reader
	kind     string // content type for decoding pieces
	rest     []byte // bytes read beyond the current piece
	piece    string
	line     int // line of the beginning of the piece, from 1
	column   int // from 1, in characters
	began    bool
	err      error
	declared string // content type passed to NewPieces
}

// NewPieces returns the pieces of a document; contentType may be "".
func NewPieces(src io.Reader, contentType string) *Pieces {
	return &Pieces{src: src, declared: contentType, line: 1, column: 1}
}

// Err returns the error that stopped reading before the end of the document, or nil.
func (p *Pieces) Err() error { return p.err }

// Next returns the next piece, "" at the end of the document.
func (p *Pieces) Next() string {
	if !p.began {
		p.begin()
	}
	p.advance(len(p.piece))
	raw := p.cut()
	if len(raw) == 0 {
		p.piece = ""
		return ""
	}
	text, name, healed := charset.Decode(raw, p.kind)
	p.Healed = p.Healed || healed && !(name == "utf-8" && p.Encoding != "utf-8")
	p.piece = unsafe.String(unsafe.SliceData(text), len(text)) // safe: raw is not used again
	if p.piece == "" {
		return p.Next() // only characters that XML forbids
	}
	return p.piece
}

// begin detects the encoding from the beginning of the document.
func (p *Pieces) begin() {
	p.began = true
	head := make([]byte, headSize)
	n, err := io.ReadFull(p.src, head)
	if err != nil { // the next read returns the error
		head = head[:n]
	}
	p.Healed = charset.Contradicts(head, p.declared)
	p.kind, p.Encoding, p.src = charset.Stream(head, p.declared, p.src)
}

// cut reads the bytes of the next piece.
func (p *Pieces) cut() []byte {
	for size := pieceSize; ; size *= 2 {
		whole := p.fill(size)
		if whole || size > maxToken {
			out := p.rest
			p.rest = nil
			return out
		}
		if at := boundary(p.rest); at > 0 {
			out := p.rest[:at:at]
			p.rest = bytes.Clone(p.rest[at:])
			return out
		}
	}
}

// fill reads until rest has size bytes, and reports whether the document has ended.
func (p *Pieces) fill(size int) (whole bool) {
	have := len(p.rest)
	if have >= size {
		return false
	}
	buffer := make([]byte, size)
	copy(buffer, p.rest)
	n, err := io.ReadFull(p.src, buffer[have:])
	p.rest = buffer[:have+n]
	if errors.Is(err, io.ErrUnexpectedEOF) {
		_, err = p.src.Read(make([]byte, 1)) // distinguishes a truncated document from a complete one
	}
	if err != nil && !errors.Is(err, io.EOF) && p.err == nil {
		p.err = err
	}
	return err != nil
}

// boundary returns the last offset at which a token is certain to begin, 0 if there is
// none: a start tag outside CDATA sections and comments, or the beginning of one.
func boundary(b []byte) int {
	for at := len(b); at > 0; {
		at = bytes.LastIndexByte(b[:at], '<')
		if at > 0 && at+1 < len(b) && isNameStart(b[at+1]) {
			return unclosed(b[:at])
		}
	}
	return 0
}

// unclosed returns the offset of the last CDATA section or comment if it has no end,
// else the length of b.
func unclosed(b []byte) int {
	for i := len(b); i > 0; {
		if i = bytes.LastIndexByte(b[:i], '!'); i < 1 || b[i-1] != '<' {
			continue
		}
		end := ""
		switch rest := b[i+1:]; {
		case bytes.HasPrefix(rest, []byte("[CDATA[")):
			end = "]]>"
		case bytes.HasPrefix(rest, []byte("--")):
			end = "-->"
		default:
			continue
		}
		if bytes.Contains(b[i:], []byte(end)) {
			break
		}
		return i - 1
	}
	return len(b)
}

// Position returns the line and column (from 1) of an offset in the current piece.
func (p *Pieces) Position(offset int) (line, column int) {
	return position(p.line, p.column, p.piece[:min(offset, len(p.piece))])
}

func position(line, column int, text string) (int, int) {
	if n := strings.Count(text, "\n"); n > 0 {
		line, column = line+n, 1
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	return line, column + utf8.RuneCountInString(text)
}

func (p *Pieces) advance(n int) { p.line, p.column = position(p.line, p.column, p.piece[:n]) }
