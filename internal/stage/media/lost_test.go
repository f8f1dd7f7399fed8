package media

import (
	"bytes"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
)

// pictured stores a photograph as if it had been fetched for a document.
func pictured(t *testing.T, m *Media) stored {
	t.Helper()
	key, err := m.Blobs.PutCached(t.Context(), "fetched", photograph(t))
	if err != nil {
		t.Fatal(err)
	}
	hash := bytes.Repeat([]byte{7}, 16)
	if err := m.Store.Write(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(`INSERT INTO media (hash, url, state) VALUES ($1, 'https://site.test/picture', 0)`, hash); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO fetches (hash, url, origin, partition, kind, priority, wanted, due, answered, blob) VALUES ($1, 'https://site.test/picture', 'https://site.test', 1, 'picture', 1, 1, 1, 1, $2)`, hash, key)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := m.arrived(t.Context(), flow.Fetch{Hash: hash}); err != nil {
		t.Fatal(err)
	}
	var content string
	if err := m.Store.Row(t.Context(), `SELECT content FROM media WHERE state = 1`).Scan(&content); err != nil {
		t.Fatal(err)
	}
	s, err := m.sameContent(t.Context(), content)
	if err != nil {
		t.Fatal(err)
	}
	s.full.File = courant.PictureFile(content, s.full.Width, s.full.Type)
	return s
}

func damage(t *testing.T, m *Media, p courant.Picture) {
	t.Helper()
	if err := m.Blobs.Put(t.Context(), courant.PictureKey(p.File), []byte("damaged")); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedVariantIsMadeAgainFromTheOriginal(t *testing.T) {
	m := arriving(t)
	s := pictured(t, m)
	before := pictureFile(t, m, s.variants[0])
	damage(t, m, s.variants[0])
	if err := m.lost(t.Context(), flow.File{Content: s.content}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pictureFile(t, m, s.variants[0]), before) {
		t.Error("the file is another one")
	}
	var n int
	if err := m.Store.Row(t.Context(), `SELECT COUNT(*) FROM fetches`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d fetches, %v", n, err)
	}
}

func TestADamagedOriginalIsFetchedAgain(t *testing.T) {
	m := arriving(t)
	s := pictured(t, m)
	full, small := pictureFile(t, m, s.full), pictureFile(t, m, s.variants[0])
	damage(t, m, s.full)
	damage(t, m, s.variants[0])
	for range 2 { // the second message finds nothing to do
		if err := m.lost(t.Context(), flow.File{Content: s.content}); err != nil {
			t.Fatal(err)
		}
	}
	var hash []byte
	if err := m.Store.Row(t.Context(), `SELECT hash FROM fetches WHERE kind = 'picture' AND answered = 0 AND origin = 'https://site.test'`).Scan(&hash); err != nil {
		t.Fatal(err)
	}
	key, err := m.Blobs.PutCached(t.Context(), "fetched", photograph(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Store.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE fetches SET answered = 1, blob = $1`, key)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := m.arrived(t.Context(), flow.Fetch{Hash: hash}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pictureFile(t, m, s.full), full) || !bytes.Equal(pictureFile(t, m, s.variants[0]), small) {
		t.Error("the files are others")
	}
}
