package light_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/light"
)

func TestAProductHasItsPage(t *testing.T) {
	o := courant.Offer{ID: "1", URL: "https://a.example/p?1", Name: "Cup <1>", Price: "12990.50", OldPrice: "15000", Currency: "RUB", Available: true, Vendor: "Acme",
		Category: []string{"Home", "Cups"}, Pictures: []string{"https://a.example/1.png", "https://a.example/2.png"}, Description: "<p>Good</p>",
		Params: []courant.Param{{Name: "Volume", Value: "0.3", Unit: "l"}}, Details: []courant.Param{{Name: "page_extent", Value: "10"}}, Barcodes: []string{"012"},
		DeliveryOptions: []courant.Shipping{{Cost: "0", Days: "1-3"}, {Cost: "300", Days: "1"}}, SalesNotes: "Now & here"}
	html, picture := render(t, courant.DocumentOf(address, 1, &o), "https://a.example/1.png")
	for _, want := range []string{`itemtype="https://schema.org/Product"`, `<h1 itemprop="name">Cup &lt;1&gt;</h1>`, "<b>12\u202f990.50\u00a0₽</b> <s>15\u202f000\u00a0₽</s> <mark>−13 %</mark>",
		`<meta itemprop="price" content="12990.50"><meta itemprop="priceCurrency" content="RUB">`, `<p class="by" itemprop="brand">Acme</p>`, `<p class="in">In stock<link itemprop="availability" href="https://schema.org/InStock"></p>`, "<p>Now &amp; here</p>",
		`<div class="crumbs"><span>Home</span><span>Cups</span></div>`, `<img class="first" src="/media/`, `<div itemprop="description"><p>Good</p></div>`, `<th itemprop="name">Volume</th><td><span itemprop="value">0.3</span> <span itemprop="unitText">l</span></td>`, `<tr><th>Page extent</th><td>10</td></tr>`,
		`Barcode <span itemprop="gtin">012</span>`, "<li>free, 1–3 days</li><li>300\u00a0₽, 1 day</li>", `<a class="btn primary" href="https://a.example/p?1" rel="noopener" itemprop="url">At the shop</a>`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in\n%s", want, html[strings.Index(html, "<article"):])
		}
	}
	if !strings.HasPrefix(picture, "/media/") || strings.Contains(html, "Read the whole article") {
		t.Errorf("picture %q", picture)
	}
	bare := courant.Offer{ID: "1", Name: "Cup", Price: "0", OldPrice: "5", Availability: "preorder"}
	html, picture = render(t, courant.DocumentOf(address, 1, &bare))
	for _, want := range []string{"Price on request", `<p class="out">Preorder<link itemprop="availability" href="https://schema.org/PreOrder"></p>`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in\n%s", want, html[strings.Index(html, "<article"):])
		}
	}
	if picture != "" || strings.Contains(html, "<s>") || strings.Contains(html, "At the shop") || strings.Contains(html, "<h2>") {
		t.Error(html[strings.Index(html, "<article"):])
	}
}

func TestLinksGoToTheShopAndNeverToTheFile(t *testing.T) {
	made := "http://import.invalid/shop?offer=2"
	for own, want := range map[string]string{
		"https://a.example/p#2":     `The original is at <a href="https://a.example/p#2" rel="noopener">https://a.example/p#2</a>.`,
		"":                          "which names no original page.",
		"http://import.invalid/p/2": "which names no original page.",
		"javascript:x":              "which names no original page.",
	} {
		html, _ := render(t, courant.DocumentOf(made, 1, &courant.Offer{ID: "2", URL: own, Name: "Cup", Price: "1"}))
		if !strings.Contains(html, want) || strings.Contains(html, "import.invalid") || strings.Contains(html, "canonical") != (own == "https://a.example/p#2") {
			t.Errorf("%q:\n%s", own, html[strings.Index(html, "</style>"):])
		}
	}
	html, _ := render(t, courant.Document{URL: "http://import.invalid/feed/1", Item: courant.Item{Title: "One", Summary: "<p>One</p>" +
		`<div data-widget="form"><div data-widget="field" data-type="input"></div></div><div data-widget="share" data-network="vkontakte"></div>`}})
	if strings.Contains(html, "import.invalid") || strings.Contains(html, "Read the whole") {
		t.Error(html[strings.Index(html, "</style>"):])
	}
}

func TestAPageLinksToTheOriginalAndNotToADerivedAddress(t *testing.T) {
	for link, want := range map[string]string{
		"http://a.example/1":                `The original is at <a href="http://a.example/1"`, // the page's address
		"http://a.example/1?utm_source=x#b": `The original is at <a href="http://a.example/1"`,
		"http://a.example/log#b":            `The original is at <a href="http://a.example/log#b"`,
		"":                                  "From Daily, which names no original page.",
	} {
		var b strings.Builder
		_, err := light.Render(&b, light.Page{SourceName: "Daily", Document: courant.Document{URL: "http://a.example/1", Item: courant.Item{Link: link, Title: "One"}}})
		if err != nil || !strings.Contains(b.String(), want) || strings.Contains(b.String(), "canonical") != (link != "") {
			t.Errorf("%q: %v\n%s", link, err, b.String()[strings.Index(b.String(), "</style>"):])
		}
	}
}

func TestTextsOfAnOfferStayText(t *testing.T) {
	evil := `"><script>x</script><b onclick=x>`
	o := courant.Offer{ID: evil, URL: "javascript:x", Name: evil, Price: "1", Currency: evil, Vendor: evil, Category: []string{evil}, SalesNotes: evil, Availability: evil,
		Params: []courant.Param{{Name: evil, Value: evil, Unit: evil}}, DeliveryOptions: []courant.Shipping{{Cost: evil, Days: evil, Service: evil}}, Country: evil}
	html, _ := render(t, courant.DocumentOf(address, 1, &o))
	if strings.Contains(html, "<script") || strings.Contains(html, "<b onclick") || strings.Contains(html, `href="javascript:`) {
		t.Error(html)
	}
}

func TestAPriceIsWrittenForPeople(t *testing.T) {
	for _, c := range []struct{ price, old, currency, want string }{
		{"5", "", "EUR", "<b>5\u00a0€</b><meta"}, {"1290", "", "RUB", "<b>1\u202f290\u00a0₽</b>"}, {"1234567.5", "", "USD", "<b>1\u202f234\u202f567.50\u00a0$</b>"},
		{"0.05", "", "GBP", "<b>0.05\u00a0£</b>"}, {"10.00", "", "CHF", "<b>10\u00a0CHF</b>"}, {"007.1", "", "", "<b>7.10</b>"}, {"1.125", "", "KWD", "<b>1.125\u00a0KWD</b>"},
		{"90", "100", "EUR", "<s>100\u00a0€</s> <mark>−10 %</mark>"}, {"2", "3", "EUR", "<mark>−33 %</mark>"}, {"999", "1000", "EUR", "<s>1\u202f000\u00a0€</s><meta"},
		{"100", "100", "EUR", "<b>100\u00a0€</b><meta"}, {"100", "90", "EUR", "<b>100\u00a0€</b><meta"}, {"100", "x", "EUR", "<b>100\u00a0€</b><meta"},
		{"", "5", "EUR", ">Price on request<"}, {"0.00", "5", "EUR", ">Price on request<"}, {"1e9", "", "EUR", ">Price on request<"}, {"-1", "", "EUR", ">Price on request<"}, {"1/3", "", "EUR", ">Price on request<"},
	} {
		html, _ := render(t, courant.DocumentOf(address, 1, &courant.Offer{Name: "Cup", Price: c.price, OldPrice: c.old, Currency: c.currency}))
		if !strings.Contains(html, c.want) {
			t.Errorf("%s, %s %s: no %s in\n%s", c.price, c.old, c.currency, c.want, html[strings.Index(html, "<article"):])
		}
	}
	html, _ := render(t, courant.DocumentOf(address, 1, &courant.Offer{Name: "Cup", Price: "5", PriceFrom: true, Currency: "EUR"}))
	if !strings.Contains(html, `schema.org/AggregateOffer`) || !strings.Contains(html, `from <b>5`) || !strings.Contains(html, `itemprop="lowPrice" content="5"`) {
		t.Error(html)
	}
}

func TestAvailabilityIsSaidInWords(t *testing.T) {
	for _, c := range []struct {
		available  bool
		word, want string
	}{
		{true, "", `<p class="in">In stock<link itemprop="availability" href="https://schema.org/InStock"></p>`}, {false, "", `<p class="out">On order<link itemprop="availability" href="https://schema.org/BackOrder">`},
		{false, "out_of_stock", `<p class="out">Out of stock<link itemprop="availability" href="https://schema.org/OutOfStock">`}, {true, "preorder", `Preorder<link itemprop="availability" href="https://schema.org/PreOrder">`},
		{false, "под заказ", `<p class="out">Под заказ<link`}, {false, "_", `<p class="out"><link`},
	} {
		html, _ := render(t, courant.DocumentOf(address, 1, &courant.Offer{Name: "Cup", Available: c.available, Availability: c.word}))
		if !strings.Contains(html, c.want) {
			t.Errorf("%v %q: no %s in\n%s", c.available, c.word, c.want, html[strings.Index(html, "<article"):])
		}
	}
}

func TestWhatAShopSaysOfAnOfferIsOnItsPage(t *testing.T) {
	yes, no := true, false
	o := courant.Offer{Name: "Cup", Condition: "likenew", ConditionReason: "a scratch", Dimensions: "16/7/0.8", Warranty: "true", MinQuantity: "2", StepQuantity: "1", VendorCode: "A-1", Barcodes: []string{"1", "2"},
		Adult: true, Delivery: &no, Pickup: &yes, DeliveryOptions: nil, Details: []courant.Param{{Name: "", Value: "v"}, {Name: "автор", Value: "A"}}}
	html, _ := render(t, courant.DocumentOf(address, 1, &o))
	for _, want := range []string{"<tr><th>Condition</th><td>Like new: a scratch</td></tr>", "<td>16 × 7 × 0.8\u00a0cm</td>", "<tr><th>Warranty</th><td>yes</td></tr>", "<tr><th>Minimum order</th><td>2</td></tr>",
		"<th>Detail</th><td>v</td>", "<th>Автор</th><td>A</td>", "<th>For adults only</th><td>yes</td>", "<li>No delivery</li>", "<li>Pickup is possible</li>",
		`<p class="by">Item number <span itemprop="mpn">A-1</span> · Barcode <span itemprop="gtin">1</span> · Barcode <span itemprop="gtin">2</span></p>`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in\n%s", want, html[strings.Index(html, "<article"):])
		}
	}
	if strings.Contains(html, "in steps") {
		t.Error("a step of one is said")
	}
}

func TestTheFirstPictureIsLargeAndTheOthersAStrip(t *testing.T) {
	const one, two, three = "https://a.example/1.png", "https://a.example/2.png", "https://a.example/3.png"
	o := courant.Offer{Name: "Cup", Pictures: []string{one, one, two, three}}
	html, picture := render(t, courant.DocumentOf(address, 1, &o), one, two)
	first, second := strings.Repeat("a", 64), strings.Repeat("b", 64)
	if strings.Count(html, "<img") != 2 || !strings.Contains(html, `<img class="first" src="/media/`+first) || !strings.Contains(html, `<div class="strip"><img src="/media/`+second) || picture != "/media/"+first+"/100.png" {
		t.Errorf("%s: %s", picture, html)
	}
}
