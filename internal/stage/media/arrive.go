package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/media/picture"
)

// arrival is an answered fetch of a picture.
type arrival struct {
	hash    []byte
	url     string
	blob    string
	problem string
}

// stored is a stored picture: the file itself and smaller variants.
type stored struct {
	content  string // SHA-256 of the stored bytes, hexadecimal
	full     courant.Picture
	variants []courant.Picture
}

// arrived stores a fetched picture, or the reason why there is none, and counts it for
// the documents that wait for it.
func (m *Media) arrived(ctx context.Context, f flow.Fetch) error {
	a := arrival{hash: f.Hash}
	err := m.Store.Read(ctx, func(r store.Reader) error {
		return r.Row(readAnswer, f.Hash).Scan(&a.url, &a.blob, &a.problem)
	})
	if store.NoRow(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var s stored
	if a.problem == "" {
		s, err = m.take(ctx, &a)
		if blob.Missing(err) {
			return m.askAgain(ctx, a)
		}
		if err != nil {
			return err
		}
	}
	return m.Store.Write(ctx, func(tx *store.Tx) error { return m.settle(tx, a, s) })
}

// askAgain has a picture whose body is gone fetched again.
func (m *Media) askAgain(ctx context.Context, a arrival) error {
	return m.Store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(askAgain, a.hash)
		return err
	})
}

// settle writes the picture's state, deletes the fetch, and counts the picture for the
// waiting documents.
func (m *Media) settle(tx *store.Tx, a arrival, s stored) error {
	state, note := pictureStored, a.url
	if a.problem != "" {
		state, note = pictureMissing, a.url+": "+a.problem
	}
	variants, err := json.Marshal(s.variants)
	if err != nil {
		return err
	}
	n, err := tx.Exec(putPicture, a.hash, state, a.problem, s.content, s.full.Type, s.full.Size, s.full.Width, s.full.Height,
		string(variants), tx.Now().UnixMilli())
	if err != nil {
		return err
	}
	if _, err := tx.Exec(dropFetch, a.hash); err != nil || n == 0 {
		return err
	}
	if state == pictureStored {
		tx.Emit(flow.MediaStored.Encode(flow.File{Content: s.content}))
		m.Metrics.Add("courant_media_pictures_total", 1, "result", "stored")
	} else {
		m.Metrics.Add("courant_media_pictures_total", 1, "result", "missing")
	}
	return m.count(tx, a.hash, note)
}

// take strips and checks the picture, stores it by its content and makes its
// variant. An unsupported or damaged picture sets the arrival's problem.
func (m *Media) take(ctx context.Context, a *arrival) (stored, error) {
	body, err := m.Blobs.GetCached(ctx, a.blob)
	if err != nil {
		return stored{}, err
	}
	body = picture.Strip(body)
	sum := sha256.Sum256(body)
	s := stored{content: hex.EncodeToString(sum[:])}
	known, err := m.sameContent(ctx, s.content)
	if err == nil {
		return known, nil
	}
	if !store.NoRow(err) && ctx.Err() == nil { // the picture is processed again
		m.Metrics.Add("courant_media_errors_total", 1, "of", "content")
		m.Log.Warn("lookup by content failed; processing the picture", "content", s.content, "error", err)
	}
	info, err := picture.Inspect(body)
	if err != nil {
		a.problem = err.Error()
		return s, nil
	}
	err = m.make(ctx, &s, body, info)
	if errors.Is(err, courant.Invalid) {
		a.problem, err = err.Error(), nil
	}
	return s, err
}

// make stores a picture and its smaller version. A picture that cannot be decoded is
// courant.Invalid.
func (m *Media) make(ctx context.Context, s *stored, body []byte, info picture.Info) error {
	small, smaller, err := m.scaler.Resize(ctx, body, m.Config.Width)
	if errors.Is(err, courant.Busy) {
		m.Metrics.Add("courant_media_unscaled_total", 1)
		err = nil
	}
	if err != nil {
		return err
	}
	s.full = describe(courant.PictureFile(s.content, info.Width, info.Type), body, info)
	if err := m.put(ctx, s.full, body); err != nil || small == nil {
		return err
	}
	variant := describe(courant.VariantFile(s.content, smaller.Width, smaller.Type, small), small, smaller)
	s.variants = append(s.variants, variant)
	return m.put(ctx, variant, small)
}

func describe(file string, body []byte, info picture.Info) courant.Picture {
	return courant.Picture{File: file, Type: info.Type, Width: info.Width, Height: info.Height, Size: int64(len(body))}
}

// put stores one file of a picture.
func (m *Media) put(ctx context.Context, p courant.Picture, body []byte) error {
	err := m.Blobs.Put(ctx, courant.PictureKey(p.File), body)
	m.Store.NoteFull(err)
	return err
}

// sameContent finds a stored picture with the same bytes, perhaps from another address.
func (m *Media) sameContent(ctx context.Context, content string) (stored, error) {
	s := stored{content: content}
	var variants string
	err := m.Store.Read(ctx, func(r store.Reader) error {
		return r.Row(byContent, content).Scan(&s.full.Type, &s.full.Size, &s.full.Width, &s.full.Height, &variants)
	})
	if err == nil {
		err = json.Unmarshal([]byte(variants), &s.variants)
	}
	return s, err
}
