package sample

import (
	"image"
	"math"
	"math/rand/v2"
)

// scene draws a view of the harbour: always the same one for the same arguments.
func scene(motif, when string, number uint64) image.Image {
	c := &canvas{image.NewRGBA(image.Rect(0, 0, sceneWidth, sceneHeight)), rand.New(rand.NewPCG(number, 7)), hourOf(when)}
	if motif == "night" || motif == "storm" {
		c.hour = hourOf(motif)
	}
	if motif == "chart" {
		return c.chart()
	}
	sun := c.between(250, 950)
	c.sky(sun, motif)
	c.hills(motif)
	c.water(sun)
	c.foreground(motif)
	return c.RGBA
}

// foreground draws the subject of the picture.
func (c *canvas) foreground(motif string) {
	switch motif {
	case "sails":
		c.ship(c.between(420, 640), 545, 1)
		c.sail(c.between(820, 950), 500, 0.6)
		c.sail(c.between(150, 300), 478, 0.4)
	case "boat":
		c.boat(c.between(480, 640), 575, 1)
		c.sail(c.between(850, 1000), 480, 0.4)
	case "lighthouse":
		c.lighthouse(c.between(820, 930))
		c.sail(c.between(200, 420), 520, 0.6)
	case "town":
		c.town()
	case "gulls":
		for range 9 {
			c.gull(c.between(120, 1080), c.between(90, 380), c.between(24, 74))
		}
	case "cranes":
		c.crane(c.between(640, 760), 1)
		c.crane(c.between(300, 400), 0.72)
		c.box(c.hour.dark, 0, 600, sceneWidth, 150)
	case "harbour":
		c.pier()
	case "storm":
		c.sail(c.between(300, 500), 530, 0.7)
		c.swell()
	case "night":
		c.boat(c.between(300, 700), 560, 0.7)
	}
}

// sky draws sun or moon with its glow, clouds, and stars at night.
func (c *canvas) sky(sun float64, motif string) {
	h := c.hour
	c.rows(0, horizon*6/10, h.high, h.middle)
	c.rows(horizon*6/10, horizon, h.middle, h.low)
	if h == hourOf("night") {
		for range 160 {
			c.oval(thin(h.light, c.between(0.2, 0.9)), c.between(0, sceneWidth), c.between(0, horizon-40), 1.3, 1.3)
		}
	}
	at := c.between(110, 330)
	for i := range 26 { // its glow, fading outwards
		r := 44 + 11*float64(i)
		c.oval(thin(h.light, 0.05*(1-float64(i)/26)), sun, at, r, r)
	}
	if motif != "storm" {
		c.oval(h.light, sun, at, 42, 42)
	}
	clouds := 5
	if motif == "storm" {
		clouds = 16
	}
	for range clouds {
		x, y, wide := c.between(0, sceneWidth), c.between(50, 330), c.between(90, 240)
		for range 7 {
			c.oval(thin(mix(h.low, h.light, 0.4), 0.13), x+c.between(-wide, wide), y+c.between(-9, 9), c.between(0.4, 1)*wide, c.between(8, 20))
		}
	}
}

// hills draws ridges, paler with distance.
func (c *canvas) hills(motif string) {
	layers := 2
	height := 60.0
	if motif == "hills" {
		layers, height = 4, 130
	}
	for i := range layers {
		depth := float64(i+1) / float64(layers)
		tall := height * (1.25 - 0.55*depth)
		a, b, d := c.between(0, 6), c.between(0, 6), c.between(0.003, 0.006)
		points := []float64{0, horizon + 4}
		for x := 0.0; x <= sceneWidth; x += 6 {
			y := math.Sin(x*d+a)*0.5 + math.Sin(x*d*2.7+b)*0.22 + math.Sin(x*0.05+a)*0.03
			points = append(points, x, horizon+2-tall*max(0.04, 0.42+y))
		}
		c.fill(mix(c.hour.far, c.hour.near, depth), append(points, sceneWidth, horizon+4)...)
	}
}

// water draws the reflection of the sky and of the light.
func (c *canvas) water(sun float64) {
	h := c.hour
	c.rows(horizon, sceneHeight, h.water, h.deep)
	for range 420 {
		depth := c.rand.Float64()
		y := horizon + 3 + depth*depth*(sceneHeight-horizon)
		wide := 6 + 60*depth*c.between(0.4, 1)
		c.oval(thin(mix(h.low, h.light, 0.3), c.between(0.05, 0.17)), c.between(0, sceneWidth), y, wide, 0.7+2*depth)
		spread := 14 + 120*depth
		c.oval(thin(h.light, c.between(0.1, 0.4)), sun+c.rand.NormFloat64()*spread*0.6, y, wide*0.45, 0.8+2*depth)
	}
}

// swell draws the near waves of a storm.
func (c *canvas) swell() {
	for i := range 4 {
		depth := float64(i) / 3
		a := c.between(0, 6)
		points := []float64{0, sceneHeight}
		for x := 0.0; x <= sceneWidth; x += 8 {
			points = append(points, x, 560+55*float64(i)-(14+16*depth)*math.Abs(math.Sin(x*(0.011-0.003*depth)+a)))
		}
		c.fill(thin(mix(c.hour.water, c.hour.deep, 0.3+0.7*depth), 0.85), append(points, sceneWidth, sceneHeight)...)
	}
}

// gull draws two wings and a body between them.
func (c *canvas) gull(x, y, r float64) {
	bend := c.between(0.25, 0.5)
	white := mix(c.hour.light, c.hour.dark, 0.06)
	c.fill(white, x-r, y-r*bend, x-r*0.45, y-r*bend*1.25, x, y, x, y+r*0.14, x-r*0.45, y-r*bend*0.85)
	c.fill(white, x+r, y-r*bend, x+r*0.45, y-r*bend*1.25, x, y, x, y+r*0.14, x+r*0.45, y-r*bend*0.85)
	c.oval(white, x, y+r*0.08, r*0.2, r*0.09)
	c.fill(c.hour.dark, x-r, y-r*bend, x-r*0.8, y-r*bend*1.09, x-r*0.8, y-r*bend*0.93)
	c.fill(c.hour.dark, x+r, y-r*bend, x+r*0.8, y-r*bend*1.09, x+r*0.8, y-r*bend*0.93)
}

// chart draws the height of the tide over some days, in few colours.
func (c *canvas) chart() image.Image {
	paper, ink, blue := hex(0xf7f5ee), hex(0xc9c5b8), hex(0x2f6d9a)
	c.rows(0, sceneHeight, paper, paper)
	points := []float64{80, 640}
	for x := 80.0; x <= 1120; x++ {
		t := (x - 80) / 1040 * 10 * math.Pi
		points = append(points, x, 400-(120+12*t/math.Pi)*math.Sin(t))
	}
	c.fill(mix(paper, blue, 0.35), append(points, 1120, 640)...)
	for i := range 6 {
		c.line(ink, 2, 80, 160+96*float64(i), 1120, 160+96*float64(i))
		c.line(ink, 2, 80+208*float64(i), 140, 80+208*float64(i), 640)
	}
	for i := 2; i+3 < len(points); i += 2 {
		c.line(blue, 6, points[i], points[i+1], points[i+2], points[i+3])
	}
	return c.RGBA
}
