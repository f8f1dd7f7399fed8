// Package desk holds the use cases by which people change things: sources, imported
// files, subscriptions, zones. Each checks the visitor's role, and writes who did what
// into the audit in the same transaction. API, command line and console call it.
package desk

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
)

// Desk is the use cases over a store.
type Desk struct {
	Store *store.Store
	Blobs blob.Bucket
}

// Change is the state before and after a change, as the audit keeps it; nil for what
// did not exist. It must not contain secrets.
type Change struct {
	Before any `json:"before"`
	After  any `json:"after"`
}

// note adds a change to the audit.
func note(tx *store.Tx, who courant.Visitor, action, subject string, c Change) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = tx.Exec(putAudit, newID(), tx.Now().UnixMilli(), who.Account, action, subject, string(text))
	return err
}

// newID is a random id below 2⁶².
func newID() int64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return int64(binary.BigEndian.Uint64(b[:]) >> 2)
}

// Entry is a row of the audit.
type Entry struct {
	ID      int64           `json:"id,string"`
	At      courant.Time    `json:"at"`
	Account string          `json:"account"`
	Action  string          `json:"action"` // such as source.add
	Subject string          `json:"subject"`
	Change  json.RawMessage `json:"change"` // {"before":…,"after":…}
}

// Audit reads the newest changes, newest first; those of one millisecond in any order.
func Audit(r store.Reader, limit int) ([]Entry, error) {
	all := []Entry{}
	err := r.Rows(func(rows store.Rows) error {
		var e Entry
		var at int64
		var change string
		err := rows.Scan(&e.ID, &at, &e.Account, &e.Action, &e.Subject, &change)
		e.At.Time, e.Change = store.Time(at), json.RawMessage(change)
		all = append(all, e)
		return err
	}, readAudit, limit)
	return all, err
}
