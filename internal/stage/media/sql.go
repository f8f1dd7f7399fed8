package media

import (
	"context"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	nextDue         = `SELECT due FROM documents WHERE state < 2 ORDER BY due LIMIT 1`
	dueDocuments    = `SELECT url, source, as_of, state FROM documents WHERE due <= $1 AND state < 2 ORDER BY due LIMIT 500`
	releaseDocument = `UPDATE documents SET state = 2, due = $4, trace = trace || $5
		WHERE url = $1 AND source = $2 AND as_of = $3 AND state = 1`

	readFound   = `SELECT content FROM documents WHERE url = $1 AND source = $2 AND as_of = $3 AND state = 0`
	lockPicture = `INSERT INTO media (hash, url, state) VALUES ($1, $2, 0)
		ON CONFLICT (hash) DO UPDATE SET url = media.url RETURNING state`
	putWait = `INSERT INTO waits (media, document, source, as_of) VALUES ($1, $2, $3, $4)
		ON CONFLICT (media, document, source) DO UPDATE SET as_of = excluded.as_of WHERE waits.as_of < excluded.as_of`
	putFetch = `INSERT INTO fetches (hash, url, origin, part, kind, priority, wanted, due) VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
		ON CONFLICT (hash) DO NOTHING`
	countMissing = `UPDATE documents SET state = $4, missing = $5, due = $6, trace = trace || $7
		WHERE url = $1 AND source = $2 AND as_of = $3 AND state = 0`

	answeredFetches = `SELECT hash FROM fetches WHERE kind = 'picture' AND answered > 0 AND answered <= $1 LIMIT 500`
	readAnswer      = `SELECT url, blob, problem FROM fetches WHERE hash = $1 AND answered > 0`
	askAgain        = `UPDATE fetches SET answered = 0, blob = '' WHERE hash = $1`
	dropFetch       = `DELETE FROM fetches WHERE hash = $1`
	byContent       = `SELECT type, size, width, height, variants FROM media WHERE content = $1 AND state = 1 LIMIT 1`
	putPicture      = `UPDATE media SET state = $2, problem = $3, content = $4, type = $5, size = $6, width = $7, height = $8,
		variants = $9, changed = $10 WHERE hash = $1 AND state = 0`

	waitsFor  = `SELECT document, source, as_of FROM waits WHERE media = $1 ORDER BY document, source`
	dropWaits = `DELETE FROM waits WHERE media = $1`
	countDown = `UPDATE documents SET missing = missing - 1, trace = trace || $4,
		turn = CASE WHEN state = 2 THEN turn + 1 ELSE turn END,
		due = CASE WHEN missing = 1 THEN $5 ELSE due END,
		state = CASE WHEN missing = 1 THEN 2 ELSE state END
		WHERE url = $1 AND source = $2 AND as_of = $3 AND state > 0 RETURNING state, missing`
	countWaits = `SELECT COUNT(*) FROM waits WHERE document = $1 AND source = $2 AND as_of = $3`
	printAgain = `INSERT INTO documents (url, address, source, rank, as_of, state, missing, due, fetched, content, trace)
		SELECT p.url, p.address, p.source, p.rank, p.as_of, CAST($4 AS INTEGER), CAST($5 AS INTEGER), CAST($6 AS BIGINT),
			p.fetched, b.document, CAST($7 AS TEXT)
		FROM pages p JOIN bodies b ON b.url = p.url WHERE p.url = $1 AND p.source = $2 AND p.as_of = $3 AND NOT p.withdrawn
		ON CONFLICT (url, source) DO NOTHING`
)

// dueDocument is a document whose time has come.
type dueDocument struct {
	flow.Version
	state int
}

func (m *Media) dueDocuments(ctx context.Context) (due []dueDocument, err error) {
	err = m.Store.Read(ctx, func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var d dueDocument
			err := rows.Scan(&d.URL, &d.Source, &d.AsOf, &d.state)
			due = append(due, d)
			return err
		}, dueDocuments, m.Store.Now().UnixMilli())
	})
	return due, err
}
