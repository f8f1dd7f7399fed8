package parse_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/kit/link"
)

// guid is an item whose id is not its link.
func guid(id, path, title string) string {
	return strings.Replace(item(path, title), "<guid>"+path, "<guid>"+id, 1)
}

func TestAnIdThatSeveralItemsShareIsNoKey(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, rss(guid("same", "/1", "One"), guid("same", "/2", "Two"), guid("same", "/3", "Three")))
		if found := w.taken(); len(found) != 3 {
			t.Fatalf("%d found", len(found))
		}
		for _, items := range [][]string{{guid("same", "/3", "Three"), guid("same", "/1", "One")}, {guid("same", "/2", "Two")}, {guid("same", "/2", "Two"), guid("same", "/1", "One")}} {
			w.read(1, rss(items...))
			if found := w.taken(); len(found) != 0 {
				t.Errorf("read again: found %+v", found)
			}
		}
	})
}

func TestAChangedIdAloneIsNoChange(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range 4 {
			w.read(1, rss(guid(fmt.Sprint("id-", i), "/1", "One"), guid(fmt.Sprint("other-", i), "/2", "Two")))
			if found := w.taken(); len(found) != map[bool]int{true: 2}[i == 0] {
				t.Errorf("reading %d: found %+v", i, found)
			}
		}
		w.read(1, rss(guid("id-5", "/1", "Uno")))
		if found := w.taken(); len(found) != 1 || found[0].doc.Item.Title != "Uno" {
			t.Errorf("found %+v", found)
		}
		w.read(1, strings.ReplaceAll(rss(item("/1", "Uno")), "<guid>/1</guid>", ""))
		if found := w.taken(); len(found) != 0 {
			t.Errorf("without an id: found %+v", found)
		}
	})
}

func TestAnItemThatTakesTheAddressOfAnotherIsAChange(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, rss(guid("a", "/1", "One"), guid("b", "/2", "Two")))
		w.taken()
		w.read(1, rss(guid("c", "/1", "New"), guid("a", "/3", "One")))
		if found := w.taken(); len(found) != 2 || found[0].doc.Item.Title != "New" || found[1].address != "http://a.example/3" {
			t.Errorf("found %+v", found)
		}
	})
}

func TestTrackingParametersMakeNoOtherAddress(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, rss(item("/1?id=5&amp;utm_source=a", "One")))
		w.taken()
		for _, link := range []string{"/1?id=5&amp;utm_source=b", "/1?id=5&amp;PHPSESSID=9", "/1;jsessionid=7?id=5", "/1?id=5#top"} {
			w.read(1, rss(item(link, "One")))
			if found := w.taken(); len(found) != 0 {
				t.Errorf("%s: found %+v", link, found)
			}
		}
	})
}

// TestSequencesOfOneFeed reads feeds one after the other, as they changed: a
// counter, a date of change, an edited title, a window that has moved by one.
func TestSequencesOfOneFeed(t *testing.T) {
	dir := "../../../../shared/suites/bugcases/feeds"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the cases are not here")
	}
	for names, want := range map[string][2]int{ // documents of the second reading, addresses of both
		"I06-a I06-b": {0, 1}, "I07-a I07-b": {0, 1}, "I08-a I08-b": {1, 1}, "I10-page2-before I10-page2-after": {1, 11},
		"D17-no-dates D17-no-dates": {0, 2}, "I04-no-guid I04-no-guid": {0, 2},
	} {
		in(t, func(t *testing.T, w *world) {
			addresses, last := map[string]bool{}, 0
			for name := range strings.SplitSeq(names, " ") {
				body, err := os.ReadFile(filepath.Join(dir, name+".xml"))
				if err != nil {
					t.Fatal(err)
				}
				w.read(1, string(body))
				found := w.taken()
				last = len(found)
				for _, f := range found {
					addresses[f.address] = true
				}
			}
			if last != want[0] || len(addresses) != want[1] {
				t.Errorf("%s: %d documents, %d addresses, want %v", names, last, len(addresses), want)
			}
		})
	}
}

func TestNoPageHasAnAddressLongerThanOneMayBe(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		base := "http://long.example/" + strings.Repeat("a", link.MaxLength-len("http://long.example/"))
		w.source(5, base, false)
		id := strings.Repeat("ы", 256) // its escapes make 1,536 bytes
		for _, source := range []int64{1, 5} {
			for _, o := range []string{
				`<offer id="` + id + `1"><name>A</name></offer><offer id="` + id + `2"><name>B</name></offer>`,
				`<offer id="1"><name>A</name><url>http://a.example/` + strings.Repeat("b", 4000) + `</url></offer><offer id="2"><name>B</name></offer>`,
				`<offer id="` + strings.Repeat("c", 3_000_000) + `1"><name>A</name></offer><offer id="` + strings.Repeat("c", 3_000_000) + `2"><name>B</name></offer>`,
			} {
				w.read(source, yml(o))
				seen := map[string]bool{}
				for _, d := range w.taken() {
					if d.doc.Item.Withdrawn {
						continue
					}
					seen[d.address] = true
					if c, err := link.Canonical(d.address); err != nil || c != d.address {
						t.Errorf("%d bytes: %.80s, %v", len(d.address), d.address, err)
					}
				}
				if len(seen) != 2 {
					t.Errorf("%d addresses for %.60s", len(seen), o)
				}
				w.found()
			}
		}
	})
}
