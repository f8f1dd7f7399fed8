package table

import (
	"context"

	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// Body reads the packed document of a page.
func Body(r store.Reader, page int64) (document []byte, err error) {
	err = r.Row(readBody, page).Scan(&document)
	return document, err
}

// Picture is a stored picture.
type Picture struct {
	Content  string          // SHA-256 of its bytes, hexadecimal
	Full     courant.Picture // without the file name
	Variants string          // JSON of []courant.Picture
}

// ReadPicture reads a picture by the digest of its address; the error is NotFound
// (see store.NoRow) if it is not stored.
func ReadPicture(r store.Reader, key []byte) (p Picture, err error) {
	err = r.Row(readPicture, key).Scan(&p.Content, &p.Full.Type, &p.Full.Size, &p.Full.Width, &p.Full.Height, &p.Variants)
	return p, err
}

// ReadPictures is ReadPicture for several pictures: it calls f for those that are stored,
// with their places in keys.
func ReadPictures(r store.Reader, keys [][]byte, f func(i int, p Picture) error) error {
	args := make([][]any, len(keys))
	for i, key := range keys {
		args[i] = []any{key}
	}
	return r.RowsAll(func(i int, rows store.Rows) error {
		var p Picture
		if err := rows.Scan(&p.Content, &p.Full.Type, &p.Full.Size, &p.Full.Width, &p.Full.Height, &p.Variants); err != nil {
			return err
		}
		return f(i, p)
	}, readPicture, args)
}

// Requeued is a live page that is processed like a new document again.
type Requeued struct {
	URL     []byte // digest of the address
	Source  int64
	AsOf    int64
	State   int // of the document: 0 found, 1 waiting for media, 2 ready
	Missing int // pictures that it waits for
	Due     time.Time
	Trace   string // first steps of its story
}

// Requeue queues a live page to be rendered again. It returns false if a later
// version is queued already, or if the page is not live any more.
func Requeue(tx *store.Tx, q Requeued) (bool, error) {
	n, err := tx.Exec(requeue, q.URL, q.Source, q.AsOf, q.State, q.Missing, q.Due.UnixMilli(), q.Trace)
	return n == 1, err
}

// PictureWidth is the width of the stored picture with a content, in pixels;
// courant.NotFound if there is none.
func PictureWidth(ctx context.Context, s *store.Store, content string) (width int, err error) {
	return width, s.Row(ctx, widthOfPicture, content).Scan(&width)
}
