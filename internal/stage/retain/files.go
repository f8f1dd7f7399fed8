package retain

import (
	"context"
	"strings"
	"time"

	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	fileRest = 10 * time.Minute // between the deletion of a picture and that of its files
	fileAge  = time.Hour        // a younger file may be of a picture that is being stored
)

// files deletes the files of pictures that no row of media names: those of the pictures
// that the last sweep deleted, and those that a crash left behind. It waits a while,
// since a picture with the same content that is being stored uses the files that exist.
func (t *turn) files(ctx context.Context) error {
	swept, err := t.lastDone(ctx, "media")
	if err != nil || swept.IsZero() {
		return err
	}
	last, err := t.lastDone(ctx, "media_files")
	began := t.Store.Now()
	listed := last.After(swept) && !last.After(began) // otherwise a clock that has been corrected was ahead
	if err != nil || listed || began.Sub(swept) < fileRest {
		return err
	}
	var keys []string
	err = t.Blobs.List(ctx, "media/", func(f blob.Info) error {
		if time.Since(f.Time) > fileAge {
			keys = append(keys, f.Key)
		}
		if len(keys) < readSize {
			return nil
		}
		err := t.dropFiles(ctx, keys)
		keys = nil
		return err
	})
	if err == nil {
		err = t.dropFiles(ctx, keys)
	}
	if err != nil {
		return err
	}
	return t.done(ctx, "media_files", began)
}

// dropFiles deletes those of the files that no row of media names.
func (t *turn) dropFiles(ctx context.Context, keys []string) error {
	from := time.Now()
	args, named := make([][]any, len(keys)), make([]bool, len(keys))
	for i, key := range keys {
		args[i] = []any{contentOf(key)}
	}
	err := t.Store.Read(ctx, func(r store.Reader) error {
		return r.RowsAll(func(i int, _ store.Rows) error {
			named[i] = true
			return nil
		}, namesContent, args)
	})
	if err != nil {
		return err
	}
	for i, key := range keys {
		if named[i] {
			continue
		}
		if err := t.dropFile(ctx, key); err != nil {
			return err
		}
	}
	return t.between(ctx, time.Since(from))
}

// dropFile deletes a file, unless it has been written again meanwhile.
func (t *turn) dropFile(ctx context.Context, key string) error {
	f, err := t.Blobs.Open(ctx, key)
	if blob.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	written := f.Info().Time
	if err := f.Close(); err != nil || time.Since(written) <= fileAge {
		return err
	}
	t.count("media_files", 1)
	return t.Blobs.Delete(ctx, key)
}

// contentOf returns the digest in a key of courant.PictureKey, media/ab/DIGEST/WIDTH.TYPE;
// "" for another file, which no row names.
func contentOf(key string) string {
	parts := strings.Split(key, "/")
	if len(parts) != 4 {
		return ""
	}
	return parts[2]
}
