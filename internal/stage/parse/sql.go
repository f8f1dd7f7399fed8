package parse

import (
	"context"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	pendingPolls = `SELECT source, pending FROM polls WHERE pending > parsed AND checked <= $1`
	readPending  = `SELECT s.name, s.url, s.trusted, s.absence, p.shrunk, p.pending, p.pending_blob, p.pending_url, p.pending_type, p.checked,
			p.changed, p.rhythm, p.pending_hubs, p.pending_self
		FROM polls p JOIN sources s ON s.id = p.source WHERE p.source = $1 AND p.pending > p.parsed`
	promote = `UPDATE polls SET parsed = pending, etag = pending_etag, modified = pending_changed, body = pending_body,
		raw = pending_raw WHERE source = $1 AND pending = $2 AND parsed < $2`
	dropPending = `UPDATE polls SET parsed = pending WHERE source = $1 AND pending = $2 AND parsed < $2`
	noteReport  = `UPDATE polls SET report = $2, reading = 0 WHERE source = $1`
	noteReading = `UPDATE polls SET changed = $2, rhythm = $3, ttl = $4, items = $5, report = $6, skip_hours = $7, skip_days = $8, reading = 0,
		hubs = $9, self = $10 WHERE source = $1`
	noteProgress = `UPDATE polls SET reading = $2 WHERE source = $1`
	noteShrunk   = `UPDATE polls SET shrunk = $2 WHERE source = $1 AND shrunk <> $2`

	items16 = `SELECT key, hash, url, withdrawn FROM items WHERE source = $1 AND key IN
		($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	itemAt     = `SELECT hash, withdrawn FROM items WHERE source = $1 AND url = $2 AND NOT offer ORDER BY key LIMIT 1`
	renameItem = `UPDATE items SET key = $3 WHERE source = $1 AND key = (SELECT key FROM items WHERE source = $1 AND url = $2 AND NOT offer ORDER BY key LIMIT 1)`
	putItem    = `INSERT INTO items (source, key, url, hash, as_of, withdrawn) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (source, key) DO UPDATE SET url = excluded.url, hash = excluded.hash, as_of = excluded.as_of,
			withdrawn = excluded.withdrawn WHERE items.as_of < excluded.as_of`
	putOffer = `INSERT INTO items (source, key, url, hash, as_of, withdrawn, offer) VALUES ($1, $2, $3, $4, $5, $6, TRUE)
		ON CONFLICT (source, key) DO UPDATE SET url = excluded.url, hash = excluded.hash, as_of = excluded.as_of,
			withdrawn = excluded.withdrawn WHERE items.as_of < excluded.as_of`

	putDocument = `INSERT INTO documents (url, address, source, rank, as_of, state, due, fetched, content, trace)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (url, source) DO UPDATE SET address = excluded.address, rank = excluded.rank, as_of = excluded.as_of,
			turn = 0, state = excluded.state, missing = 0, due = excluded.due, fetched = excluded.fetched,
			content = excluded.content, trace = excluded.trace
		WHERE documents.as_of < excluded.as_of`

	allItems     = `SELECT key, hash, url, withdrawn FROM items WHERE source = $1`
	itemURL      = `SELECT url FROM items WHERE source = $1 AND key = $2`
	stillPending = `SELECT 1 FROM polls WHERE source = $1 AND pending = $2 AND parsed < $2`
	nextBatch    = `SELECT COALESCE(MAX(n) + 1, 0) FROM batches WHERE source = $1 AND as_of = $2`
	putBatch     = `INSERT INTO batches (source, as_of, n, due, fetched, content) VALUES ($1, $2, $3, $4, $5, $6)`

	addressOf = `SELECT address FROM pages WHERE url = $1 UNION ALL SELECT address FROM documents WHERE url = $1`

	forgetOthers     = `UPDATE items SET hash = '' WHERE url = $1 AND source <> $2 AND NOT withdrawn AND NOT offer`
	forgetValidators = `UPDATE polls SET etag = '', modified = '', body = NULL, raw = NULL WHERE source = $1`
	rereadOthers     = `UPDATE polls SET etag = '', modified = '', body = NULL, raw = NULL WHERE source IN
		(SELECT source FROM items WHERE url = $1 AND source <> $2 AND NOT withdrawn AND NOT offer)`
)

// download is a pending download with what is known of its source.
type download struct {
	source  courant.Source
	asOf    int64
	blob    string
	url     string // after redirects
	kind    string // Content-Type
	fetched time.Time
	changed time.Time
	rhythm  time.Duration
	absence courant.Absence
	shrunk  time.Time // since when most of a catalogue is missing
	hubs    string    // of the answer's header, a blank between them
	self    string    // of the answer's header
}

func (p *Parse) download(ctx context.Context, source int64) (download, error) {
	d := download{source: courant.Source{ID: source}}
	var fetched, changed, rhythm, shrunk int64
	err := p.Store.Read(ctx, func(r store.Reader) error {
		return r.Row(readPending, source).Scan(&d.source.Name, &d.source.URL, &d.source.Trusted, &d.absence, &shrunk, &d.asOf, &d.blob, &d.url,
			&d.kind, &fetched, &changed, &rhythm, &d.hubs, &d.self)
	})
	d.shrunk = store.Time(shrunk)
	d.fetched, d.changed, d.rhythm = store.Time(fetched), store.Time(changed), time.Duration(rhythm)*time.Millisecond
	return d, err
}

func (p *Parse) pendingOlder(ctx context.Context, age time.Duration) (polls []flow.Poll, err error) {
	err = p.Store.Read(ctx, func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var f flow.Poll
			err := rows.Scan(&f.Source, &f.AsOf)
			polls = append(polls, f)
			return err
		}, pendingPolls, p.Store.Now().Add(-age).UnixMilli())
	})
	return polls, err
}

// knownItems reads what the source last said of the items, sixteen at a time.
func knownItems(r store.Reader, source int64, found []entry) (map[[16]byte]known, error) {
	const at = 16
	out := make(map[[16]byte]known, len(found))
	for len(found) > 0 {
		args := make([]any, 1, at+1)
		args[0] = source
		for i := range at {
			args = append(args, found[min(i, len(found)-1)].key[:])
		}
		found = found[min(at, len(found)):]
		err := r.Rows(func(rows store.Rows) error {
			var key []byte
			var k known
			err := rows.Scan(&key, &k.hash, &k.url, &k.withdrawn)
			if err == nil {
				out[[16]byte(key)] = k
			}
			return err
		}, items16, args...)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
