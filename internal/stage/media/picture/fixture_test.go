package picture_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"testing"
)

// photo is a smooth scene with some grain.
func photo(width, height int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			grain := uint8((x*7919 ^ y*104729) % 13)
			m.SetRGBA(x, y, color.RGBA{uint8(x*200/width) + grain, uint8(y*200/height) + grain,
				uint8(120 + 100*math.Sin(float64(x+y)/40)), 255})
		}
	}
	return m
}

func jpegOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 85}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stripes is a picture with a palette of three colours, one of them transparent.
func stripes(width, height int) *image.Paletted {
	m := image.NewPaletted(image.Rect(0, 0, width, height),
		color.Palette{color.RGBA{}, color.RGBA{200, 30, 30, 255}, color.RGBA{20, 40, 160, 255}})
	for i := range m.Pix {
		m.Pix[i] = uint8((i%width/37 + i/width/23) % 3)
	}
	return m
}

func gifOf(t testing.TB, frames int, m *image.Paletted) []byte {
	t.Helper()
	g := &gif.GIF{}
	for range frames {
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 5)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngChunk(name, body string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(b, name+body...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
}

func pngHeader(width, height uint32) string {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	return "\x89PNG\r\n\x1a\n" + pngChunk("IHDR", string(b)+"\x08\x06\x00\x00\x00")
}

func jpegSegment(marker byte, body string) string {
	return string(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))) + body
}

// scanBomb is a grey progressive JPEG with many almost empty scans.
func scanBomb(side, scans int) []byte {
	b := []byte("\xff\xd8" + jpegSegment(0xdb, "\x00"+string(bytes.Repeat([]byte{1}, 64))))
	size := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(side)), uint16(side))
	b = append(b, jpegSegment(0xc2, "\x08"+string(size)+"\x01\x01\x11\x00")...)
	one := "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" // a single code of one bit
	b = append(b, jpegSegment(0xc4, "\x00"+one+"\x00")...)                    // DC: no difference
	b = append(b, jpegSegment(0xc4, "\x10"+one+"\xe0")...)                    // AC: 16384 empty blocks and more
	blocks := (side + 7) / 8 * ((side + 7) / 8)
	b = append(b, jpegSegment(0xda, "\x01\x01\x00\x00\x00\x00")...)
	b = append(b, make([]byte, (blocks+7)/8)...)
	for range scans - 1 {
		b = append(b, jpegSegment(0xda, "\x01\x01\x00\x01\x01\x00")...)
		b = append(b, make([]byte, (blocks/16384+1)*15/8+1)...)
	}
	return append(b, 0xff, 0xd9)
}

// exif is an APP1 segment with an orientation and a place.
func exif(turn byte) string {
	return jpegSegment(0xe1, "Exif\x00\x00II*\x00\x08\x00\x00\x00\x02\x00"+
		"\x0f\x01\x02\x00\x06\x00\x00\x00\x26\x00\x00\x00"+
		"\x12\x01\x03\x00\x01\x00\x00\x00"+string([]byte{turn})+"\x00\x00\x00"+
		"\x00\x00\x00\x00SECRET")
}

// withSegments puts segments behind the first marker of a JPEG.
func withSegments(file []byte, segments string) []byte {
	return append([]byte("\xff\xd8"+segments), file[2:]...)
}

func riff(chunks ...string) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WEBP")
	for _, c := range chunks {
		b = append(b, c...)
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

func riffChunk(name, body string) string {
	out := name + string(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) + body
	if len(body)%2 == 1 {
		out += "\x00"
	}
	return out
}

func canvas(flags byte, width, height int) string {
	le := func(n int) string { return string([]byte{byte(n - 1), byte((n - 1) >> 8), byte((n - 1) >> 16)}) }
	return riffChunk("VP8X", string([]byte{flags, 0, 0, 0})+le(width)+le(height))
}

// plainWebP is a lossless WebP of one colour: every code has one symbol, so that
// pixels take no bits.
func plainWebP(width, height int, alpha byte) []byte {
	w := bits{}
	w.put(0x2f, 8)
	w.put(uint32(width-1), 14)
	w.put(uint32(height-1), 14)
	w.put(1, 1) // has alpha
	w.put(0, 3)
	w.put(0, 1)                                             // no transform
	w.put(0, 1)                                             // no colour cache
	w.put(0, 1)                                             // one group of codes
	for _, symbol := range []byte{120, 200, 40, alpha, 0} { // green, red, blue, alpha, distance
		w.put(1, 1) // a simple code
		w.put(0, 1) // of one symbol
		w.put(1, 1) // of eight bits
		w.put(uint32(symbol), 8)
	}
	return riff(riffChunk("VP8L", string(w.out)))
}

// bits writes the lowest first.
type bits struct {
	out []byte
	n   int
}

func (b *bits) put(v uint32, n int) {
	for i := range n {
		if b.n%8 == 0 {
			b.out = append(b.out, 0)
		}
		b.out[b.n/8] |= byte(v>>i&1) << (b.n % 8)
		b.n++
	}
}
