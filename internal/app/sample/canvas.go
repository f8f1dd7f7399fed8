package sample

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	sceneWidth  = 1200
	sceneHeight = 750
	horizon     = 440
)

// canvas is a picture that is being drawn.
type canvas struct {
	*image.RGBA
	rand *rand.Rand
	hour hour
}

// hour is the palette of a time of day.
type hour struct {
	high, middle, low color.RGBA // sky, from the top to the horizon
	light             color.RGBA // sun or moon, and its reflection on the water
	far, near         color.RGBA // land
	water, deep       color.RGBA
	dark              color.RGBA // silhouettes
}

func hex(v uint32) color.RGBA { return color.RGBA{byte(v >> 16), byte(v >> 8), byte(v), 255} }

func hourOf(name string) hour {
	switch name {
	case "dawn":
		return hour{hex(0x5b7fa6), hex(0xe8b9a6), hex(0xfbe3c4), hex(0xfff3d8), hex(0x9d95ad), hex(0x5c6178), hex(0xdcb8ae), hex(0x4c6a86), hex(0x2e3448)}
	case "dusk":
		return hour{hex(0x2b3566), hex(0xc8596b), hex(0xf7b267), hex(0xffe2a8), hex(0x6d4a72), hex(0x33284a), hex(0xd98a68), hex(0x2f3560), hex(0x1d1930)}
	case "night":
		return hour{hex(0x070d22), hex(0x14224a), hex(0x2d4677), hex(0xf4f1dc), hex(0x1b2a4d), hex(0x0e1730), hex(0x29406c), hex(0x0a1228), hex(0x070b18)}
	case "storm":
		return hour{hex(0x39434d), hex(0x6a7780), hex(0xa7b1b0), hex(0xe3e6dc), hex(0x5c6a70), hex(0x3a464c), hex(0x7e8f90), hex(0x2c3a41), hex(0x20282d)}
	}
	return hour{hex(0x2f79b8), hex(0x83b9de), hex(0xdcecf0), hex(0xfffbe8), hex(0x8fb0b8), hex(0x4d7f6b), hex(0x7fb6c4), hex(0x1f5f83), hex(0x24384a)}
}

func mix(a, b color.RGBA, t float64) color.RGBA {
	t = min(max(t, 0), 1)
	between := func(a, b byte) byte { return byte(float64(a) + (float64(b)-float64(a))*t + 0.5) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 255}
}

// thin makes a colour transparent; alpha is from 0 to 1.
func thin(c color.RGBA, alpha float64) color.NRGBA {
	return color.NRGBA{c.R, c.G, c.B, byte(min(max(alpha, 0), 1) * 255)}
}

// rows paints a vertical gradient over the rows from one height to another.
func (c *canvas) rows(from, to int, top, bottom color.RGBA) {
	for y := from; y < to; y++ {
		row := image.Rect(0, y, sceneWidth, y+1)
		draw.Draw(c.RGBA, row, image.NewUniform(mix(top, bottom, float64(y-from)/float64(to-from))), image.Point{}, draw.Src)
	}
}

// fill paints a polygon with anti-aliased edges. points are x and y in turn.
func (c *canvas) fill(paint color.Color, points ...float64) {
	top, bottom := float64(sceneHeight), 0.0
	for i := 1; i < len(points); i += 2 {
		top, bottom = min(top, points[i]), max(bottom, points[i])
	}
	p := color.NRGBAModel.Convert(paint).(color.NRGBA)
	steps := make([]float64, sceneWidth+2) // changes of coverage along the row
	for y := max(int(top), 0); y < min(int(bottom)+1, sceneHeight); y++ {
		left, right := float64(sceneWidth), 0.0
		for i := range softness {
			line := crossings(points, float64(y)+(float64(i)+0.5)/softness)
			for ; len(line) > 1; line = line[2:] {
				left, right = min(left, line[0]), max(right, line[1])
				step(steps, line[0], 1)
				step(steps, line[1], -1)
			}
		}
		if left < right {
			c.blend(y, int(max(left, 0)), int(min(right+2, sceneWidth)), p, steps)
		}
		clear(steps)
	}
}

// softness is the number of sample lines per row of pixels.
const softness = 4

// crossings are the x where a polygon's edges cross the line y, from left to right.
func crossings(points []float64, y float64) (out []float64) {
	n := len(points)
	for i := 0; i < n; i += 2 {
		x1, y1, x2, y2 := points[i], points[i+1], points[(i+2)%n], points[(i+3)%n]
		if (y1 <= y) != (y2 <= y) {
			out = append(out, x1+(y-y1)/(y2-y1)*(x2-x1))
		}
	}
	slices.Sort(out)
	return out
}

// step changes the coverage of a row by an amount from an x on. The sum of all steps up
// to a pixel is its coverage.
func step(steps []float64, from, by float64) {
	from = min(max(from, 0), sceneWidth)
	at := int(from)
	steps[at] += (float64(at+1) - from) * by
	steps[at+1] += (from - float64(at)) * by
}

// blend paints part of a row with the coverage given by steps.
func (c *canvas) blend(y, from, to int, p color.NRGBA, steps []float64) {
	cover := 0.0
	pix := c.Pix[c.PixOffset(from, y):c.PixOffset(to, y)]
	for x := 0; len(pix) >= 4; x, pix = x+1, pix[4:] {
		cover += steps[from+x]
		t := int(min(cover/softness, 1)*float64(p.A)*257 + 0.5) // of 65535
		pix[0] += byte((int(p.R) - int(pix[0])) * t / 65535)
		pix[1] += byte((int(p.G) - int(pix[1])) * t / 65535)
		pix[2] += byte((int(p.B) - int(pix[2])) * t / 65535)
	}
}

// oval paints an ellipse around x, y.
func (c *canvas) oval(paint color.Color, x, y, wide, tall float64) {
	var points []float64
	for i := range 48 {
		sin, cos := math.Sincos(float64(i) * math.Pi / 24)
		points = append(points, x+wide*cos, y+tall*sin)
	}
	c.fill(paint, points...)
}

func (c *canvas) box(paint color.Color, x, y, wide, tall float64) {
	c.fill(paint, x, y, x+wide, y, x+wide, y+tall, x, y+tall)
}

// line paints a straight stroke.
func (c *canvas) line(paint color.Color, width, x1, y1, x2, y2 float64) {
	long := math.Hypot(x2-x1, y2-y1)
	dx, dy := (y2-y1)/long*width/2, (x1-x2)/long*width/2
	c.fill(paint, x1+dx, y1+dy, x2+dx, y2+dy, x2-dx, y2-dy, x1-dx, y1-dy)
}

func (c *canvas) between(a, b float64) float64 { return a + c.rand.Float64()*(b-a) }
