package media

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log/slog"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

func arriving(t *testing.T) *Media {
	return &Media{Store: storetest.Memory(t), Blobs: blob.Bucket{Driver: &memory.Memory{}}, Config: Defaults(),
		Metrics: obs.New(), Log: slog.New(slog.DiscardHandler)}
}

// takes passes a fetched body to the stage.
func takes(t *testing.T, m *Media, body []byte) (arrival, stored) {
	t.Helper()
	key, err := m.Blobs.PutCached(t.Context(), "fetched", body)
	if err != nil {
		t.Fatal(err)
	}
	a := arrival{blob: key, url: "https://site.test/picture"}
	s, err := m.take(t.Context(), &a)
	if err != nil {
		t.Fatal(err)
	}
	return a, s
}

func pictureFile(t *testing.T, m *Media, p courant.Picture) []byte {
	t.Helper()
	body, err := m.Blobs.Get(t.Context(), courant.PictureKey(p.File))
	if err != nil {
		t.Fatalf("%s: %v", p.File, err)
	}
	return body
}

func photograph(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1200, 800))
	for i := range 1200 * 800 {
		img.SetRGBA(i%1200, i/1200, color.RGBA{uint8(i / 4000), uint8(i % 1200 / 5), uint8(i % 7 * 9), 255})
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAPictureIsKeptWithoutItsMetadataAndWithASmallerOne(t *testing.T) {
	m := arriving(t)
	plain := photograph(t)
	secret := append([]byte("\xff\xd8\xff\xfe\x00\x10where it was.."), plain[2:]...)
	a, s := takes(t, m, secret)
	if a.problem != "" || s.full.Type != "image/jpeg" || s.full.Width != 1200 || s.full.Height != 800 || len(s.variants) != 1 {
		t.Fatalf("problem %q, kept %+v", a.problem, s)
	}
	if full := pictureFile(t, m, s.full); bytes.Contains(full, []byte("where it was")) || int64(len(full)) != s.full.Size {
		t.Error("what is served still says where the picture was taken")
	}
	small := s.variants[0]
	if got, err := jpeg.DecodeConfig(bytes.NewReader(pictureFile(t, m, small))); err != nil || got.Width != 640 || small.Width != 640 {
		t.Errorf("the smaller one is %+v, %v", small, err)
	}
	if _, again := takes(t, m, plain); again.content != s.content {
		t.Error("the same picture without metadata is taken for another one")
	}
}

func TestAFileThatIsNoPictureIsAProblemAndNotStored(t *testing.T) {
	m := arriving(t)
	a, s := takes(t, m, []byte("<html>not found</html>"))
	if !strings.Contains(a.problem, "not a JPEG, PNG, GIF or WebP") || s.full.File != "" {
		t.Errorf("problem %q, kept %+v", a.problem, s)
	}
}

func TestASmallPictureHasNoSmallerOne(t *testing.T) {
	m := arriving(t)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 300, 100))); err != nil {
		t.Fatal(err)
	}
	a, s := takes(t, m, b.Bytes())
	if a.problem != "" || len(s.variants) != 0 || s.full.Width != 300 || s.full.Type != "image/png" {
		t.Errorf("problem %q, kept %+v", a.problem, s)
	}
}
