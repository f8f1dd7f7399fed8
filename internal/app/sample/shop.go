package sample

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// shop sells prints of the other sites' pictures, as a catalogue in YML. The price of
// one changes every minute, and another is sold out every other minute.
func (w *Web) shop(origin string) http.Handler {
	mux := w.common()
	prints := shopPrints(origin)
	catalogue := func() []byte {
		now := w.Now()
		var b strings.Builder
		fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<yml_catalog date="%s"><shop><name>The Print Room</name><company>The Print Room</company><url>%s/</url>
<currencies><currency id="EUR" rate="1"/></currencies>
<categories><category id="1">Prints</category><category id="2" parentId="1">By day</category><category id="3" parentId="1">By night</category></categories>
<delivery-options><option cost="4" days="2-4"/></delivery-options><offers>`, day(now).Format("2006-01-02T15:04-07:00"), origin)
		for i, p := range prints {
			price, available := 40+7*i, true
			switch i {
			case 0:
				price = 60 - now.Minute()%20
			case 1:
				available = now.Minute()%2 == 0
			}
			old := ""
			if i%3 == 0 {
				old = fmt.Sprintf("<oldprice>%d</oldprice>", 64+7*i)
			}
			category := 2
			if strings.Contains(p.Picture, "night") || strings.Contains(p.Picture, "dusk") {
				category = 3
			}
			fmt.Fprintf(&b, `<offer id="print-%d" available="%v"><url>%s</url><price>%d.00</price>%s<currencyId>EUR</currencyId><categoryId>%d</categoryId>
<picture>%s</picture><name>%s</name><vendor>The Print Room</vendor><description><![CDATA[%s]]></description>
<param name="Paper">Cotton rag, 310 g</param><param name="Size" unit="cm">%d × %d</param><param name="Edition">%d prints</param></offer>`,
				i+1, available, p.Link, price, old, category, p.Picture, p.Title, p.Body, 30+10*(i%3), 20+7*(i%3), 50*(i+1))
		}
		b.WriteString("\n</offers></shop></yml_catalog>")
		return []byte(b.String())
	}
	mux.HandleFunc("GET /catalogue.yml", func(rw http.ResponseWriter, r *http.Request) {
		w.respond(rw, r, "application/xml; charset=utf-8", catalogue())
	})
	w.pages(mux, "The Print Room", origin, "/catalogue.yml", func() []article { return dated(prints, w.Now(), time.Hour) })
	return mux
}

// shopPrints are the products of the shop.
func shopPrints(origin string) (prints []article) {
	for i, p := range []struct{ scene, name, text string }{
		{"lighthouse dusk", "The light on Kestrel Head", "The lamp was lit for the first time in the year in which the breakwater was finished."},
		{"sails day", "Regatta", "Eleven sails before the start. The twelfth had gone aground and is not in the picture."},
		{"cranes day", "Crane number four", "The last crane that lifts by hand, on the old quay, before its stairs were lit."},
		{"night", "The bay by moonlight", "Printed from the plate that hung in the harbour master's office."},
		{"storm", "A rough day", "Force nine from the north-west; the ferry stayed in."},
		{"gulls day", "Gulls", "They were counted afterwards: forty-one, and a tern."},
		{"town dusk", "Rope Street", "The street as those see it who come home by water."},
		{"harbour day", "The breakwater", "Six hundred metres, two lights, one bench."},
	} {
		a := article{Link: fmt.Sprintf("%s/print-%d", origin, i+1), Title: "Print: " + p.name, Author: "The Print Room", Section: "Prints", Body: "<p>" + p.text + "</p>"}
		a.show(origin, p.scene, 20+i)
		prints = append(prints, a)
	}
	return prints
}
