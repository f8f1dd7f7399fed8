package media

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/postgres"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

// BenchmarkAnArticleOfSixtyPictures is the transaction that requests the pictures of an
// article. While it runs, it holds the locks of their rows.
func BenchmarkAnArticleOfSixtyPictures(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { pictures(b, storetest.Memory(b), 60) })
	for _, n := range []int{1, 60} {
		b.Run(fmt.Sprint("postgres with ", n), func(b *testing.B) { onPostgres(b, n) })
	}
}

func onPostgres(b *testing.B, n int) {
	d, err := postgres.Open(b.Context(), postgres.Config{URL: storetest.Postgres(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	s, err := store.Open(b.Context(), d, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	pictures(b, s, n)
}

func pictures(b *testing.B, s *store.Store, many int) {
	m := &Media{Store: s, Blobs: blob.Bucket{Driver: &memory.Memory{}}, Config: Defaults(), Log: slog.New(slog.DiscardHandler)}
	for n := range b.N {
		b.StopTimer()
		doc := courant.Document{URL: fmt.Sprint("http://a.test/", n), Source: 1}
		for i := range many {
			doc.Item.Images = append(doc.Item.Images, fmt.Sprintf("http://a.test/%d/%d.jpg", n, i))
		}
		content, err := pack.Encode(doc)
		if err != nil {
			b.Fatal(err)
		}
		key := link.Digest(doc.URL)
		if err := s.Write(b.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(testPut, key[:], doc.URL, int64(oldAsOf), content)
			return err
		}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := m.found(b.Context(), flow.Version{URL: key[:], Source: 1, AsOf: oldAsOf}); err != nil {
			b.Fatal(err)
		}
	}
}
