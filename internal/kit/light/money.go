package light

import (
	"math/big"
	"strings"
)

// amount parses a decimal number of at most 40 characters.
func amount(s string) (*big.Rat, bool) {
	whole, cents, _ := strings.Cut(s, ".")
	if whole == "" || len(s) > 40 || strings.Trim(whole+cents, "0123456789") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(strings.TrimSuffix(s, "."))
}

// money formats an amount for people: groups of thousands, at least two decimals if
// there are any, then the sign or the code of the currency.
func money(s, currency string) string {
	whole, cents, _ := strings.Cut(s, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	var b strings.Builder
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString("\u202f")
		}
		b.WriteByte(whole[i])
	}
	if cents = strings.TrimRight(cents, "0"); cents != "" {
		b.WriteString("." + cents + strings.Repeat("0", max(2-len(cents), 0)))
	}
	if currency != "" {
		b.WriteString("\u00a0" + sign(currency))
	}
	return b.String()
}

func sign(currency string) string {
	switch currency {
	case "RUB", "RUR":
		return "₽"
	case "USD":
		return "$"
	case "EUR":
		return "€"
	case "GBP":
		return "£"
	case "UAH":
		return "₴"
	case "KZT":
		return "₸"
	case "JPY":
		return "¥"
	}
	return currency
}
