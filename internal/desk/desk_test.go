package desk_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

var (
	operator = courant.Visitor{Account: "ann", Role: courant.RoleOperator}
	viewer   = courant.Visitor{Account: "bob", Role: courant.RoleViewer}
)

type world struct {
	t *testing.T
	*desk.Desk
}

func open(t *testing.T) world {
	return world{t, &desk.Desk{Store: storetest.Memory(t), Blobs: blob.Bucket{Driver: &memory.Memory{}}}}
}

// audit is who did what to what, the newest first.
func (w world) audit() (all []string) {
	w.t.Helper()
	if err := w.Store.Read(w.t.Context(), func(r store.Reader) error {
		entries, err := desk.Audit(r, 100)
		for _, e := range entries {
			all = append(all, fmt.Sprint(e.Account, " ", e.Action, " ", e.Subject))
		}
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// changes are what the audit says of each action.
func (w world) changes() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	if err := w.Store.Read(w.t.Context(), func(r store.Reader) error {
		entries, err := desk.Audit(r, 100)
		for _, e := range entries {
			all[e.Action+" "+e.Subject] = string(e.Change)
		}
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w world) count(table string) (n int) {
	w.t.Helper()
	if err := w.Store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Row(`SELECT COUNT(*) FROM ` + table).Scan(&n)
	}); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func file(name, body string) desk.File {
	sum := sha256.Sum256([]byte(body))
	return desk.File{Name: name, Digest: sum[:], Type: "text/xml", Body: strings.NewReader(body)}
}

// zones are those of a fleet that lets all be switched but one.
type zones struct{ refused string }

func (z zones) MaySwitch(_ context.Context, zone string, _ bool) error {
	if zone == z.refused {
		return courant.Errorf(courant.Conflict, "%q is the last zone that is on", zone)
	}
	return nil
}

// everything is each use case once, on a source that is there.
func everything(w world, who courant.Visitor) map[string]error {
	ctx := w.t.Context()
	_, add := w.Add(ctx, who, []desk.NewSource{{URL: "http://b.example/feed"}})
	_, ask := w.Ask(ctx, who, "a")
	title := "A"
	_, set := w.Set(ctx, who, "a", desk.Settings{Title: &title})
	_, imported := w.Import(ctx, who, file("f", "<rss/>"))
	_, remove := w.Remove(ctx, who, "a", nil)
	return map[string]error{"add": add, "ask": ask, "set": set, "import": imported, "remove": remove,
		"subscribe": w.Subscribe(ctx, who, "s", []string{"feed"}), "unsubscribe": w.Unsubscribe(ctx, who, "s"),
		"zone": w.SwitchZone(ctx, who, zones{}, "z", false)}
}

func TestOnlyAnOperatorChangesThings(t *testing.T) {
	for _, who := range []courant.Visitor{viewer, {}, {Account: "eve", Role: courant.RolePublisher}} {
		w := open(t)
		if _, err := w.Add(t.Context(), operator, []desk.NewSource{{URL: "http://a.example/feed", Name: "a"}}); err != nil {
			t.Fatal(err)
		}
		for what, err := range everything(w, who) {
			if !errors.Is(err, courant.Forbidden) {
				t.Errorf("%s by %+v: %v", what, who, err)
			}
		}
		if n, m := w.count("sources"), w.count("subscriptions")+w.count("zones")+w.count("pending"); n != 1 || m != 0 || len(w.audit()) != 1 {
			t.Errorf("%+v has changed something: %d sources, %d other rows, audit %q", who, n, m, w.audit())
		}
	}
}

func TestEveryChangeIsInTheAudit(t *testing.T) {
	w := open(t)
	if _, err := w.Add(t.Context(), operator, []desk.NewSource{{URL: "http://a.example/feed", Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	for what, err := range everything(w, operator) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	counted := map[string]int{}
	for _, e := range w.audit() {
		counted[e]++
	}
	for _, e := range []string{"ann source.add a", "ann source.add b.example-feed", "ann source.ask a", "ann source.set a", "ann source.add f", "ann source.import f",
		"ann source.remove a", "ann subscription.put s", "ann subscription.remove s", "ann zone.switch z"} {
		if counted[e] != 1 {
			t.Errorf("%q stands there %d times", e, counted[e])
		}
	}
	if len(w.audit()) != 10 {
		t.Errorf("the audit has %q", w.audit())
	}
}

func TestTheAuditHasWhatWasBeforeAndAfterWithoutPasswords(t *testing.T) {
	w := open(t)
	if _, err := w.Add(t.Context(), operator, []desk.NewSource{{URL: "http://user:secret@a.example/feed", Name: "a"}, {URL: "http://b.example/feed", Name: "b", Trusted: true, Every: setting.Duration(7 * time.Minute)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Remove(t.Context(), operator, "b", nil); err != nil {
		t.Fatal(err)
	}
	if c := w.changes()["source.remove b"]; !strings.Contains(c, `{"before":{`) || !strings.HasSuffix(c, `"after":null}`) || !strings.Contains(c, `"trusted":true`) || !strings.Contains(c, `"every":"7m"`) {
		t.Errorf("the removal: %s", c)
	}
	for _, c := range w.changes() {
		if strings.Contains(c, "secret") {
			t.Errorf("a password: %s", c)
		}
	}
}

func TestWhatFailsIsNotInTheAudit(t *testing.T) {
	w := open(t)
	if err := w.SwitchZone(t.Context(), operator, zones{refused: "z"}, "z", false); !errors.Is(err, courant.Conflict) {
		t.Errorf("the last zone: %v", err)
	}
	if _, err := w.Ask(t.Context(), operator, "none"); !errors.Is(err, courant.NotFound) {
		t.Errorf("an unknown source: %v", err)
	}
	if err := w.Unsubscribe(t.Context(), operator, "none"); err != nil {
		t.Errorf("an unknown subscription: %v", err)
	}
	added, err := w.Add(t.Context(), operator, []desk.NewSource{{URL: "nonsense"}})
	if err != nil || added[0].Error == "" || len(w.audit()) != 0 {
		t.Errorf("added %+v, %v, audit %q", added, err, w.audit())
	}
}

func TestARemovedSourceLeavesNoRowsBehind(t *testing.T) {
	w := open(t)
	if _, err := w.Import(t.Context(), operator, file("f", "<rss/>")); err != nil {
		t.Fatal(err)
	}
	if n := w.count("pending"); n != 1 {
		t.Fatalf("%d downloads wait", n)
	}
	if _, err := w.Remove(t.Context(), operator, "f", nil); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sources", "polls", "answers", "pending", "readings", "items"} {
		if n := w.count(table); n != 0 {
			t.Errorf("%s has %d rows", table, n)
		}
	}
}

func TestTheItemsOfARemovedSourceAreDeletedInPartsAndAfterAnInterruption(t *testing.T) {
	s, faulty := storetest.Faulty(t)
	w := world{t, &desk.Desk{Store: s, Blobs: blob.Bucket{Driver: &memory.Memory{}}}}
	added, err := w.Add(t.Context(), operator, []desk.NewSource{{URL: "http://a.example/feed", Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), func(tx *store.Tx) error {
		for i := range 3500 {
			for _, source := range []int64{7, added[0].Source.ID} {
				if _, err := tx.Exec(`INSERT INTO items (source, key, url, hash, as_of, withdrawn) VALUES ($1, $2, $2, $2, 1, FALSE)`, source, fmt.Append(nil, i)); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Remove(t.Context(), operator, "a", nil); err != nil {
		t.Fatal(err)
	}
	if n, m := w.count("sources"), w.count("items"); n != 0 || m != 7000 {
		t.Errorf("the removal left %d sources and %d items", n, m)
	}
	faulty.Seed, faulty.Before, faulty.After = 1, 0.4, 0.3
	failed := 0
	for w.Clean(t.Context()) != nil {
		failed++
	}
	if n, m := w.count("items WHERE source = 7"), w.count("items"); n != 3500 || m != 3500 || w.count("removals") != 0 || failed == 0 {
		t.Errorf("%d of 3500 items of the other source are left, of %d; %d failures", n, m, failed)
	}
}

func TestAFileThatWaitsToBeReadIsReplacedByANewerOne(t *testing.T) {
	w := open(t)
	var asOf []int64
	for _, body := range []string{"<rss>1</rss>", "<rss>2</rss>"} {
		out, err := w.Import(t.Context(), operator, file("f", body))
		if err != nil || out.Unchanged || out.New != (len(asOf) == 0) {
			t.Fatalf("%+v, %v", out, err)
		}
		var as int64
		if err := w.Store.Read(t.Context(), func(r store.Reader) error { return r.Row(`SELECT as_of FROM pending`).Scan(&as) }); err != nil {
			t.Fatal(err)
		}
		asOf = append(asOf, as)
	}
	if w.count("pending") != 1 || asOf[1] <= asOf[0] {
		t.Errorf("as of %d", asOf)
	}
}

func TestAFileThatWasCutOffLeavesNoSource(t *testing.T) {
	w := open(t)
	f := file("f", "<rss/>")
	f.Body = strings.NewReader("<rs")
	if _, err := w.Import(t.Context(), operator, f); !errors.Is(err, courant.Invalid) || w.count("sources") != 0 {
		t.Errorf("%v, %d sources", err, w.count("sources"))
	}
}
