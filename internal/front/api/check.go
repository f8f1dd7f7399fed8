package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// Checked is what a part of the check of all pictures found. Next is the value of after for
// the next part, "" at the end.
type Checked struct {
	Pictures int     `json:"pictures"`
	Files    int     `json:"files"`
	Faults   []Fault `json:"faults"`
	Next     string  `json:"next"`
}

// Fault is a file that is missing or damaged.
type Fault struct {
	File   string `json:"file"` // below /media/
	URL    string `json:"url"`  // of the original
	Reason string `json:"reason"`
}

const mostChecked = 50 // pictures in one part

// check compares the files of stored pictures with their digests, some at a time, in the
// order of their keys. With repair=true, those that are missing or damaged are made or
// fetched again.
func (a *API) check(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	q := r.URL.Query()
	after, err := hex.DecodeString(q.Get("after"))
	if err != nil {
		return 0, nil, courant.Errorf(courant.Invalid, "after must be the value of next in an earlier answer, not %q", q.Get("after"))
	}
	pictures, err := a.storedPictures(r.Context(), after)
	if err != nil {
		return 0, nil, err
	}
	out := Checked{Pictures: len(pictures), Faults: []Fault{}}
	lost := map[string]bool{}
	for _, p := range pictures {
		for _, file := range p.files {
			out.Files++
			reason, err := a.faultOf(r.Context(), file)
			if err != nil {
				return 0, nil, err
			}
			if reason != "" {
				out.Faults = append(out.Faults, Fault{file, p.url, reason})
				lost[p.content] = true
			}
		}
	}
	if len(pictures) == mostChecked {
		out.Next = hex.EncodeToString(pictures[len(pictures)-1].hash)
	}
	if q.Get("repair") == "true" && len(lost) > 0 {
		err = a.Store.Write(r.Context(), func(tx *store.Tx) error {
			for content := range lost {
				tx.Emit(flow.PictureLost.Encode(flow.File{Content: content}))
			}
			return nil
		})
	}
	return http.StatusOK, out, err
}

// storedPicture is a row of media with the files that it names.
type storedPicture struct {
	hash         []byte
	url, content string
	files        []string
}

func (a *API) storedPictures(ctx context.Context, after []byte) (all []storedPicture, err error) {
	return all, a.Store.Rows(ctx, func(rows store.Rows) error {
		var p storedPicture
		var width int
		var kind, variants string
		if err := rows.Scan(&p.hash, &p.url, &p.content, &width, &kind, &variants); err != nil {
			return err
		}
		p.files = []string{courant.PictureFile(p.content, width, kind)}
		var smaller []courant.Picture
		if err := json.Unmarshal([]byte(variants), &smaller); err != nil {
			return fmt.Errorf("variants of picture %s: %w", p.url, err)
		}
		for _, v := range smaller {
			p.files = append(p.files, v.File)
		}
		all = append(all, p)
		return nil
	}, listPictures, after, mostChecked)
}

// faultOf says what is wrong with a file; "" if nothing is. Smaller versions that were made
// before they had a digest are only read.
func (a *API) faultOf(ctx context.Context, file string) (reason string, err error) {
	f, err := a.Blobs.Open(ctx, courant.PictureKey(file))
	if blob.Missing(err) {
		return "missing", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "cannot be read: " + err.Error(), nil
	}
	if digest, _ := courant.PictureDigest(file); strings.HasPrefix(hex.EncodeToString(sum.Sum(nil)), digest) {
		return "", nil
	}
	if old := f.Info().Size > 0 && a.isOldVariant(ctx, file); old {
		return "", nil
	}
	return "damaged", nil
}

// isOldVariant reports whether a file is a smaller version without a digest of its own.
func (a *API) isOldVariant(ctx context.Context, file string) bool {
	if _, own := courant.PictureDigest(file); own {
		return false
	}
	width, err := table.PictureWidth(ctx, a.Store, file[:64])
	return err == nil && width != courant.PictureWidth(file)
}
