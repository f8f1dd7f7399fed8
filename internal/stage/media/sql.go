package media

import (
	"context"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	waitingDocuments = `SELECT url, source, as_of, due FROM documents WHERE state = 1 ORDER BY due LIMIT 500`
	foundDocuments   = `SELECT url, source, as_of FROM documents WHERE state = 0 AND due <= $1 ORDER BY due LIMIT 500`
	releaseDocument  = `UPDATE documents SET state = 2, due = $4, trace = trace || $5
		WHERE url = $1 AND source = $2 AND as_of = $3 AND state = 1`

	readFound   = `SELECT content FROM documents WHERE url = $1 AND source = $2 AND as_of = $3 AND state = 0`
	lockPicture = `INSERT INTO media (hash, url, state) VALUES ($1, $2, 0)
		ON CONFLICT (hash) DO UPDATE SET url = media.url RETURNING hash, state`
	putWait = `INSERT INTO waits (media, document, source, as_of) VALUES ($1, $2, $3, $4)
		ON CONFLICT (media, document, source) DO UPDATE SET as_of = excluded.as_of WHERE waits.as_of < excluded.as_of`
	putFetch = `INSERT INTO fetches (hash, url, origin, partition, kind, priority, wanted, due) VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
		ON CONFLICT (hash) DO NOTHING RETURNING hash, 0`
	countMissing = `UPDATE documents SET state = $4, missing = $5, due = $6, trace = trace || $7
		WHERE url = $1 AND source = $2 AND as_of = $3 AND state = 0`

	answeredFetches = `SELECT hash FROM fetches WHERE kind = 'picture' AND answered > 0 AND answered <= $1 LIMIT 500`
	readAnswer      = `SELECT url, blob, problem FROM fetches WHERE hash = $1 AND answered > 0`
	askAgain        = `UPDATE fetches SET answered = 0, blob = '' WHERE hash = $1`
	dropFetch       = `DELETE FROM fetches WHERE hash = $1`
	byContent       = `SELECT type, size, width, height, variants FROM media WHERE content = $1 AND state = 1 LIMIT 1`
	putPicture      = `UPDATE media SET state = $2, problem = $3, content = $4, type = $5, size = $6, width = $7, height = $8,
		variants = $9, changed = $10 WHERE hash = $1 AND state = 0`

	loseContent = `UPDATE media SET state = 0, changed = $2 WHERE content = $1 AND state = 1 RETURNING hash, url`

	waitsFor  = `SELECT document, source, as_of FROM waits WHERE media = $1 ORDER BY document, source`
	dropWaits = `DELETE FROM waits WHERE media = $1`
	countDown = `UPDATE documents SET missing = missing - 1, trace = trace || $4,
		late_arrivals = CASE WHEN state = 2 THEN late_arrivals + 1 ELSE late_arrivals END,
		due = CASE WHEN missing = 1 THEN $5 ELSE due END,
		state = CASE WHEN missing = 1 THEN 2 ELSE state END
		WHERE url = $1 AND source = $2 AND as_of = $3 AND state > 0 RETURNING state, missing`
	countWaits = `SELECT COUNT(*) FROM waits WHERE document = $1 AND source = $2 AND as_of = $3`
)

// clockError is further ahead than any deadline. A later one was set by a clock that
// was ahead and has been corrected since.
const clockError = 5 * time.Minute

// late returns the documents whose deadline has passed; next is the first deadline of
// the others, zero if none waits.
func (m *Media) late(ctx context.Context) (late []flow.Version, next time.Time, err error) {
	err = m.Store.Read(ctx, func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var v flow.Version
			var due int64
			err := rows.Scan(&v.URL, &v.Source, &v.AsOf, &due)
			at, now := store.Time(due), m.Store.Now()
			if !at.After(now) || at.After(now.Add(clockError)) {
				late = append(late, v)
			} else if next.IsZero() {
				next = at
			}
			return err
		}, waitingDocuments)
	})
	return late, next, err
}

// unannounced returns new documents and fetched pictures whose notification was lost.
func (m *Media) unannounced(ctx context.Context, age time.Duration) (documents []flow.Version, pictures [][]byte, err error) {
	now := m.Store.Now()
	err = m.Store.Read(ctx, func(r store.Reader) error {
		err := r.Rows(func(rows store.Rows) error {
			var v flow.Version
			err := rows.Scan(&v.URL, &v.Source, &v.AsOf)
			documents = append(documents, v)
			return err
		}, foundDocuments, now.UnixMilli())
		if err != nil {
			return err
		}
		return r.Rows(func(rows store.Rows) error {
			var hash []byte
			err := rows.Scan(&hash)
			pictures = append(pictures, hash)
			return err
		}, answeredFetches, now.Add(-age).UnixMilli())
	})
	return documents, pictures, err
}
