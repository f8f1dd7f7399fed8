package media

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"sync"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

// scene is a document with two pictures, one of which a second document shares.
type scene struct {
	t     *testing.T
	m     *Media
	n     int64 // makes the addresses of the scene unique
	offer bool  // the documents are offers, which do not wait
	// mu guards got.
	mu  sync.Mutex
	got map[string]int // pictures in the newest rendering, by address
}

const oldAsOf, newAsOf = 10, 20

func (s *scene) address(name string) string { return fmt.Sprintf("http://d%d.test/%s", s.n, name) }

func (s *scene) pictures(asOf int64) []string {
	if asOf == newAsOf {
		return []string{s.address("p2.png"), s.address("p3.png")}
	}
	return []string{s.address("p1.png"), s.address("p2.png")}
}

const (
	testPut = `INSERT INTO documents (url, address, source, rank, as_of, state, due, fetched, content, trace)
		VALUES ($1, $2, 1, 3, $3, 0, 0, 1, $4, '')
		ON CONFLICT (url, source) DO UPDATE SET as_of = excluded.as_of, late_arrivals = 0, state = 0, missing = 0, due = 0,
			content = excluded.content, trace = '' WHERE documents.as_of < excluded.as_of`
	testAnswer = `UPDATE fetches SET answered = 1, blob = $2, problem = $3 WHERE hash = $1 AND answered = 0`
	testReady  = `SELECT as_of, late_arrivals FROM documents WHERE url = $1 AND state = 2`
	testStored = `SELECT COUNT(*) FROM media WHERE hash IN ($1, $2) AND state = 1`
	testDrop   = `DELETE FROM documents WHERE url = $1 AND as_of = $2 AND late_arrivals = $3 AND state = 2`
	testPage   = `INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language,
			picture, published, updated, fetched, stored, rendered_at)
		VALUES ($1, $2, $3, '', 1, 3, $4, $5, '', 1, '', '', '', 0, 0, 0, 0, 0)
		ON CONFLICT (url) DO UPDATE SET as_of = excluded.as_of WHERE pages.as_of <= excluded.as_of`
	testBody = `INSERT INTO bodies (page, document, html) SELECT id, $2, $2 FROM pages WHERE url = $1
		ON CONFLICT (page) DO UPDATE SET document = excluded.document`
	testLeft = `SELECT (SELECT COUNT(*) FROM documents WHERE url = $1) + (SELECT COUNT(*) FROM waits WHERE document = $1)`
)

// put stores a version as parse does.
func (s *scene) put(name string, asOf int64) {
	url := s.address(name)
	key := link.Digest(url)
	content := s.content(url, asOf)
	s.write(func(tx *store.Tx) error {
		_, err := tx.Exec(testPut, key[:], url, asOf, content)
		return err
	})
}

// content is a version as it is stored.
func (s *scene) content(url string, asOf int64) []byte {
	doc := courant.Document{URL: url, Source: 1, Item: courant.Item{Images: s.pictures(asOf)}}
	if s.offer {
		doc.Offer = &courant.Offer{Price: "1"}
	}
	content, err := pack.Encode(doc)
	if err != nil {
		s.t.Error(err)
	}
	return content
}

func (s *scene) write(f func(*store.Tx) error) {
	if err := s.m.Store.Write(context.Background(), f); err != nil {
		s.t.Error(err)
	}
}

func (s *scene) found(name string, asOf int64) {
	key := link.Digest(s.address(name))
	if err := s.m.found(context.Background(), flow.Version{URL: key[:], Source: 1, AsOf: asOf}); err != nil {
		s.t.Error(err)
	}
}

// arrive is robot's result for a picture, and media's handling of it.
func (s *scene) arrive(name, problem string) {
	url := s.address(name)
	key := link.Digest(url)
	file, err := s.m.Blobs.PutCached(context.Background(), fmt.Sprintf("body/%d/%s", s.n, name), dot(url))
	if err != nil {
		s.t.Error(err)
	}
	s.write(func(tx *store.Tx) error {
		_, err := tx.Exec(testAnswer, key[:], file, problem)
		return err
	})
	if err := s.m.arrived(context.Background(), flow.Fetch{Hash: key[:]}); err != nil {
		s.t.Error(err)
	}
}

func (s *scene) release(name string, asOf int64) {
	key := link.Digest(s.address(name))
	if err := s.m.release(context.Background(), flow.Version{URL: key[:], Source: 1, AsOf: asOf}); err != nil {
		s.t.Error(err)
	}
}

// print does what pages does: it reads the document and its stored pictures, then
// replaces the page and deletes the document, if nothing has arrived since.
func (s *scene) print(name string) {
	url := s.address(name)
	key := link.Digest(url)
	var asOf int64
	var turn, stored int
	err := s.m.Store.Read(context.Background(), func(r store.Reader) error {
		if err := r.Row(testReady, key[:]).Scan(&asOf, &turn); err != nil {
			return err
		}
		p := s.pictures(asOf)
		a, b := link.Digest(p[0]), link.Digest(p[1])
		return r.Row(testStored, a[:], b[:]).Scan(&stored)
	})
	if store.NoRow(err) {
		return
	}
	if err != nil {
		s.t.Error(err)
		return
	}
	content := s.content(url, asOf)
	s.write(func(tx *store.Tx) error {
		n, err := tx.Exec(testDrop, key[:], asOf, turn)
		if err != nil || n == 0 {
			return err
		}
		if _, err := tx.Exec(testPage, key[:], s.n*100+int64(len(name)), url, asOf, false); err != nil {
			return err
		}
		s.mu.Lock()
		s.got[name] = stored
		s.mu.Unlock()
		_, err = tx.Exec(testBody, key[:], content)
		return err
	})
}

// settle does what the sweeps do in the end.
func (s *scene) settle(name string, asOf int64) {
	for range 2 {
		s.found(name, asOf)
		for _, p := range []string{"p1.png", "p2.png", "p3.png"} {
			s.arrive(p, "")
		}
		s.release(name, asOf)
		s.print(name)
	}
}

// check expects the newest version rendered with every stored picture, and no rows
// left over.
func (s *scene) check(what, name string, missing int) {
	key := link.Digest(s.address(name))
	var left int
	err := s.m.Store.Read(context.Background(), func(r store.Reader) error { return r.Row(testLeft, key[:]).Scan(&left) })
	if err != nil {
		s.t.Error(err)
	}
	if want := 2 - missing; s.got[name] != want || left != 0 {
		s.t.Errorf("%s: %s was rendered with %d of %d pictures, and %d rows are left", what, name, s.got[name], want, left)
	}
}

// dot is a picture, different for each name.
func dot(name string) []byte {
	img := image.NewRGBA(image.Rect(0, 0, 4, 4))
	for i, c := range []byte(name) {
		img.Set(i%4, i/4%4, color.RGBA{c, byte(i), 0, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil
	}
	return b.Bytes()
}

// action is one of the transactions that meet in the delay.
type action struct {
	name  string
	do    func(*scene)
	newer bool // it brings the newer version
}

func actions() []action {
	return []action{
		{name: "found", do: func(s *scene) { s.found("a", oldAsOf) }},
		{name: "the first picture arrives", do: func(s *scene) { s.arrive("p1.png", "") }},
		{name: "the second picture arrives", do: func(s *scene) { s.arrive("p2.png", "") }},
		{name: "the second picture cannot be had", do: func(s *scene) { s.arrive("p2.png", "404") }},
		{name: "the deadline", do: func(s *scene) { s.release("a", oldAsOf) }},
		{name: "printed", do: func(s *scene) { s.print("a") }},
		{name: "a newer version", do: func(s *scene) { s.put("a", newAsOf); s.found("a", newAsOf) }, newer: true},
		{name: "another document with the same pictures", do: func(s *scene) { s.put("bb", oldAsOf); s.found("bb", oldAsOf) }},
	}
}

// before are the states in which two transactions can meet.
func before() map[string]func(*scene) {
	return map[string]func(*scene){
		"new":     func(*scene) {},
		"waiting": func(s *scene) { s.found("a", oldAsOf) },
		"waiting for the second": func(s *scene) {
			s.found("a", oldAsOf)
			s.arrive("p1.png", "")
		},
		"released":     func(s *scene) { s.found("a", oldAsOf); s.release("a", oldAsOf) },
		"printed bare": func(s *scene) { s.found("a", oldAsOf); s.release("a", oldAsOf); s.print("a") },
	}
}

func TestEveryPairOfDelayTransactionsInEveryOrderRendersAllPictures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		m := &Media{Store: s, Blobs: blob.Bucket{Driver: &memory.Memory{}}, Config: Defaults(), Log: slog.New(slog.DiscardHandler)}
		for n, c := range meetings() {
			for i, offer := range []bool{false, true} {
				sc := &scene{t: t, m: m, n: int64(2*n + i), offer: offer, got: map[string]int{}}
				sc.put("a", oldAsOf)
				before()[c.state](sc)
				pair(sc, c.a, c.b, c.together)
				finish(sc, fmt.Sprintf("%s: %s, %s, together %v, offer %v", c.state, c.a.name, c.b.name, c.together, offer), c.a, c.b)
			}
		}
	})
}

func TestAnOfferIsLiveBeforeItsPictures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		m := &Media{Store: s, Blobs: blob.Bucket{Driver: &memory.Memory{}}, Config: Defaults(), Log: slog.New(slog.DiscardHandler)}
		for n, offer := range []bool{false, true} {
			sc := &scene{t: t, m: m, n: int64(n), offer: offer, got: map[string]int{}}
			sc.put("a", oldAsOf)
			sc.found("a", oldAsOf)
			sc.print("a")
			if got, live := sc.got["a"]; live != offer || got != 0 {
				t.Errorf("offer %v: live %v with %d pictures", offer, live, got)
			}
			sc.settle("a", oldAsOf)
			sc.check("afterwards", "a", 0)
		}
	})
}

// meeting is two transactions in a state, one after the other or at once.
type meeting struct {
	state    string
	a, b     action
	together bool
}

func meetings() (all []meeting) {
	for state := range before() {
		for i, a := range actions() {
			for j, b := range actions() {
				all = append(all, meeting{state, a, b, false})
				if i <= j { // at once, the order does not matter
					all = append(all, meeting{state, a, b, true})
				}
			}
		}
	}
	return all
}

// pair runs two transactions one after the other, or at the same time.
func pair(s *scene, a, b action, together bool) {
	if !together {
		a.do(s)
		b.do(s)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { a.do(s) })
	both.Go(func() { b.do(s) })
	both.Wait()
}

// finish runs the sweeps and checks the result.
func finish(s *scene, what string, a, b action) {
	asOf, lost := int64(oldAsOf), s.lost()
	if a.newer || b.newer {
		asOf = newAsOf
	}
	s.settle("a", asOf)
	s.check(what, "a", lost)
	if a.name == "another document with the same pictures" || b.name == "another document with the same pictures" {
		s.settle("bb", oldAsOf)
		s.check(what, "bb", lost)
	}
}

// lost is the number of pictures that were settled as missing.
func (s *scene) lost() (n int) {
	key := link.Digest(s.address("p2.png"))
	err := s.m.Store.Read(context.Background(), func(r store.Reader) error {
		return r.Row("SELECT COUNT(*) FROM media WHERE hash = $1 AND state = 2", key[:]).Scan(&n)
	})
	if err != nil {
		s.t.Error(err)
	}
	return n
}
