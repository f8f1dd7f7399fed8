package picture

import "math"

// plane is rows of samples with one or more interleaved channels, one byte each.
type plane struct {
	pix                   []byte
	stride, width, height int
	channels              int
}

func newPlane(width, height, channels int) plane {
	return plane{make([]byte, width*height*channels), width * channels, width, height, channels}
}

// one is the sum of the weights of a sample; sums of bytes times such weights fit
// into 24 bits.
const one = 1 << 16

// span is the samples whose weighted average is one sample of the result; the weights
// add up to one.
type span struct {
	from    int
	weights []uint32
}

// spans divides a line of samples into fewer spans; a sample on a border is shared by
// weight.
func spans(from, to int) []span {
	out := make([]span, to)
	ratio := float64(from) / float64(to)
	for i := range out {
		start, end := float64(i)*ratio, min(float64(i+1)*ratio, float64(from))
		first := min(int(start), from-1)
		out[i].from = first
		given := 0.0
		for at := first; at < from && (float64(at) < end-1e-9 || at == first); at++ {
			whole := math.Round(min((float64(at+1)-start)/(end-start), 1) * one)
			out[i].weights = append(out[i].weights, uint32(whole-given))
			given = whole
		}
		out[i].weights[len(out[i].weights)-1] += uint32(one - given)
	}
	return out
}

// scale is the area average: each sample of the result is the mean of the area
// that it covers.
func (p plane) scale(width, height int) plane {
	out := newPlane(width, height, p.channels)
	across, down := spans(p.width, width), spans(p.height, height)
	row := make([]uint32, width*p.channels) // 8 bits and 8 of fraction
	sum := make([]uint32, width*p.channels) // 8 bits and 24 of fraction
	last := -1
	for y, s := range down {
		for i := range sum {
			sum[i] = 1 << 23 // rounds
		}
		for k, weight := range s.weights {
			if s.from+k != last {
				last = s.from + k
				p.narrow(row, last, across)
			}
			for i, v := range row {
				sum[i] += v * weight
			}
		}
		line := out.pix[y*out.stride : (y+1)*out.stride]
		for i, v := range sum {
			line[i] = byte(v >> 24)
		}
	}
	return out
}

// narrow averages along one row. Each row is read once, in order, so scaling is one
// pass over the memory.
func (p plane) narrow(row []uint32, y int, across []span) {
	line := p.pix[y*p.stride : y*p.stride+p.width*p.channels]
	if p.channels == 4 {
		narrowFour(row, line, across)
		return
	}
	for x, s := range across {
		var sum uint32
		in := line[s.from:][:len(s.weights)]
		for k, weight := range s.weights {
			sum += uint32(in[k]) * weight
		}
		row[x] = sum >> 8
	}
}

// narrowFour is narrow for four channels.
func narrowFour(row []uint32, line []byte, across []span) {
	for x, s := range across {
		var r, g, b, a uint32
		in := line[4*s.from:][:4*len(s.weights)]
		for k, weight := range s.weights {
			px := in[4*k:][:4]
			r += uint32(px[0]) * weight
			g += uint32(px[1]) * weight
			b += uint32(px[2]) * weight
			a += uint32(px[3]) * weight
		}
		out := row[4*x:][:4]
		out[0], out[1], out[2], out[3] = r>>8, g>>8, b>>8, a>>8
	}
}

// turn applies an EXIF orientation.
func (p plane) turn(orientation int) plane {
	width, height := p.width, p.height
	start, right, down := 0, p.channels, p.stride // start and steps in p
	endX, endY := (width-1)*p.channels, (height-1)*p.stride
	switch orientation {
	case 2:
		start, right = endX, -right
	case 3:
		start, right, down = endX+endY, -right, -down
	case 4:
		start, down = endY, -down
	case 5:
		right, down = down, right
	case 6:
		start, right, down = endY, -down, right
	case 7:
		start, right, down = endX+endY, -down, -right
	case 8:
		start, right, down = endX, down, -right
	default:
		return p
	}
	if orientation > 4 {
		width, height = height, width
	}
	out := newPlane(width, height, p.channels)
	for y := range height {
		line := out.pix[y*out.stride:][:out.stride]
		for x := range width {
			copy(line[x*p.channels:], p.pix[start+y*down+x*right:][:p.channels])
		}
	}
	return out
}
