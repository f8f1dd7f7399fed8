package table

import (
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// Body is the document of a page, packed.
func Body(r store.Reader, page int64) (document []byte, err error) {
	err = r.Row(readBody, page).Scan(&document)
	return document, err
}

// Picture is a stored picture by the digest of its address.
type Picture struct {
	Content  string          // SHA-256 of its bytes, hexadecimal
	Full     courant.Picture // without its file's name
	Variants string          // JSON of []courant.Picture
}

// ReadPicture reads a picture; the error is NotFound (see store.NoRow) for one that
// is not stored.
func ReadPicture(r store.Reader, key []byte) (p Picture, err error) {
	err = r.Row(readPicture, key).Scan(&p.Content, &p.Full.Type, &p.Full.Size, &p.Full.Width, &p.Full.Height, &p.Variants)
	return p, err
}

// Requeued is a live page that goes the way of a new document once more.
type Requeued struct {
	URL     []byte // digest of the address
	Source  int64
	AsOf    int64
	State   int // of the document: 0 found, 1 waits for media, 2 ready
	Missing int // pictures that it waits for
	Due     time.Time
	Trace   string // the beginning of its story
}

// Requeue puts a live page on its way to be rendered again, unless a later version
// of it is on its way already, or it is live no more; then it says false.
func Requeue(tx *store.Tx, q Requeued) (bool, error) {
	n, err := tx.Exec(requeue, q.URL, q.Source, q.AsOf, q.State, q.Missing, q.Due.UnixMilli(), q.Trace)
	return n == 1, err
}
