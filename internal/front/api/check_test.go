package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
)

func TestTheCheckFindsMissingAndDamagedPicturesInParts(t *testing.T) {
	w := open(t)
	w.api.Blobs = blob.Bucket{Driver: &memory.Memory{}}
	put := func(file, body string) {
		if err := w.api.Blobs.Put(t.Context(), courant.PictureKey(file), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	var full, small []string
	for i := range 120 {
		body := fmt.Sprint("picture ", i)
		sum := sha256.Sum256([]byte(body))
		content := hex.EncodeToString(sum[:])
		full = append(full, courant.PictureFile(content, 1200, "image/png"))
		small = append(small, courant.VariantFile(content, 640, "image/png", []byte("small")))
		put(full[i], body)
		put(small[i], "small")
		w.exec(`INSERT INTO media (hash, url, state, content, type, width, variants) VALUES ($1, $2, 1, $3, 'image/png', 1200, $4)`,
			sum[:16], fmt.Sprint("http://a.example/", i), content, fmt.Sprintf(`[{"file":%q,"width":640,"type":"image/png"}]`, small[i]))
	}
	all := func(repair bool) (parts, pictures, files int, faults map[string]string) {
		faults = map[string]string{}
		for after := ""; ; {
			var c api.Checked
			if r := w.do("POST", fmt.Sprintf("/api/v1/check?after=%s&repair=%v", after, repair), "", &c); r.StatusCode != http.StatusOK {
				t.Fatal(r.Status)
			}
			parts, pictures, files = parts+1, pictures+c.Pictures, files+c.Files
			for _, f := range c.Faults {
				faults[f.File] = f.Reason
				if !strings.HasPrefix(f.URL, "http://a.example/") {
					t.Errorf("the fault of %s is at %q", f.File, f.URL)
				}
			}
			if after = c.Next; after == "" {
				return parts, pictures, files, faults
			}
		}
	}
	if parts, pictures, files, faults := all(false); parts != 3 || pictures != 120 || files != 240 || len(faults) != 0 {
		t.Errorf("%d parts, %d pictures, %d files, %v", parts, pictures, files, faults)
	}
	put(full[7], "picturX 7")
	put(small[8], "")
	if err := w.api.Blobs.Delete(t.Context(), courant.PictureKey(full[9])); err != nil {
		t.Fatal(err)
	}
	_, _, _, faults := all(true)
	if len(faults) != 3 || faults[full[7]] != "damaged" || faults[small[8]] != "damaged" || faults[full[9]] != "missing" {
		t.Errorf("%v", faults)
	}
	var messages string
	if err := w.store.Row(t.Context(), `SELECT CAST(COUNT(*) AS TEXT) FROM outbox`).Scan(&messages); err != nil || messages == "0" {
		t.Errorf("no picture was wanted again: %s, %v", messages, err)
	}
	if r := w.do("POST", "/api/v1/check?after=zz", "", nil); r.StatusCode != http.StatusBadRequest {
		t.Errorf("a wrong place: %s", r.Status)
	}
}
