package charset

import (
	"bytes"
	"unicode/utf8"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// printable replaces C1 controls in UTF-8 by what charref.Printable returns for them,
// and reports whether anything was replaced.
func printable(b []byte) (text []byte, mended bool) {
	at := control(b, 0)
	if at < 0 {
		return b, false
	}
	out := make([]byte, 0, len(b)+len(b)/64)
	from := 0
	for ; at >= 0; at = control(b, from) {
		out = append(out, b[from:at]...)
		out = utf8.AppendRune(out, charref.Printable(rune(b[at+1])))
		from = at + 2
	}
	return append(out, b[from:]...), true
}

// control returns the offset of the first C1 control at or after from that windows-1252
// defines, or -1.
func control(b []byte, from int) int {
	for {
		i := bytes.IndexByte(b[from:], 0xc2)
		if i < 0 || from+i+1 >= len(b) {
			return -1
		}
		from += i
		if c := rune(b[from+1]); c <= 0x9f && charref.Printable(c) != c {
			return from
		}
		from++
	}
}
