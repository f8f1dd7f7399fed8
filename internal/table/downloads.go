package table

import (
	"time"

	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
)

// Download is the body of a source, ready to be parsed.
type Download struct {
	Source         int64
	Kind           string // feed or catalog, for subscribers
	AsOf           int64
	URL            string // after redirects
	Type           string // Content-Type
	ETag, Modified string // validators
	Blob           string // key of the body; "" if only the validators have changed since the last body
	Body, Raw      []byte // digests of the body, unpacked and as received
	Pushed         bool   // a hub delivered it; the validators are those of the body before
	Hubs, Self     string // from the response's Link header; hubs are separated by blanks
}

// HandOver stores a pending download for parse and logs it for subscribers. It
// replaces an older pending download. The caller emits flow.FeedFetched.
func HandOver(tx *store.Tx, d Download) error {
	_, err := tx.Exec(putPending, d.Source, d.AsOf, tx.Now().UnixMilli(), d.Blob, d.URL, d.Type, d.ETag, d.Modified, d.Body, d.Raw, d.Pushed, d.Hubs, d.Self)
	if err != nil || d.Blob == "" {
		return err
	}
	return Log(tx, d)
}

// Log adds a download to the subscribers' log, if there are any. The download of a
// picture has no source.
func Log(tx *store.Tx, d Download) error {
	_, err := tx.Exec(putDownload, d.Blob, blob.Holder(d.Blob), d.Kind, d.Source, d.URL, d.Type, d.ETag, d.Modified, tx.Now().UnixMilli())
	return err
}

// NumberDownloads numbers the downloads that have committed and returns the newest
// number. Readers of the log call it first. It locks the row of the newest number, so
// numbers commit in order, and a reader that has read up to a number never misses a
// lower one.
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

// DropDownloads deletes the downloads from the log whose bodies were in a deleted file,
// and counts them as lost in the subscriptions that have not acknowledged them. The
// caller has numbered the log before.
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

// BodyKey is the key of a download in the blob store. It begins with the minute, so
// that old downloads are found.
func BodyKey(now time.Time, name string) string {
	return "body/" + now.UTC().Format("20060102t1504") + "/" + name
}

// HoldCount returns the newest number of a counter and locks its row until the
// transaction ends, so that numbers commit in order.
func HoldCount(tx *store.Tx, name string) (newest int64, err error) {
	err = tx.Row(holdCount, name).Scan(&newest)
	return newest, err
}

// PutCount sets the newest number of a counter, unless it is greater already.
func PutCount(tx *store.Tx, name string, newest int64) error {
	_, err := tx.Exec(putCount, name, newest)
	return err
}
