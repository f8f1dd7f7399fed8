package media

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// The states of a document and of a picture.
const (
	stateFound   = 0
	stateWaiting = 1
	stateReady   = 2

	pictureWanted  = 0
	pictureStored  = 1
	pictureMissing = 2
)

// sweepAfter is how long a notified stage has before its sweep takes the row up.
const sweepAfter = 5 * time.Second

// The priorities of pictures: those of news before those of older documents.
const (
	newPicture = 20
	oldPicture = 30
	newsAge    = time.Hour
)

// need is one picture of a document.
type need struct {
	hash [16]byte
	url  string
}

// found requests the missing pictures of a new document, or passes it on if none is
// missing.
func (m *Media) found(ctx context.Context, v flow.Version) error {
	doc, err := m.document(ctx, v)
	if store.NoRow(err) {
		return nil // processed already, or a later version has come
	}
	if err != nil {
		return err
	}
	needs := m.needs(doc)
	priority := oldPicture
	if m.Store.Now().Sub(doc.Item.Published.Time) < newsAge {
		priority = newPicture
	}
	return m.Store.Write(ctx, func(tx *store.Tx) error { return m.wait(tx, v, needs, priority, doc.Offer != nil) })
}

func (m *Media) document(ctx context.Context, v flow.Version) (doc courant.Document, err error) {
	var content []byte
	err = m.Store.Read(ctx, func(r store.Reader) error {
		return r.Row(readFound, v.URL, v.Source, v.AsOf).Scan(&content)
	})
	if err == nil {
		err = pack.Decode(content, &doc)
	}
	return doc, err
}

// needs returns the pictures of a document, each once, in the order of their keys,
// which is the order in which several pictures are always locked.
func (m *Media) needs(doc courant.Document) []need {
	images := doc.Item.Images
	var needs []need
	for _, image := range images[:min(len(images), m.Config.MaxPictures)] {
		if url, err := link.Canonical(image); err == nil {
			needs = append(needs, need{link.Digest(url), url})
		}
	}
	slices.SortFunc(needs, func(a, b need) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	return slices.CompactFunc(needs, func(a, b need) bool { return a.hash == b.hash })
}

// wait is one side of the delay: it locks the pictures in key order, then the
// document, and counts the missing pictures. atOnce lets the document go on all the same.
func (m *Media) wait(tx *store.Tx, v flow.Version, needs []need, priority int, atOnce bool) error {
	missing, wanted, err := want(tx, v, needs, priority)
	if err != nil {
		return err
	}
	state, due, name := stateReady, sweepAfter, "complete"
	note := fmt.Sprintf("all %d pictures are stored", len(needs))
	switch missing := len(missing); {
	case missing > 0 && atOnce:
		name, note = "released", fmt.Sprintf("an offer does not wait; %d of %d pictures are missing", missing, len(needs))
	case missing > 0:
		state, due, name = stateWaiting, m.Config.Deadline.Or(time.Second), "waiting"
		note = fmt.Sprintf("for %d of %d pictures", missing, len(needs))
	}
	n, err := tx.Exec(countMissing, v.URL, v.Source, v.AsOf, state, len(missing), tx.Now().Add(due).UnixMilli(), step(tx.Now(), name, note))
	if err != nil || n == 0 {
		return err
	}
	tx.Emit(flow.FetchWanted.Encode(wanted...))
	if state == stateReady {
		tx.Emit(flow.DocumentReady.Encode(v))
	}
	return nil
}

// want locks the pictures in the order of their keys, notes that the document waits for
// those that are missing, and requests them. It returns the missing ones, and the requests
// that are new.
func want(tx *store.Tx, v flow.Version, needs []need, priority int) (missing []need, wanted []flow.Fetch, err error) {
	locks := make([][]any, len(needs))
	for i, n := range needs {
		locks[i] = []any{n.hash[:], n.url}
	}
	absent, err := insertedKeys(tx, lockPicture, locks, func(state int) bool { return state == pictureWanted })
	if err != nil {
		return nil, nil, err
	}
	var waits, requests [][]any
	var all []flow.Fetch
	for _, n := range needs {
		if !absent[n.hash] {
			continue
		}
		missing = append(missing, n)
		f := flow.Fetch{Hash: n.hash[:], Origin: link.Origin(n.url), Partition: courant.Partition(link.Domain(link.Host(n.url))), Priority: priority}
		waits = append(waits, []any{n.hash[:], v.URL, v.Source, v.AsOf})
		requests = append(requests, []any{f.Hash, n.url, f.Origin, f.Partition, "picture", f.Priority, tx.Now().UnixMilli()})
		all = append(all, f)
	}
	if err := tx.Insert(nil, putWait, waits); err != nil {
		return nil, nil, err
	}
	fresh, err := insertedKeys(tx, putFetch, requests, func(int) bool { return true })
	for _, f := range all {
		if fresh[[16]byte(f.Hash)] {
			wanted = append(wanted, f)
		}
	}
	return missing, wanted, err
}

// insertedKeys inserts rows, and returns the keys of the rows that the statement returned
// with a state that is wanted.
func insertedKeys(tx *store.Tx, query string, args [][]any, wanted func(state int) bool) (map[[16]byte]bool, error) {
	keys := make(map[[16]byte]bool, len(args))
	return keys, tx.Insert(func(rows store.Rows) error {
		var key []byte
		var state int
		err := rows.Scan(&key, &state)
		if err == nil && wanted(state) {
			keys[[16]byte(key)] = true
		}
		return err
	}, query, args)
}

// count is the other side: a picture, whose row the caller has locked, is stored or
// cannot be fetched. Every document that waited for it has one picture less to wait
// for, and goes on if it was the last.
func (m *Media) count(tx *store.Tx, hash []byte, note string) error {
	var all []flow.Version
	err := tx.Rows(func(rows store.Rows) error {
		var v flow.Version
		err := rows.Scan(&v.URL, &v.Source, &v.AsOf)
		all = append(all, v)
		return err
	}, waitsFor, hash)
	if err != nil || len(all) == 0 {
		return err
	}
	if _, err := tx.Exec(dropWaits, hash); err != nil {
		return err
	}
	line := step(tx.Now(), "picture", note)
	for _, v := range all {
		if err := m.countOne(tx, v, line); err != nil {
			return err
		}
	}
	return nil
}

func (m *Media) countOne(tx *store.Tx, v flow.Version, line string) error {
	now := tx.Now()
	var state, missing int
	err := tx.Row(countDown, v.URL, v.Source, v.AsOf, line, now.Add(sweepAfter).UnixMilli()).Scan(&state, &missing)
	if err == nil {
		if state == stateReady {
			tx.Emit(flow.DocumentReady.Encode(v))
		}
		return nil
	}
	if !store.NoRow(err) {
		return err
	}
	// The page was rendered without it: render it again, together with pictures that arrive soon.
	var left int
	if err := tx.Row(countWaits, v.URL, v.Source, v.AsOf).Scan(&left); err != nil {
		return err
	}
	state, due := stateReady, now.Add(sweepAfter)
	if left > 0 {
		state, due = stateWaiting, now.Add(m.Config.RerenderDelay.Or(3*time.Second))
	}
	taken, err := table.Requeue(tx, table.Requeued{URL: v.URL, Source: v.Source, AsOf: v.AsOf, State: state, Missing: left, Due: due, Trace: line})
	if taken && state == stateReady {
		tx.Emit(flow.DocumentReady.Encode(v))
	}
	return err
}

// step is a line of a document's story.
func step(at time.Time, name, note string) string {
	line, err := json.Marshal(courant.Step{At: at, Step: name, Note: note})
	if err != nil {
		return ""
	}
	return string(line) + "\n"
}
