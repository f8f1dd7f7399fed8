package parse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
)

func offer(id string, price int) string {
	return fmt.Sprintf(`<offer id="%[1]s"><url>http://a.example/p/%[1]s</url><name>Name %[1]s</name><price>%[2]d</price><currencyId>RUB</currencyId><categoryId>1</categoryId></offer>`, id, price)
}

func yml(offers ...string) string {
	return `<yml_catalog date="2026-01-02 03:04"><shop><name>Shop</name><categories><category id="1">C</category></categories><offers>` +
		strings.Join(offers, "") + `</offers></shop></yml_catalog>`
}

// shop is n offers with ids from first on.
func shop(first, n, price int) (offers []string) {
	for i := range n {
		offers = append(offers, offer(fmt.Sprintf("%05d", first+i), price))
	}
	return offers
}

// found takes the documents of the batches and deletes them, as pages does.
func (w *world) found() (all []courant.Found) {
	w.t.Helper()
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var content []byte
			if err := rows.Scan(&content); err != nil {
				return err
			}
			batch, err := pack.DecodeList[courant.Found](content)
			all = append(all, batch...)
			return err
		}, `SELECT content FROM batches ORDER BY source, as_of, n`)
	}); err != nil {
		w.t.Fatal(err)
	}
	w.exec(`DELETE FROM batches`)
	return all
}

func TestFewChangedOffersAreDocuments(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, yml(offer("1", 10), offer("2", 20)))
		docs := w.taken()
		if len(docs) != 2 || docs[0].doc.Offer == nil || docs[0].doc.Item.Title != "Name 1" || docs[0].address != "http://a.example/p/1" || docs[0].rank != courant.OwnFeed {
			t.Fatalf("found %+v", docs)
		}
		if o := docs[0].doc.Whole(time.Time{}); o.Price != "10" || o.ID != "1" || o.Name != "Name 1" || o.URL != "http://a.example/p/1" || o.Hash != docs[0].doc.Item.Hash {
			t.Errorf("got %+v", o)
		}
		if p := w.poll(1); p.items != 2 || p.etag != "tag 1001" || p.changed == 0 {
			t.Errorf("got %+v", p)
		}
		w.read(1, yml(offer("2", 20), offer("1", 10)))
		if docs := w.taken(); len(docs) != 0 {
			t.Errorf("unchanged: found %+v", docs)
		}
		w.read(1, yml(offer("1", 11), offer("2", 20)))
		if docs := w.taken(); len(docs) != 1 || docs[0].doc.Whole(time.Time{}).Price != "11" {
			t.Errorf("changed: found %+v", docs)
		}
	})
}

func TestManyChangedOffersGoInBatches(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		asOf := w.read(1, yml(shop(0, 1700, 10)...))
		if docs, b := w.taken(), w.bells(); len(docs) != 0 || b[flow.BatchReady.Name] != 2 || b[flow.DocumentReady.Name] != 0 {
			t.Fatalf("%d documents, told %v", len(docs), b)
		}
		all := w.found()
		if len(all) != 1700 {
			t.Fatalf("%d found", len(all))
		}
		var doc courant.Document
		if err := pack.Decode(all[42].Document, &doc); err != nil || doc.Whole(time.Time{}).ID != "00042" || all[42].Address != "http://a.example/p/00042" || all[42].Rank != courant.OwnFeed || all[42].Title != "Name 00042" {
			t.Errorf("got %+v of %+v, %v", doc, all[42], err)
		}
		if p := w.poll(1); p.items != 1700 || p.parsed != asOf || p.etag == "" {
			t.Errorf("got %+v", p)
		}
		w.read(1, yml(append(shop(0, 1699, 10), offer("01699", 99))...))
		if docs, all := w.taken(), w.found(); len(docs) != 1 || len(all) != 0 {
			t.Errorf("one price changed: %d documents, %d in batches", len(docs), len(all))
		}
	})
}

func TestASnapshotWithdrawsWhatItLacksAndAMergeDoesNot(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.exec(`UPDATE sources SET absence = 'kept' WHERE id = 2`)
		for _, source := range []int64{1, 2} {
			w.read(source, yml(shop(0, 20, 10)...))
			w.taken()
			w.read(source, yml(shop(0, 15, 10)...))
			gone := w.found()
			if want := map[int64]int{1: 5, 2: 0}[source]; len(gone) != want {
				t.Fatalf("source %d: %d withdrawn", source, len(gone))
			}
			for _, g := range gone {
				if !g.Withdrawn || len(g.Key) != 16 {
					t.Errorf("got %+v", g)
				}
			}
			w.taken()
			w.read(source, yml(shop(0, 16, 10)...))
			if docs := w.taken(); source == 1 && (len(docs) != 1 || docs[0].doc.Item.ID != "00015") || source == 2 && len(docs) != 0 {
				t.Errorf("source %d: what returns is %+v", source, docs)
			}
		}
	})
}

func TestTheOfferThatACatalogueIsCutOffInStaysAsItWas(t *testing.T) {
	merchant := `<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item><g:id>1</g:id><link>http://a.example/1</link><title>A</title>` +
		`<g:price>5 USD</g:price><g:availability>in_stock</g:availability></item><item><g:id>2</g:id><link>http://a.example/2</link><title>B</title>` +
		`<g:availability>in_stock</g:availability><g:price>1299.90 USD</g:price></item></channel></rss>`
	for _, whole := range []string{yml(offer("1", 10), offer("2", 129990)), merchant} {
		in(t, func(t *testing.T, w *world) {
			w.read(1, whole)
			if docs := w.taken(); len(docs) != 2 {
				t.Fatalf("%d documents", len(docs))
			}
			for end := strings.LastIndex(whole, "129") + 3; end < strings.LastIndex(whole, "90")+6; end++ {
				w.read(1, whole[:end])
				if docs := w.taken(); len(docs) != 0 || len(w.found()) != 0 {
					t.Errorf("cut off after %s: %+v", whole[end-20:end], docs)
				}
			}
			if p := w.poll(1); !strings.Contains(p.report, "catalog-cut-off") || !strings.Contains(p.report, "the offer that it ends in was left out") {
				t.Errorf("got %+v", p)
			}
			w.read(1, whole)
			if docs := w.taken(); len(docs) != 0 {
				t.Errorf("whole again: %+v", docs)
			}
		})
	}
}

func TestACatalogueThatShrinksOrIsCutOffWithdrawsNothing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		whole := yml(shop(0, 20, 10)...)
		w.read(1, whole)
		w.taken()
		w.read(1, whole[:strings.Index(whole, `<offer id="00015"`)])
		if p := w.poll(1); len(w.found()) != 0 || !strings.Contains(p.report, "catalog-cut-off") || !strings.Contains(p.report, "truncated") {
			t.Errorf("cut off: %+v", p)
		}
		w.read(1, yml(shop(0, 9, 10)...))
		if p := w.poll(1); len(w.found()) != 0 || !strings.Contains(p.report, "catalog-shrunk") || p.etag != "" || p.body != nil {
			t.Errorf("shrunk: %+v", p)
		}
		w.read(1, yml())
		if p := w.poll(1); len(w.found()) != 0 || !strings.Contains(p.report, "20 of 20 offers") {
			t.Errorf("empty: %+v", p)
		}
		time.Sleep(25 * time.Hour)
		w.read(1, yml(shop(0, 9, 10)...))
		if p, gone := w.poll(1), w.found(); len(gone) != 11 || strings.Contains(p.report, "shrunk") || p.etag == "" {
			t.Errorf("a day later %d are withdrawn: %+v", len(gone), p)
		}
	})
}

func TestARecoveryOfACatalogueRestartsTheDayOfShrinking(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, yml(shop(0, 20, 10)...))
		w.read(1, yml(shop(0, 9, 10)...))
		time.Sleep(20 * time.Hour)
		w.read(1, yml(shop(0, 20, 10)...))
		time.Sleep(20 * time.Hour)
		w.read(1, yml(shop(0, 9, 10)...))
		if gone := w.found(); len(gone) != 0 {
			t.Errorf("%d are withdrawn", len(gone))
		}
	})
}

func TestOffersThatShareAnAddressHavePagesOfTheirOwn(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		shared := func(id, fragment string) string {
			return strings.Replace(offer(id, 10), "/p/"+id, "/services"+fragment, 1)
		}
		bare := strings.Replace(offer("4", 10), "<url>http://a.example/p/4</url>", "", 1)
		w.read(1, yml(shared("1", "#a"), shared("2", "#b"), shared("3 ?&", ""), bare))
		addresses := map[string]string{}
		for _, d := range w.taken() {
			addresses[d.doc.Item.ID] = d.address
		}
		want := map[string]string{"1": "http://a.example/services", "2": "http://a.example/feed?offer=2", "3 ?&": "http://a.example/feed?offer=3+%3F%26", "4": "http://a.example/feed?offer=4"}
		if fmt.Sprint(addresses) != fmt.Sprint(want) {
			t.Fatalf("got %v", addresses)
		}
		w.read(1, yml(bare, shared("3 ?&", ""), shared("2", "#b"), shared("1", "#a"))) // in another order
		if docs, gone := w.taken(), w.found(); len(docs) != 0 || len(gone) != 0 {
			t.Errorf("another order: found %+v and %+v", docs, gone)
		}
	})
}

func TestAnOfferThatMovesLeavesNoPageBehind(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, yml(offer("1", 10), offer("2", 10)))
		w.taken()
		w.exec(`INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched, stored, rendered_at)
			VALUES ($1, 7, 'http://a.example/p/1', 'a.example', 1, 3, 1, FALSE, $1, 1, '', '', '', 0, 0, 0, 0, 0)`, digest("http://a.example/p/1"))
		w.read(1, yml(strings.Replace(offer("1", 10), "/p/1", "/new/1", 1), offer("2", 10)))
		docs := w.taken()
		if len(docs) != 2 || docs[0].address != "http://a.example/new/1" || docs[1].address != "http://a.example/p/1" || !docs[1].doc.Item.Withdrawn {
			t.Errorf("found %+v", docs)
		}
	})
}

func TestOfTwoOffersWithOneIdTheFirstCounts(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, yml(offer("1", 10), strings.Replace(offer("1", 20), "/p/1", "/p/1b", 1)))
		if docs, p := w.taken(), w.poll(1); len(docs) != 1 || docs[0].doc.Whole(time.Time{}).Price != "10" || !strings.Contains(p.report, "duplicate-id") {
			t.Errorf("found %+v, %s", docs, p.report)
		}
	})
}

func TestIdsThatAreLongOrAlikeAreToldApart(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		long := strings.Repeat("x", 14)
		var offers []string
		for _, id := range []string{"", "a", "a0", long, long + "1", long + "2", long + "12345", "\u0436", "A", "0", "00"} {
			offers = append(offers, offer(id, 10))
		}
		w.read(1, yml(offers...))
		if docs := w.taken(); len(docs) != 10 { // the one without an id is left out
			t.Errorf("%d found", len(docs))
		}
		w.read(1, yml(offers...))
		if docs := w.taken(); len(docs) != 0 {
			t.Errorf("read again: %d found", len(docs))
		}
	})
}

func TestACatalogueThatAnotherProcessReadsIsLeftToIt(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		if err := w.store.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Take("parse/1", "another", 30*time.Second)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		asOf := w.pend(1, yml(offer("1", 10)), "tag")
		time.Sleep(12 * time.Second)
		if p := w.poll(1); p.parsed == asOf {
			t.Error("it was read twice")
		}
		time.Sleep(30 * time.Second)
		if p := w.poll(1); p.parsed != asOf || len(w.taken()) != 1 {
			t.Error("it was not taken over")
		}
	})
}

func digest(url string) []byte {
	d := link.Digest(url)
	return d[:]
}

func TestASitemapIsNoFeed(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for _, text := range []string{`<urlset><url><loc>http://a.example/</loc></url></urlset>`, `<urlset></urlset>`,
			`<urlset xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>http://a.example/</loc><news:news><news:title>A</news:title></news:news></url></urlset>`,
			`<sitemapindex><sitemap><loc>http://a.example/sitemap.xml</loc></sitemap></sitemapindex>`} {
			w.read(1, text)
			if report := w.poll(1).report; !strings.Contains(report, "not_a_feed: this is a sitemap") {
				t.Errorf("%s: report %s", text, report)
			}
		}
	})
}

func TestAnImportedFileHasNoAddress(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.exec(`UPDATE sources SET kind = 'file', trusted = TRUE WHERE id = 1`)
		w.exec(`UPDATE answers SET url = 'http://import.invalid/file' WHERE source = 1`)
		w.read(1, rss(`<item><title>One</title><link>one</link><description>&lt;a href="two"&gt;Two&lt;/a&gt;</description></item>`))
		docs := w.taken()
		if len(docs) != 1 || docs[0].doc.Item.Link != "" || strings.Contains(docs[0].doc.Item.Content, "href") {
			t.Errorf("found %+v", docs)
		}
	})
}

func TestTheKindOfASourceDecidesHowItIsRead(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.exec(`UPDATE sources SET kind = 'catalog' WHERE id = 1`)
		w.read(1, rss(item("/p/1", "Kettle")))
		if docs := w.taken(); len(docs) != 1 || docs[0].doc.Offer == nil || docs[0].doc.Item.Title != "Kettle" {
			t.Errorf("found %+v", docs)
		}
		w.read(1, `<urlset><url><loc>http://a.example/</loc></url></urlset>`)
		if report := w.poll(1).report; !strings.Contains(report, "the source is of kind catalog, but this is a sitemap") {
			t.Errorf("report %s", report)
		}
	})
}
