package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/catalog"
)

// shop is a catalogue of n offers.
func shop(n int) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><yml_catalog date="2026-01-02 03:04"><shop><name>Shop</name><url>http://shop.example/</url>` +
		`<currencies><currency id="RUR" rate="1"/></currencies><categories><category id="1">Phones</category>` +
		`<category id="2" parentId="1">Smartphones</category></categories><offers>`)
	for i := range n {
		fmt.Fprintf(&b, `<offer id="%[1]d" available="true" group_id="%[2]d"><url>http://shop.example/offer/%[1]d</url><price>%[1]d.50</price>`+
			`<oldprice>99999</oldprice><currencyId>RUR</currencyId><categoryId>2</categoryId><picture>http://shop.example/i/%[1]d.jpg</picture>`+
			`<name>Смартфон Acme %[1]d &amp; чехол</name><vendor>Acme</vendor><model>M %[1]d</model><description><![CDATA[<p>Хороший <b>смартфон</b>.</p>`+
			`<p>Большой экран, долгая работа, лёгкий корпус.</p>]]></description><param name="Цвет">чёрный</param><param name="Память" unit="ГБ">128</param></offer>`, i, i/4)
	}
	b.WriteString(`</offers></shop></yml_catalog>`)
	return b.String()
}

func BenchmarkYML(b *testing.B) {
	text := shop(2000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if _, err := catalog.Read(strings.NewReader(text), catalog.Options{Offer: func(*courant.Offer) error { n++; return nil }}); err != nil || n != 2000 {
			b.Fatal(n, err)
		}
	}
}
