package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/catalog"
)

const merchantHead = `<rss xmlns:g="http://base.google.com/ns/1.0"><channel>`

func TestALongIDIsShortenedToItsBeginningAndADigest(t *testing.T) {
	long := strings.Repeat("0123456789", 300_000)
	for _, text := range []string{
		yml(`<offer id="` + long + `a"><name>A</name></offer><offer id="` + long + `b"><name>B</name></offer>`),
		merchantHead + `<item><g:id>` + long + `a</g:id><g:price>1</g:price></item><item><g:id>` + long + `b</g:id><g:price>1</g:price></item></channel></rss>`,
	} {
		c := read(t, text)
		if len(c.Offers) != 2 {
			t.Fatalf("%d offers", len(c.Offers))
		}
		if a, b := c.Offers[0].ID, c.Offers[1].ID; len(a) > 512 || a == b || a[:64] != long[:64] || !strings.Contains(strings.Join(codes(c), " "), "too-long") {
			t.Errorf("%.600q, %.600q, %q", a, b, codes(c))
		}
		if warnings, err := json.Marshal(c.Warnings); err != nil || len(warnings) > 4096 {
			t.Errorf("%d bytes of warnings, %v", len(warnings), err)
		}
	}
	if short := strings.Repeat("i", 512); one(t, `<offer id="`+short+`"><name>A</name></offer>`).ID != short {
		t.Error("an id of 512 bytes is not kept as it is")
	}
}

func TestALongCategoryIsStillThatOfItsOffers(t *testing.T) {
	long := strings.Repeat("0123456789", 300)
	c := read(t, `<yml_catalog><shop><categories><category id="`+long+`">`+strings.Repeat("я", 9000)+`</category></categories><offers><offer id="1"><categoryId>`+long+
		`</categoryId></offer></offers></shop></yml_catalog>`)
	if o := c.Offers[0]; len(o.CategoryID) > 512 || len(o.Category) != 1 || len(o.Category[0]) > 1024 || !utf8.ValidString(o.Category[0]) {
		t.Errorf("in %d categories, %d bytes", len(o.Category), len(o.CategoryID))
	}
}

func TestTheSizeOfAnOfferIsLimited(t *testing.T) {
	long := strings.Repeat("я", 20_000)
	elements, attrs := "", fmt.Sprintf(`%[1]s="%[2]s"`, "type", long)
	for _, name := range []string{"name", "vendor", "vendorCode", "model", "typePrefix", "currencyId", "group_id", "sales_notes", "country_of_origin", "weight",
		"dimensions", "expiry", "vat", "rec", "set-ids", "author", "barcode", "manufacturer_warranty", "categoryId", "url", "picture"} {
		elements += "<" + name + ">" + long + "</" + name + ">"
	}
	elements += strings.Repeat(`<param name="`+long+`" unit="`+long+`">`+long+`</param>`, 30)
	elements += `<age unit="` + long + `">1</age><condition type="` + long + `"><reason>` + long + `</reason></condition>`
	elements += `<delivery-options><option cost="` + long + `" days="` + long + `"/></delivery-options>`
	elements += `<outlets>` + strings.Repeat(`<outlet id="`+long+`" instock="`+long+`"/>`, 3) + `</outlets>`
	o := one(t, `<offer id="1" `+attrs+`>`+elements+`</offer>`)
	text, err := json.Marshal(o)
	if err != nil || len(text) > 128<<10 || !utf8.Valid(text) || o.Params == nil {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestWhatIsLeftOutOfAnOfferIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat(`<picture>/1.jpg</picture>`, 257):                                  "too-many",
		strings.Repeat(`<param name="a">b</param>`, 257):                                  "too-many",
		strings.Repeat(`<param name="a">`+strings.Repeat("b", 4000)+`</param>`, 20):       "too-long",
		`<param name="a">` + strings.Repeat("b", 5000) + `</param>`:                       "too-long",
		`<url>http://shop.example/` + strings.Repeat("b", 2048) + `</url>`:                "bad-link",
		`<vendor>` + strings.Repeat("b", 1025) + `</vendor>`:                              "too-long",
		`<currencyId>` + strings.Repeat("b", 65) + `</currencyId>`:                        "too-long",
		strings.Repeat(`<picture>/1.jpg</picture><param name="a">b</param>`, 256):         "",
		`<vendor>` + strings.Repeat("b", 1024) + `</vendor><currencyId>RUB</currencyId> `: "",
	} {
		c := read(t, yml(`<offer id="1"><name>A</name><categoryId>1</categoryId>`+text+`</offer>`))
		if got := strings.Join(codes(c), " "); got != want {
			t.Errorf("%.60s: %q, want %q", text, got, want)
		}
	}
}

func TestAMerchantsPathOfCategoriesIsBounded(t *testing.T) {
	var paths []string
	for range 32 {
		paths = append(paths, strings.Repeat("c", 120))
	}
	_, err := catalog.Read(strings.NewReader(merchantHead+`<item><g:id>1</g:id><g:price>1</g:price><g:product_type>`+strings.Join(paths, " &gt; ")+`</g:product_type></item></channel></rss>`),
		catalog.Options{Offer: func(o *courant.Offer) error {
			size := len(o.CategoryID)
			for _, id := range o.CategoryPath {
				size += len(id)
			}
			if len(o.CategoryPath) != 32 || size > 16<<10 {
				t.Errorf("%d categories, ids of %d bytes", len(o.CategoryPath), size)
			}
			return nil
		}})
	if err != nil {
		t.Error(err)
	}
}
