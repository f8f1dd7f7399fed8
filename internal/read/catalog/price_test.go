package catalog_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/read/catalog"
)

func merchant(fields string) string {
	return merchantHead + `<item><g:id>1</g:id><g:title>T</g:title><g:link>https://shop.example/1</g:link>` + fields + `</item></channel></rss>`
}

// noCurrency is a catalogue without a list of currencies.
func noCurrency(offer string) string {
	return `<yml_catalog><shop><categories><category id="1">C</category></categories><offers><offer id="1"><name>N</name><categoryId>1</categoryId>` + offer + `</offer></offers></shop></yml_catalog>`
}

func TestAPriceMayHaveItsCurrencyAsText(t *testing.T) {
	for text, want := range map[string][3]string{ // price, currency, warnings
		"5.00 USD": {"5.00", "USD", ""}, "5.00USD": {"5.00", "USD", ""}, "USD 5.00": {"5.00", "USD", ""}, "usd5": {"5", "USD", ""}, "5,00 €": {"5.00", "EUR", ""}, "€5": {"5", "EUR", ""},
		"€.50": {"0.50", "EUR", ""}, "1.234,56 EUR": {"1234.56", "EUR", ""}, "1 299,00 руб.": {"1299.00", "RUB", ""}, "1299 РУБ": {"1299", "RUB", ""}, "1299р.": {"1299", "RUB", ""},
		"10 000 ₽": {"10000", "RUB", ""}, "10\u00a0000\u00a0₽": {"10000", "RUB", ""}, "500 RUR": {"500", "RUB", ""}, "1'299.00 CHF": {"1299.00", "CHF", ""}, "CHF 5.-": {"5", "CHF", ""},
		"5,- Kč": {"5", "CZK", ""}, "5,--€": {"5", "EUR", ""}, "99 zł": {"99", "PLN", ""}, "R$ 45,32": {"45.32", "BRL", ""}, "US$5": {"5", "USD", ""}, "£5": {"5", "GBP", ""}, "₹ 12,34,567.80": {"1234567.80", "INR", ""},
		"5000 тг.": {"5000", "KZT", ""}, "15 бел. руб.": {"15", "BYN", ""}, "100 грн": {"100", "UAH", ""}, "$5.00 USD": {"5.00", "USD", ""}, "$5 CAD": {"5", "CAD", ""}, "5.00 (EUR)": {"5.00", "EUR", ""},
		"12.990 CLP": {"12990", "CLP", ""}, "1.500 KWD": {"1.500", "KWD", ""}, "от 500 руб.": {"500", "RUB", ""}, "from 5 USD": {"5", "USD", ""}, "5&amp;nbsp;&amp;euro;": {"5", "EUR", ""},
		"$5": {"5", "USD", "unclear-price"}, "5 $": {"5", "USD", "unclear-price"}, "Rs. 500": {"500", "INR", "unclear-price"}, "Rs.500/-": {"500", "INR", "unclear-price"}, "¥500": {"500", "JPY", "unclear-price"},
		"500 kr": {"500", "SEK", "unclear-price"}, "1.299 EUR": {"1.299", "EUR", "unclear-price"}, "5 USD each": {"5", "", "unclear-price price-without-currency"}, "500 руб./м2": {"500", "RUB", "unclear-price"},
		"12 шт": {"12", "", "unclear-price price-without-currency"}, "5.00": {"5.00", "", "price-without-currency"}, "0": {"0", "", ""}, "0 USD": {"0", "USD", ""}, "": {"", "", ""},
		"5 - 10 USD": {"", "", "bad-price"}, "-5 USD": {"", "", "bad-price"}, "−5 USD": {"", "", "bad-price"}, "call 5551234": {"", "", "bad-price"}, "USD": {"", "", "bad-price"}, "5 USD / 6 EUR": {"", "", "bad-price"},
	} {
		for format, document := range map[string]string{"yml": noCurrency(`<price>` + text + `</price>`), "merchant": merchant(`<g:price>` + text + `</g:price>`)} {
			c := read(t, document)
			warned := strings.TrimSuffix(strings.TrimSuffix(strings.Join(codes(c), " "), "no-prices"), " ")
			if o := c.Offers[0]; o.Price != want[0] || o.Currency != want[1] || warned != want[2] {
				t.Errorf("%s %q: %q %q %q, want %q", format, text, o.Price, o.Currency, warned, want)
			}
			if from := strings.HasPrefix(text, "от") || strings.HasPrefix(text, "from"); c.Offers[0].PriceFrom != from {
				t.Errorf("%s %q: from is %v", format, text, !from)
			}
		}
	}
}

func TestTheCurrencyIsFoundWhereItStands(t *testing.T) {
	for document, want := range map[string]string{
		noCurrency(`<price>5</price><currencyId>RUR</currencyId>`):                            "RUB",
		noCurrency(`<price currency="USD">5</price>`):                                         "USD",
		noCurrency(`<price>$5</price><currencyId>CAD</currencyId>`):                           "CAD",
		noCurrency(`<price>5 USD</price><currencyId>EUR</currencyId>`):                        "EUR unclear-price",
		noCurrency(`<currencyId>руб.</currencyId><price>5</price>`):                           "RUB",
		yml(`<offer id="1"><name>N</name><categoryId>1</categoryId><price>5</price></offer>`): "RUB",
		merchant(`<g:price currency="USD">5</g:price>`):                                       "USD",
		merchant(`<g:price value="5" currency="USD"/>`):                                       "USD",
		merchant(`<g:price>5</g:price><g:sale_price>4 USD</g:sale_price>`):                    "USD",
		merchant(`<g:price>5</g:price><currency>usd</currency>`):                              "USD",
		merchant(`<g:price>5 BYR</g:price>`):                                                  "BYN",
		merchant(`<g:price>5</g:price>`):                                                      " price-without-currency",
	} {
		c := read(t, document)
		got := strings.TrimSpace(c.Offers[0].Currency + " " + strings.Join(codes(c), " "))
		if o := c.Offers[0]; !strings.HasPrefix(got, strings.TrimSpace(want)) || o.Price != "5" && o.Price != "4" {
			t.Errorf("%s: %q, price %q, want %q", document, got, o.Price, want)
		}
	}
}

func TestPricesWithoutACurrencyHaveOneWarning(t *testing.T) {
	var items strings.Builder
	for i := range 30 {
		items.WriteString("<item><g:id>" + strings.Repeat("i", i+1) + "</g:id><g:title>T</g:title><g:price>5</g:price></item>")
	}
	c := read(t, merchantHead+items.String()+"</channel></rss>")
	if len(c.Warnings) != 1 || c.Warnings[0].Code != "price-without-currency" || !strings.HasPrefix(c.Warnings[0].Text, "30 offers") || c.Warnings[0].Line != 1 {
		t.Errorf("%+v", c.Warnings)
	}
}

func TestAnOldPriceIsHigherThanThePrice(t *testing.T) {
	for prices, want := range map[string]string{
		"<price>5</price><oldprice>6</oldprice>": "6", "<oldprice>10.0</oldprice><price>9.99</price>": "10.0", "<price>100</price><oldprice>99</oldprice>": "", "<price>5</price><oldprice>5.00</oldprice>": "",
		"<price>5</price><oldprice>0</oldprice>": "", "<price>0</price><oldprice>5</oldprice>": "5", "<price>9,5</price><oldprice>9,51 руб</oldprice>": "9.51", "<price>5</price><oldprice></oldprice>": "",
	} {
		c := read(t, yml(`<offer id="1"><name>N</name><categoryId>1</categoryId><currencyId>RUB</currencyId>`+prices+`</offer>`))
		dropped := want == "" && !strings.Contains(prices, "<oldprice></")
		if o := c.Offers[0]; o.OldPrice != want || (len(c.Warnings) == 1 && c.Warnings[0].Code == "bad-old-price") != dropped {
			t.Errorf("%s: %q, %+v", prices, o.OldPrice, c.Warnings)
		}
	}
}

func FuzzPrice(f *testing.F) {
	for _, text := range []string{"5 USD", "1.299,50 €", "от 500 руб./м2", "$.5", "5,--", "Rs. 1,00,000/-"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, price, dates string) {
		text := strings.NewReplacer("<", "&lt;", "&", "&amp;")
		c, err := catalog.Read(strings.NewReader(merchant(`<g:price>`+text.Replace(price)+`</g:price><g:sale_price>1 USD</g:sale_price><g:sale_price_effective_date>`+text.Replace(dates)+`</g:sale_price_effective_date>`)), catalog.Options{})
		if err != nil || len(c.Offers) != 1 {
			t.Skip(err)
		}
		o := c.Offers[0]
		if strings.Trim(o.Price, "0123456789.") != "" || strings.Count(o.Price, ".") > 1 || len(o.Price) > 32 || len(o.Currency) > 64 {
			t.Fatalf("%q: %q %q", price, o.Price, o.Currency)
		}
		if s := o.Sale; s != nil && !s.Begins.IsZero() && !s.Ends.IsZero() && !s.Begins.Before(s.Ends.Time) {
			t.Fatalf("%q: %+v", dates, s)
		}
	})
}
