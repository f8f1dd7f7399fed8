package picture_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/stage/media/picture"
)

func resize(t *testing.T, body []byte, width int) (image.Image, picture.Info, []byte) {
	t.Helper()
	small, info, err := new(picture.Scaler).Resize(t.Context(), body, width)
	if err != nil || small == nil {
		t.Fatalf("got %d bytes, %v", len(small), err)
	}
	m, kind, err := image.Decode(bytes.NewReader(small))
	if err != nil || "image/"+kind != info.Type || m.Bounds().Dx() != info.Width || m.Bounds().Dy() != info.Height {
		t.Fatalf("%+v is really %s of %v (%v)", info, kind, m.Bounds(), err)
	}
	return m, info, small
}

func TestASmallerPictureIsOfTheBestFittingKind(t *testing.T) {
	transparent := image.NewNRGBA(image.Rect(0, 0, 450, 300))
	for i := range transparent.Pix {
		transparent.Pix[i] = uint8(i * i >> 7)
	}
	grey := image.NewGray16(image.Rect(0, 0, 450, 300))
	for i := range grey.Pix {
		grey.Pix[i] = uint8(i >> 3)
	}
	drawn := image.NewRGBA(image.Rect(0, 0, 450, 300))
	for i := range len(drawn.Pix) / 4 {
		copy(drawn.Pix[4*i:], []byte{uint8(i / 2000), uint8(i / 20000 * 40), 99, 255})
	}
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"a JPEG":                   {jpegOf(t, photo(450, 300)), "image/jpeg"},
		"a grey JPEG":              {jpegOf(t, grey), "image/jpeg"},
		"a photograph as PNG":      {pngOf(t, photo(450, 300)), "image/jpeg"},
		"a grey PNG of 16 bits":    {noisy(pngOf(t, grey)), "image/jpeg"},
		"a PNG with transparency":  {pngOf(t, transparent), "image/png"},
		"a PNG with a palette":     {noisy(pngOf(t, stripes(450, 300))), "image/png"},
		"a PNG of few colours":     {noisy(pngOf(t, drawn)), "image/png"},
		"a GIF":                    {gifOf(t, 12, stripes(450, 300)), "image/png"},
		"a WebP":                   {noisy(plainWebP(450, 300, 255)), "image/jpeg"},
		"a WebP with transparency": {noisy(plainWebP(450, 300, 90)), "image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			_, info, _ := resize(t, c.body, 150)
			if want := (picture.Info{Type: c.want, Width: 150, Height: 100}); info != want {
				t.Errorf("got %+v, want %+v", info, want)
			}
		})
	}
}

// noisy makes a file larger, so that a smaller picture saves bytes.
func noisy(body []byte) []byte {
	if bytes.HasPrefix(body, []byte("RIFF")) {
		return riff(string(body[12:]), riffChunk("junk", strings.Repeat("x", 20000)))
	}
	return withChunk(body, pngChunk("juNk", strings.Repeat("x", 20000)))
}

func TestAPictureIsLeftAsItIsWhereASmallerOneWouldNotPay(t *testing.T) {
	for name, c := range map[string]struct {
		body  []byte
		width int
	}{
		"no wider than wanted":                {jpegOf(t, photo(300, 600)), 300},
		"no wider when turned":                {withSegments(jpegOf(t, photo(900, 300)), exif(6)), 300},
		"not smaller in bytes":                {plainWebP(900, 600, 255), 640},
		"an animation of WebP":                {riff(canvas(2, 900, 800), riffChunk("ANMF", strings.Repeat("\x00", 16))), 300},
		"a first frame that is not all of it": {smallFrame(gifOf(t, 1, stripes(900, 600))), 300},
	} {
		t.Run(name, func(t *testing.T) {
			small, info, err := new(picture.Scaler).Resize(t.Context(), c.body, c.width)
			if small != nil || info != (picture.Info{}) || err != nil {
				t.Errorf("got %d bytes, %+v, %v", len(small), info, err)
			}
		})
	}
}

// smallFrame makes the screen of a GIF larger than its frame.
func smallFrame(g []byte) []byte {
	g[6], g[7] = 0xb0, 0x04
	return g
}

func TestScalingIsTheMeanOfTheAreaThatAPixelCovers(t *testing.T) {
	for _, size := range []image.Point{{300, 200}, {259, 171}, {1280, 3}, {201, 150}} {
		original := photo(size.X, size.Y)
		for i := range len(original.Pix) / 4 {
			original.Pix[4*i+3] = 254 // so that it stays a PNG
		}
		got, info, _ := resize(t, noisy(pngOf(t, original)), 200)
		for y := 0; y < info.Height; y += 7 {
			for x := 0; x < info.Width; x += 11 {
				want := mean(original, size, info, x, y)
				r, _, _, _ := got.At(x, y).RGBA()
				if d := math.Abs(float64(r>>8) - want); d > 3 {
					t.Fatalf("%v: at %d, %d red is %d, want %.1f", size, x, y, r>>8, want)
				}
			}
		}
	}
}

// mean is the mean red of an area, weighted by each pixel's share of it: the oracle.
func mean(m *image.RGBA, size image.Point, info picture.Info, x, y int) float64 {
	across, down := float64(size.X)/float64(info.Width), float64(size.Y)/float64(info.Height)
	sum, all := 0.0, 0.0
	for py := int(float64(y) * down); py < size.Y && float64(py) < float64(y+1)*down; py++ {
		tall := min(float64(y+1)*down, float64(py+1)) - max(float64(y)*down, float64(py))
		for px := int(float64(x) * across); tall > 0 && px < size.X; px++ {
			wide := min(float64(x+1)*across, float64(px+1)) - max(float64(x)*across, float64(px))
			if wide <= 0 {
				break
			}
			sum += float64(m.RGBAAt(px, py).R) * wide * tall
			all += wide * tall
		}
	}
	return sum / all
}

func TestAPictureIsTurnedAsItsOrientationSaysAndSaysNothingMore(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 800, 400)) // red corner at the top left, blue one beside it
	corner := func(x, y int, c color.RGBA) {
		for i := range 200 * 200 {
			m.SetRGBA(x+i%200, y+i/200, c)
		}
	}
	red, blue := color.RGBA{250, 20, 20, 255}, color.RGBA{20, 20, 250, 255}
	corner(0, 0, red)
	corner(600, 0, blue)
	body := jpegOf(t, m)
	type corners struct{ red, blue image.Point } // as seen: 0 left or top, 1 right or bottom
	for turn, want := range map[byte]corners{
		1: {image.Pt(0, 0), image.Pt(1, 0)}, 2: {image.Pt(1, 0), image.Pt(0, 0)}, 3: {image.Pt(1, 1), image.Pt(0, 1)},
		4: {image.Pt(0, 1), image.Pt(1, 1)}, 5: {image.Pt(0, 0), image.Pt(0, 1)}, 6: {image.Pt(1, 0), image.Pt(1, 1)},
		7: {image.Pt(1, 1), image.Pt(1, 0)}, 8: {image.Pt(0, 1), image.Pt(0, 0)},
	} {
		got, info, file := resize(t, withSegments(body, exif(turn)), 200)
		at := func(p image.Point) color.Color { return got.At(15+p.X*(info.Width-30), 15+p.Y*(info.Height-30)) }
		if !near(at(want.red), red) || !near(at(want.blue), blue) {
			t.Errorf("orientation %d: red is %v, blue is %v", turn, at(want.red), at(want.blue))
		}
		if bytes.Contains(file, []byte("Exif")) || bytes.Contains(file, []byte("SECRET")) {
			t.Errorf("orientation %d: the smaller picture has metadata", turn)
		}
	}
}

func near(got color.Color, want color.RGBA) bool {
	r, _, b, _ := got.RGBA()
	return math.Abs(float64(r>>8)-float64(want.R)) < 30 && math.Abs(float64(b>>8)-float64(want.B)) < 30
}

func TestAProfileOtherThanSRGBGoesIntoTheSmallerPicture(t *testing.T) {
	wide := jpegSegment(0xe2, "ICC_PROFILE\x00\x01\x01Display P3")
	plain := jpegSegment(0xe2, "ICC_PROFILE\x00\x01\x01sRGB IEC61966-2.1")
	body := jpegOf(t, photo(900, 600))
	if _, _, small := resize(t, withSegments(body, wide), 300); !bytes.Contains(small, []byte(wide)) {
		t.Error("the wide colours are lost")
	}
	if _, _, small := resize(t, withSegments(body, plain), 300); bytes.Contains(small, []byte("ICC_PROFILE")) {
		t.Error("sRGB is what no profile means")
	}
}

func TestAJPEGWithoutItsEndIsScaledAndOneWithoutItsPixelsIsNot(t *testing.T) {
	body := jpegOf(t, photo(900, 600))
	resize(t, body[:len(body)-2], 300)
	_, _, err := new(picture.Scaler).Resize(t.Context(), body[:len(body)*2/3], 300)
	if !errors.Is(err, courant.Invalid) {
		t.Errorf("got %v", err)
	}
}

func TestHostilePicturesAllocateLittle(t *testing.T) {
	for name, body := range hostile(t) {
		grown := testing.AllocsPerRun(1, func() {
			if _, _, err := new(picture.Scaler).Resize(context.Background(), body, 100); !errors.Is(err, courant.Invalid) {
				t.Errorf("%s: got %v", name, err)
			}
		})
		if grown > 1000 {
			t.Errorf("%s: %v allocations", name, grown)
		}
	}
}

func TestADecoderThatIsKeptBusyByFewBytesIsStopped(t *testing.T) {
	bomb := scanBomb(3000, 100)
	if info, err := picture.Inspect(bomb); err != nil || info.Width != 3000 {
		t.Fatalf("got %+v, %v", info, err)
	}
	s := &picture.Scaler{Time: 30 * time.Millisecond}
	if _, _, err := s.Resize(t.Context(), bomb, 640); !errors.Is(err, courant.Busy) {
		t.Errorf("got %v", err)
	}
}

func TestWhatDoesNotFitInMemoryIsNotDecoded(t *testing.T) {
	s := &picture.Scaler{Memory: 1 << 20}
	small, _, err := s.Resize(t.Context(), jpegOf(t, photo(1500, 1000)), 300)
	if small != nil || err != nil {
		t.Errorf("got %d bytes, %v", len(small), err)
	}
}

func TestManyShareOneBoundOfMemory(t *testing.T) {
	s := &picture.Scaler{Memory: 2 << 20} // room for one at a time
	body := jpegOf(t, photo(900, 600))
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if small, _, err := s.Resize(t.Context(), body, 300); small == nil || err != nil {
				t.Errorf("got %d bytes, %v", len(small), err)
			}
		})
	}
	all.Wait()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Resize(ended, body, 300); !errors.Is(err, context.Canceled) && err != nil {
		t.Errorf("got %v", err)
	}
}
