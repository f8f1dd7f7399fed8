package light

import (
	"math"
	"strconv"
	"strings"
)

// buttonTint returns the CSS class of a button.
func buttonTint(tag string) string {
	background := attr(tag, "data-background")
	if _, _, _, ok := rgb(background); !ok && attr(tag, "data-primary") == "true" {
		return "primary"
	}
	return tint(background)
}

// tint returns the CSS class of the palette's colour nearest to the one that the source
// wants. White text is readable on all of them.
func tint(color string) string {
	r, g, b, ok := rgb(color)
	if !ok {
		return ""
	}
	best, distance := "", math.MaxInt
	for _, p := range palette {
		dr, dg, db := r-p.r, g-p.g, b-p.b
		if d := 2*dr*dr + 4*dg*dg + 3*db*db; d < distance {
			best, distance = p.class, d
		}
	}
	return best
}

// palette holds the colours of more.css in package look; "" is the default button.
var palette = []struct {
	class   string
	r, g, b int
}{
	{"c-red", 0xc0, 0x2b, 0x2b}, {"c-orange", 0xb3, 0x54, 0x0e}, {"c-green", 0x1f, 0x7a, 0x3a}, {"c-teal", 0x0f, 0x76, 0x7a},
	{"c-blue", 0x1a, 0x55, 0xc4}, {"c-violet", 0x6d, 0x3b, 0xbf}, {"c-grey", 0x5d, 0x61, 0x70}, {"c-black", 0x1c, 0x1d, 0x22}, {"", 0xf4, 0xf5, 0xf8},
}

// rgb parses #rgb, #rrggbb and the names of colours that buttons usually have.
func rgb(s string) (r, g, b int, ok bool) {
	if named, ok := map[string]string{"red": "#ff0000", "green": "#008000", "blue": "#0000ff", "black": "#000000", "white": "#ffffff",
		"orange": "#ffa500", "yellow": "#ffff00", "gray": "#808080", "grey": "#808080", "purple": "#800080", "teal": "#008080"}[s]; ok {
		s = named
	}
	if len(s) == 4 {
		s = "#" + strings.Repeat(s[1:2], 2) + strings.Repeat(s[2:3], 2) + strings.Repeat(s[3:4], 2)
	}
	if len(s) != 7 || s[0] != '#' {
		return 0, 0, 0, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	return int(n >> 16), int(n >> 8 & 0xff), int(n & 0xff), err == nil
}
