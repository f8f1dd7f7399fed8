package parse

import (
	"context"
	"slices"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	pendingPolls = `SELECT source, as_of FROM pending WHERE fetched <= $1`
	readPending  = `SELECT s.name, s.kind, s.url, s.trusted, s.absence, r.shrunk_since, p.as_of, p.blob, p.url, p.type, p.fetched,
			p.etag, p.modified, p.body, p.raw, p.pushed, r.changed, r.rhythm, p.hubs, p.self
		FROM pending p JOIN sources s ON s.id = p.source JOIN readings r ON r.source = p.source WHERE p.source = $1`
	dropPending = `DELETE FROM pending WHERE source = $1 AND as_of = $2`
	noteRead    = `UPDATE readings SET as_of = $2, fetched = $3, url = $4, etag = $5, modified = $6, body = $7, raw = $8, pushed = $9 WHERE source = $1 AND as_of < $2`
	noteLost    = `UPDATE readings SET as_of = $2 WHERE source = $1 AND as_of < $2`
	noteReport  = `UPDATE readings SET report = $2, progress = 0 WHERE source = $1`
	noteReading = `UPDATE readings SET changed = $2, rhythm = $3, ttl = $4, items = $5, report = $6, skip_hours = $7, skip_days = $8, progress = 0,
		hubs = $9, self = $10, title = $11, home = $12 WHERE source = $1`
	noteProgress = `UPDATE readings SET progress = $2 WHERE source = $1`
	noteShrunk   = `UPDATE readings SET shrunk_since = $2 WHERE source = $1 AND shrunk_since <> $2`

	items16 = `SELECT key, hash, url, withdrawn FROM items WHERE source = $1 AND key IN
		($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	itemAt     = `SELECT key, withdrawn FROM items WHERE source = $1 AND url = $2 AND NOT offer ORDER BY key LIMIT 1`
	itemOf     = `SELECT hash, url, withdrawn FROM items WHERE source = $1 AND key = $2`
	renameItem = `UPDATE items SET key = $3 WHERE source = $1 AND key = $2`
	pageAt     = `SELECT title, published FROM pages WHERE url = $1 AND source = $2 AND NOT withdrawn`
	putItem    = `INSERT INTO items (source, key, url, hash, as_of, withdrawn) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (source, key) DO UPDATE SET url = excluded.url, hash = excluded.hash, as_of = excluded.as_of,
			withdrawn = excluded.withdrawn WHERE items.as_of < excluded.as_of`
	putOffer = `INSERT INTO items (source, key, url, hash, as_of, withdrawn, offer) VALUES ($1, $2, $3, $4, $5, $6, TRUE)
		ON CONFLICT (source, key) DO UPDATE SET url = excluded.url, hash = excluded.hash, as_of = excluded.as_of,
			withdrawn = excluded.withdrawn WHERE items.as_of < excluded.as_of`

	putDocument = `INSERT INTO documents (url, address, source, rank, as_of, state, due, fetched, content, trace)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (url, source) DO UPDATE SET address = excluded.address, rank = excluded.rank, as_of = excluded.as_of,
			late_arrivals = 0, state = excluded.state, missing = 0, due = excluded.due, fetched = excluded.fetched,
			content = excluded.content, trace = excluded.trace
		WHERE documents.as_of < excluded.as_of`

	allItems     = `SELECT key, hash, url, withdrawn FROM items WHERE source = $1`
	itemURL      = `SELECT url FROM items WHERE source = $1 AND key = $2`
	stillPending = `SELECT 1 FROM pending WHERE source = $1 AND as_of = $2`
	nextBatch    = `SELECT COALESCE(MAX(n) + 1, 0) FROM batches WHERE source = $1 AND as_of = $2`
	putBatch     = `INSERT INTO batches (source, as_of, n, due, fetched, content) VALUES ($1, $2, $3, $4, $5, $6)`

	addressOf = `SELECT address FROM pages WHERE url = $1 UNION ALL SELECT address FROM documents WHERE url = $1`

	forgetOthers     = `UPDATE items SET hash = '' WHERE url = $1 AND source <> $2 AND NOT withdrawn AND NOT offer`
	forgetValidators = `UPDATE readings SET etag = '', modified = '', body = NULL, raw = NULL, pushed = FALSE WHERE source = $1`
	rereadOthers     = `UPDATE readings SET etag = '', modified = '', body = NULL, raw = NULL, pushed = FALSE WHERE source IN
		(SELECT source FROM items WHERE url = $1 AND source <> $2 AND NOT withdrawn AND NOT offer)`
)

// download is a pending download with the state of its source.
type download struct {
	source   courant.Source
	asOf     int64
	blob     string
	url      string // after redirects
	kind     string // Content-Type
	fetched  time.Time
	changed  time.Time
	rhythm   time.Duration
	absence  courant.Absence
	shrunk   time.Time // since when most of a catalogue's offers are missing
	etag     string
	modified string
	body     []byte // digest, unpacked
	raw      []byte // digest, as received
	pushed   bool   // a hub delivered it
	hubs     string // from the response's Link header, separated by blanks
	self     string // from the response's Link header
}

func (p *Parse) download(ctx context.Context, source int64) (download, error) {
	d := download{source: courant.Source{ID: source}}
	var fetched, changed, rhythm, shrunk int64
	err := p.Store.Read(ctx, func(r store.Reader) error {
		return r.Row(readPending, source).Scan(&d.source.Name, &d.source.Kind, &d.source.URL, &d.source.Trusted, &d.absence, &shrunk, &d.asOf, &d.blob, &d.url,
			&d.kind, &fetched, &d.etag, &d.modified, &d.body, &d.raw, &d.pushed, &changed, &rhythm, &d.hubs, &d.self)
	})
	d.shrunk = store.Time(shrunk)
	d.fetched, d.changed, d.rhythm = store.Time(fetched), store.Time(changed), time.Duration(rhythm)*time.Millisecond
	return d, err
}

// promote deletes the pending download and takes over its validators, in the
// transaction that writes its changes. It returns false if a newer download has come.
func promote(tx *store.Tx, d download) (bool, error) {
	n, err := tx.Exec(dropPending, d.source.ID, d.asOf)
	if err != nil || n == 0 {
		return false, err
	}
	n, err = tx.Exec(noteRead, d.source.ID, d.asOf, store.Millis(d.fetched), d.url, d.etag, d.modified, d.body, d.raw, d.pushed)
	return n == 1, err
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

// knownItems reads the last versions of the items.
func knownItems(r store.Reader, source int64, found []entry) (map[[16]byte]known, error) {
	const at = 16
	out := make(map[[16]byte]known, len(found))
	var all [][]any
	for some := range slices.Chunk(found, at) {
		args := make([]any, 1, at+1)
		args[0] = source
		for i := range at {
			args = append(args, some[min(i, len(some)-1)].key[:])
		}
		all = append(all, args)
	}
	err := r.RowsAll(func(_ int, rows store.Rows) error {
		var key []byte
		var k known
		err := rows.Scan(&key, &k.hash, &k.url, &k.withdrawn)
		if err == nil {
			out[[16]byte(key)] = k
		}
		return err
	}, items16, all)
	return out, err
}
