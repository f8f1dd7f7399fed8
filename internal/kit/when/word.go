package when

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// word reads a run of letters: month, weekday, zone, T, AM, PM, or nothing.
func (p *parser) word() {
	start := p.i
	for p.i < len(p.s) {
		c := p.s[p.i]
		if c < 0x80 && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
		p.i++
	}
	var buf [24]byte
	w := p.s[start:p.i]
	if len(w) > len(buf) {
		return
	}
	lower := lowered(buf[:0], w)
	switch {
	case p.clockWord(string(lower)):
	case p.month == -1 && start > 0 && p.suffix(string(lower)):
	case p.peek() == '/' && p.timed:
		p.area(start)
	default:
		p.nameWord(lower)
	}
}

// lowered appends w in lower case.
func lowered(buf []byte, w string) []byte {
	for _, c := range w {
		switch {
		case c >= 'A' && c <= 'Z':
			buf = append(buf, byte(c)|0x20)
		case c < utf8.RuneSelf:
			buf = append(buf, byte(c))
		default:
			buf = utf8.AppendRune(buf, unicode.ToLower(c))
		}
	}
	return buf
}

// clockWord handles words that belong to a time of day.
func (p *parser) clockWord(w string) bool {
	switch w {
	case "t":
		p.afterT = true
	case "z":
		p.zoned = true
	case "am", "a":
		if p.timed && p.hour == 12 {
			p.hour = 0
		}
	case "pm", "p":
		if p.timed && p.hour < 12 {
			p.hour += 12
		}
	default:
		return false
	}
	return true
}

// suffix handles the characters after numbers in East Asian dates.
func (p *parser) suffix(w string) bool {
	switch w {
	case "年", "년":
		if p.year == 0 && p.day != 0 {
			p.year, p.day = century(p.day), 0
		}
	case "月", "월":
		p.month, p.day = p.day, 0
	default:
		return false
	}
	return true
}

// nameWord reads a month or, after the time, a zone; it ignores other words.
func (p *parser) nameWord(lower []byte) {
	if m := monthOf(lower); m > 0 && (p.month == -1 || p.vague) {
		p.month = m
		p.vague = p.day == 0 && isAmbiguous(string(lower))
		return
	}
	if !p.timed || p.numeric {
		return
	}
	if east, ok := zoneOf(string(lower)); ok {
		p.zoned, p.east = true, east*60
	}
}

// area reads a name of the time zone database. The standard library looks it up in the
// database of the system; without one the date has no zone.
func (p *parser) area(start int) {
	end := start
	for end < len(p.s) && p.s[end] > ' ' {
		end++
	}
	p.i = end
	if strings.Count(p.s[start:end], "/") > 2 || p.zoned {
		return
	}
	if place, err := time.LoadLocation(p.s[start:end]); err == nil {
		p.zoned, p.place = true, place
	}
}
