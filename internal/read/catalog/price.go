package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// amount is a price as people write it: a number with its currency before or after it.
type amount struct {
	number   string // decimal, "" if there is none
	currency string // ISO 4217, "" if the text has none
	vague    string // the sign of the currency, if several currencies use it
	rest     string // text after the number that is no currency
	from     bool   // the text says that it is the lowest of several prices
}

// parseAmount reads a price such as "1 299,00 руб.", "$5" or "5.00USD". It refuses text
// with two numbers, a negative number, and words before the number that it does not know.
func parseAmount(text string) (a amount, ok bool) {
	text = strings.TrimSpace(text)
	if isDecimal(text) || text == "" {
		return amount{number: text}, true
	}
	text = strings.TrimSpace(blanks.Replace(charref.String(text, true)))
	first := strings.IndexAny(text, "0123456789")
	if first < 0 {
		return a, false
	}
	if i := strings.IndexByte(text, '/'); i > first { // a price per unit, such as 500 руб./м2
		if c, _ := utf8.DecodeRuneInString(text[i+1:]); unicode.IsLetter(c) {
			text, a.rest = text[:i], text[i:]
		}
	}
	start, end := numberIn(text, first)
	number, ok := decimal(text[start:end])
	if !ok {
		return a, false
	}
	a.number = number
	return a, a.around(text[:start], text[end:])
}

// numberIn returns where the number begins and ends in a text whose first digit is at
// first. A decimal mark may begin the number, and one at its end belongs to it.
func numberIn(text string, first int) (start, end int) {
	start, end = first, strings.LastIndexAny(text, "0123456789")+1
	if first > 0 && (text[first-1] == '.' || text[first-1] == ',') {
		if c, _ := utf8.DecodeLastRuneInString(text[:first-1]); first == 1 || !unicode.IsLetter(c) {
			start--
		}
	}
	return start, end
}

// around reads the text before and after the number; it reports whether the text before
// it is understood.
func (a *amount) around(before, after string) bool {
	before = strings.ToLower(strings.TrimSpace(before))
	word, rest, _ := strings.Cut(before, " ")
	switch word {
	case "от", "from", "ab", "desde", "od", "from:", "от:":
		before, a.from = strings.TrimSpace(rest), true
	}
	for _, end := range [...]string{".-", ",-", "/-", "-", ".", ","} { // "5.-" and "5,--" have no cents
		if rest, ok := strings.CutPrefix(after, end); ok {
			after = strings.TrimLeft(rest, "-–— ")
			break
		}
	}
	first, vagueFirst, known := currencyOf(before)
	if !known {
		return false
	}
	last, vagueLast, known := currencyOf(after)
	if !known {
		a.rest = strings.TrimSpace(after) + a.rest
	}
	switch {
	case last != "" && (!vagueLast || first == ""):
		a.currency = last
		if vagueLast {
			a.vague = strings.TrimSpace(after)
		}
	case first != "":
		a.currency = first
		if vagueFirst {
			a.vague = before
		}
	}
	return true
}

// currencyOf returns the currency for a sign, a code or a word. vague reports that several
// currencies use the sign. known is false for text that is no currency; no text is known.
func currencyOf(text string) (code string, vague, known bool) {
	text = strings.Trim(strings.ToLower(strings.TrimSpace(text)), ".:;()[] ")
	switch text {
	case "":
		return "", false, true
	case "$":
		return "USD", true, true
	case "¥":
		return "JPY", true, true
	case "kr":
		return "SEK", true, true
	case "rs", "₨":
		return "INR", true, true
	}
	if code, ok := currencies[text]; ok {
		return code, false, true
	}
	if len(text) == 3 && isLetters(text) && strings.Contains(codes, strings.ToUpper(text)) {
		return currency(text), false, true
	}
	return "", false, false
}

func isLetters(s string) bool {
	for i := range len(s) {
		if s[i]|0x20 < 'a' || s[i]|0x20 > 'z' {
			return false
		}
	}
	return true
}

// codes are the codes of ISO 4217 in use, and the old ones of catalogues.
const codes = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BYR BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK " +
	"DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT " +
	"LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RUR RWF " +
	"SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL"

// currencies are the signs and words that stand for one currency.
var currencies = map[string]string{
	"₽": "RUB", "р": "RUB", "руб": "RUB", "рубль": "RUB", "рубля": "RUB", "рублей": "RUB", "rub": "RUB", "rur": "RUB",
	"грн": "UAH", "₴": "UAH", "гривен": "UAH", "тг": "KZT", "тенге": "KZT", "₸": "KZT", "бел. руб": "BYN", "бел.руб": "BYN", "br": "BYN",
	"usd": "USD", "us$": "USD", "us $": "USD", "$us": "USD", "долл": "USD", "доллар": "USD", "долларов": "USD",
	"eur": "EUR", "€": "EUR", "euro": "EUR", "евро": "EUR", "gbp": "GBP", "£": "GBP", "chf": "CHF", "fr": "CHF", "sfr": "CHF",
	"zł": "PLN", "zl": "PLN", "kč": "CZK", "kc": "CZK", "ft": "HUF", "lei": "RON", "лв": "BGN", "₹": "INR", "₺": "TRY", "tl": "TRY",
	"₩": "KRW", "₪": "ILS", "r$": "BRL", "₫": "VND", "đ": "VND", "฿": "THB", "₱": "PHP", "₦": "NGN", "a$": "AUD", "au$": "AUD", "c$": "CAD",
	"ca$": "CAD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD", "nt$": "TWD", "mx$": "MXN", "сум": "UZS", "so'm": "UZS", "сом": "KGS", "֏": "AMD",
	"драм": "AMD", "₾": "GEL", "лари": "GEL", "₼": "AZN", "манат": "AZN", "元": "CNY", "円": "JPY", "원": "KRW", "dkk": "DKK", "nok": "NOK", "sek": "SEK",
}

// currency returns the ISO 4217 code; the old codes RUR and BYR become RUB and BYN, and
// signs and words the code that they stand for.
func currency(id string) string {
	id = strings.TrimSpace(id)
	code := strings.ToUpper(id)
	switch {
	case code == "RUR":
		return "RUB"
	case code == "BYR":
		return "BYN"
	case len(id) == 3 && isLetters(id):
		return strings.Clone(code)
	}
	if code, _, _ := currencyOf(id); code != "" {
		return code
	}
	return strings.Clone(code)
}

// decimals returns how many digits after the point prices in a currency have at most: 0
// or 3 where that is unusual, else 2.
func decimals(currency string) int {
	switch currency {
	case "JPY", "KRW", "VND", "IDR", "CLP", "COP", "PYG", "UGX", "XAF", "XOF", "ISK", "HUF":
		return 0
	case "KWD", "BHD", "OMR", "TND", "JOD", "IQD", "LYD":
		return 3
	}
	return 2
}

// isGrouped reports whether a number with a point may be one whose thousands a point
// separates, such as 12.990.
func isGrouped(number string) bool {
	at := strings.IndexByte(number, '.')
	return at > 0 && at <= 3 && len(number) == at+4 && number[0] != '0'
}

// decimal reads a number as people write it: the decimal mark may be a comma, and
// spaces or marks may separate groups of digits, such as thousands. It refuses marks
// in other places, because the number would be ambiguous.
func decimal(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if isDecimal(text) || text == "" {
		return text, true
	}
	if n, ok := ungrouped(text); ok {
		return n, isDecimal(n)
	}
	at := strings.LastIndexAny(text, ".,")
	if at < 0 {
		return "", false
	}
	whole, mark, part := text[:at], text[at:at+1], text[at+1:]
	if n, ok := ungrouped(whole); ok && !strings.Contains(whole, mark) {
		whole = n
	}
	if whole == "" {
		whole = "0"
	}
	if part != "" {
		whole += "." + part
	}
	if !isDecimal(whole) || at == 0 && part == "" {
		return "", false
	}
	return whole, true
}

var blanks = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2019", "'", "\u2212", "-")

// ungrouped removes the marks between groups of digits. Groups have three digits; the
// first may be shorter, and with commas the groups between the first and the last may
// have two, as in India.
func ungrouped(text string) (string, bool) {
	at := strings.IndexAny(text, " ',.")
	if at < 1 || at > 3 || text[0] == '0' {
		return "", false
	}
	mark := text[at : at+1]
	groups := strings.Split(text, mark)
	for i, g := range groups[1:] {
		last := i == len(groups)-2
		if len(g) != 3 && (len(g) != 2 || mark != "," || last) || strings.Trim(g, "0123456789") != "" {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// isDecimal reports whether s is digits with at most one point between them.
func isDecimal(s string) bool {
	point := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
		case c == '.' && !point && i > 0 && i < len(s)-1:
			point = true
		default:
			return false
		}
	}
	return s != "" && len(s) <= 32
}

// isZero reports whether a decimal number is missing or 0, which means that the price is
// unknown.
func isZero(number string) bool {
	for i := range len(number) {
		if number[i] != '0' && number[i] != '.' {
			return false
		}
	}
	return true
}

// isLower reports whether a decimal number is less than another one.
func isLower(a, b string) bool {
	wholeA, partA, _ := strings.Cut(a, ".")
	wholeB, partB, _ := strings.Cut(b, ".")
	wholeA, wholeB = strings.TrimLeft(wholeA, "0"), strings.TrimLeft(wholeB, "0")
	switch {
	case len(wholeA) != len(wholeB):
		return len(wholeA) < len(wholeB)
	case wholeA != wholeB:
		return wholeA < wholeB
	}
	return strings.TrimRight(partA, "0") < strings.TrimRight(partB, "0")
}
