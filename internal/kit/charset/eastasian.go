package charset

// minPairs is how many two-byte characters are needed to distinguish encodings.
const minPairs = 12

// pairs counts two-byte characters and invalid bytes.
type pairs struct {
	all, bad       int
	kana           int // hiragana and katakana
	low            int // the second byte is in ASCII
	hangul, common int // in the rows of Korean syllables and of frequent Big5 characters
}

// sound reports whether text consists of valid pairs.
func (p *pairs) sound() bool { return p.all >= minPairs && p.bad*50 <= p.all }

// eastAsian returns the East Asian encoding of text, or "".
func eastAsian(b []byte) string {
	if len(b) > censusWindow {
		b = b[:censusWindow]
	}
	euc, wide, sjis := countEUC(b), countWide(b), countShiftJIS(b)
	switch {
	case euc.sound() && euc.kana*5 > euc.all:
		return "euc-jp"
	case sjis.sound() && sjis.kana*5 > sjis.all:
		return "shift_jis"
	case euc.sound() && euc.hangul*100 > euc.all*85:
		return "euc-kr"
	case euc.sound():
		return "gb18030"
	case wide.sound() && wide.low*6 > wide.all && wide.common*100 > wide.all*75:
		return "big5"
	case wide.sound() && wide.low*6 <= wide.all:
		return "gb18030"
	}
	return ""
}

// countEUC counts pairs of high bytes, as in EUC-KR, GB2312 and EUC-JP.
func countEUC(b []byte) (p pairs) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c < 0x80:
			continue
		case c < 0xa1 || i+1 >= len(b) || b[i+1] < 0xa1:
			p.bad++
			continue
		case c == 0xa4 || c == 0xa5:
			p.kana++
			p.all++
		case c >= 0xb0: // the rows below hold punctuation, which all languages use
			p.all++
			if c <= 0xc8 {
				p.hangul++
			}
		}
		i++
	}
	return p
}

// countWide counts pairs of Big5 and GBK.
func countWide(b []byte) (p pairs) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c < 0x80 {
			continue
		}
		if c == 0x80 || c == 0xff || i+1 >= len(b) || b[i+1] < 0x40 || b[i+1] == 0x7f || b[i+1] == 0xff {
			p.bad++
			continue
		}
		if i++; b[i] < 0x80 {
			p.low++
		}
		if c >= 0xa4 && c <= 0xc6 || c == 0xa1 {
			p.common++
		}
		p.all++
	}
	return p
}

// countShiftJIS counts pairs of Shift_JIS; narrow katakana have one byte.
func countShiftJIS(b []byte) (p pairs) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c < 0x80 || c >= 0xa1 && c <= 0xdf {
			continue
		}
		if c == 0x80 || c == 0xa0 || c > 0xfc || i+1 >= len(b) || b[i+1] < 0x40 || b[i+1] == 0x7f || b[i+1] > 0xfc {
			p.bad++
			continue
		}
		i++
		if c == 0x82 && b[i] >= 0x9f || c == 0x83 && b[i] <= 0x96 {
			p.kana++
		}
		p.all++
	}
	return p
}
