package table

import (
	"time"

	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
)

// Download is the body of a source as it is handed over to be read.
type Download struct {
	Source         int64
	Kind           string // feed or catalog, for subscribers
	AsOf           int64
	URL            string // after redirects
	Type           string // Content-Type
	ETag, Modified string // validators
	Blob           string // key of the body; "" for the bytes that were read last, under new validators
	Body, Raw      []byte // digests of the body, unpacked and as it came
	Pushed         bool   // a hub delivered it; the validators are those of what was read before
	Hubs, Self     string // of the answer's Link header; hubs with blanks between them
}

// HandOver leaves a download for parse, in place of one that has not been read and
// is older, and logs it for subscribers. The caller emits flow.FeedFetched.
func HandOver(tx *store.Tx, d Download) error {
	_, err := tx.Exec(putPending, d.Source, d.AsOf, tx.Now().UnixMilli(), d.Blob, d.URL, d.Type, d.ETag, d.Modified, d.Body, d.Raw, d.Pushed, d.Hubs, d.Self)
	if err != nil || d.Blob == "" {
		return err
	}
	return Log(tx, d)
}

// Log adds a download to the log of those who subscribe, if there are any. That of a
// picture has no source.
func Log(tx *store.Tx, d Download) error {
	_, err := tx.Exec(putDownload, d.Blob, blob.Holder(d.Blob), d.Kind, d.Source, d.URL, d.Type, d.ETag, d.Modified, tx.Now().UnixMilli())
	return err
}

// NumberDownloads gives those that have committed their places in the log and returns
// the newest number: who reads the log calls it first. It holds the row of the newest
// number, so that numbers commit in their order, and who has read up to one never
// misses one below it.
func NumberDownloads(tx *store.Tx) (newest int64, err error) {
	if newest, err = HoldCount(tx, "downloads"); err != nil {
		return 0, err
	}
	fresh, err := tx.Exec(numberDownloads, newest)
	if err != nil || fresh == 0 {
		return newest, err
	}
	newest += fresh
	return newest, PutCount(tx, "downloads", newest)
}

// DropDownloads takes those out of the log whose bodies were in a file that is gone, and
// notes with the subscriptions that have not acknowledged them that they are lost to
// them. The log is numbered before.
func DropDownloads(tx *store.Tx, file string) error {
	type row struct {
		kind   string
		number int64
	}
	var gone []row
	err := tx.Rows(func(rows store.Rows) error {
		var d row
		err := rows.Scan(&d.kind, &d.number)
		gone = append(gone, d)
		return err
	}, dropDownloads, file)
	for _, d := range gone {
		if err == nil {
			_, err = tx.Exec(loseDownload, d.number, d.kind)
		}
	}
	return err
}

// BodyKey is where a download lies: by the minute, so that old ones are found.
func BodyKey(now time.Time, name string) string {
	return "body/" + now.UTC().Format("20060102t1504") + "/" + name
}

// HoldCount returns the newest number given under a name, and holds its row until the
// transaction ends, so that numbers commit in their order.
func HoldCount(tx *store.Tx, name string) (newest int64, err error) {
	err = tx.Row(holdCount, name).Scan(&newest)
	return newest, err
}

// PutCount notes the newest number given under a name, unless a greater one was.
func PutCount(tx *store.Tx, name string, newest int64) error {
	_, err := tx.Exec(putCount, name, newest)
	return err
}
