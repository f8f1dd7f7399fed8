// Package picture reads pictures from strangers within bounds: it tells what they
// are by their structure alone, takes out what says more than the picture, and
// makes smaller ones. No header can make it allocate, or a file compute, at will.
package picture

import (
	"bytes"

	"github.com/courant-platform/courant"
)

// Info is what a picture is.
type Info struct {
	Type          string // image/jpeg, image/png, image/gif or image/webp
	Width, Height int    // as shown: turned as its EXIF says
}

// The bounds of what is taken.
const (
	maxBytes       = 20 << 20
	maxSide        = 16384
	maxPixels      = 40_000_000
	maxScans       = 100 // of a progressive JPEG: each may cost a pass over all pixels
	maxFrames      = 1000
	maxFramePixels = 200_000_000 // over all frames
	maxProfile     = 1 << 20     // of colours
)

// header is what a walk over a file's structure finds, without decoding.
type header struct {
	Info
	turn     int   // EXIF orientation, 1 to 8
	animated bool  // what is shown of it is the first frame
	memory   int64 // bytes that decoding and scaling take, about
}

// Inspect says what a picture is, by its structure: neither a name nor a content
// type counts. What is no JPEG, PNG, GIF or WebP, is cut off in its header or is
// larger than we take is an error of kind Invalid.
func Inspect(body []byte) (Info, error) {
	h, err := examine(body)
	return h.Info, err
}

// examine picks the walk by the first bytes.
func examine(body []byte) (h header, err error) {
	if len(body) > maxBytes {
		return h, invalid("the picture has %d bytes; at most %d are accepted", len(body), maxBytes)
	}
	switch kind(body) {
	case "image/jpeg":
		h, err = examineJPEG(body)
	case "image/png":
		h, err = examinePNG(body)
	case "image/gif":
		h, err = examineGIF(body)
	case "image/webp":
		h, err = examineWebP(body)
	default:
		err = invalid("not a JPEG, PNG, GIF or WebP picture")
	}
	if err != nil {
		return header{}, err
	}
	h.Type = kind(body)
	if h.turn > 4 {
		h.Width, h.Height = h.Height, h.Width
	}
	return h, nil
}

// kind is the type that the first bytes say, "" for none of ours.
func kind(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(body, []byte(pngMagic)):
		return "image/png"
	case bytes.HasPrefix(body, []byte("GIF87a")), bytes.HasPrefix(body, []byte("GIF89a")):
		return "image/gif"
	case len(body) >= 12 && string(body[:4]) == "RIFF" && string(body[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// size checks the declared size of a picture.
func size(width, height int) error {
	switch {
	case width <= 0 || height <= 0:
		return invalid("the picture has no size: %d × %d pixels", width, height)
	case width > maxSide || height > maxSide || width*height > maxPixels:
		return invalid("the picture has %d × %d pixels; at most %d per side and %d in all are accepted", width, height, maxSide, maxPixels)
	}
	return nil
}

// frames checks how much an animation shows in all.
func frames(n, pixels int) error {
	if n > maxFrames || pixels > maxFramePixels {
		return invalid("the animation has at least %d frames with %d pixels in all; at most %d and %d are accepted",
			n, pixels, maxFrames, maxFramePixels)
	}
	return nil
}

// Strip takes out what is not needed to show the picture: EXIF, XMP, IPTC,
// comments, embedded previews, and whatever follows the picture's end. The
// orientation stays, colours stay as they are. It never fails: what it does not
// understand comes back as it is. Stripping twice changes nothing.
func Strip(body []byte) []byte {
	switch kind(body) {
	case "image/jpeg":
		return stripJPEG(body)
	case "image/png":
		return stripPNG(body)
	case "image/gif":
		return stripGIF(body)
	case "image/webp":
		return stripWebP(body)
	}
	return body
}

func invalid(format string, args ...any) error {
	return courant.Errorf(courant.Invalid, format, args...)
}

func cutOff() error { return invalid("the picture is truncated") }
