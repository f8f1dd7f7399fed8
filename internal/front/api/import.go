package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
)

// Imported is what became of a file that was sent.
type Imported struct {
	Source    string `json:"source"` // its name
	Unchanged bool   `json:"unchanged"`
	New       bool   `json:"new"` // the source is
}

// importURL is where files have their addresses.
const importURL = "http://" + courant.ImportHost + "/"

// never is when a source is due that is not asked: the end of the year 9999.
const never = 253402300799000

var (
	importName   = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,99}$`)
	importDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// importFile takes a file as if the source had been asked for it: the body, as it
// is. Parameters: name of the source, made if there is none; digest, the SHA-256
// of the body in hexadecimal; absence, of a new source. A body that the source
// gave last is not read.
func (a *API) importFile(w http.ResponseWriter, r *http.Request) (int, any, error) {
	q := r.URL.Query()
	name, digest, absence := q.Get("name"), q.Get("digest"), courant.Absence(q.Get("absence"))
	switch {
	case !importName.MatchString(name):
		return 0, nil, courant.Errorf(courant.Invalid, "name: %q is no name of a source: up to 100 letters, digits, dots and dashes", name)
	case !importDigest.MatchString(digest):
		return 0, nil, courant.Errorf(courant.Invalid, "digest: the SHA-256 of the file in hexadecimal is needed")
	case absence != courant.AbsenceWithdraws && absence != courant.AbsenceKept:
		return 0, nil, courant.Errorf(courant.Invalid, "absence is %q; write kept, or leave it out", absence)
	}
	sum, err := hex.DecodeString(digest)
	if err != nil {
		return 0, nil, err
	}
	out := Imported{Source: name}
	source, same, err := a.importSource(r.Context(), &out, absence, sum[:16])
	if err != nil || same {
		out.Unchanged = same
		return http.StatusOK, out, err
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, nil, err
	}
	key, err := a.keepImport(r.Context(), fmt.Sprintf("body/%s/import-%d", a.Store.Now().UTC().Format("20060102t1504"), source.ID), r.Body, sum)
	if err != nil && out.New { // what could not be taken leaves no source behind
		_, gone := a.Remove(context.WithoutCancel(r.Context()), name, nil)
		err = errors.Join(err, gone)
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusAccepted, out, a.pend(r.Context(), source, key, r.Header.Get("Content-Type"), sum[:16])
}

// importSource finds or makes the source, and says whether it gave these bytes
// last.
func (a *API) importSource(ctx context.Context, out *Imported, absence courant.Absence, digest []byte) (s courant.Source, same bool, err error) {
	err = a.Store.Write(ctx, func(tx *store.Tx) error {
		out.New = false
		if s, err = readSource(tx.Reader, sourceByName, out.Source); err == nil {
			var asked, parsed, pending int64
			var body []byte
			err := tx.Row(lastDownload, s.ID).Scan(&asked, &parsed, &pending, &body)
			same = pending <= parsed && string(body) == string(digest)
			return err
		}
		if !store.NoRow(err) {
			return err
		}
		out.New = true
		s = courant.Source{Name: out.Source, Kind: courant.KindFile, URL: importURL + url.PathEscape(out.Source), Trusted: true, Absence: absence, Added: tx.Now()}
		var b [8]byte
		rand.Read(b[:]) // never fails
		s.ID = int64(binary.BigEndian.Uint64(b[:]) >> 2)
		if _, err := tx.Exec(putSource, s.ID, s.Name, s.Kind, s.URL, link.Host(s.URL), s.Title, s.Trusted, true, s.Absence, store.Millis(s.Added)); err != nil {
			return err
		}
		_, err := tx.Exec(putPoll, s.ID, s.URL, link.Origin(s.URL), courant.Part(link.Domain(link.Host(s.URL))), int64(never), -1)
		return err
	})
	return s, same, err
}

// Progress is how far the reading of a source's newest download is.
type Progress struct {
	Reading int  `json:"reading"` // offers read so far of a catalogue
	Read    bool `json:"read"`    // all of it has been read
	Items   int  `json:"items"`   // in it, if it has been read
	Waiting int  `json:"waiting"` // what pages has to do; not documents that wait for their pictures
}

// progress says how far the reading of a source is. Asking often costs little.
func (a *API) progress(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	var p Progress
	err := a.Store.Read(r.Context(), func(q store.Reader) error {
		s, err := findSource(q, r.PathValue("name"))
		if err != nil {
			return err
		}
		if err := q.Row(readProgress, s.ID).Scan(&p.Reading, &p.Read, &p.Items); err != nil {
			return err
		}
		return q.Row(countReady, s.ID).Scan(&p.Waiting)
	})
	return http.StatusOK, p, err
}

// keepImport keeps the body and checks that it is what was announced.
func (a *API) keepImport(ctx context.Context, prefix string, body io.Reader, sum []byte) (key string, err error) {
	hash := sha256.New()
	key, err = a.Blobs.PutStream(ctx, prefix, io.TeeReader(body, hash))
	if err == nil && string(hash.Sum(nil)) != string(sum) {
		err = courant.Errorf(courant.Invalid, "the body is not what its digest says; it was cut off, or changed while it was sent")
		err = errors.Join(err, a.Blobs.Delete(ctx, key))
	}
	return key, err
}

// pend leaves the file for parse, as robot leaves a download.
func (a *API) pend(ctx context.Context, s courant.Source, key, contentType string, digest []byte) error {
	return a.Store.Write(ctx, func(tx *store.Tx) error {
		var asked, parsed, pending int64
		var body []byte
		if err := tx.Row(lastDownload, s.ID).Scan(&asked, &parsed, &pending, &body); err != nil {
			return err
		}
		asOf := max(asked+1, pending+1, tx.Now().UnixMilli())
		_, err := tx.Exec(pendImport, s.ID, asOf, tx.Now().UnixMilli(), key, contentType, digest)
		if err != nil {
			return err
		}
		tx.Emit(flow.FeedFetched.Encode(flow.Poll{Source: s.ID, Origin: link.Origin(s.URL), AsOf: asOf}))
		return tx.Downloaded(store.Download{Kind: "feed", Source: s.ID, URL: s.URL, Type: contentType, Blob: key, File: blob.Holder(key)})
	})
}
