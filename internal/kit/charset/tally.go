package charset

// guess returns the encoding of text that declares none: by pairs of bytes for East
// Asian encodings, else by the letters and their order. In Western languages high bytes
// stand alone among ASCII letters; in other scripts words are runs of high bytes.
func guess(b []byte) string {
	t := count(b)
	if t.runs <= t.single/4 {
		return "windows-1252"
	}
	if name := eastAsian(b); name != "" {
		return name
	}
	if name := t.script(); name != "" {
		return name
	}
	switch {
	case t.letters < t.others:
		return "windows-1252"
	case t.iso > t.windows && t.iso > t.koi:
		return "iso-8859-5"
	case t.koi > t.windows:
		return "koi8-r"
	}
	return "windows-1251"
}

// corrected returns the real encoding of text that is declared wrongly: Cyrillic declared
// as Western or as the other Cyrillic encoding.
func corrected(b []byte, declared string) string {
	switch declared {
	case "windows-1252":
		if t := count(b); t.runs >= minRuns && t.runs > 4*t.single {
			return guess(b)
		}
	case "windows-1251":
		if t := count(b); t.koiWords >= minRuns && t.koiWords > 4*t.windowsWords {
			return "koi8-r"
		}
	case "koi8-r", "koi8-u":
		if t := count(b); t.windowsWords >= minRuns && t.windowsWords > 4*t.koiWords {
			return "windows-1251"
		}
	}
	return declared
}

// minRuns is how many words are needed to overrule a declaration.
const minRuns = 6

// tally counts runs of high bytes, and in them the lower-case letters of each Cyrillic
// encoding.
type tally struct {
	runs, single      int
	letters, others   int
	windows, koi, iso int
	// words of a capital letter followed by lower-case ones
	windowsWords, koiWords int
	high                   int
	bytes                  [256]int
}

func count(b []byte) *tally {
	t := new(tally)
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
	return t
}

func (t *tally) count(run []byte) {
	for _, c := range run {
		t.bytes[c]++
	}
	t.high += len(run)
	if len(run) < 3 {
		t.single++
		return
	}
	t.runs++
	switch first, second := run[0], run[1]; {
	case first >= 0xe0 && second >= 0xc0 && second < 0xe0:
		t.koiWords++
	case first >= 0xc0 && first < 0xe0 && second >= 0xe0:
		t.windowsWords++
	}
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

// minLetters is how many letters are needed to distinguish scripts.
const minLetters = 40

// script detects scripts with one byte per letter other than Cyrillic: Thai has most
// consonants where the others have signs, Hebrew has no letters beyond 0xFA,
// Arabic has alef and lam everywhere, Greek has accents but next to no 0xE0.
func (t *tally) script() string {
	if t.high < minLetters {
		return ""
	}
	switch {
	case t.share(0xa1, 0xbf) > 25 && t.share(0x80, 0xa0) < 2 && t.share(0xfc, 0xff) < 2:
		return "windows-874"
	case t.share(0xe0, 0xfa) > 94 && t.share(0xfb, 0xff) == 0:
		return "windows-1255"
	case t.share(0xc7, 0xc7) > 6 && t.share(0xe1, 0xe1) > 4 && t.share(0xf0, 0xff) < 8:
		return "windows-1256"
	case t.share(0xdc, 0xdf) > 2 && t.share(0xff, 0xff) == 0 && t.share(0xe0, 0xe0) < 1 && t.share(0xe1, 0xfe) > 60:
		return "windows-1253"
	}
	return ""
}

// share returns the percentage of high bytes between two, inclusive.
func (t *tally) share(from, to int) int {
	n := 0
	for _, c := range t.bytes[from : to+1] {
		n += c
	}
	return (n*100 + t.high - 1) / t.high
}
