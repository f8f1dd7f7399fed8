package catalog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/read/catalog"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func sale(dates string) string {
	return merchant(`<g:price>100.00 USD</g:price><g:sale_price>80.00 USD</g:sale_price><g:sale_price_effective_date>` + dates + `</g:sale_price_effective_date>`)
}

func TestASaleHasDates(t *testing.T) {
	for dates, want := range map[string][2]string{ // begins, ends in RFC 3339
		"2016-02-24T13:00-0800/2016-02-29T15:30-0800":           {"2016-02-24T21:00:00Z", "2016-02-29T23:30:00Z"},
		"2016-02-24T13:00-08:00 / 2016-02-29T15:30:00-08:00":    {"2016-02-24T21:00:00Z", "2016-02-29T23:30:00Z"},
		" 2016-02-24T13:00:30Z/\n2016-02-29T15:30:40Z ":         {"2016-02-24T13:00:30Z", "2016-02-29T15:30:40Z"},
		"2016-02-24T13:00/2016-02-29T15:30":                     {"2016-02-24T13:00:00Z", "2016-02-29T15:30:00Z"},
		"2016-02-24 13:00/2016-02-29 15:30":                     {"2016-02-24T13:00:00Z", "2016-02-29T15:30:00Z"},
		"2016-02-24/2016-02-29":                                 {"2016-02-24T00:00:00Z", "2016-03-01T00:00:00Z"},
		"2016-02-29/2016-02-29":                                 {"2016-02-29T00:00:00Z", "2016-03-01T00:00:00Z"},
		"20160224T1300Z/20160229T1530Z":                         {"2016-02-24T13:00:00Z", "2016-02-29T15:30:00Z"},
		"2016-02-24&#47;2016-02-29":                             {"2016-02-24T00:00:00Z", "2016-03-01T00:00:00Z"},
		"24/02/2016/29/02/2016":                                 {"2016-02-24T00:00:00Z", "2016-03-01T00:00:00Z"},
		"2016-02-24 - 2016-02-29":                               {"2016-02-24T00:00:00Z", "2016-03-01T00:00:00Z"},
		"2016-02-24T13:00Z/":                                    {"2016-02-24T13:00:00Z", ""},
		"2016-02-24T13:00Z/..":                                  {"2016-02-24T13:00:00Z", ""},
		"/2016-02-29T15:30Z":                                    {"", "2016-02-29T15:30:00Z"},
		"../2016-02-29":                                         {"", "2016-03-01T00:00:00Z"},
		"2016-02-24T13:00:00.000+0300/2016-02-29T15:30:00+0300": {"2016-02-24T10:00:00Z", "2016-02-29T12:30:00Z"},
	} {
		c := read(t, sale(dates))
		o := c.Offers[0]
		if o.Sale == nil || len(c.Warnings) > 0 {
			t.Errorf("%q: no sale, %+v", dates, c.Warnings)
			continue
		}
		format := func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.UTC().Format(time.RFC3339)
		}
		if got := [2]string{format(o.Sale.Begins.Time), format(o.Sale.Ends.Time)}; got != want || o.Sale.Price != "80.00" || o.Sale.Regular != "100.00" {
			t.Errorf("%q: %q, want %q", dates, got, want)
		}
	}
}

func TestASaleThatIsNoneLeavesThePrice(t *testing.T) {
	for fields, want := range map[string]string{ // price, old price, warnings
		`<g:sale_price_effective_date>soon</g:sale_price_effective_date>`:                             "100.00  bad-sale",
		`<g:sale_price_effective_date>2016-02-29/2016-02-24</g:sale_price_effective_date>`:            "100.00  bad-sale",
		`<g:sale_price_effective_date>2016-02-30/2016-03-24</g:sale_price_effective_date>`:            "100.00  bad-sale",
		`<g:sale_price_effective_date>2016-02-29</g:sale_price_effective_date>`:                       "100.00  bad-sale",
		`<g:sale_price_effective_date>/</g:sale_price_effective_date>`:                                "100.00  bad-sale",
		`<g:sale_price_effective_date>2016-02-01/2016-02-02/2016-02-03</g:sale_price_effective_date>`: "100.00  bad-sale",
		`<g:sale_price_effective_date> </g:sale_price_effective_date>`:                                "80.00 100.00 ",
		``: "80.00 100.00 ",
	} {
		c := read(t, merchant(`<g:price>100.00 USD</g:price><g:sale_price>80.00 USD</g:sale_price>`+fields))
		if o := c.Offers[0]; o.Price+" "+o.OldPrice+" "+strings.Join(codes(c), " ") != want || o.Sale != nil {
			t.Errorf("%s: %q %q %v %v, want %q", fields, o.Price, o.OldPrice, codes(c), o.Sale, want)
		}
	}
	for prices, want := range map[[2]string]string{{"100 USD", "0 USD"}: "100  bad-sale", {"100 USD", "0.00"}: "100  bad-sale", {"100 USD", "100.00 USD"}: "100  bad-sale", {"100 USD", "120 USD"}: "100  bad-sale",
		{"", "80 USD"}: "80  ", {"0 USD", "80 USD"}: "80  ", {"100 USD", ""}: "100  ", {"100 USD", "99.99 USD"}: "99.99 100 ", {"9 USD", "10 USD"}: "9  bad-sale", {"5 USD", "4 EUR"}: "5  unclear-price bad-sale", {"5", "4 EUR"}: "4 5 "} {
		c := read(t, merchant(`<g:price>`+prices[0]+`</g:price><g:sale_price>`+prices[1]+`</g:sale_price>`))
		if o := c.Offers[0]; o.Price+" "+o.OldPrice+" "+strings.Join(codes(c), " ") != want {
			t.Errorf("%q: %q %q %v, want %q", prices, o.Price, o.OldPrice, codes(c), want)
		}
	}
}

func TestThePriceFollowsTheSaleWithoutANewReading(t *testing.T) {
	text := sale("2026-03-01T00:00Z/2026-04-01T00:00Z")
	hash := ""
	for _, c := range []struct{ now, price, old, next string }{
		{"2026-02-28T23:59:59Z", "100.00", "", "2026-03-01T00:00:00Z"},
		{"2026-03-01T00:00:00Z", "80.00", "100.00", "2026-04-01T00:00:00Z"},
		{"2026-03-31T23:59:59Z", "80.00", "100.00", "2026-04-01T00:00:00Z"},
		{"2026-04-01T00:00:00Z", "100.00", "", ""},
	} {
		r, err := catalog.Read(strings.NewReader(text), catalog.Options{Now: at(c.now)})
		if err != nil {
			t.Fatal(err)
		}
		o := r.Offers[0]
		if o.Price != c.price || o.OldPrice != c.old {
			t.Errorf("at %s: %q, before %q", c.now, o.Price, o.OldPrice)
		}
		if next := o.PriceChanges(at(c.now)); next.IsZero() != (c.next == "") || c.next != "" && !next.Equal(at(c.next)) {
			t.Errorf("at %s: the price changes at %s, want %s", c.now, next, c.next)
		}
		if hash == "" {
			hash = o.Hash
		}
		if o.Hash != hash {
			t.Errorf("at %s the offer has another hash", c.now)
		}
	}
	for _, other := range []string{"2026-03-01T00:00Z/2026-04-02T00:00Z", "2026-03-02T00:00Z/2026-04-01T00:00Z", "/2026-04-01T00:00Z"} {
		if read(t, sale(other)).Offers[0].Hash == hash {
			t.Errorf("a sale at %s has the hash of another one", other)
		}
	}
	if read(t, strings.Replace(text, "80.00", "81.00", 1)).Offers[0].Hash == hash {
		t.Error("another sale price has the same hash")
	}
}
