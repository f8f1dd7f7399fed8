package parse_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

func TestTheItemThatAFeedIsCutOffInStaysAsItWas(t *testing.T) {
	for format, whole := range map[string]string{
		"rss": `<rss><channel><item turbo="true"><link>http://a.example/1</link><title>A</title></item>` +
			`<item><link>http://a.example/2</link><title>B</title><description>It costs 1299.90</description></item></channel></rss>`,
		"atom": `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><link href="http://a.example/1"/><title>A</title></entry>` +
			`<entry><id>2</id><link href="http://a.example/2"/><title>B</title><content><![CDATA[It costs 1299.90]]></content></entry></feed>`,
		"json": `{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "http://a.example/1", "title": "A"},` +
			`{"id": "2", "url": "http://a.example/2", "title": "B", "content_text": "It costs 1299.90"}]}`,
	} {
		in(t, func(t *testing.T, w *world) {
			w.read(1, whole)
			if docs := w.taken(); len(docs) != 2 {
				t.Fatalf("%s: %d documents", format, len(docs))
			}
			cut := whole[:strings.Index(whole, "99.90")]
			w.read(1, cut)
			if docs, p := w.taken(), w.poll(1); len(docs) != 0 || !strings.Contains(p.report, "truncated") {
				t.Errorf("%s, cut off: %+v, %+v", format, docs, p)
			}
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			if _, err := z.Write([]byte(cut)); err != nil {
				t.Fatal(err)
			}
			if err := z.Flush(); err != nil {
				t.Fatal(err)
			}
			w.read(1, packed.String())
			if docs, p := w.taken(), w.poll(1); len(docs) != 0 || strings.Count(p.report, "truncated") != 1 {
				t.Errorf("%s, cut off and packed: %+v, %+v", format, docs, p)
			}
			w.read(1, whole)
			if docs := w.taken(); len(docs) != 0 {
				t.Errorf("%s, whole again: %+v", format, docs)
			}
		})
	}
}

func TestATruncatedWithdrawalWithdrawsNothing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, `<rss><channel><item turbo="true"><link>http://a.example/1</link><title>A</title></item></channel></rss>`)
		w.taken()
		w.read(1, `<rss><channel><item turbo="false"><link>http://a.example/1</link><title>A`)
		if docs := w.taken(); len(docs) != 0 {
			t.Errorf("found %+v", docs)
		}
	})
}

func TestATruncatedItemIsNotTaken(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		whole := `<rss version="2.0"><channel><item><link>http://a.example/1</link><title>One</title><description>Not refundable unless cancelled</description></item>` +
			`<item><link>http://a.example/2</link><title>Two</title><description>Payment is not refundable unless cancelled</description></item></channel></rss>`
		w.read(1, whole)
		if n := len(w.taken()); n != 2 {
			t.Fatalf("%d documents of the whole", n)
		}
		w.read(1, strings.Replace(whole[:strings.LastIndex(whole, " unless")], "One", "Another", 1))
		if docs := w.taken(); len(docs) != 1 || docs[0].doc.Item.Title != "Another" {
			t.Errorf("taken of the cut one: %+v", docs)
		}
	})
}
