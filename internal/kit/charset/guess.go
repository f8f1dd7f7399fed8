package charset

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// choose returns the encoding of bytes without a byte order mark; sound reports that
// they are valid UTF-8.
func choose(b []byte, declared string) (name string, sound bool) {
	multibyte, broken := census(b)
	switch {
	case multibyte == 0 && broken == 0: // ASCII
		if declared == "" || strings.HasPrefix(declared, "utf-") {
			return "utf-8", true
		}
		return declared, false
	case broken == 0 && (!isEastAsian(declared) || multibyte >= surelyUTF8):
		return "utf-8", true
	case declared == "utf-8" || declared == "":
		if multibyte > 2*broken {
			return "utf-8", broken == 0 // a few damaged characters
		}
		return guess(b), false
	case strings.HasPrefix(declared, "utf-16"), strings.HasPrefix(declared, "utf-32"):
		return guess(b), false // there are no zero bytes: mark would have found them
	case multibyte > 8 && multibyte > 20*broken && !isEastAsian(declared):
		return "utf-8", false
	}
	return corrected(b, declared), false
}

// surelyUTF8 is how many valid UTF-8 characters are enough to exclude chance.
const surelyUTF8 = 6

// isEastAsian reports whether text in an encoding can look like UTF-8.
func isEastAsian(name string) bool {
	switch name {
	case "gbk", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis", "iso-2022-jp":
		return true
	}
	return false
}

// censusWindow is how many damaged and multibyte characters of a large document are
// counted.
const censusWindow = 1 << 16

// leads counts the bytes that begin a multibyte character of UTF-8, up to most. It skips
// ASCII eight bytes at a time.
func leads(b []byte, most int) (n int) {
	for i := 0; i < len(b) && n < most; i++ {
		for i+8 <= len(b) && binary.LittleEndian.Uint64(b[i:])&0x8080808080808080 == 0 {
			i += 8
		}
		if i < len(b) && b[i] >= 0xc0 {
			n++
		}
	}
	return n
}

// census counts the valid multibyte characters of b in UTF-8 and the invalid ones.
func census(b []byte) (multibyte, broken int) {
	if utf8.Valid(b) {
		return leads(b, surelyUTF8), 0
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
