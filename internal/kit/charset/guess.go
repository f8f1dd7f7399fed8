package charset

import (
	"strings"
	"unicode/utf8"
)

// choose decides what bytes without a mark really are; sound says that they are
// UTF-8 as they stand.
func choose(b []byte, declared string) (name string, sound bool) {
	multibyte, broken := census(b)
	switch {
	case multibyte == 0 && broken == 0: // ASCII
		if declared == "" || strings.HasPrefix(declared, "utf-") {
			return "utf-8", true
		}
		return declared, false
	case broken == 0 && !isEastAsian(declared):
		return "utf-8", true
	case declared == "utf-8" || declared == "":
		if multibyte > 2*broken {
			return "utf-8", broken == 0 // a few damaged characters
		}
		return guess(b), false
	case strings.HasPrefix(declared, "utf-16"), strings.HasPrefix(declared, "utf-32"):
		return guess(b), false // there are no zero bytes, or mark had seen them
	case multibyte > 8 && multibyte > 20*broken && !isEastAsian(declared):
		return "utf-8", false
	}
	return declared, false
}

// isEastAsian names the encodings whose text can look like UTF-8.
func isEastAsian(name string) bool {
	switch name {
	case "gbk", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis", "iso-2022-jp":
		return true
	}
	return false
}

// censusWindow bounds how much of a large document is counted, in damaged and
// multibyte characters together.
const censusWindow = 1 << 16

// census counts the multibyte characters of b as UTF-8, and what breaks them.
func census(b []byte) (multibyte, broken int) {
	if utf8.Valid(b) {
		for _, c := range b {
			if c >= 0xc0 {
				return 1, 0
			}
		}
		return 0, 0
	}
	for i := 0; i < len(b) && multibyte+broken < censusWindow; {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			broken++
		} else {
			multibyte++
		}
		i += size
	}
	return multibyte, broken
}

// guess names the 8-bit encoding of text by how its letters follow each other:
// Cyrillic words are runs of high bytes, mostly small letters; in Western
// languages a high byte stands alone among ASCII letters.
func guess(b []byte) string {
	var t tally
	for i := 0; i < len(b) && t.runs+t.single < censusWindow; i++ {
		if b[i] < 0x80 {
			continue
		}
		start := i
		for i < len(b) && b[i] >= 0x80 {
			i++
		}
		t.count(b[start:i])
	}
	switch {
	case t.runs <= t.single/4 || t.letters < t.others:
		return "windows-1252"
	case t.iso > t.windows && t.iso > t.koi:
		return "iso-8859-5"
	case t.koi > t.windows:
		return "koi8-r"
	}
	return "windows-1251"
}

// tally counts runs of high bytes, and in them the bytes that are small letters
// in each of the Cyrillic encodings.
type tally struct {
	runs, single      int
	letters, others   int
	windows, koi, iso int
}

func (t *tally) count(run []byte) {
	if len(run) < 3 {
		t.single++
		return
	}
	t.runs++
	for _, c := range run[1:] {
		switch {
		case c >= 0xe0:
			t.windows++
		case c >= 0xc0:
			t.koi++
		default:
			t.others++
			continue
		}
		t.letters++
		if c >= 0xd0 && c < 0xf0 {
			t.iso++
		}
	}
}
