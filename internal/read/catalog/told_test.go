package catalog_test

import (
	"strconv"
	"strings"
	"testing"
)

func TestWhatStandsBeforeACatalogueIsTold(t *testing.T) {
	yml := `<yml_catalog><shop><offers><offer id="1"><name>N</name><price>5 RUB</price><categoryId>1</categoryId></offer></offers><categories><category id="1">C</category></categories></shop></yml_catalog>`
	products := merchant(`<g:price>5 USD</g:price>`)
	for before, junk := range map[string]bool{
		"": false, `<?xml version="1.0"?>`: false, "\n <!-- x -->": false, `<?xml version="1.0"?><?xml-stylesheet href="x"?>` + "\n": false,
		"\n" + `<?xml version="1.0"?>`: true, " text ": true, "<b>Notice</b>: x in <b>y.php</b><br />\n" + `<?xml version="1.0"?>`: true, "<br>\n<b>Warning: <i>x\n": true, "<div>": true, strings.Repeat("<br>x\n", 300): true,
	} {
		for name, document := range map[string]string{"yml": yml, "merchant": products} {
			c := read(t, before+document)
			first := ""
			if len(c.Warnings) > 0 {
				first = c.Warnings[0].Code
			}
			if (first == "junk-before") != junk || c.WellFormed == junk || len(c.Offers) != 1 || !c.Complete {
				t.Errorf("%s after %q: %v, well formed %v, complete %v, %d offers", name, before, codes(c), c.WellFormed, c.Complete, len(c.Offers))
			}
		}
	}
}

func TestEachListThatIsCutIsTold(t *testing.T) {
	many := func(n int, text string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(text, "%", strconv.Itoa(i)))
		}
		return b.String()
	}
	offer := func(fields string) string {
		return `<offers><offer id="1"><name>N</name><categoryId>1</categoryId>` + fields + `</offer></offers>`
	}
	for name, shop := range map[string]string{
		"outlets":            offer(`<outlets>` + many(1025, `<outlet id="%" instock="1"/>`) + `</outlets>`),
		"delivery options":   offer(`<delivery-options>` + many(257, `<option cost="%"/>`) + `</delivery-options>`),
		"barcodes":           offer(many(257, `<barcode>%</barcode>`)),
		"pictures":           offer(many(257, `<picture>/%.jpg</picture>`)),
		"params":             offer(many(257, `<param name="p">%</param>`)),
		"details":            offer(many(257, `<author>%</author>`)),
		"recommended":        offer(`<rec>` + many(257, "%,") + `</rec>`),
		"sets of an offer":   offer(`<set-ids>` + many(257, "%,") + `</set-ids>`),
		"currencies":         offer("") + `<currencies>` + many(257, `<currency id="RUB" rate="%"/>`) + `</currencies>`,
		"options":            offer("") + `<pickup-options>` + many(257, `<option cost="%"/>`) + `</pickup-options>`,
		"gifts":              offer("") + `<gifts>` + many(10_001, `<gift id="%"/>`) + `</gifts>`,
		"pictures of a gift": offer("") + `<gifts><gift id="1">` + many(257, `<picture>/%.jpg</picture>`) + `</gift></gifts>`,
		"promo products":     offer("") + `<promos><promo id="1"><purchase>` + many(10_001, `<product offer-id="%"/>`) + `</purchase></promo></promos>`,
		"promo gifts":        offer("") + `<promos><promo id="1"><promo-gifts>` + many(257, `<promo-gift gift-id="%"/>`) + `</promo-gifts></promo></promos>`,
		"shop details":       offer("") + many(257, `<agency>%</agency>`),
	} {
		c := read(t, `<yml_catalog><shop><categories><category id="1">C</category></categories>`+shop+`</shop></yml_catalog>`)
		if got := strings.Join(codes(c), " "); got != "too-many" {
			t.Errorf("%s: %q", name, got)
		}
	}
	deep := read(t, merchant(`<g:price>1 USD</g:price><g:product_type>`+many(40, "c% &gt; ")+`</g:product_type>`))
	if got := strings.Join(codes(deep), " "); got != "too-many" || len(deep.Offers[0].Category) != 32 {
		t.Errorf("levels of a category: %q, %d", got, len(deep.Offers[0].Category))
	}
}

func TestTooManyCategoriesAreNoDuplicates(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs a million categories")
	}
	var b strings.Builder
	for i := range 1<<20 + 5 {
		b.WriteString(`<category id="` + strconv.Itoa(i) + `">C</category>`)
	}
	c := read(t, `<yml_catalog><shop><categories>`+b.String()+`</categories><offers><offer id="1"><name>N</name><categoryId>1</categoryId></offer></offers></shop></yml_catalog>`)
	if got := strings.Join(codes(c), " "); got != strings.TrimSpace(strings.Repeat("too-many ", 5)) || len(c.Categories) != 1<<20 {
		t.Errorf("%q, %d categories", got, len(c.Categories))
	}
}

func TestWhatIsNotKnownIsKept(t *testing.T) {
	c := read(t, yml(`<offer id="1" warehouse="North" bid="5"><name>N</name><name>Other</name><categoryId>1</categoryId><mark level="top">Best<issuer>Council</issuer></mark>`+
		`<param>red</param><param name="Empty"></param><cpa>1</cpa></offer><offer id="2" bid="6"><name>N</name><categoryId>1</categoryId><cpa>1</cpa><mark>Worst</mark></offer>`))
	var details, notes []string
	for _, d := range c.Offers[0].Details {
		details = append(details, d.Name+"="+d.Value)
	}
	for _, w := range c.Warnings {
		if w.Level == "info" {
			notes = append(notes, w.Code+" "+w.Element)
		}
	}
	if got := strings.Join(details, " "); got != "warehouse=North name=Other issuer=Council mark=Best param=red" {
		t.Errorf("details %s", got)
	}
	if got := strings.Join(notes, ", "); got != "ignored bid, ignored level, ignored param, ignored cpa" {
		t.Errorf("notes %s", got)
	}
	if got := strings.Join(codes(c)[:4], " "); got != "repeated-element unknown-element unknown-element param-without-name" {
		t.Errorf("warnings %s", got)
	}
	if o := c.Offers[1]; len(o.Details) != 1 || o.Details[0].Value != "Worst" {
		t.Errorf("the second offer: %+v", o.Details)
	}
}
