package desk_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/store"
)

func (w world) number(query string) (n int64) {
	w.t.Helper()
	if err := w.Store.Read(w.t.Context(), func(r store.Reader) error { return r.Row(query).Scan(&n) }); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w world) exec(query string) {
	w.t.Helper()
	if err := w.Store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(query)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
}

func ref[T any](v T) *T { return &v }

func TestOnlyTheGivenSettingsChange(t *testing.T) {
	w := open(t)
	if _, err := w.Add(t.Context(), operator, []desk.NewSource{{URL: "http://a.example/feed", Name: "a", Title: "A", Every: setting.Duration(time.Minute), Folder: []string{"News"}}}); err != nil {
		t.Fatal(err)
	}
	w.exec(`UPDATE polls SET due = 9999999999999`)
	w.exec(`UPDATE readings SET as_of = 5, etag = 'x', items = 7`)
	s, err := w.Set(t.Context(), operator, "http://a.example/feed", desk.Settings{Trusted: ref(true), Site: ref("http://a.example/")})
	if err != nil || !s.Trusted || s.Title != "A" || s.Site != "http://a.example/" || len(s.Folder) != 1 || s.Kind != courant.KindFeed {
		t.Errorf("%+v, %v", s, err)
	}
	if due, items := w.number(`SELECT due FROM polls`), w.number(`SELECT items FROM readings`); due != 9999999999999 || items != 7 {
		t.Errorf("due %d, %d items: nothing that is polled has changed", due, items)
	}
	if c := w.changes()["source.set a"]; !strings.Contains(c, `"trusted":false`) || !strings.Contains(c, `"trusted":true`) {
		t.Errorf("the audit has %s", c)
	}
	if _, err := w.Set(t.Context(), operator, "a", desk.Settings{Trusted: ref(true)}); err != nil || len(w.audit()) != 2 {
		t.Errorf("what is so already is no change: %v, %q", err, w.audit())
	}
}

func TestANewKindIsReadAgainAndANewIntervalCountsAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		to    desk.Settings
		items int64
	}{"kind": {desk.Settings{Kind: ref(courant.KindCatalog)}, 0}, "every": {desk.Settings{Every: ref(setting.Duration(time.Hour))}, 7}} {
		w := open(t)
		if _, err := w.Add(t.Context(), operator, []desk.NewSource{{URL: "http://a.example/feed", Name: "a"}}); err != nil {
			t.Fatal(err)
		}
		w.exec(`UPDATE polls SET due = 9999999999999`)
		w.exec(`UPDATE readings SET as_of = 5, etag = 'x', items = 7`)
		if _, err := w.Set(t.Context(), operator, "a", c.to); err != nil {
			t.Fatal(err)
		}
		if due, items := w.number(`SELECT due FROM polls`), w.number(`SELECT items FROM readings`); due == 9999999999999 || items != c.items {
			t.Errorf("%s: due %d, %d items", name, due, items)
		}
	}
}

func TestWrongSettingsAreRefusedWithTheReason(t *testing.T) {
	w := open(t)
	if _, err := w.Add(t.Context(), operator, []desk.NewSource{{URL: "http://a.example/feed", Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Import(t.Context(), operator, file("f", "<rss/>")); err != nil {
		t.Fatal(err)
	}
	for want, to := range map[string]desk.Settings{
		"a: kind must be feed or catalog": {Kind: ref(courant.KindFile)}, "a: every must be at least 1s": {Every: ref(setting.Duration(time.Millisecond))},
		"a: absence must be kept or empty": {Absence: ref(courant.Absence("x"))}, "a: site must be an address": {Site: ref("javascript:x")},
		"a: the folder \"\\x00\" has unprintable": {Folder: &[]string{"\x00"}}, "f was imported from a file": {Every: ref(setting.Duration(time.Hour))},
	} {
		if _, err := w.Set(t.Context(), operator, want[:1], to); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := w.Set(t.Context(), operator, "nobody", desk.Settings{}); !errors.Is(err, courant.NotFound) {
		t.Error(err)
	}
	if s, err := w.Set(t.Context(), operator, "f", desk.Settings{Title: ref("My shop"), Folder: &[]string{"Shops"}}); err != nil || s.Title != "My shop" {
		t.Errorf("a file's title: %+v, %v", s, err)
	}
}

func TestNamesOfSourcesHaveNoExtensions(t *testing.T) {
	w := open(t)
	for url, want := range map[string]string{
		"http://a.example/feed.xml": "a.example-feed", "http://b.example/shop.yml": "b.example-shop", "http://c.example/all.yml.gz": "c.example-all",
		"http://d.example/index.html": "d.example-index", "http://e.example/rss.php?id=1": "e.example-rss", "feed://f.example/x.rdf": "f.example-x", "http://g.example/": "g.example",
		"http://h.example/v1.2/feed": "h.example-v1.2-feed",
	} {
		added, err := w.Add(t.Context(), operator, []desk.NewSource{{URL: url}})
		if err != nil || added[0].Source == nil || added[0].Source.Name != want {
			t.Errorf("%s: %+v, %v, want %s", url, added, err, want)
		}
	}
}
