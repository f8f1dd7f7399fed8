package catalog_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/catalog"
)

const head = `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE yml_catalog SYSTEM "shops.dtd"><yml_catalog date="2026-01-02 03:04"><shop><name>Shop</name>` +
	`<company>Shop LLC</company><url>https://shop.example/</url><currencies><currency id="RUR" rate="1"/><currency id="USD" rate="CBRF" plus="3"/></currencies>` +
	`<categories><category id="1">Home</category><category id="2" parentId="1"><![CDATA[Cups & mugs]]></category><category id="3" parentId="9">Lost</category></categories>`

func yml(offers string) string {
	return head + "<offers>" + offers + "</offers></shop></yml_catalog>"
}

func read(t *testing.T, text string) catalog.Catalog {
	t.Helper()
	c, err := catalog.Read(strings.NewReader(text), catalog.Options{URL: "https://shop.example/yml.xml"})
	if err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return c
}

func one(t *testing.T, offer string) courant.Offer {
	t.Helper()
	c := read(t, yml(offer))
	if len(c.Offers) != 1 {
		t.Fatalf("%d offers in %s: %+v", len(c.Offers), offer, c.Warnings)
	}
	return c.Offers[0]
}

func codes(c catalog.Catalog) (codes []string) {
	for _, w := range c.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

func TestAnOfferIsReadWhole(t *testing.T) {
	o := one(t, `<offer id="12" group_id="7" type="vendor.model" available="false"><url>/p/12?a=1&amp;b=2</url><price from="true">1 299,50</price><oldprice>1500</oldprice>
		<currencyId>RUR</currencyId><categoryId>2</categoryId><picture>
		https://shop.example/1.jpg
		</picture><picture>2.jpg</picture><store>true</store><pickup>no</pickup><delivery-options><option cost="300" days="1-3" order-before="18"/></delivery-options>
		<outlets><outlet id="5" instock="3" booking="true"/></outlets><typePrefix>Cup</typePrefix><vendor>
		Acme</vendor><vendorCode>A-1</vendorCode><model>M &lt;1&gt;</model><description><![CDATA[<h3>Good</h3><script>x</script><p onclick="x">cup</p>]]></description>
		<sales_notes>Now</sales_notes><manufacturer_warranty>true</manufacturer_warranty><country_of_origin>Italy</country_of_origin><barcode>0012345678905</barcode>
		<barcode>4601546021298</barcode><param name="Colour">red</param><param name="Colour">blue</param><param name="Volume" unit="l">0.3</param>
		<condition type="likenew"><reason>Open box</reason></condition><age unit="month">6</age><weight>0.5</weight><dimensions>1/2/3</dimensions><rec>1, 2</rec>
		<set-ids>s1,s2</set-ids><min-quantity>2</min-quantity><vat>VAT_20</vat><expiry>P1Y</expiry><adult>true</adult><year>2020</year></offer>`)
	yes, no := true, false
	want := courant.Offer{ID: "12", GroupID: "7", Type: "vendor.model", URL: "https://shop.example/p/12?a=1&b=2", Name: "Cup Acme M <1>",
		Price: "1299.50", PriceFrom: true, OldPrice: "1500", Currency: "RUB", CategoryID: "2", CategoryPath: []string{"1", "2"}, Category: []string{"Home", "Cups & mugs"},
		Pictures: []string{"https://shop.example/1.jpg", "https://shop.example/2.jpg"}, Vendor: "Acme", VendorCode: "A-1", Model: "M <1>", TypePrefix: "Cup",
		Description: "<h3>Good</h3><p>cup</p>", Barcodes: []string{"0012345678905", "4601546021298"},
		Params:     []courant.Param{{Name: "Colour", Value: "red"}, {Name: "Colour", Value: "blue"}, {Name: "Volume", Value: "0.3", Unit: "l"}},
		SalesNotes: "Now", Country: "Italy", Condition: "likenew", ConditionReason: "Open box", Age: "6 month", Weight: "0.5", Dimensions: "1/2/3",
		Expiry: "P1Y", VAT: "VAT_20", Adult: true, Store: &yes, Pickup: &no, DeliveryOptions: []courant.Shipping{{Cost: "300", Days: "1-3", OrderBefore: "18"}},
		Outlets: []courant.Outlet{{ID: "5", InStock: "3", Booking: "true"}}, MinQuantity: "2", Warranty: "true", Recommended: []string{"1", "2"},
		Sets: []string{"s1", "s2"}, Details: []courant.Param{{Name: "year", Value: "2020"}}}
	if want.Hash = o.Hash; len(o.Hash) != 32 {
		t.Errorf("hash %q", o.Hash)
	}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("got  %+v\nwant %+v", o, want)
	}
}

func TestTheNameFollowsFromTheType(t *testing.T) {
	for elements, want := range map[string]string{
		`<name>N</name><model>M</model>`:                               "N",
		`<vendor>V</vendor><model>M</model>`:                           "V M",
		`<typePrefix>P</typePrefix><vendor>V</vendor><model>M</model>`: "P V M",
		`<title>T</title><artist>A</artist>`:                           "A: T",
		`<title>T</title>`:                                             "T",
		`<name>a &amp;quot; &lt;b>x&lt;/b></name>`:                     `a " <b>x</b>`,
		"<name>\n  two\n  lines  </name>":                              "two lines",
		`<name>Plug&Play hub</name>`:                                   "Plug&Play hub",
		`<name><![CDATA[Чай &amp; кофе]]></name>`:                      "Чай & кофе",
		"<name>e\u0301t\u00a0e</name>":                                 "\u00e9t e",
		`<NAME>upper</NAME>`:                                           "upper",
		`<name>first<vendor>V</vendor>`:                                "first",
	} {
		if o := one(t, `<offer id="1"><categoryId>1</categoryId>`+elements+`</offer>`); o.Name != want {
			t.Errorf("%s: %q, want %q", elements, o.Name, want)
		}
	}
}

func TestPricesAreDecimals(t *testing.T) {
	for text, want := range map[string]string{"250.00": "250.00", "0": "0", " 314 ": "314", "1 299,50": "1299.50", "1,299.50": "1299.50", "1.299,50": "1299.50",
		"12,990": "12990", "1,299,000": "1299000", "12.990": "12.990", "99,9": "99.9", ".5": "0.5", "5.": "5", "1\u00a0000": "1000", "12'000": "12000",
		"1 299 000": "1299000", "1'299'000,5": "1299000.5", "1.299.000": "1299000", "1,299,000.50": "1299000.50", "1.299.000,50": "1299000.50",
		"12,34,567": "1234567", "12,34,567.80": "1234567.80", "0,125": "0.125", "1,2345": "1.2345", ",5": "0.5", "5,": "5",
		"12,5,6": "", "12.5.6": "", "1,299,50": "", "1.299.50": "", "12,34": "12.34", "1,2.3": "", "1.2,3": "", "1,299.50.1": "", "12 99": "", "12 5,6": "",
		"1 299 50": "", "12 .50": "", ",": "", ".": "", ",,5": "", "1,,299": "", "1,2,345": "", "0,123,456": "", "1 299,000": "1299.000",
		"free": "", "-5": "", "1e9": "", "": "", "NaN": "", strings.Repeat("9", 40): ""} {
		c := read(t, yml(`<offer id="1"><categoryId>1</categoryId><name>N</name><price>`+text+`</price></offer>`))
		if got := c.Offers[0].Price; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if warned := len(codes(c)) > 0; warned != (want == "" && text != "" || text == "12.990") {
			t.Errorf("%q: warnings %v", text, codes(c))
		}
	}
}

func TestTheShopIsRead(t *testing.T) {
	c := read(t, strings.Replace(yml(`<offer id="1"><name>N</name><categoryId>3</categoryId></offer>`), "</offers>", `</offers>
		<sets><set id="s1"><name>Set</name><url>/s</url></set></sets><gifts><gift id="g"><name>Gift</name><picture>/g.jpg</picture></gift></gifts>
		<promos><promo id="p" type="gift with purchase"><start-date>2026-01-02 03:04:05</start-date><end-date>2026-02-02 00:00:00</end-date><description>Buy</description>
		<url>/promo</url><purchase><required-quantity>2</required-quantity><free-quantity>1</free-quantity><product offer-id="1"><discount-price currency="RUR">90</discount-price></product>
		<product category-id="2"/></purchase><promo-gifts><promo-gift gift-id="g"/><promo-gift offer-id="1"/></promo-gifts></promo>
		<promo id="q" type="promo code"><promo-code>X</promo-code><discount unit="percent">5</discount></promo></promos><gifts/><promos/>
		<pickup-options><option cost="150" days="3"/></pickup-options>`, 1))
	if f := c.Feed; c.Format != "yml" || f.Title != "Shop" || f.Link != "https://shop.example/" || f.Updated.Format("2006-01-02T15:04") != "2026-01-02T03:04" || !c.Complete || !c.WellFormed {
		t.Errorf("got %+v", c)
	}
	want := `{"company":"Shop LLC","currencies":[{"id":"RUB","rate":"1"},{"id":"USD","rate":"CBRF","plus":"3"}],"pickup_options":[{"cost":"150","days":"3"}],` +
		`"sets":[{"id":"s1","name":"Set","url":"https://shop.example/s"}],"gifts":[{"id":"g","name":"Gift","pictures":["https://shop.example/g.jpg"]}],` +
		`"promos":[{"id":"p","type":"gift with purchase","start":"2026-01-02T03:04:05Z","end":"2026-02-02T00:00:00Z","description":"Buy","url":"https://shop.example/promo",` +
		`"required_quantity":"2","free_quantity":"1","products":[{"offer":"1","price":"90","currency":"RUB"},{"category":"2"}],"gifts":[{"gift":"g"},{"offer":"1"}]},` +
		`{"id":"q","type":"promo code","start":"","end":"","description":"","url":"","code":"X","discount":"5 percent","products":[],"gifts":[]}]}`
	if got, err := json.Marshal(c.Shop); err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, err := json.Marshal(c.Categories); err != nil || string(got) != `[{"id":"1","parent":"","name":"Home"},{"id":"2","parent":"1","name":"Cups & mugs"},{"id":"3","parent":"9","name":"Lost"}]` &&
		string(got) != `[{"id":"1","parent":"","name":"Home"},{"id":"2","parent":"1","name":"Cups \u0026 mugs"},{"id":"3","parent":"9","name":"Lost"}]` {
		t.Errorf("got %s, %v", got, err)
	}
	if got := c.Offers[0].Category; !reflect.DeepEqual(got, []string{"Lost"}) {
		t.Errorf("an orphan is in %q", got)
	}
}

func TestOneBadElementCostsAWarning(t *testing.T) {
	good := `<offer id="%"><name>N</name><categoryId>1</categoryId><price>5</price></offer>`
	for text, want := range map[string]string{
		`<offer><name>N</name><categoryId>1</categoryId></offer>`:                                       "offer-without-id",
		`<offer id="9"><categoryId>1</categoryId></offer>`:                                              "offer-without-name",
		`<offer id="9"><name>N</name></offer>`:                                                          "offer-without-category",
		`<offer id="9"><name>N</name><categoryId>77</categoryId></offer>`:                               "unknown-category",
		`<offer id="9"><name>N</name><categoryId>1</categoryId><price>x</price></offer>`:                "bad-price",
		`<offer id="9"><name>N</name><categoryId>1</categoryId><turbo>x</turbo></offer>`:                "unknown-element",
		`<offer id="9"><name>N</name><categoryId>1</categoryId><picture>javascript:x</picture></offer>`: "bad-link",
		`<offer id="9"><name>N</name><categoryId>1</categoryId><vendor>V`:                               "missing-end-tag",
		`<offer id="9"><name>a & b</name><categoryId>1</categoryId></offer>`:                            "unescaped-ampersand",
	} {
		c := read(t, yml(strings.Replace(good, "%", "1", 1)+text+strings.Replace(good, "%", "2", 1)))
		first, last := c.Offers[0], c.Offers[len(c.Offers)-1]
		if got := codes(c); len(got) == 0 || got[0] != want || first.ID != "1" || last.ID != "2" || last.Price != "5" || !c.Complete {
			t.Errorf("%s: %v, %+v", text, c.Warnings, c.Offers)
			continue
		}
		if w := c.Warnings[0]; w.Line != 1 || w.Column < len(head)-20 || w.Text == "" {
			t.Errorf("%s: %+v", text, w)
		}
	}
}

func TestACutOffCatalogueGivesWhatIsThere(t *testing.T) {
	whole := yml(`<offer id="1"><url>/1</url><price>1</price><name>One</name><categoryId>1</categoryId></offer>` +
		`<offer id="2"><url>/2</url><price>2</price><name>Two</name><categoryId>1</categoryId></offer>`)
	for cut, want := range map[string]int{`<offer id="2"`: 1, `<name>Two`: 1, "2</price>": 1, "</offer></offers>": 1, "</offers>": 2, "</shop>": 2} {
		c := read(t, whole[:strings.Index(whole, cut)])
		if len(c.Offers) != want || c.Complete || c.WellFormed {
			t.Errorf("before %s: %d offers, complete %v", cut, len(c.Offers), c.Complete)
		}
		if told := strings.Contains(c.Warnings[0].Text, "the offer that it ends in was left out"); told != (want == 1 && cut != `<offer id="2"`) {
			t.Errorf("before %s: %+v", cut, c.Warnings)
		}
	}
	c, err := catalog.Read(io.MultiReader(strings.NewReader(whole[:len(whole)-100]), iotest.ErrReader(io.ErrUnexpectedEOF)), catalog.Options{})
	if err != nil || c.Complete || len(c.Offers) == 0 {
		t.Errorf("a broken source: %d offers, %v, %v", len(c.Offers), c.Complete, err)
	}
	for text, want := range map[string]string{"": "empty", " \n": "empty", "<a/>": "not_a_feed", "<yml_catalog><shop><name>": "malformed"} {
		if _, err := catalog.Read(strings.NewReader(text), catalog.Options{}); !errors.Is(err, courant.Invalid) || !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCategoriesMayComeLate(t *testing.T) {
	text := `<yml_catalog><shop><offers><offer id="1"><name>N</name><categoryId>2</categoryId></offer></offers>` +
		`<categories><category id="1">Home</category><category id="2" parentId="1">Cups</category></categories></shop></yml_catalog>`
	again := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	c, err := catalog.Read(strings.NewReader(text), catalog.Options{Again: again})
	if err != nil || !reflect.DeepEqual(c.Offers[0].Category, []string{"Home", "Cups"}) || len(c.Categories) != 2 {
		t.Errorf("got %+v, %v", c, err)
	}
	if got := codes(c); !reflect.DeepEqual(got, []string{"late-categories"}) {
		t.Errorf("warnings %v", got)
	}
}

func TestCyclesOfCategoriesEnd(t *testing.T) {
	c := read(t, `<yml_catalog><shop><categories><category id="1" parentId="2">A</category><category id="2" parentId="1">B</category><category id="3" parentId="3">C</category></categories>`+
		`<offers><offer id="1"><name>N</name><categoryId>1</categoryId></offer><offer id="3"><name>N</name><categoryId>3</categoryId></offer></offers></shop></yml_catalog>`)
	if !reflect.DeepEqual(c.Offers[0].Category, []string{"B", "A"}) || !reflect.DeepEqual(c.Offers[1].Category, []string{"C"}) {
		t.Errorf("got %q and %q", c.Offers[0].Category, c.Offers[1].Category)
	}
}

func TestAProductFeedIsRead(t *testing.T) {
	item := `<g:id>A1</g:id><title><![CDATA[Watch & strap]]></title><description>Line one
Line two</description><link>https://shop.example/a1</link><g:additional_image_link>https://shop.example/2.jpg</g:additional_image_link>
<g:image_link>https://shop.example/1.jpg</g:image_link><g:price>105.29 USD</g:price><g:sale_price>99,90 USD</g:sale_price><g:availability>in_stock</g:availability>
<g:brand>Acme</g:brand><g:mpn>M1</g:mpn><g:gtin>012</g:gtin><g:condition>refurbished</g:condition><g:item_group_id>G</g:item_group_id>
<g:google_product_category>201</g:google_product_category><g:product_type>Clothes &gt; Watches</g:product_type><g:color>White&#47;Yellow</g:color><g:size>44</g:size>
<g:shipping><g:country>US</g:country><g:region>MA</g:region><g:service>Ground</g:service><g:price>6.49 USD</g:price></g:shipping><g:custom_label_0>x</g:custom_label_0>`
	want := courant.Offer{ID: "A1", GroupID: "G", Available: true, URL: "https://shop.example/a1", Name: "Watch & strap", Price: "99.90", OldPrice: "105.29", Currency: "USD",
		CategoryID: "Clothes > Watches", CategoryPath: []string{"Clothes", "Clothes > Watches"}, Category: []string{"Clothes", "Watches"}, Pictures: []string{"https://shop.example/1.jpg", "https://shop.example/2.jpg"},
		Vendor: "Acme", VendorCode: "M1", Description: "Line one<br>Line two", Barcodes: []string{"012"}, Params: []courant.Param{{Name: "color", Value: "White/Yellow"}, {Name: "size", Value: "44"}},
		Details: []courant.Param{{Name: "google_product_category", Value: "201"}}, Condition: "refurbished", DeliveryOptions: []courant.Shipping{{Cost: "6.49 USD", Where: "US MA", Service: "Ground"}}}
	for _, text := range []string{
		`<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>T</title><link>https://shop.example/</link><item>` + item + `</item></channel></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0"><title>T</title><link rel="alternate" href="https://shop.example/"/><entry>` + item + `</entry></feed>`,
		`<rss version="2.0"><channel><title>T</title><link>https://shop.example/</link><item>` + item + `</item></channel></rss>`,
	} {
		c := read(t, text)
		if c.Format != "merchant" || c.Feed.Title != "T" || c.Feed.Link != "https://shop.example/" || len(c.Offers) != 1 {
			t.Fatalf("got %+v", c)
		}
		want.Hash = c.Offers[0].Hash
		if !reflect.DeepEqual(c.Offers[0], want) {
			t.Errorf("got  %+v\nwant %+v", c.Offers[0], want)
		}
	}
}

func TestAHashTellsWhatDiffersAndNothingElse(t *testing.T) {
	base := `<offer id="1"><name>N</name><price>5</price><categoryId>1</categoryId><param name="A">x</param></offer>`
	same := strings.Replace(base, "<name>N</name><price>5</price>", "<price> 5 </price>\n<name>N </name>", 1)
	if one(t, base).Hash != one(t, same).Hash {
		t.Error("layout and order make another hash")
	}
	seen := map[string]string{}
	for _, o := range []string{base, strings.Replace(base, ">5<", ">6<", 1), strings.Replace(base, `id="1"`, `id="1" available="false"`, 1), strings.Replace(base, ">x<", ">y<", 1),
		strings.Replace(base, "<price>", "<store>false</store><price>", 1), strings.Replace(base, "<price>", "<store>true</store><price>", 1), strings.Replace(base, "<categoryId>1", "<categoryId>2", 1)} {
		if h := one(t, o).Hash; seen[h] != "" {
			t.Errorf("one hash for %s and %s", o, seen[h])
		} else {
			seen[h] = o
		}
	}
}

func TestTheSamplesAreReadWhole(t *testing.T) {
	dir := "../../../../shared/samples"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the samples are not here")
	}
	for name, want := range map[string]int{"yml/alehano_goyml_yml.xml": 2, "yml/analyticsteam47_testxml_yml.xml": 1, "yml/kirverovski_nafnaf_yandex_market_excerpt.xml": 2,
		"yml/rednekus_babyexpert_yml_excerpt.xml": 3, "yml/stefanitsky_valid_feed.xml": 8, "derived/stefanitsky_valid_feed.cp1251.xml": 8,
		"google/kanenas_til_celebird_sample.xml": 2, "google/pccold_google-merchant_excerpt.xml": 1} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		c, err := catalog.Read(f, catalog.Options{})
		f.Close()
		if err != nil || len(c.Offers) != want {
			t.Errorf("%s: %d offers, %v", name, len(c.Offers), err)
		}
		for _, w := range c.Warnings {
			if w.Code != "unknown-category" && w.Code != "bad-old-price" && w.Level != courant.LevelInfo {
				t.Errorf("%s: %+v", name, w)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(yml(`<offer id="1"><name>N</name><price>5</price><categoryId>1</categoryId><description><![CDATA[<p>x</p>]]></description></offer>`))
	f.Add(`<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item><g:id>1</g:id><g:price>5 USD</g:price><g:shipping><g:price>1</g:price></g:shipping></item></channel></rss>`)
	f.Add(`<yml_catalog><shop><promos><promo id="p"><purchase><product offer-id="1"/></purchase></promo></promos><offer id='`)
	f.Fuzz(func(t *testing.T, text string) {
		catalog.Detect(text)
		c, err := catalog.Read(strings.NewReader(text), catalog.Options{URL: "https://shop.example/"})
		if err != nil && !errors.Is(err, courant.Invalid) {
			t.Fatal(err)
		}
		for _, o := range c.Offers {
			if o.ID == "" || len(o.Hash) != 32 || strings.Contains(o.Description, "<script") || strings.ContainsAny(o.Name, "\n\x00") {
				t.Fatalf("got %+v", o)
			}
			if o.Price != "" && strings.Trim(o.Price, "0123456789.") != "" {
				t.Fatalf("price %q", o.Price)
			}
		}
	})
}

func TestTheFirstOfTwoOffersWithOneIDWins(t *testing.T) {
	c := read(t, yml(`<offer id="1"><name>One</name><price>1</price><categoryId>1</categoryId></offer><offer id="1"><name>Two</name><price>1</price><categoryId>1</categoryId></offer>`))
	if got := codes(c); len(c.Offers) != 1 || c.Offers[0].Name != "One" || len(got) != 1 || got[0] != "duplicate-id" {
		t.Errorf("%v, %+v", got, c.Offers)
	}
}

func TestForbiddenCharactersGiveAWarning(t *testing.T) {
	utf16 := "\xff\xfe"
	for _, c := range `<?xml version="1.0" encoding="windows-1251"?>` + yml(`<offer id="1"><name>One</name><categoryId>1</categoryId></offer>`)[len(`<?xml version="1.0" encoding="UTF-8"?>`):] {
		utf16 += string([]byte{byte(c), 0})
	}
	for text, want := range map[string]string{
		yml(`<offer id="1"><name>O` + "\x00" + `ne</name><categoryId>1</categoryId></offer>`): "encoding",
		yml(`<offer id="1"><name>One</name><categoryId>1</categoryId></offer>`):               "",
		utf16: "encoding",
	} {
		c := read(t, text)
		if got := strings.Join(codes(c), " "); got != want || len(c.Offers) != 1 || c.Offers[0].Name != "One" {
			t.Errorf("%.60q: %q, want %q; %+v", text, got, want, c.Offers)
		}
	}
}
