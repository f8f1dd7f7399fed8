package serve_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// picture stores a picture of 640 pixels, and returns its path.
func (w *world) picture(body string) string {
	w.t.Helper()
	sum := sha256.Sum256([]byte(body))
	content := hex.EncodeToString(sum[:])
	w.blob(courant.PictureFile(content, 640, "image/png"), body)
	w.exec(`INSERT INTO media (hash, url, state, content, width) VALUES ($1, 'http://a.example/1.png', 1, $2, 640)`, sum[:16], content)
	return courant.PictureFile(content, 640, "image/png")
}

func (w *world) blob(file, body string) {
	w.t.Helper()
	if err := w.blobs.Put(w.t.Context(), courant.PictureKey(file), []byte(body)); err != nil {
		w.t.Fatal(err)
	}
}

// lost is how many pictures media was asked to replace.
func (w *world) lost() (n int) {
	w.t.Helper()
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var text []byte
			err := rows.Scan(&text)
			n += strings.Count(string(text), "picture.lost")
			return err
		}, `SELECT messages FROM outbox`)
	}); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func TestADamagedPictureIsMissingAndWantedAgainOnce(t *testing.T) {
	for name, damage := range map[string]string{"flipped": "pictura", "emptied": "", "cut": "pict", "longer": "pictures"} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			file := w.picture("picture")
			if r := w.get("/media/" + file); r.StatusCode != http.StatusOK {
				t.Fatalf("whole: %s", r.Status)
			}
			time.Sleep(2 * time.Millisecond) // the blob store's clock has to move
			w.blob(file, damage)
			for range 3 {
				if r := w.get("/media/" + file); r.StatusCode != http.StatusNotFound || r.Header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s, %v", r.Status, r.Header)
				}
			}
			if n := w.lost(); n != 1 {
				t.Errorf("it was wanted again %d times", n)
			}
			time.Sleep(2 * time.Millisecond) // as above
			w.blob(file, "picture")
			if r := w.get("/media/" + file); r.StatusCode != http.StatusOK || read(t, r) != "picture" {
				t.Errorf("healed: %s", r.Status)
			}
		})
	}
}

func TestAMissingPictureIsWantedAgainIfThereIsOne(t *testing.T) {
	w := open(t)
	file := w.picture("picture")
	if err := w.blobs.Delete(t.Context(), courant.PictureKey(file)); err != nil {
		t.Fatal(err)
	}
	if r := w.get("/media/" + file); r.StatusCode != http.StatusNotFound || w.lost() != 1 {
		t.Errorf("%s, wanted %d times", r.Status, w.lost())
	}
	if r := w.get("/media/" + strings.Repeat("0b", 32) + "/640.png"); r.StatusCode != http.StatusNotFound || w.lost() != 1 {
		t.Errorf("one that nobody has: %s, wanted %d times", r.Status, w.lost())
	}
}

func TestAVariantIsComparedWithItsOwnDigest(t *testing.T) {
	w := open(t)
	content := strings.Split(w.picture("picture"), "/")[0]
	file := courant.VariantFile(content, 320, "image/jpeg", []byte("small"))
	w.blob(file, "small")
	if r := w.get("/media/" + file); r.StatusCode != http.StatusOK || read(t, r) != "small" {
		t.Errorf("whole: %s", r.Status)
	}
	time.Sleep(2 * time.Millisecond) // the blob store's clock has to move
	w.blob(file, "smalL")
	if r := w.get("/media/" + file); r.StatusCode != http.StatusNotFound {
		t.Errorf("damaged: %s", r.Status)
	}
	old := courant.PictureFile(content, 320, "image/jpeg") // as earlier versions named it
	w.blob(old, "small")
	if r := w.get("/media/" + old); r.StatusCode != http.StatusOK {
		t.Errorf("of an earlier version: %s", r.Status)
	}
}
