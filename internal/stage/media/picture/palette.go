package picture

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"slices"
)

const maxColours = 256

// fewColours is the palette of a drawing, a picture with no more colours than a
// palette holds (a grey one: at most sixteen); nil for other pictures.
func (p pixels) fewColours() color.Palette {
	if p.palette != nil {
		return p.palette
	}
	if len(p.planes) != 1 {
		return nil
	}
	plane, most := p.planes[0], maxColours
	if plane.channels == 1 {
		most = 16
	}
	seen := map[[4]byte]bool{}
	var last [4]byte
	for y := range plane.height {
		line := plane.pix[y*plane.stride:][:plane.width*plane.channels]
		for ; len(line) > 0; line = line[plane.channels:] {
			c := [4]byte{line[0], line[0], line[0], 255}
			copy(c[:], line[:plane.channels])
			if c == last {
				continue
			}
			last = c
			if seen[c] = true; len(seen) > most {
				return nil
			}
		}
	}
	return paletteOf(seen, plane.channels == 1)
}

// paletteOf sorts the colours, so that the same picture gives the same bytes.
func paletteOf(seen map[[4]byte]bool, grey bool) (out color.Palette) {
	for c := range seen {
		if grey {
			c = [4]byte{c[0], c[0], c[0], 255}
		}
		out = append(out, color.RGBA{c[0], c[1], c[2], c[3]})
	}
	slices.SortFunc(out, func(a, b color.Color) int { return cmp.Compare(code(a), code(b)) })
	return out
}

// code is the sort key of a colour.
func code(c color.Color) uint32 {
	v := color.RGBAModel.Convert(c).(color.RGBA)
	return uint32(v.R)<<24 | uint32(v.G)<<16 | uint32(v.B)<<8 | uint32(v.A)
}

// coarse is the five upper bits of each channel.
type coarse [4]byte

func coarseOf(p []byte) coarse { return coarse{p[0] >> 3, p[1] >> 3, p[2] >> 3, p[3] >> 3} }

// drawing converts a picture to the wanted colours; the rest of the palette goes to the
// most frequent other colours, which soften edges.
func drawing(m image.Image, wanted color.Palette) *image.Paletted {
	rgba := image.NewRGBA(m.Bounds())
	draw.Draw(rgba, rgba.Rect, m, m.Bounds().Min, draw.Src)
	out := image.NewPaletted(rgba.Rect, withFrequent(rgba, wanted))
	nearest := map[coarse]byte{}
	for i := range out.Pix {
		p := rgba.Pix[4*i:][:4]
		at, ok := nearest[coarseOf(p)]
		if !ok {
			at = byte(out.Palette.Index(color.RGBA{p[0], p[1], p[2], p[3]}))
			nearest[coarseOf(p)] = at
		}
		out.Pix[i] = at
	}
	return out
}

// withFrequent fills a palette up with the most frequent colours of a picture.
func withFrequent(m *image.RGBA, wanted color.Palette) color.Palette {
	type bucket struct {
		key   coarse
		count int
		some  color.RGBA
	}
	counts := map[coarse]int{}
	some := map[coarse]color.RGBA{}
	for p := m.Pix; len(p) >= 4; p = p[4:] {
		key := coarseOf(p)
		if counts[key]++; counts[key] == 1 {
			some[key] = color.RGBA{p[0], p[1], p[2], p[3]}
		}
	}
	for _, c := range wanted {
		v := color.RGBAModel.Convert(c).(color.RGBA)
		delete(counts, coarseOf([]byte{v.R, v.G, v.B, v.A}))
	}
	var all []bucket
	for key, n := range counts {
		all = append(all, bucket{key, n, some[key]})
	}
	slices.SortFunc(all, func(a, b bucket) int {
		return cmp.Or(cmp.Compare(b.count, a.count), slices.Compare(a.key[:], b.key[:]))
	})
	out := slices.Clone(wanted[:min(len(wanted), maxColours)])
	for _, b := range all[:min(len(all), maxColours-len(out))] {
		out = append(out, b.some)
	}
	return out
}
