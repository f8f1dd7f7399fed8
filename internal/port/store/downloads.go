package store

// Download is a changed download as those who subscribe to it get it. Its body is a
// blob; it is forgotten with that.
type Download struct {
	Kind           string // feed, catalog or picture
	Source         int64  // 0 for a picture
	URL            string // after redirects
	Type           string // Content-Type
	ETag, Modified string
	Blob           string
}

// Downloaded adds a download to the log of those who subscribe, if there are any.
func (tx *Tx) Downloaded(d Download) error {
	_, err := tx.Exec(putDownload, d.Blob, d.Kind, d.Source, d.URL, d.Type, d.ETag, d.Modified, tx.Now().UnixMilli())
	return err
}

// NumberDownloads gives those that have committed their places in the log and returns
// the newest number: who reads the log calls it first. It holds the row of the newest
// number, so that numbers commit in their order, and who has read up to one never
// misses one below it.
func (tx *Tx) NumberDownloads() (newest int64, err error) {
	if err := tx.Row(holdDownloads).Scan(&newest); err != nil {
		return 0, err
	}
	var fresh []string
	err = tx.Rows(func(rows Rows) error {
		var key string
		err := rows.Scan(&key)
		fresh = append(fresh, key)
		return err
	}, freshDownloads)
	if err != nil || len(fresh) == 0 {
		return newest, err
	}
	for _, key := range fresh {
		newest++
		if _, err := tx.Exec(numberDownload, key, newest); err != nil {
			return 0, err
		}
	}
	_, err = tx.Exec(countDownloads, newest)
	return newest, err
}

// DropDownload takes one whose body is gone out of the log, and notes with the
// subscriptions that have not acknowledged it that it is lost to them. The log is
// numbered before.
func (tx *Tx) DropDownload(blob string) error {
	var kind string
	var number int64
	err := tx.Row(dropDownload, blob).Scan(&kind, &number)
	if NoRow(err) {
		return nil
	}
	if err == nil {
		_, err = tx.Exec(loseDownload, number, kind)
	}
	return err
}
