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
	File           string // that holds the blob, maybe with others
}

// Downloaded adds a download to the log of those who subscribe, if there are any.
func (tx *Tx) Downloaded(d Download) error {
	_, err := tx.Exec(putDownload, d.Blob, d.File, d.Kind, d.Source, d.URL, d.Type, d.ETag, d.Modified, tx.Now().UnixMilli())
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
	fresh, err := tx.Exec(numberDownloads, newest)
	if err != nil || fresh == 0 {
		return newest, err
	}
	newest += fresh
	_, err = tx.Exec(countDownloads, newest)
	return newest, err
}

// DropDownloads takes those out of the log whose bodies were in a file that is gone, and
// notes with the subscriptions that have not acknowledged them that they are lost to
// them. The log is numbered before.
func (tx *Tx) DropDownloads(file string) error {
	type row struct {
		kind   string
		number int64
	}
	var gone []row
	err := tx.Rows(func(rows Rows) error {
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
