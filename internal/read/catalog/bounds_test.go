package catalog_test

import (
	"strings"
	"testing"
)

func TestALongIDIsToldFromOthersByADigest(t *testing.T) {
	long := strings.Repeat("ж", 100_000)
	c := read(t, yml(`<offer id="`+long+`1"><name>One</name><price>1</price><categoryId>1</categoryId></offer><offer id="`+long+`2"><name>Two</name><price>1</price><categoryId>1</categoryId></offer>`))
	if len(c.Offers) != 2 || len(c.Offers[0].ID) > 512 || c.Offers[0].ID == c.Offers[1].ID || !strings.HasPrefix(c.Offers[0].ID, "жж") {
		t.Fatalf("%d offers", len(c.Offers))
	}
	if got := codes(c); got[0] != "too-long" {
		t.Errorf("%v", got)
	}
}

func TestOfTwoOffersWithOneIDTheFirstCounts(t *testing.T) {
	c := read(t, yml(`<offer id="1"><name>One</name><price>1</price><categoryId>1</categoryId></offer><offer id="1"><name>Two</name><price>1</price><categoryId>1</categoryId></offer>`))
	if got := codes(c); len(c.Offers) != 1 || c.Offers[0].Name != "One" || len(got) != 1 || got[0] != "duplicate-id" {
		t.Errorf("%v, %+v", got, c.Offers)
	}
}
