package catalog_test

import (
	"strings"
	"testing"
)

func TestAvailabilityIsKnownInAllSpellings(t *testing.T) {
	for word, texts := range map[string][]string{
		"":             {"in stock", "in_stock", "in-stock", "instock", "InStock", " in stock ", "IN STOCK", "In\u00a0Stock", "https://schema.org/InStock", "http://schema.org/InStock", "schema:InStock", "available", "yes", "true", "TRUE", "1", "12", "в наличии", "В НАЛИЧИИ", "есть в наличии", "на складе", "auf Lager", "En stock", "skladem"},
		"out_of_stock": {"out of stock", "out_of_stock", "out-of-stock", "OutOfStock", "https://schema.org/OutOfStock", "SoldOut", "sold out", "http://schema.org/SoldOut", "no", "false", "0", "нет в наличии", "нет", "ausverkauft"},
		"preorder":     {"preorder", "pre-order", "PreOrder", "pre order", "https://schema.org/PreOrder", "предзаказ"},
		"backorder":    {"backorder", "back-order", "BackOrder", "https://schema.org/BackOrder", "под заказ", "On order", "made to order"},
		"discontinued": {"discontinued", "http://schema.org/Discontinued"},
	} {
		for _, text := range texts {
			c := read(t, merchant(`<g:price>5 USD</g:price><g:availability>`+text+`</g:availability>`))
			if o := c.Offers[0]; o.Available != (word == "") || o.Availability != word || len(c.Warnings) > 0 {
				t.Errorf("%q: available %v, %q, %v; want %q", text, o.Available, o.Availability, codes(c), word)
			}
		}
	}
	for text, word := range map[string]string{"available for order": "available_for_order", "limited availability": "limited_availability", "LimitedAvailability": "limited_availability", "OnlineOnly": "online_only", "https://schema.org/InStoreOnly": "in_store_only"} {
		c := read(t, merchant(`<g:price>5 USD</g:price><g:availability>`+text+`</g:availability>`))
		if o := c.Offers[0]; !o.Available || o.Availability != word || len(c.Warnings) > 0 {
			t.Errorf("%q: available %v, %q, %v", text, o.Available, o.Availability, codes(c))
		}
	}
	c := read(t, merchant(`<g:price>5 USD</g:price><g:availability>Ships in 3 days</g:availability>`))
	if o := c.Offers[0]; o.Available || o.Availability != "ships in 3 days" || strings.Join(codes(c), " ") != "unknown-availability" {
		t.Errorf("unknown words: available %v, %q, %v", o.Available, o.Availability, codes(c))
	}
}

func TestAnOfferSaysWhetherItIsAvailable(t *testing.T) {
	for offer, want := range map[string]bool{
		`<offer id="1">`: true, `<offer id="1" available="true">`: true, `<offer id="1" available="">`: true, `<offer id="1" available="false">`: false, `<offer id="1" available="нет">`: false,
		`<offer id="1" available="in stock">`: true, `<offer id="1"><available>false</available>`: false, `<offer id="1"><available>in_stock</available>`: true, `<offer id="1"><availability>OutOfStock</availability>`: false,
		`<offer id="1" available="true"><available>false</available>`: true, `<offer id="1" available="false"><available>true</available>`: false, `<offer id="1" available="true"><disabled>true</disabled>`: false,
		`<offer id="1"><disabled>false</disabled>`: true,
	} {
		c := read(t, yml(offer+`<name>N</name><categoryId>1</categoryId></offer>`))
		if o := c.Offers[0]; o.Available != want || len(c.Warnings) > 0 {
			t.Errorf("%s: available %v, %v", offer, o.Available, c.Warnings)
		}
	}
}
