package picture_test

import (
	"bytes"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/stage/media/picture"
)

func TestTheStructureSaysWhatAPictureIs(t *testing.T) {
	small := jpegOf(t, photo(60, 40))
	for name, c := range map[string]struct {
		body []byte
		want picture.Info
	}{
		"a JPEG":                   {small, picture.Info{Type: "image/jpeg", Width: 60, Height: 40}},
		"a JPEG that lies":         {withSegments(small, exif(6)), picture.Info{Type: "image/jpeg", Width: 40, Height: 60}},
		"a JPEG upside down":       {withSegments(small, exif(3)), picture.Info{Type: "image/jpeg", Width: 60, Height: 40}},
		"a JPEG without its end":   {small[:len(small)-2], picture.Info{Type: "image/jpeg", Width: 60, Height: 40}},
		"a PNG":                    {pngOf(t, photo(31, 7)), picture.Info{Type: "image/png", Width: 31, Height: 7}},
		"a GIF":                    {gifOf(t, 3, stripes(50, 20)), picture.Info{Type: "image/gif", Width: 50, Height: 20}},
		"a WebP":                   {plainWebP(300, 200, 255), picture.Info{Type: "image/webp", Width: 300, Height: 200}},
		"a WebP with an animation": {riff(canvas(2, 90, 80), riffChunk("ANMF", strings.Repeat("\x00", 16))), picture.Info{Type: "image/webp", Width: 90, Height: 80}},
		"a PNG that says animation": {withChunk(pngOf(t, photo(8, 8)), pngChunk("acTL", "\x00\x00\x00\x02\x00\x00\x00\x00")),
			picture.Info{Type: "image/png", Width: 8, Height: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := picture.Inspect(c.body)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

// withChunk puts a chunk behind the header of a PNG.
func withChunk(file []byte, chunk string) []byte {
	return append(append(bytes.Clone(file[:33]), chunk...), file[33:]...)
}

// hostile are files that must be refused.
func hostile(t testing.TB) map[string][]byte {
	small := jpegOf(t, photo(64, 48))
	frame := gifOf(t, 1, stripes(20, 20))
	big := []byte("GIF89a\xd0\x07\xd0\x07\x00\x00\x00")
	big = append(big, bytes.Repeat([]byte("\x2c\x00\x00\x00\x00\xd0\x07\xd0\x07\x80\x00\x00\x00\xff\xff\xff\x02\x01\x00\x00"), 100)...)
	return map[string][]byte{
		"nothing":                             nil,
		"HTML":                                []byte("<!doctype html><script>alert(1)</script>"),
		"HTML with a GIF's first bytes":       []byte("GIF89a/*<script>*/=1;alert(1)//</script>"),
		"SVG":                                 []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>`),
		"AVIF":                                []byte("\x00\x00\x00\x20ftypavif\x00\x00\x00\x00"),
		"a PNG of 50000 × 50000 in little":    []byte(pngHeader(50000, 50000) + pngChunk("IDAT", "\x78\x9c") + pngChunk("IEND", "")),
		"a PNG of 6000 × 6000 without pixels": []byte(pngHeader(6000, 6000) + pngChunk("IDAT", "\x78\x9c") + pngChunk("IEND", "")),
		"a PNG of size zero":                  []byte(pngHeader(0, 10) + pngChunk("IDAT", "\x78\x9c") + pngChunk("IEND", "")),
		"a PNG of size minus one":             []byte(pngHeader(1<<32-1, 1) + pngChunk("IDAT", "\x78\x9c") + pngChunk("IEND", "")),
		"a PNG that is cut off":               pngOf(t, photo(50, 50))[:2000],
		"a JPEG that is cut off":              small[:300],
		"a JPEG of 65500 × 65500":             bytes.Replace(small, []byte("\x00\x30\x00\x40\x03"), []byte("\xff\xdc\xff\xdc\x03"), 1),
		"a JPEG of size zero":                 bytes.Replace(small, []byte("\x00\x30\x00\x40\x03"), []byte("\x00\x00\x00\x40\x03"), 1),
		"a JPEG with two frames":              append(bytes.Clone(small[:len(small)-2]), small[2:]...),
		"a JPEG of 400 scans":                 scanBomb(800, 400),
		"a lossless JPEG":                     bytes.Replace(small, []byte("\xff\xc0"), []byte("\xff\xc3"), 1),
		"a GIF of 100 × 2000 × 2000":          big,
		"a GIF without a frame":               []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
		"a GIF of 1200 frames":                append(bytes.Clone(frame[:len(frame)-1]), bytes.Repeat(frame[bytes.IndexByte(frame, 0x2c):len(frame)-1], 1200)...),
		"a WebP of two sizes":                 riff(canvas(0, 10, 10), string(plainWebP(3000, 3000, 255)[12:])),
		"a WebP of 16000 × 16000":             plainWebP(16000, 16000, 255),
		"a WebP without pixels":               riff(canvas(0, 10, 10)),
		"21 MB":                               append(bytes.Clone(small), make([]byte, 21<<20)...),
	}
}

func TestAFileThatIsNoPictureOrTooLargeIsRefusedInOneSentence(t *testing.T) {
	for name, body := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			info, err := picture.Inspect(body)
			if !errors.Is(err, courant.Invalid) || info != (picture.Info{}) {
				t.Fatalf("got %+v, %v; want an error of kind Invalid", info, err)
			}
			if text := err.Error(); strings.Contains(text, "\n") || strings.Contains(text, "%!") || len(text) > 160 {
				t.Errorf("the error is %q", text)
			}
		})
	}
}

// secretive are pictures with metadata; each of them contains SECRET somewhere.
func secretive(t testing.TB) map[string][]byte {
	small := jpegOf(t, photo(64, 48))
	secret := pngChunk("tEXt", "Author\x00SECRET") + pngChunk("eXIf", "SECRET") + pngChunk("tIME", "SECRET1") +
		pngChunk("iTXt", "SECRET") + pngChunk("zTXt", "SECRET") + pngChunk("prVt", "SECRET")
	g := gifOf(t, 2, stripes(50, 20))
	at := bytes.Index(g, []byte("\x21\xf9"))
	extensions := "\x21\xfe\x06SECRET\x00" + "\x21\xff\x0bXMP DataXMP\x06SECRET\x00"
	vp8l := string(plainWebP(30, 20, 255)[12:])
	return map[string][]byte{
		"a JPEG": append(withSegments(small, jpegSegment(0xe0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x02\x01SECRET")+exif(1)+
			jpegSegment(0xe1, "http://ns.adobe.com/xap/1.0/\x00SECRET")+jpegSegment(0xe2, "MPF\x00SECRET")+
			jpegSegment(0xed, "Photoshop 3.0\x00SECRET")+jpegSegment(0xfe, "SECRET")), "SECRET"...),
		"a JPEG that is turned":  withSegments(small, exif(6)),
		"a JPEG without its end": withSegments(small[:len(small)-2], exif(8)),
		"a PNG":                  append(withChunk(pngOf(t, photo(30, 20)), secret), "SECRET"...),
		"a GIF":                  append([]byte(string(g[:at])+extensions+string(g[at:])), "SECRET"...),
		"a WebP": append(riff(canvas(0x0c, 30, 20), vp8l, riffChunk("EXIF", "SECRET"), riffChunk("XMP ", "SECRET"),
			riffChunk("abcd", "SECRET!")), "SECRET"...),
	}
}

func TestStrippingTakesOutWhatIsNotThePictureAndChangesNoPixel(t *testing.T) {
	for name, body := range secretive(t) {
		t.Run(name, func(t *testing.T) {
			if !bytes.Contains(body, []byte("SECRET")) {
				t.Fatal("the test's own picture holds no secret")
			}
			out := picture.Strip(body)
			if bytes.Contains(out, []byte("SECRET")) {
				t.Error("the secret is still there")
			}
			if again := picture.Strip(out); !bytes.Equal(again, out) {
				t.Error("stripping twice changes more")
			}
			before, err := picture.Inspect(body)
			after, err2 := picture.Inspect(out)
			if err != nil || err2 != nil || before != after {
				t.Errorf("it was %+v (%v), and is %+v (%v)", before, err, after, err2)
			}
			if a, b := pixelsOf(t, body), pixelsOf(t, out); !bytes.Equal(a, b) {
				t.Error("the pixels are others")
			}
		})
	}
}

// pixelsOf decodes with the standard library, other than WebP.
func pixelsOf(t *testing.T, body []byte) []byte {
	t.Helper()
	r := bytes.NewReader(body)
	if bytes.HasPrefix(body, []byte("GIF")) {
		g, err := gif.DecodeAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return append(append([]byte{byte(g.LoopCount)}, g.Image[0].Pix...), g.Image[1].Pix...)
	}
	m, kind, err := image.Decode(r)
	switch {
	case kind == "":
		return nil
	case err != nil && kind == "jpeg": // without its end
		m, err = jpeg.Decode(bytes.NewReader(append(bytes.Clone(body), 0xff, 0xd9)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return pngOf(t, m)
}

func TestStrippingKeepsColoursAndRepetitions(t *testing.T) {
	profile := jpegSegment(0xe2, "ICC_PROFILE\x00\x01\x01colours")
	adobe := jpegSegment(0xee, "Adobe\x00\x64\x00\x00\x00\x00\x01")
	body := withSegments(jpegOf(t, photo(20, 20)), profile+adobe)
	if out := picture.Strip(body); !bytes.Contains(out, []byte(profile+adobe)) {
		t.Error("profile or Adobe's segment is gone")
	}
	if out := picture.Strip(gifOf(t, 2, stripes(9, 9))); !bytes.Contains(out, []byte("NETSCAPE2.0")) {
		t.Error("the animation runs once only")
	}
	icc := pngChunk("iCCP", "colours")
	if out := picture.Strip(withChunk(pngOf(t, photo(9, 9)), icc)); !bytes.Contains(out, []byte(icc)) {
		t.Error("the PNG's profile is gone")
	}
}

func TestAColourProfileOfMegabytesIsNotKept(t *testing.T) {
	part := jpegSegment(0xe2, "ICC_PROFILE\x00\x01\x01"+strings.Repeat("x", 60000))
	body := withSegments(jpegOf(t, photo(20, 20)), strings.Repeat(part, 170))
	if out := picture.Strip(body); len(out) > 10000 {
		t.Errorf("%d bytes of %d are left", len(out), len(body))
	}
}

func TestWhatStripDoesNotUnderstandComesBackAsItIs(t *testing.T) {
	for name, body := range map[string][]byte{
		"HTML": []byte("<html>"), "a cut PNG": pngOf(t, photo(9, 9))[:60], "a cut GIF": []byte("GIF89a\x01"),
		"a cut WebP": plainWebP(9, 9, 255)[:20], "a JPEG of a header": []byte("\xff\xd8\xff\xe1\x00\x08Exif"),
	} {
		if out := picture.Strip(body); !bytes.Equal(out, body) {
			t.Errorf("%s: got %q", name, out)
		}
	}
}

var _ = png.Decode // registers the format for image.Decode
