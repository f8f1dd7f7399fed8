package retain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/light"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

const (
	mostInFlight  = 2000      // documents and changes that are read to learn which pictures they need
	mostMeanwhile = 100       // of these, what may be read in the transaction that deletes pictures
	settled       = time.Hour // a picture that was stored later is not counted as unused
)

// errBusy means that too many documents are on their way to tell which pictures they
// need within one transaction.
var errBusy = errors.New("too many documents are on their way")

// pictures deletes the pictures that no page has shown for the time of the setting. A
// sweep reads the documents of all pages and marks their pictures. The first sweep that
// finds a picture without a mark notes the time; a later one deletes it. The files are
// deleted by the next run.
//
// A document that has been promised a picture meanwhile keeps it: the promise locks the
// row of the picture (media), and while the sweep holds that lock it reads what is on
// its way or has changed since. A document that comes later finds no row, and the
// picture is fetched again.
func (t *turn) pictures(ctx context.Context) error {
	age := t.Config.Media.Or(30 * day)
	cut, ends := t.before(age)
	if !ends {
		return nil
	}
	every := min(max(age/4, setting.Age(time.Hour)), 7*day)
	if due, err := t.due(ctx, "media", time.Duration(every)); err != nil || !due {
		return err
	}
	s := sweep{turn: t, began: t.Store.Now(), cut: cut}
	for _, step := range []func(context.Context) error{s.collect, s.markAll, s.remove} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("sweep of pictures: %w", err)
		}
	}
	if s.busy > 0 {
		t.Log.Warn("unused pictures kept until the next sweep: too many documents are on their way", "pictures", s.busy)
	}
	return t.done(ctx, "media", s.began)
}

// sweep is one search for unused pictures.
type sweep struct {
	*turn
	began time.Time
	cut   int64 // pictures unused since before that are deleted
	marks marks
	last  int64           // number of the newest change whose document is marked
	known map[string]bool // versions on their way that are marked
	busy  int             // unused pictures that were kept, since too much was on its way
}

// picture is a row of media.
type picture struct {
	hash  []byte
	old   bool  // stored long enough ago to count
	since int64 // it is unused since then; 0 if it is not known to be unused
}

// walk calls f with the pictures in the order of their hashes, some at a time.
func (s *sweep) walk(ctx context.Context, f func([]picture) error) error {
	after := []byte{}
	for {
		var some []picture
		from := time.Now()
		err := s.Store.Read(ctx, func(r store.Reader) error {
			some = nil
			return r.Rows(func(rows store.Rows) error {
				var p picture
				err := rows.Scan(&p.hash, &p.old, &p.since)
				some = append(some, p)
				return err
			}, picturesAfter, after, s.began.Add(-settled).UnixMilli(), readSize)
		})
		if err == nil {
			err = f(some)
		}
		if err != nil || len(some) < readSize {
			return err
		}
		after = some[len(some)-1].hash
		if err := s.between(ctx, time.Since(from)); err != nil {
			return err
		}
	}
}

// collect prepares the marks for the pictures that may be unused.
func (s *sweep) collect(ctx context.Context) error {
	err := s.walk(ctx, func(some []picture) error {
		for _, p := range some {
			if p.old {
				s.marks.collect(p.hash)
			}
		}
		return nil
	})
	s.marks.sort()
	return err
}

// markAll marks the pictures of all pages, and then of those that changed meanwhile.
func (s *sweep) markAll(ctx context.Context) error {
	if s.marks.empty() {
		return nil
	}
	err := s.Store.Read(ctx, func(r store.Reader) (err error) {
		_, s.last, err = table.ChangeBounds(r)
		return err
	})
	for page, n := int64(0), readSize; err == nil && n == readSize; {
		from, last := time.Now(), page
		err = s.Store.Read(ctx, func(r store.Reader) error {
			n, last = 0, page
			return r.Rows(func(rows store.Rows) error {
				var document []byte
				if err := rows.Scan(&last, &document); err != nil {
					return err
				}
				n++
				return s.markPage(document, last)
			}, bodiesAfter, page, readSize)
		})
		if page = last; err == nil {
			err = s.between(ctx, time.Since(from))
		}
	}
	return err
}

// markPage marks the pictures of the document of a page.
func (s *sweep) markPage(packed []byte, id any) error {
	if err := s.mark(packed); err != nil {
		return fmt.Errorf("document of page %v: %w", id, err)
	}
	return nil
}

// mark marks the pictures of a packed document. It returns an error if the document
// cannot be read.
func (s *sweep) mark(packed []byte) error {
	var d courant.Document
	if err := pack.Decode(packed, &d); err != nil {
		return err
	}
	return light.Keys(d.Item.Images, func(key [16]byte) error {
		s.marks.mark(key[:])
		return nil
	})
}

// remove notes which pictures are unused, and deletes those that have been for long.
func (s *sweep) remove(ctx context.Context) error {
	if s.marks.empty() {
		return nil
	}
	return s.walk(ctx, func(some []picture) error {
		if err := s.follow(ctx); err != nil {
			return err
		}
		var unused, used, old [][]any
		for _, p := range some {
			marked := !p.old || s.marks.has(p.hash)
			switch {
			case marked && p.since > 0:
				used = append(used, []any{p.hash})
			case !marked && (p.since == 0 || p.since > s.now.UnixMilli()): // in the future by a clock that was ahead
				unused = append(unused, []any{p.hash, s.now.UnixMilli()})
			case !marked && p.since < s.cut:
				old = append(old, []any{p.hash})
			}
		}
		for _, change := range []struct {
			query string
			args  [][]any
		}{{putUnused, unused}, {dropUnused, used}} {
			err := s.inBatches(ctx, "unused_media", change.args, func(tx *store.Tx, args [][]any) (int, error) {
				_, err := tx.ExecAll(change.query, args)
				return 0, err
			})
			if err != nil {
				return err
			}
		}
		return s.inBatches(ctx, "media", old, s.dropSome)
	})
}

// dropSome deletes pictures that have no mark when it has locked them.
func (s *sweep) dropSome(tx *store.Tx, some [][]any) (int, error) {
	locked, err := lockSome(tx, lockPicture, some)
	if err != nil {
		return 0, err
	}
	if err := s.inFlight(tx.Reader, mostMeanwhile); errors.Is(err, errBusy) {
		s.busy += len(some)
		return 0, nil // the next sweep finds them again
	} else if err != nil {
		return 0, err
	}
	var unused [][]any
	for _, key := range locked {
		if !s.marks.has(key[0].([]byte)) {
			unused = append(unused, key)
		}
	}
	for _, drop := range []string{dropPicture, dropUnused} {
		if _, err := tx.ExecAll(drop, unused); err != nil {
			return 0, err
		}
	}
	return len(unused), nil
}
