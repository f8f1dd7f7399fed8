package retain_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/retain"
)

const day = 24 * time.Hour

// world is the stage over a store.
type world struct {
	t *testing.T
	*retain.Retain
	said strings.Builder
}

func worldOf(t *testing.T, s *store.Store) *world {
	w := &world{t: t}
	w.Retain = &retain.Retain{Store: s, Blobs: blob.Bucket{Driver: &memory.Memory{}}, Config: retain.Defaults(), Owner: "me",
		Log: slog.New(slog.NewTextHandler(&w.said, nil))}
	w.exec(putClock, s.Now().UnixMilli())
	return w
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	err := w.Store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

// list returns the values of a query with one column, separated by blanks.
func (w *world) list(query string, args ...any) string {
	w.t.Helper()
	var all []string
	err := w.Store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var one string
			err := rows.Scan(&one)
			all = append(all, one)
			return err
		}, query, args...)
	})
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(all, " ")
}

// ago is the time of the store d ago.
func (w *world) ago(d time.Duration) int64 { return w.Store.Now().Add(-d).UnixMilli() }

func (w *world) once() {
	w.t.Helper()
	if err := w.Once(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// events inserts old events of one page.
func (w *world) events(n int) {
	w.t.Helper()
	err := w.Store.Write(w.t.Context(), func(tx *store.Tx) error {
		var args [][]any
		for i := range n {
			args = append(args, []any{int64(i + 1)})
		}
		_, err := tx.ExecAll(`INSERT INTO events (page, as_of, at, trace) VALUES (1, 1, $1, '')`, args)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

const (
	putClock = `INSERT INTO retained (name, done) VALUES ('clock', $1) ON CONFLICT (name) DO NOTHING` // the last run was just now
	putEvent = `INSERT INTO events (page, as_of, at, trace) VALUES ($1, 1, $2, '')`
	putItem  = `INSERT INTO items (source, key, url, hash, as_of, withdrawn) VALUES ($1, $2, $2, $2, $3, $4)`
	putHost  = `INSERT INTO hosts (origin, partition, robots_until, allowed) VALUES ($1, 7, $2, $3)`
	putPage  = `INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture,
		published, updated, fetched, stored, rendered_at, change) VALUES ($1, $2, '', '', 1, 1, 1, $3, $1, 1, '', '', '', 0, 0, 0, 0, 1, $2)`
	putPrice = `INSERT INTO price_changes (url, due) VALUES ($1, $2)`
)

// ends are rows of each table, and which of them are left by a run.
var ends = []struct {
	what  string
	write func(w *world)
	query string
	want  string
}{
	{"events", func(w *world) {
		w.exec(putEvent, 1, w.ago(91*day))
		w.exec(putEvent, 1, w.ago(89*day))
		w.exec(putEvent, 2, w.ago(91*day))
		w.exec(putEvent, 3, w.ago(0))
	}, `SELECT CAST(page AS TEXT) FROM events ORDER BY page`, "1 3"},
	{"the audit", func(w *world) {
		for i, d := range []time.Duration{401, 399, 0} {
			w.exec(`INSERT INTO audit (id, at, account, action, subject, change) VALUES ($1, $2, '', '', '', '')`, i+1, w.ago(d*day))
		}
	}, `SELECT CAST(id AS TEXT) FROM audit ORDER BY id`, "2 3"},
	{"clicks and the queries that they are compared with", func(w *world) {
		for i, d := range []time.Duration{402, 399, 0} {
			w.exec(`INSERT INTO clicks (query, at, experiment, arm, person, asked, shown, clicked, ordered, clicks, orders)
				VALUES ($1, $2, 'x', $3, '', '', $1, '', '', 1, 0)`, []byte{byte(i)}, w.ago(d*day), fmt.Sprint("c", i))
			w.exec(`INSERT INTO exposures (experiment, arm, day, queries) VALUES ('x', $1, $2, 1)`, fmt.Sprint("e", i), w.ago(d*day)/day.Milliseconds())
		}
	}, `SELECT arm FROM clicks UNION ALL SELECT arm FROM exposures ORDER BY arm`, "c1 c2 e1 e2"},
	{"withdrawn items", func(w *world) {
		w.exec(putItem, 1, []byte{1}, w.ago(181*day), true)
		w.exec(putItem, 2, []byte{1}, w.ago(179*day), true)
		w.exec(putItem, 3, []byte{1}, w.ago(1000*day), false)
	}, `SELECT CAST(source AS TEXT) FROM items ORDER BY source`, "2 3"},
	{"hosts", func(w *world) {
		w.exec(putHost, "http://old", w.ago(31*day), w.ago(31*day))
		w.exec(putHost, "http://allowed", w.ago(31*day), w.ago(29*day))
		w.exec(putHost, "http://read", w.ago(29*day), w.ago(31*day))
		w.exec(putHost, "http://source", w.ago(31*day), w.ago(31*day))
		w.exec(putHost, "http://picture", w.ago(31*day), w.ago(31*day))
		w.exec(putHost, "http://answered", w.ago(31*day), w.ago(31*day))
		w.exec(`INSERT INTO answers (source, url, origin, partition) VALUES (1, '', 'http://source', 7)`)
		w.exec(`INSERT INTO fetches (hash, url, origin, partition, kind, priority, wanted, due) VALUES ($1, '', 'http://picture', 7, 'picture', 1, 1, 1)`, []byte{1})
		w.exec(`INSERT INTO fetches (hash, url, origin, partition, kind, priority, wanted, due, answered) VALUES ($1, '', 'http://answered', 7, 'picture', 1, 1, 1, 1)`, []byte{2})
	}, `SELECT origin FROM hosts ORDER BY origin`, "http://allowed http://picture http://read http://source"},
	{"leases", func(w *world) {
		for name, d := range map[string]time.Duration{"a": 31 * day, "b": 29 * day} {
			w.exec(`INSERT INTO leases (name, owner, until, epoch) VALUES ($1, 'x', $2, 1)`, name, w.ago(d))
		}
	}, `SELECT name FROM leases ORDER BY name`, "b retain"},
	{"changes of prices", func(w *world) {
		w.exec(putPage, []byte("live"), 1, false)
		w.exec(putPage, []byte("gone"), 2, true)
		for _, url := range []string{"live", "gone", "none"} {
			w.exec(putPrice, []byte(url), w.ago(-time.Hour))
		}
		w.exec(putPrice, []byte("due"), w.ago(time.Hour))
	}, `SELECT CASE LENGTH(url) WHEN 3 THEN 'due' ELSE 'live' END FROM price_changes ORDER BY url`, "due live"},
}

func TestWhatIsOldEndsAndWhatIsInUseStays(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := worldOf(t, s)
		for _, c := range ends {
			c.write(w)
		}
		w.once()
		for _, c := range ends {
			t.Run(c.what, func(t *testing.T) {
				if got := worldOf(t, s).list(c.query); got != c.want {
					t.Errorf("%q is left, want %q", got, c.want)
				}
			})
		}
	})
}

// The rows of a batch have keys of their own: none is read over another.
func TestManyRowsEndInOneRun(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := worldOf(t, s)
		const n = 700
		err := s.Write(t.Context(), func(tx *store.Tx) error {
			var items, clicks, stay [][]any
			for i := range n {
				key := []byte{byte(i >> 8), byte(i), 1}
				items = append(items, []any{i % 3, key, w.ago(200 * day), true})
				stay = append(stay, []any{i % 3, append(key, 2), w.ago(200 * day), false})
				clicks = append(clicks, []any{key, w.ago(500 * day)})
			}
			_, err := tx.ExecAll(putItem, append(items, stay...))
			if err == nil {
				_, err = tx.ExecAll(`INSERT INTO clicks (query, at, experiment, arm, person, asked, shown, clicked, ordered, clicks, orders)
					VALUES ($1, $2, '', '', '', '', $1, '', '', 1, 0)`, clicks)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		w.once()
		if got := w.list(`SELECT CAST(COUNT(*) AS TEXT) FROM items UNION ALL SELECT CAST(COUNT(*) AS TEXT) FROM clicks`); got != "700 0" {
			t.Errorf("%s are left", got)
		}
	})
}

func TestWhatIsKeptForeverStays(t *testing.T) {
	w := worldOf(t, storetest.Memory(t))
	w.Config = retain.Config{Events: setting.Forever, Hosts: setting.Forever, Media: setting.Forever, WithdrawnItems: setting.Forever}
	w.exec(putEvent, 1, 1)
	w.exec(putHost, "http://old", 1, 1)
	w.exec(putItem, 1, []byte{1}, 1, true)
	w.exec(putPicture, hashOf("none"), "none", w.ago(300*day))
	w.once()
	if got := w.list(`SELECT 'event' FROM events UNION ALL SELECT 'host' FROM hosts UNION ALL SELECT 'item' FROM items
		UNION ALL SELECT 'picture' FROM media UNION ALL SELECT 'unused' FROM unused_media`); got != "event host item picture" {
		t.Errorf("%s are left", got)
	}
}

func TestZeroMeansTheDefault(t *testing.T) {
	w := worldOf(t, storetest.Memory(t))
	w.Config = retain.Config{}
	w.exec(putEvent, 1, w.ago(91*day))
	w.exec(putEvent, 2, w.ago(89*day))
	w.once()
	if got := w.list(`SELECT CAST(page AS TEXT) FROM events`); got != "2" {
		t.Errorf("%s are left", got)
	}
}

func TestARunLogsWhatItDeletedInOneLine(t *testing.T) {
	w := worldOf(t, storetest.Memory(t))
	w.once()
	if w.said.Len() > 0 {
		t.Errorf("a run that deleted nothing says %s", &w.said)
	}
	w.events(1200)
	w.exec(putItem, 1, []byte{1}, 1, true)
	w.once()
	if got := w.said.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `rows="events 1200, items 1"`) {
		t.Errorf("got %s", got)
	}
}

// within runs a test in fake time, in which a batch takes no time and the pauses between
// them last 20 ms.
func within(t *testing.T, f func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) { f(t, worldOf(t, storetest.Memory(t))) })
}

func TestALostLeaseStopsTheRun(t *testing.T) {
	within(t, func(t *testing.T, w *world) {
		w.events(5000)
		ended := make(chan error)
		go func() { ended <- w.Once(t.Context()) }()
		time.Sleep(50 * time.Millisecond)
		w.exec(`UPDATE leases SET owner = 'another', epoch = epoch + 1`)
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "lease lost") {
			t.Errorf("the run ended with %v", err)
		}
		if n := w.list(`SELECT CAST(COUNT(*) AS TEXT) FROM events`); n == "0" || n == "5000" {
			t.Errorf("%s events are left", n)
		}
	})
}

func TestARunWaitsForTheLeaseOfAnother(t *testing.T) {
	within(t, func(t *testing.T, w *world) {
		w.events(1)
		w.exec(`INSERT INTO leases (name, owner, until, epoch) VALUES ('retain', 'another', $1, 1)`, w.ago(-time.Minute))
		w.once()
		if n := w.list(`SELECT CAST(COUNT(*) AS TEXT) FROM events`); n != "1" {
			t.Errorf("%s events are left while another process has the lease", n)
		}
		time.Sleep(time.Minute + time.Millisecond)
		w.once()
		if n := w.list(`SELECT CAST(COUNT(*) AS TEXT) FROM events`); n != "0" {
			t.Errorf("%s events are left after the lease of another has ended", n)
		}
	})
}

func TestBatchesEndWithTheContext(t *testing.T) {
	within(t, func(t *testing.T, w *world) {
		w.events(5000)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := w.Once(ctx); err == nil {
			t.Error("the run came to its end")
		}
		if n := w.list(`SELECT CAST(COUNT(*) AS TEXT) FROM events`); n == "0" || n == "5000" {
			t.Errorf("%s events are left", n)
		}
	})
}

func TestTheFirstRunIsSomeMinutesAfterTheStart(t *testing.T) {
	within(t, func(t *testing.T, w *world) {
		w.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		for _, c := range []struct {
			after time.Duration
			want  string
		}{{4 * time.Minute, "1"}, {2 * time.Minute, "0"}} {
			if c.want == "1" {
				w.events(1)
			}
			time.Sleep(c.after)
			if n := w.list(`SELECT CAST(COUNT(*) AS TEXT) FROM events`); n != c.want {
				t.Errorf("%s events, want %s", n, c.want)
			}
		}
		w.events(1)
		time.Sleep(time.Hour)
		if n := w.list(`SELECT CAST(COUNT(*) AS TEXT) FROM events`); n != "0" {
			t.Errorf("%s events are left after the second run", n)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
