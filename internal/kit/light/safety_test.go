package light_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/light"
	"github.com/courant-platform/courant/internal/kit/look"
)

var evil = []string{`"><script>x</script>`, `" onclick="x`, `' onclick='x`, `</div></article><script>x</script>`, `&quot;&gt;&lt;script&gt;x&lt;/script&gt;`, `javascript:x`,
	`JaVaScRiPt&#58;x`, `https://a.example/"><script>x</script>`, `https://"onclick=x`, `data:text/html,<script>x</script>`, `red" style="x`, "\x00<script\x00>", `<a href="//x">`, `%22%3E%3Cscript%3E`, `{{.}}`, `a@b" onclick="x`}

// widgets holds all widgets in their inert form, with a placeholder for a text.
var widgets = []string{
	`<div data-widget="gallery" data-title="%[1]s"><figure>%[1]s</figure></div>`, `<div data-widget="slider" data-view="%[1]s" data-title="%[1]s">%[1]s</div>`,
	`<div data-widget="item" data-title="%[1]s" data-expanded="%[1]s">%[1]s</div>`, `<div data-widget="%[1]s">%[1]s</div>`,
	`<div data-widget="feed" data-layout="%[1]s" data-title="%[1]s"><div data-widget="feed-item" data-thumb="%[1]s"><a href="%[1]s">%[1]s</a></div></div>`,
	`<div data-widget="comments"><a href="%[1]s">%[1]s</a><div data-widget="comment" data-author="%[1]s" data-subtitle="%[1]s">%[1]s</div></div>`,
	`<div data-widget="rating" data-value="%[1]s" data-best="%[1]s">%[1]s</div>`, `<div data-widget="bar" data-height="%[1]s" data-color="%[1]s">%[1]s</div>`,
	`<div data-widget="share" data-network="telegram %[1]s">%[1]s</div>`, `<div data-widget="feedback" data-title="%[1]s"><a data-widget="contact" data-type="%[1]s" href="%[1]s">%[1]s</a></div>`,
	`<div data-widget="callback" data-to="%[1]s" data-company="%[1]s" data-agreement="%[1]s">%[1]s</div>`,
	`<div data-widget="form">%[1]s<div data-widget="field" data-type="%[1]s" data-label="%[1]s" data-hint="%[1]s" data-required="%[1]s"><div data-widget="option" data-checked="%[1]s">%[1]s</div></div><div data-widget="submit">%[1]s</div></div>`,
	`<div data-widget="search" data-action="%[1]s" data-name="%[1]s" data-placeholder="%[1]s">%[1]s</div>`, `<div data-widget="ad" data-slot="%[1]s">%[1]s</div>`,
	`<a data-widget="button" href="%[1]s" data-color="%[1]s" data-background="%[1]s" data-primary="%[1]s">%[1]s</a>`, `<span data-widget="button">%[1]s</span>`,
	`<video src="%[1]s"></video>`, `<a href="https://b.example/"><audio src="https://a.example/%[1]s"></audio>`, `<div data-widget="frame">%[1]s`,
	`<iframe src="%[1]s"></iframe><iframe src="https://www.youtube.com/embed/%[1]s"></iframe><iframe src="https://rutube.ru/play/embed/1?%[1]s" title="%[1]s"></iframe>`,
	`<form data-type="dynamic-form" end_point="%[1]s"><span type="input" label="%[1]s" placeholder="%[1]s" input-type="%[1]s"></span><span type="radio"><span type="option" text="%[1]s" meta="%[1]s" checked="%[1]s"></span></span></form>`,
}

func TestNothingActiveSurvivesInWidgets(t *testing.T) {
	for _, widget := range widgets {
		for _, text := range evil {
			in := fmt.Sprintf(widget, text)
			d := courant.Document{URL: address, Item: courant.Item{Link: address, Title: text, Content: in}}
			inert(t, in, d)
			d.URL = "https://a.example/?" + text
			inert(t, in, d)
		}
	}
}

func TestNothingActiveSurvivesInOffers(t *testing.T) {
	for _, text := range evil {
		p := []courant.Param{{Name: text, Value: text, Unit: text}, {}}
		way := []courant.Shipping{{Cost: text, Days: text, OrderBefore: text, Where: text, Service: text}, {}}
		o := courant.Offer{ID: text, Type: text, URL: text, Name: text, Price: text, OldPrice: text, Currency: text, Category: []string{text}, Pictures: []string{text}, Vendor: text,
			VendorCode: text, Model: text, Description: text, Barcodes: []string{text}, Params: p, Availability: text, TypePrefix: text, Country: text, SalesNotes: text, Condition: text,
			ConditionReason: text, Age: text, Weight: text, Dimensions: text, Expiry: text, DeliveryOptions: way, PickupOptions: way, MinQuantity: text, StepQuantity: text, Warranty: text, Details: p}
		d := courant.DocumentOf(address, 1, &o)
		inert(t, text, d)
		d.Offer.Price, d.Offer.OldPrice = "1", "2"
		inert(t, text, d)
		d.Item.Related = []courant.RelatedLink{{URL: text, Title: text}}
		d.Item.Breadcrumbs = []courant.Crumb{{URL: text, Text: text}}
		d.Item.Authors = []courant.Person{{Name: text}}
		d.Item.Language = text
		inert(t, text, d)
	}
}

var (
	active     = regexp.MustCompile(`^(script|noscript|template|iframe|frame|object|embed|base|svg|math|form|input|textarea|select|button|video|audio|source|plaintext)$`)
	attributes = regexp.MustCompile(`^(on.*|style|id|data-.*|srcdoc|action|formaction|poster|background|target|ping|xmlns)$`)
)

// inert renders a document, parses the page as a browser does, and fails if anything is
// active or stays open.
func inert(t *testing.T, in string, d courant.Document) {
	t.Helper()
	var out strings.Builder
	if _, err := light.Render(&out, light.Page{Document: d, SourceName: in, Foreign: true}); err != nil {
		t.Fatal(err)
	}
	tree, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range tree.Descendants() {
		if n.Type == html.ElementNode && active.MatchString(n.Data) {
			t.Errorf("%s: an element %s in %s", in, n.Data, out.String())
		}
		for _, a := range n.Attr {
			if attributes.MatchString(a.Key) {
				t.Errorf("%s: an attribute %s in %s", in, a.Key, out.String())
			}
			if a.Key == "href" && !strings.HasPrefix(a.Val, "http") && !strings.HasPrefix(a.Val, "mailto:") && !strings.HasPrefix(a.Val, "tel:") && strings.Contains(strings.ToLower(a.Val), "script:") {
				t.Errorf("%s: leads to %s", in, a.Val)
			}
		}
		if n.Data == "footer" && n.Parent.Data != "body" {
			t.Errorf("%s: an element %s stays open in %s", in, n.Parent.Data, out.String())
		}
	}
}

func FuzzPage(f *testing.F) {
	for i, widget := range widgets {
		f.Add(fmt.Sprintf(widget, evil[i%len(evil)]), "T")
	}
	f.Fuzz(func(t *testing.T, content, title string) {
		inert(t, content, courant.Document{URL: address, Item: courant.Item{Link: address, Title: title, Content: content}})
	})
}

func TestEveryButtonHasEnoughContrast(t *testing.T) {
	found := regexp.MustCompile(`--b:#(\w\w)(\w\w)(\w\w)`).FindAllStringSubmatch(string(look.More()), -1)
	if len(found) != 8 || !strings.Contains(string(look.More()), "{background:var(--b);color:#fff}") {
		t.Fatalf("%d colours", len(found))
	}
	for _, c := range found {
		luminance := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} { // WCAG 2.2, relative luminance
			n, err := strconv.ParseUint(c[i+1], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			v := float64(n) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			luminance += weight * v
		}
		if contrast := 1.05 / (luminance + 0.05); contrast < 4.5 {
			t.Errorf("%s: white on it has %.1f", c[0], contrast)
		}
	}
}
