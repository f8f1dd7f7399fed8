package pages

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/light"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

const (
	dueDocuments = `SELECT url, source, as_of FROM documents WHERE due <= $1 AND state = 2 ORDER BY due LIMIT $2`
	readDocument = `SELECT d.rank, d.as_of, d.late_arrivals, d.fetched, d.content, d.trace, COALESCE(NULLIF(s.title, ''), r.title, ''),
			COALESCE(s.name, '')
		FROM documents d LEFT JOIN sources s ON s.id = d.source LEFT JOIN readings r ON r.source = s.id WHERE d.url = $1 AND d.source = $2 AND d.as_of = $3 AND d.state = 2`
	dropDocument = `DELETE FROM documents WHERE url = $1 AND source = $2 AND as_of = $3 AND late_arrivals = $4 AND state = 2`

	readPage = `SELECT id, address, source, rank, as_of, hash, revision, stored, withdrawn, minhash FROM pages WHERE url = $1 /*lock*/`
	lives16  = `SELECT url, id, address, source, rank, as_of, hash, revision, stored, withdrawn, minhash FROM pages WHERE url IN
		($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) /*lock*/`
	newestID = `SELECT COALESCE(MAX(id), 0) FROM pages`
	putPage  = `INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture,
			published, updated, fetched, stored, rendered_at, change, minhash, duplicate_of)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
		ON CONFLICT (url) DO UPDATE SET address = excluded.address, host = excluded.host, source = excluded.source,
			rank = excluded.rank, as_of = excluded.as_of, withdrawn = excluded.withdrawn, hash = excluded.hash,
			revision = excluded.revision, title = excluded.title, language = excluded.language, picture = excluded.picture,
			published = excluded.published, updated = excluded.updated, fetched = excluded.fetched,
			stored = excluded.stored, rendered_at = excluded.rendered_at, change = excluded.change,
			minhash = CASE WHEN $22 THEN excluded.minhash ELSE pages.minhash END,
			duplicate_of = CASE WHEN $22 THEN excluded.duplicate_of ELSE pages.duplicate_of END`
	putBody = `INSERT INTO bodies (page, document, html) VALUES ($1, $2, $3)
		ON CONFLICT (page) DO UPDATE SET document = excluded.document, html = excluded.html`
	bandPages = `SELECT CASE WHEN p.duplicate_of = 0 THEN p.id ELSE p.duplicate_of END, p.minhash
		FROM (SELECT page FROM minhash_bands WHERE band = 4 AND bits = $1 UNION ALL SELECT page FROM minhash_bands WHERE band = 5 AND bits = $2
			UNION ALL SELECT page FROM minhash_bands WHERE band = 6 AND bits = $3 UNION ALL SELECT page FROM minhash_bands WHERE band = 7 AND bits = $4
			UNION ALL SELECT page FROM minhash_bands WHERE band = 8 AND bits = $5) AS l
			JOIN pages p ON p.id = l.page WHERE p.id <> $6 AND NOT p.withdrawn LIMIT $7`
	putBands = `INSERT INTO minhash_bands (band, bits, page) VALUES (4, $1, $6), (5, $2, $6), (6, $3, $6), (7, $4, $6), (8, $5, $6) ON CONFLICT (band, bits, page) DO NOTHING`

	dropBands      = `DELETE FROM minhash_bands WHERE page = $1`
	firstDuplicate = `SELECT COALESCE(MIN(id), 0) FROM pages WHERE duplicate_of = $1 AND duplicate_of <> 0 AND NOT withdrawn`
	moveDuplicates = `UPDATE pages SET duplicate_of = CASE WHEN id = $2 THEN 0 ELSE $2 END WHERE duplicate_of = $1 AND duplicate_of <> 0`

	dueBatches = `SELECT source, as_of, n FROM batches WHERE due <= $1 ORDER BY due LIMIT $2`
	readBatch  = `SELECT fetched, content FROM batches WHERE source = $1 AND as_of = $2 AND n = $3`
	dropBatch  = `DELETE FROM batches WHERE source = $1 AND as_of = $2 AND n = $3`

	// A page without its HTML, which is rendered on request.
	notRendered = `SELECT p.url, p.source, p.as_of FROM pages p JOIN bodies b ON b.page = p.id
		WHERE p.url = $1 AND NOT p.withdrawn AND LENGTH(b.html) = 0`

	countUnnumbered = `SELECT COUNT(*) FROM (SELECT 1 FROM pages WHERE change = 0 LIMIT 1) AS one`
	unnumbered      = `SELECT id FROM pages WHERE change = 0 ORDER BY id LIMIT $1 /*skip*/`
	numberPage      = `UPDATE pages SET change = $2 WHERE id = $1`
	longWithdrawn   = `SELECT id, change FROM pages WHERE withdrawn AND change > 0 AND rendered_at < $1 ORDER BY rendered_at LIMIT $2 /*skip*/`
	dropPage        = `DELETE FROM pages WHERE id = $1`
	dropEvents      = `DELETE FROM events WHERE page = $1`

	duePrices  = `SELECT url FROM price_changes WHERE due <= $1 ORDER BY due LIMIT $2`
	putPrice   = `INSERT INTO price_changes (url, due) VALUES ($1, $2) ON CONFLICT (url) DO UPDATE SET due = excluded.due`
	dropPrice  = `DELETE FROM price_changes WHERE url = $1`
	sizeOfHTML = `SELECT LENGTH(html) FROM bodies WHERE page = $1`
	touchPage  = `UPDATE pages SET revision = revision + 1, change = $2 WHERE id = $1`

	dropBody = `DELETE FROM bodies WHERE page = $1`
	putEvent = `INSERT INTO events (page, as_of, at, trace) VALUES ($1, $2, $3, $4)
		ON CONFLICT (page, at) DO UPDATE SET as_of = excluded.as_of, trace = excluded.trace`
)

// document is a ready row of documents, with its stored pictures.
type document struct {
	url         []byte
	source      int64
	sourceName  string // the source's title, or its short name
	sourceTitle string // that the operator gave it, else its own; "" if it has none
	rank        courant.Rank
	asOf        int64
	late        int // pictures that arrived after the release
	fetched     time.Time
	content     []byte // doc as stored
	doc         courant.Document
	reprice     time.Time // when the price changes next, zero for never
	trace       string
	sketch      sketch // of the text
	media       light.Pictures
	page        rendered
	err         error // the document cannot be rendered
}

// read reads documents and their stored pictures; nil for a row that is gone.
func (p *Pages) read(ctx context.Context, versions []flow.Version) ([]*document, error) {
	docs := make([]*document, len(versions))
	args := make([][]any, len(versions))
	for i, v := range versions {
		args[i] = []any{v.URL, v.Source, v.AsOf}
	}
	err := p.Store.Read(ctx, func(r store.Reader) error {
		err := r.RowsAll(func(i int, rows store.Rows) error {
			d := &document{url: versions[i].URL, source: versions[i].Source}
			var fetched int64
			err := rows.Scan(&d.rank, &d.asOf, &d.late, &fetched, &d.content, &d.trace, &d.sourceTitle, &d.sourceName)
			d.sourceName, d.fetched = cmp.Or(d.sourceTitle, d.sourceName), store.Time(fetched)
			docs[i] = d
			return err
		}, readDocument, args)
		if err != nil {
			return err
		}
		return p.decode(r, docs)
	})
	return docs, err
}

// decode unpacks documents and reads their pictures.
func (p *Pages) decode(r store.Reader, docs []*document) error {
	var keys [][]byte
	var owners []*document
	for _, d := range docs {
		if d == nil {
			continue
		}
		if err := pack.Decode(d.content, &d.doc); err != nil {
			d.err = errors.Join(courant.Invalid, err)
			continue
		}
		if d.doc.Offer != nil {
			d.reprice = d.doc.Offer.PriceChanges(p.Store.Now())
		}
		d.media = light.Pictures{}
		if err := light.Keys(d.doc.Item.Images, func(key [16]byte) error {
			keys, owners = append(keys, key[:]), append(owners, d)
			return nil
		}); err != nil {
			return err
		}
	}
	return table.ReadPictures(r, keys, func(i int, picture table.Picture) (err error) {
		owners[i].media[[16]byte(keys[i])], err = light.KeptOf(picture.Content, picture.Full, picture.Variants)
		return err
	})
}

func (p *Pages) due(ctx context.Context) (due []flow.Version, err error) {
	err = p.Store.Read(ctx, func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var v flow.Version
			err := rows.Scan(&v.URL, &v.Source, &v.AsOf)
			due = append(due, v)
			return err
		}, dueDocuments, p.Store.Now().UnixMilli(), sweepBatch)
	})
	return due, err
}

// readLives reads the live pages at the addresses of those of docs that now lists, and
// locks them.
func readLives(tx *store.Tx, docs []*document, now []int) (map[string]live, error) {
	const at = 16
	out := make(map[string]live, len(now))
	var args [][]any
	for some := range slices.Chunk(now, at) {
		urls := make([]any, at)
		for i := range urls {
			urls[i] = docs[some[min(i, len(some)-1)]].url
		}
		args = append(args, urls)
	}
	return out, tx.RowsAll(func(_ int, rows store.Rows) error {
		var url []byte
		var l live
		err := rows.Scan(&url, &l.id, &l.address, &l.source, &l.rank, &l.asOf, &l.hash, &l.revision, &l.stored, &l.withdrawn, &l.minhash)
		out[string(url)] = l
		return err
	}, lives16, args)
}

func readLive(tx *store.Tx, url []byte) (l live, err error) {
	err = tx.Row(readPage, url).Scan(&l.id, &l.address, &l.source, &l.rank, &l.asOf, &l.hash, &l.revision, &l.stored, &l.withdrawn, &l.minhash)
	return l, err
}
