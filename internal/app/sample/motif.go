package sample

import "math"

// sail draws a small boat with two sails; its deck is at x, y.
func (c *canvas) sail(x, y, size float64) {
	s := func(v float64) float64 { return v * size }
	cloth := mix(c.hour.light, c.hour.far, 0.18)
	c.oval(thin(c.hour.dark, 0.25), x, y+s(24), s(92), s(7))
	c.fill(c.hour.dark, x-s(78), y, x+s(84), y, x+s(58), y+s(24), x-s(58), y+s(24))
	c.line(c.hour.dark, s(4), x, y, x, y-s(190))
	c.fill(cloth, x+s(6), y-s(12), x+s(6), y-s(184), x+s(70), y-s(18))
	c.fill(mix(cloth, c.hour.middle, 0.3), x-s(6), y-s(14), x-s(4), y-s(168), x-s(66), y-s(10))
}

// ship draws a ship with three masts.
func (c *canvas) ship(x, y, size float64) {
	cloth := mix(c.hour.light, c.hour.far, 0.12)
	c.oval(thin(c.hour.dark, 0.3), x, y+44, 205*size, 11)
	c.fill(c.hour.dark, x-180, y-6, x+186, y-14, x+150, y+42, x-150, y+42)
	c.line(c.hour.dark, 5, x+176, y-10, x+268, y-58)
	for i, at := range []float64{-105, 0, 105} {
		tall := 285 - 40*math.Abs(float64(i-1))
		c.line(c.hour.dark, 6, x+at, y, x+at, y-tall)
		for j := range 3 {
			top := y - tall + 16 + float64(j)*tall/3.4
			high, half := tall/3.9, 30+9*float64(j)
			shade := mix(cloth, c.hour.middle, 0.12*float64(2-j))
			c.fill(shade, x+at-half, top, x+at+half, top, x+at+half+15, top+high*0.6, x+at+half+5, top+high, x+at-half-5, top+high, x+at-half+9, top+high*0.5)
		}
	}
	c.fill(mix(cloth, c.hour.low, 0.3), x+110, y-205, x+258, y-56, x+140, y-40)
}

// boat draws a cutter with a wheelhouse.
func (c *canvas) boat(x, y, size float64) {
	s := func(v float64) float64 { return v * size }
	red := mix(hex(0xb03a2e), c.hour.dark, 0.25)
	c.oval(thin(c.hour.dark, 0.3), x, y+s(52), s(210), s(11))
	c.fill(red, x-s(190), y-s(12), x+s(215), y-s(42), x+s(160), y+s(50), x-s(165), y+s(50))
	c.fill(c.hour.light, x-s(192), y-s(18), x+s(218), y-s(48), x+s(213), y-s(36), x-s(189), y-s(6))
	c.fill(mix(c.hour.light, c.hour.far, 0.1), x-s(112), y-s(104), x+s(16), y-s(104), x+s(26), y-s(24), x-s(118), y-s(15))
	for i := range 3 {
		c.box(c.hour.dark, x-s(96)+s(36)*float64(i), y-s(90), s(26), s(30))
	}
	c.box(c.hour.dark, x-s(122), y-s(112), s(150), s(9))
	c.line(c.hour.dark, s(6), x+s(62), y-s(34), x+s(62), y-s(210))
	c.line(c.hour.dark, s(3), x+s(62), y-s(205), x+s(205), y-s(48))
	c.line(c.hour.dark, s(3), x+s(62), y-s(205), x-s(110), y-s(108))
}

// lighthouse draws a lighthouse on a rock, with its beam to the left.
func (c *canvas) lighthouse(x float64) {
	rock := mix(c.hour.near, c.hour.dark, 0.55)
	for i := range 9 {
		spread := 16 * float64(i)
		c.fill(thin(c.hour.light, 0.035), x, 178, -60, 90-spread, -60, 170+spread)
	}
	c.fill(rock, x-300, 620, x-215, 522, x-150, 505, x-110, 452, x-40, 428, x+70, 420, x+130, 402, sceneWidth, 390, sceneWidth, 660, x-180, 650)
	white, red := mix(c.hour.light, c.hour.far, 0.1), mix(hex(0xb5382c), c.hour.dark, 0.2)
	edge := func(y float64) float64 { return 22 + (y-200)*0.07 }
	for i := range 6 {
		top, paint := 200+38*float64(i), white
		if i%2 == 1 {
			paint = red
		}
		c.fill(paint, x-edge(top), top, x+edge(top), top, x+edge(top+38), top+38, x-edge(top+38), top+38)
	}
	c.box(c.hour.dark, x-32, 194, 64, 8)
	c.box(c.hour.light, x-17, 158, 34, 36)
	c.fill(c.hour.dark, x-24, 158, x, 130, x+24, 158)
	c.fill(thin(c.hour.dark, 0.22), x+4, 200, x+edge(200), 200, x+edge(428), 428, x+8, 428)
}

// town draws a row of gables along the quay, and their reflection.
func (c *canvas) town() {
	paints := []uint32{0xc96f4a, 0xd9a24b, 0x7f9c8c, 0xb8c4c8, 0xa9544d, 0xe0c9a0, 0x6f86a0}
	glow := hex(0xffd98a)
	lit := c.hour == hourOf("night") || c.hour == hourOf("dusk")
	for x := -20.0; x < sceneWidth; {
		wide, tall := c.between(78, 132), c.between(130, 235)
		paint := mix(hex(paints[c.rand.IntN(len(paints))]), c.hour.dark, 0.1)
		if lit {
			paint = mix(paint, c.hour.dark, 0.62)
		}
		top := 560 - tall
		c.fill(paint, x, 560, x, top, x+wide/2, top-wide*0.45, x+wide, top, x+wide, 560)
		c.fill(mix(paint, c.hour.dark, 0.45), x-4, top+3, x+wide/2, top-wide*0.45-6, x+wide+4, top+3, x+wide, top+9, x+wide/2, top-wide*0.45+7, x, top+9)
		c.box(thin(paint, 0.28), x, 596, wide, tall*0.6)
		for y := top + 22; y < 525; y += 46 {
			for i := range 3 {
				window := mix(c.hour.dark, c.hour.middle, 0.35)
				if lit && c.rand.IntN(5) < 3 {
					window = glow
				}
				c.box(window, x+wide*(0.14+0.27*float64(i)), y, wide*0.17, 25)
			}
		}
		x += wide
	}
	c.box(mix(c.hour.near, c.hour.dark, 0.5), 0, 558, sceneWidth, 40)
	c.boat(c.between(300, 800), 640, 0.55)
}

// crane draws a harbour crane as a silhouette.
func (c *canvas) crane(x, size float64) {
	s := func(v float64) float64 { return v * size }
	ink, foot := c.hour.dark, 605.0
	top := foot - s(470)
	for _, at := range []float64{-52, 52} {
		c.line(ink, s(12), x+s(at), foot, x+s(at*0.55), top+s(180))
	}
	for i := range 5 {
		y := foot - s(58)*float64(i)
		w := s(52 - 4.6*float64(i))
		c.line(ink, s(4), x-w, y, x+w*0.9, y-s(58))
		c.line(ink, s(4), x+w, y, x-w*0.9, y-s(58))
	}
	c.box(ink, x-s(62), top+s(120), s(110), s(66))
	c.box(thin(c.hour.light, 0.75), x+s(8), top+s(132), s(28), s(28))
	c.line(ink, s(11), x+s(30), top+s(130), x+s(330), top-s(30))
	c.line(ink, s(5), x-s(20), top+s(30), x+s(330), top-s(30))
	c.line(ink, s(8), x-s(20), top+s(120), x-s(20), top+s(28))
	c.line(ink, s(5), x-s(20), top+s(30), x-s(120), top+s(150))
	c.box(ink, x-s(150), top+s(130), s(80), s(48))
	c.line(ink, s(3), x+s(322), top-s(26), x+s(322), top+s(190))
	c.box(ink, x+s(310), top+s(186), s(24), s(24))
}

// pier draws a breakwater with boats behind it.
func (c *canvas) pier() {
	stone := mix(c.hour.near, c.hour.dark, 0.5)
	for i := range 6 {
		c.sail(120+float64(i)*c.between(165, 180), 500+c.between(0, 34), c.between(0.34, 0.5))
	}
	c.fill(stone, -10, 610, 760, 560, 860, 566, 900, 612, 880, 640, -10, 700)
	c.fill(mix(stone, c.hour.light, 0.25), -10, 604, 760, 554, 860, 560, 858, 570, 760, 566, -10, 622)
	c.box(c.hour.dark, 806, 470, 16, 94)
	c.oval(c.hour.light, 814, 462, 12, 14)
	c.oval(thin(c.hour.light, 0.25), 814, 462, 34, 36)
	c.boat(c.between(960, 1020), 660, 0.5)
}
