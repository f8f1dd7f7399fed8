// Package picture processes untrusted pictures within bounds: it detects their type
// and size from their structure alone, strips metadata, and makes smaller variants.
// Neither a header nor a file can make it allocate or compute without limit.
package picture

import (
	"bytes"

	"github.com/courant-platform/courant"
)

// Info is the type and size of a picture.
type Info struct {
	Type          string // image/jpeg, image/png, image/gif or image/webp
	Width, Height int    // in pixels, as shown: after the EXIF orientation
}

// The bounds of accepted pictures.
const (
	maxBytes       = 20 << 20
	maxSide        = 16384
	maxPixels      = 40_000_000
	maxScans       = 100 // of a progressive JPEG: each may cost a pass over all pixels
	maxFrames      = 1000
	maxFramePixels = 200_000_000 // over all frames
	maxProfile     = 1 << 20     // ICC colour profile
)

// header is what the structure of a file tells, without decoding.
type header struct {
	Info
	turn     int   // EXIF orientation, 1 to 8
	animated bool  // variants show the first frame
	memory   int64 // estimated bytes for decoding and scaling
}

// Inspect returns the type and size of a picture by its structure, not by a name or a
// content type. The error is of kind Invalid if the file is not a JPEG, PNG, GIF or
// WebP, has a truncated header, or is larger than the bounds.
func Inspect(body []byte) (Info, error) {
	h, err := examine(body)
	return h.Info, err
}

// examine chooses the format by the first bytes.
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

// kind is the media type by the first bytes, "" for an unsupported one.
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

// frames checks the number of frames of an animation and their pixels in all.
func frames(n, pixels int) error {
	if n > maxFrames || pixels > maxFramePixels {
		return invalid("the animation has at least %d frames with %d pixels in all; at most %d and %d are accepted",
			n, pixels, maxFrames, maxFramePixels)
	}
	return nil
}

// Strip removes what is not needed to show the picture: EXIF, XMP, IPTC, comments,
// embedded previews, and whatever follows the picture's end. It keeps the orientation
// and the colours. It never fails: it returns what it does not understand unchanged.
// Stripping twice changes nothing more.
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
