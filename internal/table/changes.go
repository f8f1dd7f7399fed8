package table

import "github.com/courant-platform/courant/internal/port/store"

// Change is one entry of the change feed: the newest change of a page. Times are
// milliseconds since 1970, 0 for none.
type Change struct {
	Number      int64
	Page        int64
	Address     string
	Source      string // its name
	Title       string
	Language    string
	Published   int64
	Stored      int64
	Revision    int
	Hash        []byte
	Withdrawn   bool
	DuplicateOf int64  // the first page with nearly the same text; 0 if it is this one
	Document    []byte // packed; only read by ChangesWithDocuments, nil if there is none
}

// Changes calls each for the changes after a number, in order, at most limit of them.
func Changes(r store.Reader, after int64, limit int, each func(Change)) error {
	return r.Rows(func(rows store.Rows) error {
		var c Change
		err := rows.Scan(c.columns()...)
		each(c)
		return err
	}, changesAfter, after, limit)
}

// ChangesWithDocuments is Changes with the document of each page.
func ChangesWithDocuments(r store.Reader, after int64, limit int, each func(Change)) error {
	return r.Rows(func(rows store.Rows) error {
		var c Change
		err := rows.Scan(append(c.columns(), &c.Document)...)
		each(c)
		return err
	}, changesWithBodies, after, limit)
}

func (c *Change) columns() []any {
	return []any{&c.Number, &c.Page, &c.Address, &c.Source, &c.Title, &c.Language, &c.Published, &c.Stored, &c.Revision, &c.Hash,
		&c.Withdrawn, &c.DuplicateOf}
}

// ChangeBounds returns the ends of the change feed. A follower whose number is below
// oldest or beyond newest starts again after 0: withdrawals up to oldest are
// deleted, and a number beyond newest comes from another database.
func ChangeBounds(r store.Reader) (oldest, newest int64, err error) {
	err = r.Row(changeBounds).Scan(&oldest, &newest)
	return oldest, newest, err
}
