package picture

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// Markers of ITU-T T.81, table B.1.
const (
	sof0  = 0xc0 // baseline
	sof2  = 0xc2 // progressive
	dht   = 0xc4
	jpg   = 0xc8
	dac   = 0xcc
	sof15 = 0xcf
	rst0  = 0xd0
	rst7  = 0xd7
	eoi   = 0xd9
	sos   = 0xda
	app0  = 0xe0
	app1  = 0xe1
	app2  = 0xe2
	app14 = 0xee
	app15 = 0xef
	com   = 0xfe
)

// How the bodies of application segments begin.
const (
	jfifName    = "JFIF\x00"
	profileName = "ICC_PROFILE\x00"
	adobeName   = "Adobe"
)

// segment is a marker of a JPEG with its data.
type segment struct {
	marker byte
	body   []byte // after the length
	scan   []byte // entropy-coded data after a scan header
}

// segments iterates over a JPEG to its end, or to where it is truncated. It skips bytes
// between segments, as decoders do.
func segments(file []byte) iter.Seq[segment] {
	return func(yield func(segment) bool) {
		at := nextMarker(file, 2)
		for at+4 <= len(file) {
			s := segment{marker: file[at+1]}
			n := int(binary.BigEndian.Uint16(file[at+2:]))
			if s.marker == eoi || n < 2 || at+2+n > len(file) {
				break
			}
			s.body = file[at+4 : at+2+n]
			next := nextMarker(file, at+2+n)
			if s.marker == sos {
				s.scan = file[at+2+n : next]
			}
			if !yield(s) {
				return
			}
			at = next
		}
		if at+2 <= len(file) && file[at+1] == eoi {
			yield(segment{marker: eoi})
		}
	}
}

// nextMarker is the offset of the next marker other than fill bytes, stuffed bytes and
// restarts; the file's length if there is none.
func nextMarker(file []byte, at int) int {
	for at < len(file)-1 {
		i := bytes.IndexByte(file[at:len(file)-1], 0xff)
		if i < 0 {
			break
		}
		at += i
		switch m := file[at+1]; {
		case m == 0xff:
			at++
		case m == 0 || m >= rst0 && m <= rst7:
			at += 2
		default:
			return at
		}
	}
	return len(file)
}

// isFrame reports whether a marker begins a frame of any kind.
func isFrame(marker byte) bool {
	return marker >= sof0 && marker <= sof15 && marker != dht && marker != jpg && marker != dac
}

// examineJPEG reads the frame header and counts scans and their bytes. It skips what
// decoders skip, so that both see the same segments.
func examineJPEG(file []byte) (header, error) {
	h := header{turn: 1}
	scans, data, rgb, seen := 0, 0, false, false
	for s := range segments(file) {
		switch {
		case isFrame(s.marker) && h.memory > 0:
			return h, invalid("the JPEG contains more than one picture")
		case isFrame(s.marker):
			if err := h.frame(s); err != nil {
				return h, err
			}
		case s.marker == app1 && !seen && bytes.HasPrefix(s.body, []byte(exifName)):
			h.turn, seen = orientation(s.body[len(exifName):]), true
		case s.marker == app14 && len(s.body) >= 12 && bytes.HasPrefix(s.body, []byte(adobeName)):
			rgb = s.body[11] == 0
		case s.marker == sos:
			scans, data = scans+1, data+len(s.scan)
		}
	}
	switch {
	case h.memory == 0, scans == 0, data < h.Width*h.Height/512: // each block takes at least one bit
		return h, cutOff()
	case scans > maxScans:
		return h, invalid("the JPEG has %d scans; at most %d are accepted", scans, maxScans)
	}
	if rgb {
		h.memory += 4 * int64(h.Width*h.Height)
	}
	return h, nil
}

// frame reads the frame header, T.81 section B.2.2.
func (h *header) frame(s segment) error {
	if s.marker > sof2 {
		return invalid("browsers do not show this kind of JPEG (SOF%d)", s.marker-sof0)
	}
	if len(s.body) < 6 || len(s.body) < 6+3*int(s.body[5]) {
		return cutOff()
	}
	h.Height, h.Width = int(binary.BigEndian.Uint16(s.body[1:])), int(binary.BigEndian.Uint16(s.body[3:]))
	if err := size(h.Width, h.Height); err != nil {
		return err
	}
	samples, largest := 0, 1
	for c := s.body[6 : 6+3*int(s.body[5])]; len(c) > 0; c = c[3:] {
		n := int(c[1]>>4) * int(c[1]&15)
		samples, largest = samples+n, max(largest, n)
	}
	pixels := h.Width * h.Height
	h.memory = int64(pixels)*int64(samples)/int64(largest) + 1<<16
	if s.marker == sof2 {
		h.memory *= 5 // the coefficients are kept, four bytes each
	}
	if s.body[5] == 4 {
		h.memory += 4 * int64(pixels)
	}
	return nil
}

// stripJPEG copies the needed segments and all scans. It adds a missing end marker:
// browsers show a JPEG without one, decoders require it.
func stripJPEG(file []byte) []byte {
	out := append(make([]byte, 0, len(file)+64), file[:2]...)
	if h, err := examineJPEG(file); err == nil && h.turn != 1 {
		out = appendSegment(out, app1, orientationOnly(h.turn))
	}
	profile := 0
	for s := range segments(file) {
		if bytes.HasPrefix(s.body, []byte(profileName)) {
			profile += len(s.body)
		}
	}
	pixels := false
	for s := range segments(file) {
		if s.marker == eoi || !s.needed(profile <= maxProfile) {
			continue
		}
		if s.marker == app0 { // its preview may show what was cropped
			s.body = append(bytes.Clone(s.body[:12]), 0, 0)
		}
		out = append(appendSegment(out, s.marker, s.body), s.scan...)
		pixels = pixels || s.marker == sos
	}
	if !pixels {
		return file
	}
	return append(out, 0xff, eoi)
}

// needed reports whether a segment is needed to show the picture as intended.
func (s segment) needed(profile bool) bool {
	switch {
	case s.marker == app0:
		return len(s.body) >= 14 && bytes.HasPrefix(s.body, []byte(jfifName))
	case s.marker == app2:
		return profile && bytes.HasPrefix(s.body, []byte(profileName))
	case s.marker == app14:
		return bytes.HasPrefix(s.body, []byte(adobeName))
	}
	return s.marker != com && (s.marker < app0 || s.marker > app15)
}

// appendSegment writes marker, length and body.
func appendSegment(out []byte, marker byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint16(append(out, 0xff, marker), uint16(len(body)+2)), body...)
}

// profileOf returns the segments of a JPEG's colour profile; nil if there is none, if it
// is sRGB, which is the default, or if it is larger than 4 KiB.
func profileOf(file []byte) (out []byte) {
	for s := range segments(file) {
		if s.marker == app2 && bytes.HasPrefix(s.body, []byte(profileName)) {
			out = appendSegment(out, app2, s.body)
		}
	}
	if len(out) > 4<<10 || bytes.Contains(out, []byte("sRGB")) {
		return nil
	}
	return out
}
