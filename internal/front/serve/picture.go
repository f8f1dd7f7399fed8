package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

var mediaName = regexp.MustCompile(`^[0-9a-f]{64}/[0-9]{1,5}(-[0-9a-f]{16})?\.(jpeg|png|gif|webp)$`)

// media serves a picture. Its name is made of the digest of its content, so caches may
// keep it forever. One that is missing or damaged is wanted again.
func (s *Serve) media(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("content") + "/" + r.PathValue("file")
	if !mediaName.MatchString(name) {
		web.FailWith(w, http.StatusNotFound, "there is no such picture")
		return
	}
	f, err := s.openPicture(r.Context(), name)
	if blob.Missing(err) {
		s.wantPicture(r.Context(), name)
		web.FailWith(w, http.StatusNotFound, "there is no such picture")
		return
	}
	if err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", "image/"+name[strings.LastIndexByte(name, '.')+1:])
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Etag", `"`+name+`"`)
	http.ServeContent(w, r, "", f.Info().Time, f)
}

// openPicture opens the file of a picture and compares it with the digest in its name, once
// for each version of the file. A damaged file is courant.NotFound.
func (s *Serve) openPicture(ctx context.Context, name string) (blob.File, error) {
	f, err := s.Blobs.Open(ctx, courant.PictureKey(name))
	if err != nil {
		return nil, err
	}
	if s.intact.has(name, f.Info()) {
		return f, nil
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err == nil {
		err = s.compare(ctx, name, hex.EncodeToString(sum.Sum(nil)))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close() // it was only read
		return nil, err
	}
	s.intact.put(name, f.Info())
	return f, nil
}

// compare returns courant.NotFound unless the SHA-256 of a file is that in its name.
func (s *Serve) compare(ctx context.Context, name, sum string) error {
	digest, own := courant.PictureDigest(name)
	if strings.HasPrefix(sum, digest) {
		return nil
	}
	if !own {
		old, err := s.isOldVariant(ctx, name)
		if err != nil || old {
			return err
		}
	}
	s.Metrics.Add("courant_serve_damaged_total", 1)
	s.Log.Warn("picture damaged; it is not served", "file", name)
	return courant.Errorf(courant.NotFound, "picture %s is damaged", name)
}

// isOldVariant reports whether a file is a smaller version that was made before those had a
// digest in their names.
func (s *Serve) isOldVariant(ctx context.Context, name string) (bool, error) {
	width, err := table.PictureWidth(ctx, s.Store, name[:64])
	if store.NoRow(err) {
		return false, nil
	}
	return err == nil && width != courant.PictureWidth(name), err
}

// wantPicture asks media to replace a file that is missing, at most once a minute.
func (s *Serve) wantPicture(ctx context.Context, name string) {
	sum := sha256.Sum256([]byte(name))
	if !s.wanted.first([16]byte(sum[:16]), s.Store.Now()) {
		return
	}
	content := name[:64]
	_, err := table.PictureWidth(ctx, s.Store, content)
	if store.NoRow(err) {
		return // nobody has such a picture
	}
	if err == nil {
		err = s.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
			tx.Emit(flow.PictureLost.Encode(flow.File{Content: content}))
			return nil
		})
	}
	if err != nil {
		s.Log.Warn("missing picture not requested", "file", name, "error", err)
	}
}

// intact remembers files that were compared with their digest, a bounded number of them.
type intact struct {
	// mu guards seen.
	mu   sync.Mutex
	seen map[string]version
}

// version is the state of a file.
type version struct {
	size int64
	time time.Time
}

const mostIntact = 50_000

func (i *intact) has(name string, f blob.Info) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	v, ok := i.seen[name]
	return ok && v.size == f.Size && v.time.Equal(f.Time)
}

func (i *intact) put(name string, f blob.Info) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.seen == nil || len(i.seen) >= mostIntact {
		i.seen = map[string]version{}
	}
	i.seen[name] = version{f.Size, f.Time}
}
