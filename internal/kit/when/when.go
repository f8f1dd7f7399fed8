// Package when parses the dates of the web: variants of RFC 822 and 1123, RFC 3339,
// ISO 8601 and its profiles, and dates with names of months in two dozen languages. It
// does not allocate, ignores the weekday, which is often wrong, and refuses text that
// is not a date rather than guess.
package when

import (
	"strings"
	"time"
)

// The range of plausible years.
const (
	minYear = 1970
	maxYear = 2100
)

// maxLength is the limit of a date in bytes.
const maxLength = 128

// placeholders ends the time that programs write where they have no date: the zero of
// Unix time, in any zone. Other placeholders (year 0, year 1 of Go and .NET, -0001 of
// PHP) are before minYear.
const placeholders = 24 * 60 * 60

// Parse parses a date. A date without a zone is in UTC, and zoned is false. A date
// without a time is midnight; a month or a year is its first day. The first day of 1970
// and everything before it is not a date: programs write it where they have none.
func Parse(s string) (t time.Time, zoned, ok bool) {
	if len(s) > maxLength || isNegative(s) {
		return time.Time{}, false, false
	}
	p := parser{s: s, month: -1}
	for p.i < len(s) && !p.bad {
		switch c := s[p.i]; {
		case isDigit(c):
			p.number()
		case c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z':
			p.word()
		case (c == '+' || c == '-') && p.timed && p.i+1 < len(s) && isDigit(s[p.i+1]):
			p.offset()
		default:
			p.i++
		}
	}
	return p.result()
}

// isNegative reports whether a date begins with a negative year.
func isNegative(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return len(s) > 1 && s[0] == '-' && isDigit(s[1])
}

// parser holds the parts read so far; zero is unset, except -1 for the month.
type parser struct {
	s     string
	i     int
	year  int
	month int
	day   int
	bad   bool
	vague bool // the name may be that of a weekday

	timed             bool
	hour, minute, sec int
	nano              int
	afterT            bool // the T between date and time was seen

	zoned   bool
	numeric bool // the zone came as an offset
	east    int  // seconds
	place   *time.Location
}

// result combines the parts and checks that they are a plausible date.
func (p *parser) result() (time.Time, bool, bool) {
	if p.bad || p.year == 0 || p.month == -1 && p.day != 0 {
		return time.Time{}, false, false
	}
	month, day := max(p.month, 1), max(p.day, 1)
	if p.year < minYear || p.year > maxYear || month > 12 || day > daysIn(p.year, month) ||
		p.hour > 24 || p.minute > 59 || p.sec > 60 {
		return time.Time{}, false, false
	}
	place := time.UTC
	if p.place != nil {
		place = p.place
	}
	t := time.Date(p.year, time.Month(month), day, p.hour, p.minute, p.sec-p.east, p.nano, place).UTC()
	return t, p.zoned, t.Unix() >= placeholders
}

// daysIn returns the number of days of a month.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// digits reads a number and its length; it refuses numbers that are too long for a date.
func (p *parser) digits() (v, n int) {
	for p.i < len(p.s) && isDigit(p.s[p.i]) {
		if n++; n > 14 {
			p.bad = true
			return 0, n
		}
		v = v*10 + int(p.s[p.i]-'0')
		p.i++
	}
	return v, n
}

func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// number reads a number and decides from what follows which part it is.
func (p *parser) number() {
	v, n := p.digits()
	switch c := p.peek(); {
	case c == ':' && n <= 2:
		p.clock(v)
	case p.afterT && !p.timed && (n == 2 || n == 4 || n == 6):
		p.compactClock(v, n)
	case (c == '-' || c == '/' || c == '.') && p.year == 0 && (p.month == -1 || p.vague) && p.digitAt(p.i+1):
		p.dashed(v, n, c)
	case n == 14:
		p.compactDate(v / 1000000)
		p.compactClock(v%1000000, 6)
	case n == 8 && p.year == 0:
		p.compactDate(v)
	case n == 4 && p.year == 0:
		p.year = v
	case n <= 2 && p.day == 0:
		p.day = v
		p.bad = v == 0 || v > 31
	case n <= 2 && p.year == 0:
		p.year = century(v)
	}
}

func (p *parser) digitAt(i int) bool { return i < len(p.s) && isDigit(p.s[i]) }

// compactDate reads 20060102.
func (p *parser) compactDate(v int) { p.year, p.month, p.day = v/10000, v/100%100, v%100 }

// century expands a year of two digits.
func century(v int) int {
	if v < 70 {
		return 2000 + v
	}
	return 1900 + v
}

// clock reads minutes and seconds after the hour.
func (p *parser) clock(hour int) {
	if p.timed {
		p.bad = true
		return
	}
	p.timed, p.hour = true, hour
	p.i++
	p.minute, _ = p.digits()
	if p.peek() == ':' {
		p.i++
		p.sec, _ = p.digits()
	}
	if c := p.peek(); (c == '.' || c == ',') && p.digitAt(p.i+1) {
		p.i++
		p.fraction()
	}
}

// fraction reads a fraction of a second down to nanoseconds.
func (p *parser) fraction() {
	scale := int(time.Second)
	for ; p.i < len(p.s) && isDigit(p.s[p.i]); p.i++ {
		scale /= 10
		p.nano += scale * int(p.s[p.i]-'0')
	}
}

// compactClock reads 15, 1504 or 150405.
func (p *parser) compactClock(v, n int) {
	p.timed = true
	switch n {
	case 2:
		p.hour = v
	case 4:
		p.hour, p.minute = v/100, v%100
	default:
		p.hour, p.minute, p.sec = v/10000, v/100%100, v%100
	}
}

// dashed reads the rest of 2006-01-02, 02.01.2006, 1/2/2006, 2006-01, 2006-002.
func (p *parser) dashed(first, n int, sep byte) {
	p.i++
	second, n2 := p.digits()
	third, n3 := 0, 0
	if p.peek() == sep && p.digitAt(p.i+1) {
		p.i++
		third, n3 = p.digits()
	}
	short := n3 <= 2 // the year has two digits
	switch {
	case n == 4 && n2 == 3 && n3 == 0:
		p.ordinal(first, second)
	case n == 4 || n == 2 && n2 == 2 && n3 == 2 && sep == '-':
		short = n == 2
		p.year, p.month, p.day = first, second, third
		p.bad = n3 > 0 && third == 0
	case n3 == 0 || n == 3:
		p.bad = true
	case sep == '/' && first <= 12:
		p.year, p.month, p.day = third, first, second
	default:
		p.year, p.month, p.day = third, second, first
	}
	if short && p.year < 100 {
		p.year = century(p.year)
	}
}

// ordinal converts the day of a year.
func (p *parser) ordinal(year, day int) {
	t := time.Date(year, 1, day, 0, 0, 0, 0, time.UTC)
	p.bad = day < 1 || t.Year() != year
	p.year, p.month, p.day = year, int(t.Month()), t.Day()
}

// offset reads +0300, +03:00, +3, -03.
func (p *parser) offset() {
	sign := 1
	if p.s[p.i] == '-' {
		sign = -1
	}
	p.i++
	v, n := p.digits()
	minutes := v * 60
	switch {
	case p.peek() == ':' && n <= 2:
		p.i++
		m, _ := p.digits()
		minutes += m
	case n > 2:
		minutes = v/100*60 + v%100
	}
	if p.numeric || minutes > 15*60 {
		return // beyond the range of real zones
	}
	p.zoned, p.numeric, p.east, p.place = true, true, sign*minutes*60, nil
}
