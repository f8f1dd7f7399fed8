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

// Scaler makes smaller pictures. It is safe for concurrent use; all calls share one
// memory limit. The zero value is ready.
type Scaler struct {
	Memory int64         // limit of all calls together, in bytes; 256 MiB unless set
	Time   time.Duration // limit for decoding one picture; 2 s unless set

	start sync.Once
	room  *semaphore.Weighted
}

const quality = 80

// Resize returns a smaller picture, width pixels wide and without any metadata. It
// returns nil if the picture is not wider than that, animated in a format that we
// cannot decode, too large for the memory limit, or would not get smaller in bytes. The
// error is of kind Invalid if the picture cannot be decoded, and of kind Busy if that
// takes too long.
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

// decode decodes the pixels within the time limit. It returns nil without an error if
// the first frame of an animation does not fill the screen.
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

// bounds are the stored bounds, before the orientation is applied.
func (h header) bounds() image.Rectangle {
	if h.turn > 4 {
		return image.Rect(0, 0, h.Height, h.Width)
	}
	return image.Rect(0, 0, h.Width, h.Height)
}

// smaller scales and encodes a picture: drawings and transparent pictures as PNG, all
// others as JPEG.
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

// withProfile adds the colour profile to a JPEG, since the scaled samples are in its
// colour space.
func withProfile(file, profile []byte) []byte {
	if profile == nil {
		return file
	}
	return append(append(bytes.Clone(file[:2]), profile...), file[2:]...)
}

// impatient reads in small pieces and fails when time is up, so that a decoder that
// computes for long on few bytes ends soon.
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
