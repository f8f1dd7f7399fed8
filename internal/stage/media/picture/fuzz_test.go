package picture_test

import (
	"bytes"
	"errors"
	"image"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/stage/media/picture"
)

func seed(f *testing.F) {
	for _, files := range []map[string][]byte{hostile(f), secretive(f)} {
		for _, body := range files {
			if len(body) < 4000 {
				f.Add(body)
			}
		}
	}
	f.Add(pngOf(f, stripes(40, 30)))
	f.Add(plainWebP(40, 30, 90))
	f.Add(scanBomb(40, 3))
}

func FuzzInspect(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		info, err := picture.Inspect(body)
		if err != nil {
			if !errors.Is(err, courant.Invalid) || info != (picture.Info{}) {
				t.Errorf("got %+v, %v", info, err)
			}
			return
		}
		if info.Width < 1 || info.Height < 1 || info.Width > 16384 || info.Height > 16384 || info.Width*info.Height > 40e6 {
			t.Errorf("a size of %d × %d", info.Width, info.Height)
		}
		c, _, err := image.DecodeConfig(bytes.NewReader(body))
		turned := c.Width == info.Height && c.Height == info.Width
		if err == nil && !turned && (c.Width != info.Width || c.Height != info.Height) {
			t.Errorf("decoders say %d × %d, we say %d × %d", c.Width, c.Height, info.Width, info.Height)
		}
	})
}

func FuzzStrip(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		out := picture.Strip(body)
		if again := picture.Strip(out); !bytes.Equal(again, out) {
			t.Fatalf("stripping twice changes more:\n%q\n%q", out, again)
		}
		before, err := picture.Inspect(body)
		if err != nil {
			return
		}
		if after, err := picture.Inspect(out); err != nil || after != before {
			t.Errorf("it was %+v, and is %+v (%v)", before, after, err)
		}
	})
}

func FuzzResize(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		s := picture.Scaler{Memory: 8 << 20}
		small, info, err := s.Resize(t.Context(), body, 16)
		if err != nil || small == nil {
			return
		}
		if got, err := picture.Inspect(small); err != nil || got != info || info.Width != 16 || len(small) >= len(body) {
			t.Errorf("said %+v, made %+v (%v), %d bytes of %d", info, got, err, len(small), len(body))
		}
	})
}
