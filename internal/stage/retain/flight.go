package retain

import (
	"context"
	"errors"
	"fmt"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// follow marks the pictures of pages that have changed and of documents on their way,
// so that little is left to read in the transaction that deletes pictures.
func (s *sweep) follow(ctx context.Context) error {
	for n := readSize; n == readSize; {
		err := s.Store.Read(ctx, func(r store.Reader) (err error) {
			n, err = s.changed(r, readSize)
			return err
		})
		if err == nil {
			err = s.renew(ctx)
		}
		if err != nil {
			return err
		}
	}
	err := s.Store.Read(ctx, func(r store.Reader) error { return s.inFlight(r, mostInFlight) })
	if errors.Is(err, errBusy) {
		return nil // and nothing is deleted
	}
	return err
}

// changed marks the pictures of the pages that changed next.
func (s *sweep) changed(r store.Reader, limit int) (n int, err error) {
	var all []table.Change
	if err := table.ChangesWithDocuments(r, s.last, limit, func(c table.Change) { all = append(all, c) }); err != nil {
		return 0, err
	}
	for _, c := range all {
		if len(c.Document) > 0 {
			if err := s.markPage(c.Document, c.Page); err != nil {
				return 0, err
			}
		}
		s.last = c.Number
	}
	return len(all), nil
}

// inFlight marks the pictures of documents that media has processed and pages has not,
// then those of pages that have changed since they were marked. It reads them in the
// order in which a document moves, so that it misses none. If more than limit are new, it
// returns errBusy.
func (s *sweep) inFlight(r store.Reader, limit int) error {
	if err := s.onTheirWay(r, limit); err != nil {
		return err
	}
	var fresh [][]byte
	err := r.Rows(func(rows store.Rows) error {
		var document []byte
		err := rows.Scan(&document)
		fresh = append(fresh, document)
		return err
	}, notNumbered, limit)
	for _, document := range fresh {
		if err == nil {
			err = s.markPage(document, "without a number")
		}
	}
	if err != nil {
		return err
	}
	n, err := s.changed(r, limit)
	if err == nil && (n == limit || len(fresh) == limit) {
		err = errBusy
	}
	return err
}

// onTheirWay marks the pictures of the rows of documents that are not known yet.
func (s *sweep) onTheirWay(r store.Reader, limit int) error {
	now := map[string]bool{}
	var fresh [][]any
	err := r.Rows(func(rows store.Rows) error {
		var url []byte
		var source, asOf int64
		err := rows.Scan(&url, &source, &asOf)
		name := fmt.Sprintf("%s %d %d", url, source, asOf)
		if now[name] = true; !s.known[name] {
			fresh = append(fresh, []any{url, source, asOf})
		}
		return err
	}, onTheirWay, mostInFlight)
	if err != nil {
		return err
	}
	if len(now) == mostInFlight || len(fresh) > limit {
		return errBusy
	}
	err = r.RowsAll(func(i int, rows store.Rows) error {
		var document []byte
		if err := rows.Scan(&document); err != nil {
			return err
		}
		_ = s.mark(document) // one that cannot be read is not rendered, and needs no pictures
		return nil
	}, readOnItsWay, fresh)
	if err == nil {
		s.known = now
	}
	return err
}
