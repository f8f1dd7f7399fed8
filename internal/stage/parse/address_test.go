package parse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/kit/link"
)

// note is an item with a link that others have too, dated by its title.
func note(id, title string) string {
	return strings.Replace(guid(id, "/log", title), "<description>", fmt.Sprintf("<pubDate>Fri, 0%d Jan 2026 10:00:00 GMT</pubDate><description>", len(title)%9+1), 1)
}

// at reads a feed and returns the addresses of the pages by the titles of the items.
func (w *world) at(items ...string) map[string]string {
	w.t.Helper()
	w.read(1, rss(items...))
	out := map[string]string{}
	for _, d := range w.taken() {
		out[d.doc.Item.Title] = d.address
		w.live(d)
	}
	return out
}

// live makes a page of a document, as far as parse looks at it.
func (w *world) live(d document) {
	key := link.Digest(d.address)
	w.exec(`INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched, stored, rendered_at)
		VALUES ($1, (SELECT COALESCE(MAX(id), 0) + 1 FROM pages), $2, '', $3, 0, 0, $4, '', 1, $5, '', '', $6, 0, 0, 0, 0)
		ON CONFLICT (url) DO UPDATE SET title = excluded.title, published = excluded.published, withdrawn = excluded.withdrawn`,
		key[:], d.address, d.source, d.doc.Item.Withdrawn, d.doc.Item.Title, max(d.doc.Item.Published.UnixMilli(), 0))
}

const shared = "http://a.example/log"

func TestItemsOfOneLinkHavePagesOfTheirOwn(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		first := w.at(note("a", "A"), note("b", "BB"), note("c", "CCC"))
		if len(first) != 3 || first["A"] != shared || !strings.HasPrefix(first["BB"], shared+"?item=") || first["BB"] == first["CCC"] {
			t.Fatalf("got %v", first)
		}
		for _, items := range [][]string{
			{note("a", "A"), note("b", "BB"), note("c", "CCC")}, {note("c", "CCC"), note("b", "BB"), note("a", "A")}, {note("b", "BB")}, {note("c", "CCC"), note("a", "A")},
		} {
			if found := w.at(items...); len(found) != 0 {
				t.Errorf("nothing is new: %v", found)
			}
		}
		if found := w.at(note("d", "DDDD"), note("c", "CCC")); len(found) != 1 || !strings.HasPrefix(found["DDDD"], shared+"?item=") {
			t.Errorf("a new item: %v", found)
		}
		edited := w.at(strings.Replace(note("a", "A"), "text", "more", 1), strings.Replace(note("b", "BB"), "text", "more", 1))
		if edited["A"] != first["A"] || edited["BB"] != first["BB"] {
			t.Errorf("edited: %v, first %v", edited, first)
		}
	})
}

func TestAFeedThatHoldsOneItemOfOneLinkKeepsThemAll(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var addresses []string
		for _, title := range []string{"A", "BB", "CCC"} {
			found := w.at(note(title, title))
			if len(found) != 1 || slices.Contains(addresses, found[title]) {
				t.Fatalf("%s: %v, before it %v", title, found, addresses)
			}
			addresses = append(addresses, found[title])
		}
	})
}

func TestANewIdAtOneAddressIsTheSameItemIfTitleOrDateAre(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.at(note("a", "A"))
		for _, it := range []string{note("b", "A"), note("c", "A")} {
			if found := w.at(it); len(found) != 0 {
				t.Errorf("the id alone has changed: %v", found)
			}
		}
		if found := w.at(strings.Replace(note("d", "A"), "<title>A", "<title>Edited", 1)); found["Edited"] != shared {
			t.Errorf("the title has changed too: %v", found)
		}
	})
}

func TestAnItemWithoutALinkHasAnAddressOfItsOwn(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		bare := "<item><guid isPermaLink=\"false\">7</guid><title>Bare</title><description>text</description></item>"
		found := w.at(bare, "<item><title>Barer</title><description>text</description></item>")
		if len(found) != 2 || !strings.HasPrefix(found["Bare"], "http://a.example/feed?item=") || found["Bare"] == found["Barer"] {
			t.Fatalf("got %v", found)
		}
		if again := w.at(bare); len(again) != 0 {
			t.Errorf("read again: %v", again)
		}
		if edited := w.at(strings.Replace(bare, "text", "more", 1)); edited["Bare"] != found["Bare"] {
			t.Errorf("edited: %v", edited)
		}
	})
}

func TestAWithdrawalByLinkTakesTheItemThatIsThere(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.at(note("a", "A"))
		w.read(1, rss(`<item turbo="false"><link>`+shared+`</link></item>`))
		if found := w.taken(); len(found) != 1 || found[0].address != shared || !found[0].doc.Item.Withdrawn {
			t.Errorf("found %+v", found)
		}
		w.read(1, rss(note("a", "A"), note("b", "BB"), `<item turbo="false"><link>`+shared+`</link></item>`))
		for _, d := range w.taken() {
			if d.doc.Item.Withdrawn {
				t.Errorf("an item that the feed still has is withdrawn: %s", d.address)
			}
		}
	})
}

func TestAnItemIsKnownBesideOthersOfItsIdAndWithoutThem(t *testing.T) {
	plain := func(title string) string { // no id: the link, which others share
		return fmt.Sprintf("<item><link>%s</link><title>%s</title><description>about %[2]s</description></item>", shared, title)
	}
	in(t, func(t *testing.T, w *world) {
		first := w.at(plain("A"))
		both := w.at(plain("A"), plain("B"))
		if len(both) != 1 || first["A"] != shared || both["B"] == shared {
			t.Fatalf("first %v, then %v", first, both)
		}
		for _, items := range [][]string{{plain("B")}, {plain("B"), plain("A")}, {plain("A")}, {plain("A"), plain("B")}} {
			if found := w.at(items...); len(found) != 0 {
				t.Errorf("%d items, nothing new: %v", len(items), found)
			}
		}
		if edited := w.at(strings.Replace(plain("B"), "about", "more about", 1)); edited["B"] != both["B"] {
			t.Errorf("edited: %v", edited)
		}
		third := w.at(plain("C"), plain("B"))
		if len(third) == 0 || third["C"] == "" || third["C"] == shared {
			t.Errorf("a third one: %v", third)
		}
	})
}

func TestEpisodesOfOneIdAreSeparatePages(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		found := w.at(guid("same", "/log", "One"), guid("same", "/log", "Two"))
		if len(found) != 2 || found["One"] == found["Two"] {
			t.Fatalf("got %v", found)
		}
		if again := w.at(guid("same", "/log", "Two"), guid("same", "/log", "Three")); len(again) != 1 || again["Three"] == "" {
			t.Errorf("the next: %v", again)
		}
	})
}
