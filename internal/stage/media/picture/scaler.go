package picture

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"sync"
	"time"

	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"

	"github.com/courant-platform/courant"
)

// Scaler makes smaller pictures, any number at a time within one bound of
// memory. The zero value is ready.
type Scaler struct {
	Memory int64         // of all at once, in bytes; 256 MiB unless set
	Time   time.Duration // to decode one; 2 s unless set

	start sync.Once
	room  *semaphore.Weighted
}

const quality = 80

// Resize returns a smaller picture, width pixels wide and without any metadata.
// It is nil where the picture is served as well as it is: no wider, animated
// beyond our decoders, too large for the bound of memory, or not smaller in
// bytes. A picture that cannot be decoded is an error of kind Invalid, one that
// takes too long of kind Busy.
func (s *Scaler) Resize(ctx context.Context, body []byte, width int) (small []byte, info Info, err error) {
	h, err := examine(body)
	if err != nil {
		return nil, Info{}, err
	}
	memory := or(s.Memory, 256<<20)
	if width < 1 || h.Width <= width || h.memory > memory || h.animated && h.Type == "image/webp" {
		return nil, Info{}, nil
	}
	s.start.Do(func() { s.room = semaphore.NewWeighted(memory) })
	if err := s.room.Acquire(ctx, h.memory); err != nil {
		return nil, Info{}, err
	}
	defer s.room.Release(h.memory)
	m, err := s.decode(body, h)
	if err != nil || m == nil {
		return nil, Info{}, err
	}
	small, info, err = h.smaller(body, pixelsOf(m), width)
	if err != nil || len(small) >= len(body) {
		return nil, Info{}, err
	}
	return small, info, nil
}

func or[T int64 | time.Duration](v, other T) T {
	if v == 0 {
		return other
	}
	return v
}

// decode reads the pixels, within time; nil without an error if the first frame
// of an animation does not fill it.
func (s *Scaler) decode(body []byte, h header) (m image.Image, err error) {
	limit := or(s.Time, 2*time.Second)
	r := &impatient{from: bytes.NewReader(body), until: time.Now().Add(limit)}
	switch h.Type {
	case "image/jpeg":
		m, err = jpeg.Decode(io.MultiReader(r, bytes.NewReader([]byte{0xff, eoi})))
	case "image/png":
		m, err = png.Decode(r)
	case "image/gif":
		m, err = gif.Decode(r)
	case "image/webp":
		m, err = webp.Decode(r)
	}
	switch {
	case err != nil && r.late:
		return nil, courant.Errorf(courant.Busy, "decoding the picture takes longer than %v", limit)
	case err != nil:
		return nil, invalid("the picture cannot be decoded: %w", err)
	case !m.Bounds().Eq(h.bounds()):
		return nil, nil
	}
	return m, nil
}

// bounds are those of the pixels as they are stored, not yet turned.
func (h header) bounds() image.Rectangle {
	if h.turn > 4 {
		return image.Rect(0, 0, h.Height, h.Width)
	}
	return image.Rect(0, 0, h.Width, h.Height)
}

// smaller scales and encodes: drawings and what is transparent as PNG, all else
// as JPEG.
func (h header) smaller(body []byte, p pixels, width int) ([]byte, Info, error) {
	info := Info{Type: "image/png", Width: width, Height: max(1, (h.Height*width+h.Width/2)/h.Width)}
	across, down := info.Width, info.Height
	if h.turn > 4 {
		across, down = down, across
	}
	var palette color.Palette
	if h.Type == "image/png" || h.Type == "image/gif" {
		palette = p.fewColours()
	}
	m := p.shrink(across, down, h.turn).image()
	var out bytes.Buffer
	if palette != nil {
		err := png.Encode(&out, drawing(m, palette))
		return out.Bytes(), info, err
	}
	if rgba, ok := m.(*image.RGBA); ok && !rgba.Opaque() {
		err := png.Encode(&out, m)
		return out.Bytes(), info, err
	}
	info.Type = "image/jpeg"
	if err := jpeg.Encode(&out, m, &jpeg.Options{Quality: quality}); err != nil {
		return nil, info, err
	}
	if len(p.planes) == 3 && h.Type == info.Type {
		return withProfile(out.Bytes(), profileOf(body)), info, nil
	}
	return out.Bytes(), info, nil
}

// withProfile puts the colour profile into a JPEG, without which the colours of
// the scaled samples would be taken for other ones.
func withProfile(file, profile []byte) []byte {
	if profile == nil {
		return file
	}
	return append(append(bytes.Clone(file[:2]), profile...), file[2:]...)
}

// impatient reads in small pieces, and no longer when time is up: a decoder that
// is kept busy by few bytes ends soon.
type impatient struct {
	from  io.Reader
	until time.Time
	late  bool // time was up
}

const piece = 512

func (r *impatient) Read(b []byte) (int, error) {
	if time.Now().After(r.until) {
		r.late = true
		return 0, io.ErrUnexpectedEOF
	}
	return r.from.Read(b[:min(len(b), piece)])
}
