package picture

import (
	"image"
	"image/color"
	"image/draw"
)

// pixels is a decoded picture as planes: one (grey, or red, green, blue and
// alpha, premultiplied) or three (Y, Cb and Cr).
type pixels struct {
	planes  []plane
	palette color.Palette // of a paletted picture
}

// pixelsOf splits a decoded picture into planes. It reuses the picture's memory where
// it can.
func pixelsOf(m image.Image) pixels {
	size := m.Bounds().Size()
	interleaved := func(pix []byte, stride int) pixels {
		return pixels{planes: []plane{{pix, stride, size.X, size.Y, 4}}}
	}
	switch m := m.(type) {
	case *image.YCbCr:
		across, down := chromaSize(m.SubsampleRatio, size)
		return pixels{planes: []plane{
			{m.Y, m.YStride, size.X, size.Y, 1}, {m.Cb, m.CStride, across, down, 1}, {m.Cr, m.CStride, across, down, 1},
		}}
	case *image.Gray:
		return pixels{planes: []plane{{m.Pix, m.Stride, size.X, size.Y, 1}}}
	case *image.Gray16:
		return pixels{planes: []plane{{highBytes(m.Pix), m.Stride / 2, size.X, size.Y, 1}}}
	case *image.RGBA:
		return interleaved(m.Pix, m.Stride)
	case *image.RGBA64:
		return interleaved(highBytes(m.Pix), m.Stride/2)
	case *image.NRGBA:
		return interleaved(premultiply(m.Pix), m.Stride)
	case *image.NRGBA64:
		return interleaved(premultiply(highBytes(m.Pix)), m.Stride/2)
	case *image.CMYK:
		return interleaved(fromCMYK(m.Pix), m.Stride)
	case *image.Paletted:
		return fromPalette(m)
	case *image.NYCbCrA:
		return fromYCbCrA(m)
	}
	rgba := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(rgba, rgba.Rect, m, m.Bounds().Min, draw.Src)
	return interleaved(rgba.Pix, rgba.Stride)
}

// chromaSize is the size of the colour planes.
func chromaSize(r image.YCbCrSubsampleRatio, size image.Point) (across, down int) {
	across, down = size.X, size.Y
	switch r {
	case image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio422:
		across = (across + 1) / 2
	case image.YCbCrSubsampleRatio410, image.YCbCrSubsampleRatio411:
		across = (across + 3) / 4
	}
	switch r {
	case image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio410:
		down = (down + 1) / 2
	}
	return across, down
}

// highBytes drops the lower half of 16-bit samples, in place.
func highBytes(pix []byte) []byte {
	for i := range len(pix) / 2 {
		pix[i] = pix[2*i]
	}
	return pix[:len(pix)/2]
}

// premultiply multiplies colours by alpha, in place, so that averages take no colour
// from transparent pixels.
func premultiply(pix []byte) []byte {
	for p := pix; len(p) >= 4; p = p[4:] {
		if a := uint32(p[3]); a != 255 {
			p[0], p[1], p[2] = byte(uint32(p[0])*a/255), byte(uint32(p[1])*a/255), byte(uint32(p[2])*a/255)
		}
	}
	return pix
}

// fromCMYK converts in place. The decoder has handled inverted inks already.
func fromCMYK(pix []byte) []byte {
	for p := pix; len(p) >= 4; p = p[4:] {
		p[0], p[1], p[2] = color.CMYKToRGB(p[0], p[1], p[2], p[3])
		p[3] = 255
	}
	return pix
}

// fromPalette replaces palette indexes by colours.
func fromPalette(m *image.Paletted) pixels {
	var table [256][4]byte
	for i, c := range m.Palette {
		rgba := color.RGBAModel.Convert(c).(color.RGBA)
		table[i] = [4]byte{rgba.R, rgba.G, rgba.B, rgba.A}
	}
	size := m.Bounds().Size()
	out := newPlane(size.X, size.Y, 4)
	for y := range size.Y {
		line := out.pix[y*out.stride:][:out.stride]
		for x, i := range m.Pix[y*m.Stride:][:size.X] {
			copy(line[4*x:], table[i][:])
		}
	}
	return pixels{[]plane{out}, m.Palette}
}

// fromYCbCrA converts WebP with transparency.
func fromYCbCrA(m *image.NYCbCrA) pixels {
	size := m.Bounds().Size()
	out := newPlane(size.X, size.Y, 4)
	for y := range size.Y {
		line := out.pix[y*out.stride:][:out.stride]
		for x := range size.X {
			i, c := m.YOffset(x, y), m.COffset(x, y)
			p := line[4*x:][:4]
			p[0], p[1], p[2] = color.YCbCrToRGB(m.Y[i], m.Cb[c], m.Cr[c])
			p[3] = m.A[m.AOffset(x, y)]
		}
	}
	premultiply(out.pix)
	return pixels{planes: []plane{out}}
}

// shrink scales to a size, then applies the orientation; chroma planes get half of the
// size in each direction.
func (p pixels) shrink(width, height, turn int) pixels {
	out := pixels{palette: p.palette}
	for i, plane := range p.planes {
		w, h := width, height
		if i > 0 {
			w, h = (width+1)/2, (height+1)/2
		}
		out.planes = append(out.planes, plane.scale(w, h).turn(turn))
	}
	return out
}

// image makes a picture of the planes.
func (p pixels) image() image.Image {
	first := p.planes[0]
	frame := image.Rect(0, 0, first.width, first.height)
	switch {
	case len(p.planes) == 3:
		return &image.YCbCr{Y: first.pix, Cb: p.planes[1].pix, Cr: p.planes[2].pix, YStride: first.stride,
			CStride: p.planes[1].stride, SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: frame}
	case first.channels == 1:
		return &image.Gray{Pix: first.pix, Stride: first.stride, Rect: frame}
	}
	return &image.RGBA{Pix: first.pix, Stride: first.stride, Rect: frame}
}
