package index_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/search/index"
)

// enough is a number of changes that is worth snapshots when a process ends.
const enough = 1000

// many makes so many offers live as if there had been enough changes.
func (w *world) many(n int) {
	w.t.Helper()
	w.change = max(w.change, enough)
	w.put(offers(1, n)...)
}

// restart ends an index and begins another one over the same folder.
func (w *world) restart(stop func(), changes ...func(*index.Index)) (*index.Index, func()) {
	w.t.Helper()
	stop()
	x := w.open(changes...)
	return x, w.run(x)
}

// spoil makes documents unreadable, so that only an index that has them finds them.
func (w *world) spoil() { w.exec(`UPDATE bodies SET document = $1`, []byte{1}) }

func (w *world) snapshots() []string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}

func (w *world) ask(x *index.Index, text string) index.Part {
	w.t.Helper()
	p, err := x.Ask(w.t.Context(), asking(text))
	if err != nil {
		w.t.Fatal(err)
	}
	p.CPU = 0
	return p
}

func TestARestartAnswersTheSameAndGoesOnFromTheSnapshots(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.many(200)
		w.put(article(1000, "Flood", "<p>The river floods the town.</p>"), withdrawn(offer(7, "", "")))
		builtIn := func(x *index.Index) { x.Config.Model = "" }
		x := w.open(builtIn)
		stop := w.run(x)
		time.Sleep(time.Minute) // until all shards are sorted
		before := w.ask(x, "kettle")
		stop()
		if files := w.snapshots(); len(files) != 4 {
			t.Fatalf("kept %v", files)
		}
		w.spoil()
		x, _ = w.restart(stop, builtIn)
		if after := w.ask(x, "kettle"); before.Total != 199 || !reflect.DeepEqual(before, after) {
			t.Errorf("%d are found, %d were:\n%+v\n%+v", after.Total, before.Total, after.Hits[:3], before.Hits[:3])
		}
		w.finds(x, "river", 1000)
		w.put(offer(5000, "Teapot", ""))
		look()
		w.finds(x, "teapot", 5000)
		if s := x.Status(); s.Version != w.change || !s.Ready || x.Docs() != 201 {
			t.Errorf("%+v, %d documents", s, x.Docs())
		}
	})
}

func TestFewChangesAreKeptInTimeAndNotAtTheEnd(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.put(offers(1, 10)...)
		_, stop := w.restart(func() {})
		stop()
		if files := w.snapshots(); len(files) > 0 {
			t.Errorf("kept at the end: %v", files)
		}
		_, stop = w.restart(stop)
		time.Sleep(11 * time.Minute)
		if files := w.snapshots(); len(files) != 4 {
			t.Errorf("kept after ten minutes: %v", files)
		}
		stop()
	})
}

func TestSnapshotsThatDoNotFitAreNotUsed(t *testing.T) {
	for says, spoil := range map[string]func(w *world, x *index.Index){
		"a different layout":           func(w *world, _ *index.Index) { w.must(os.WriteFile(w.snapshots()[0], make([]byte, 100), 0o600)) },
		"snapshot is damaged":          func(w *world, _ *index.Index) { w.must(os.Truncate(w.snapshots()[1], 100)) },
		"a different configuration":    func(_ *world, x *index.Index) { x.Config.Model = "" },
		"made with a different":        func(_ *world, x *index.Index) { x.Config.Signals = []string{"Orders"} },
		"not written at the same time": func(w *world, _ *index.Index) { w.exchange(1) },
		"not in the change feed":       func(w *world, _ *index.Index) { w.exec(`INSERT INTO counts (name, number) VALUES ('forgotten', 5000)`) },
		"":                             func(w *world, _ *index.Index) { w.must(os.Remove(w.snapshots()[2])) },
	} {
		t.Run(says, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.many(50)
				_, stop := w.restart(func() {})
				stop()
				x := w.open(func(x *index.Index) { spoil(w, x) })
				w.exec(`UPDATE pages SET withdrawn = TRUE WHERE id > 10`) // what is read anew
				w.run(x)
				w.finds(x, "kettle", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
				if w.log.count(says) == 0 {
					t.Errorf("it says %s", w.log.text.String())
				}
			})
		})
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// exchange puts a snapshot of fewer changes in the place of one.
func (w *world) exchange(n int) {
	w.t.Helper()
	dir := w.dir
	w.dir = w.t.TempDir()
	_, stop := w.restart(func() {})
	w.put(offers(5000, 1)...)
	look()
	stop()
	other := w.snapshots()
	w.dir = dir
	if err := os.Rename(other[n], w.snapshots()[n]); err != nil {
		w.t.Fatal(err)
	}
	w.exec(`DELETE FROM pages WHERE id = 5000`)
}

func TestAnIndexOfAStoreThatWasReplacedByAnOlderOneIsBuiltAnew(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.many(50)
		_, stop := w.restart(func() {})
		stop()
		w.another(storetest.Memory(t))
		w.exec(`INSERT INTO counts (name, number) VALUES ('downloads', 1000000), ('changes', 3)`)
		w.put(offers(1, 3)...)
		x, stop := w.restart(stop)
		w.finds(x, "kettle", 1, 2, 3)
		if s := x.Status(); !s.Ready || s.Version != 3 || w.log.count("not in the change feed") != 1 {
			t.Errorf("%+v, said %d times", s, w.log.count("not in the change feed"))
		}
		if files := w.snapshots(); len(files) > 0 {
			t.Errorf("the new store will reach the number of %v", files)
		}
		w.put(offers(4, 1)...)
		look()
		w.finds(x, "kettle", 1, 2, 3, 4)
		stop()
	})
}

func TestAnIndexThatRunsFollowsAStoreThatWasReplacedByAnOlderOne(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.many(50)
		x, _ := w.restart(func() {})
		w.exec(`INSERT INTO counts (name, number) VALUES ('downloads', 1000000)`)
		w.exec(`DELETE FROM pages WHERE id > 3`)
		look()
		w.finds(x, "kettle", 1, 2, 3)
		if s := x.Status(); !s.Ready || s.Version != enough+3 {
			t.Errorf("%+v", s)
		}
		w.change = enough + 3
		w.put(offers(1, 1)...)
		look()
		w.finds(x, "kettle", 1, 2, 3)
		if n := w.log.count("not in the change feed"); n != 1 {
			t.Errorf("it was said %d times", n)
		}
	})
}

func TestAnIndexWithoutAFolderKeepsNothing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.many(50)
		_, stop := w.restart(func() {}, func(x *index.Index) { x.Dir = "" })
		stop()
		if files := w.snapshots(); len(files) > 0 {
			t.Errorf("kept %v", files)
		}
	})
}
