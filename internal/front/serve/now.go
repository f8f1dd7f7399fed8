package serve

import (
	"bytes"
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/light"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// renderNow renders a page that is stored without HTML, as the products of large
// catalogues are. If one of its pictures is missing, it has pages render the page with
// its pictures.
func (s *Serve) renderNow(ctx context.Context, id int64, address string) ([]byte, error) {
	p := light.Page{Now: s.Store.Now()}
	var missing bool
	err := s.Store.Read(ctx, func(r store.Reader) (err error) {
		var content []byte
		var rank courant.Rank
		if err := r.Row(readDocument, id).Scan(&content, &rank, &p.SourceTitle, &p.SourceName); err != nil {
			return err
		}
		p.SourceName, p.Foreign = cmp.Or(p.SourceTitle, p.SourceName), rank == courant.Foreign
		if err := pack.Decode(content, &p.Document); err != nil {
			return err
		}
		missing, err = readPictures(r, &p)
		return err
	})
	if store.NoRow(err) {
		return nil, errGone // withdrawn since it was found
	}
	if err != nil {
		return nil, err
	}
	html, err := s.pack(p)
	if err == nil && missing {
		s.want(ctx, address)
	}
	return html, err
}

// pack renders and compresses a page.
func (s *Serve) pack(p light.Page) ([]byte, error) {
	z, ok := s.zips.Get().(*gzip.Writer)
	if !ok {
		z = gzip.NewWriter(nil)
	}
	defer s.zips.Put(z)
	var out bytes.Buffer
	z.Reset(&out)
	if _, err := light.Render(z, p); err != nil {
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}

// readPictures reads the stored pictures of a page and says whether any is missing.
func readPictures(r store.Reader, p *light.Page) (missing bool, err error) {
	p.Pictures = light.Pictures{}
	err = light.Keys(p.Document.Item.Images, func(key [16]byte) error {
		kept, err := table.ReadPicture(r, key[:])
		if store.NoRow(err) {
			missing = true
			return nil
		}
		if err == nil {
			p.Pictures[key], err = light.KeptOf(kept.Content, kept.Full, kept.Variants)
		}
		return err
	})
	return missing, err
}

// want asks pages to render a page that is being read, at most once a minute.
func (s *Serve) want(ctx context.Context, address string) {
	key := link.Digest(address)
	if !s.wanted.first(key, s.Store.Now()) {
		return
	}
	err := s.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		tx.Emit(flow.PageWanted.Encode(flow.Page{URL: key[:]}))
		return nil
	})
	if err != nil {
		s.Log.Warn("page not requested for rendering", "url", address, "error", err)
	}
}

// recently remembers keys for a minute, a bounded number of them.
type recently struct {
	// mu guards seen.
	mu   sync.Mutex
	seen map[[16]byte]time.Time
}

const mostRecent = 10_000

// first says whether a key was not seen within the last minute.
func (r *recently) first(key [16]byte, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.seen[key]) < time.Minute {
		return false
	}
	if r.seen == nil || len(r.seen) >= mostRecent {
		r.seen = map[[16]byte]time.Time{}
	}
	r.seen[key] = now
	return true
}
