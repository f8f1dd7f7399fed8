package api

import (
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/port/store"
)

var (
	importName   = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,99}$`)
	importDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// importFile takes the request body as if it had been fetched from the source.
// Parameters: name of the source, which is created if there is none; digest, the
// SHA-256 of the body in hexadecimal; absence, of a new source. A body equal to the
// source's last one is not read again.
func (a *API) importFile(w http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	q := r.URL.Query()
	name, digest, absence := q.Get("name"), q.Get("digest"), courant.Absence(q.Get("absence"))
	switch {
	case !importName.MatchString(name):
		return 0, nil, courant.Errorf(courant.Invalid, "name: %q is not a valid source name: use up to 100 letters, digits, dots and dashes", name)
	case !importDigest.MatchString(digest):
		return 0, nil, courant.Errorf(courant.Invalid, "digest must be the SHA-256 of the file, 64 lower-case hexadecimal digits")
	case absence != courant.AbsenceWithdraws && absence != courant.AbsenceKept:
		return 0, nil, courant.Errorf(courant.Invalid, "absence must be kept or empty, not %q", absence)
	}
	sum, err := hex.DecodeString(digest)
	if err != nil {
		return 0, nil, err
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, nil, err
	}
	out, err := a.Desk.Import(r.Context(), who, desk.File{Name: name, Digest: sum, Absence: absence, Type: r.Header.Get("Content-Type"), Body: r.Body})
	status := http.StatusAccepted
	if out.Unchanged {
		status = http.StatusOK
	}
	return status, out, err
}

// Progress is how far the reading of a source's newest download is.
type Progress struct {
	Reading int  `json:"reading"` // offers read so far of a catalogue
	Read    bool `json:"read"`    // it has been read completely
	Items   int  `json:"items"`   // in it, once it has been read
	Waiting int  `json:"waiting"` // documents and batches that are not live yet
}

// progress says how far the reading of a source is. It is cheap enough to poll.
func (a *API) progress(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	var p Progress
	err := a.Store.Read(r.Context(), func(q store.Reader) error {
		s, err := desk.Find(q, r.PathValue("name"))
		if err != nil {
			return err
		}
		if err := q.Row(readProgress, s.ID).Scan(&p.Reading, &p.Read, &p.Items); err != nil {
			return err
		}
		return q.Row(countWaiting, s.ID, mostCounted).Scan(&p.Waiting)
	})
	return http.StatusOK, p, err
}
