package desk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// Imported is the result of importing a file.
type Imported struct {
	Source    string `json:"source"` // its name
	Unchanged bool   `json:"unchanged"`
	New       bool   `json:"new"` // the source was created
}

// importURL is the prefix of the addresses of imported files.
const importURL = "http://" + courant.ImportHost + "/"

// File is a local file to import as if it had been fetched from a source.
type File struct {
	Name    string          // of the source, which is created if there is none
	Digest  []byte          // SHA-256 of the body
	Type    string          // Content-Type
	Absence courant.Absence // of a new source
	Body    io.Reader
}

// Import imports a file. One that equals the source's last file is not read again.
func (d *Desk) Import(ctx context.Context, who courant.Visitor, f File) (out Imported, err error) {
	if err := who.MayOperate(); err != nil {
		return out, err
	}
	out.Source = f.Name
	source, same, err := d.importSource(ctx, who, &out, f)
	if err != nil || same {
		out.Unchanged = same
		return out, err
	}
	key, err := d.keep(ctx, table.BodyKey(d.Store.Now(), fmt.Sprint("import-", source.ID)), f)
	if err != nil && out.New { // a failed import leaves no source behind
		_, gone := d.Remove(context.WithoutCancel(ctx), who, f.Name, nil)
		err = errors.Join(err, gone)
	}
	if err != nil {
		return out, err
	}
	return out, d.handOver(ctx, who, source, key, f)
}

// importSource finds or creates the source; same says whether its last file had these
// bytes.
func (d *Desk) importSource(ctx context.Context, who courant.Visitor, out *Imported, f File) (s courant.Source, same bool, err error) {
	err = d.Store.Write(ctx, func(tx *store.Tx) error {
		out.New, same = false, false
		if s, err = readSource(tx.Reader, sourceByName, f.Name); err == nil {
			var body []byte
			err := tx.Row(newestBody, s.ID).Scan(&body)
			if store.NoRow(err) {
				return nil // another download waits to be read
			}
			same = bytes.Equal(body, f.Digest[:digestSize])
			return err
		}
		if !store.NoRow(err) {
			return err
		}
		out.New = true
		s = courant.Source{ID: newID(), Name: f.Name, Kind: courant.KindFile, URL: importURL + url.PathEscape(f.Name), Trusted: true,
			Robots: true, Absence: f.Absence, Added: tx.Now()}
		if err := put(tx, s, 0); err != nil {
			return err
		}
		return note(tx, who, "source.add", s.Name, Change{After: shown(s, 0)})
	})
	return s, same, err
}

// digestSize is how much of a SHA-256 the store keeps of a body.
const digestSize = 16

// keep stores the body and checks it against its digest.
func (d *Desk) keep(ctx context.Context, prefix string, f File) (key string, err error) {
	hash := sha256.New()
	key, err = d.Blobs.PutStream(ctx, prefix, io.TeeReader(f.Body, hash))
	if err == nil && !bytes.Equal(hash.Sum(nil), f.Digest) {
		err = courant.Errorf(courant.Invalid, "the body does not match its digest: it was cut off, or changed while it was sent")
		err = errors.Join(err, d.Blobs.Delete(ctx, key))
	}
	return key, err
}

// handOver leaves the file for parse, as robot leaves a download.
func (d *Desk) handOver(ctx context.Context, who courant.Visitor, s courant.Source, key string, f File) error {
	return d.Store.Write(ctx, func(tx *store.Tx) error {
		var asOf int64
		if err := tx.Row(takeAsOf, s.ID, tx.Now().UnixMilli()).Scan(&asOf); err != nil {
			return err
		}
		tx.Emit(flow.FeedFetched.Encode(flow.Poll{Source: s.ID, Origin: link.Origin(s.URL), AsOf: asOf}))
		if err := table.HandOver(tx, table.Download{Source: s.ID, Kind: "feed", AsOf: asOf, URL: s.URL, Type: f.Type, Blob: key, Body: f.Digest[:digestSize]}); err != nil {
			return err
		}
		return note(tx, who, "source.import", s.Name, Change{After: map[string]string{"sha256": hex.EncodeToString(f.Digest), "type": f.Type}})
	})
}
