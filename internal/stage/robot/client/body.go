package client

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/courant-platform/courant"
)

const (
	defaultMax = 10 << 20
	maxLayers  = 2       // of Content-Encoding
	maxWindow  = 8 << 20 // of a zstd frame
	drainMost  = 64 << 10
	keptBuffer = 4 << 20
)

// read reads the body, and unpacks it unless its digest is known.
func (c *Client) read(resp *http.Response, r Request, a *Answer) error {
	most := r.Max
	if most <= 0 {
		most = defaultMax
	}
	if r.Keep != nil {
		return keep(resp, r, a, most)
	}
	packed, ok := c.buffers.Get().(*bytes.Buffer)
	if !ok {
		packed = new(bytes.Buffer)
	}
	defer func() {
		if packed.Cap() <= keptBuffer {
			c.buffers.Put(packed)
		}
	}()
	packed.Reset()
	if err := readAll(packed, resp.Body, most); err != nil {
		return err
	}
	sum := sha256.Sum256(packed.Bytes())
	a.Raw = sum[:16]
	if a.Known = bytes.Equal(a.Raw, r.Known); a.Known {
		return nil
	}
	encoding := resp.Header.Get("Content-Encoding")
	if encoding == "" {
		a.Body = bytes.Clone(packed.Bytes())
		return nil
	}
	unpacked, err := decoded(encoding, packed)
	if err != nil {
		return err
	}
	defer unpacked.Close()
	var b bytes.Buffer
	b.Grow(int(min(4*int64(packed.Len()), most)) + bytes.MinRead)
	err = readAll(&b, unpacked, most)
	a.Body = b.Bytes()
	return err
}

// keep passes the decoded body to r.Keep as it arrives.
func keep(resp *http.Response, r Request, a *Answer, most int64) error {
	raw, sum := sha256.New(), sha256.New()
	packed := &counted{Reader: io.TeeReader(resp.Body, raw)}
	body, err := decoded(resp.Header.Get("Content-Encoding"), packed)
	if err != nil {
		return err
	}
	defer body.Close()
	err = r.Keep(&bounded{src: io.TeeReader(body, sum), left: most, most: most, packed: packed})
	if err == nil {
		_, err = io.Copy(io.Discard, io.TeeReader(resp.Body, raw)) // trailing bytes after the last frame
	}
	a.Raw, a.Digest = raw.Sum(nil)[:16], sum.Sum(nil)[:16]
	a.Known = err == nil && bytes.Equal(a.Raw, r.Known)
	return err
}

// A body that unpacks to more than ratioFree bytes may be at most mostRatio times its
// packed size: the most repetitive catalogues reach a ratio of a hundred.
const (
	ratioFree = 16 << 20
	mostRatio = 300
)

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded fails if a body gets too large or its compression ratio too high.
type bounded struct {
	src        io.Reader
	left, most int64
	packed     *counted
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.src.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, courant.Errorf(courant.Invalid, "too_large: more than %d bytes", b.most)
	}
	if taken := b.most - b.left; taken > ratioFree && taken > mostRatio*b.packed.n {
		return 0, courant.Errorf(courant.Invalid, "too_large: it unpacks to more than %d times its size", mostRatio)
	}
	return n, err
}

// readAll reads up to most bytes; a longer body is an error.
func readAll(b *bytes.Buffer, r io.Reader, most int64) error {
	n, err := b.ReadFrom(io.LimitReader(r, most+1))
	if err == nil && n > most {
		return courant.Errorf(courant.Invalid, "too_large: more than %d bytes", most)
	}
	return err
}

// decoded undoes Content-Encoding, the last coding first.
func decoded(encoding string, body io.Reader) (io.ReadCloser, error) {
	codings := strings.FieldsFunc(strings.ToLower(encoding), func(r rune) bool { return r == ',' || r == ' ' })
	if len(codings) > maxLayers {
		return nil, courant.Errorf(courant.Invalid, "Content-Encoding has %d layers; at most %d are supported", len(codings), maxLayers)
	}
	r := io.NopCloser(body)
	for i := len(codings) - 1; i >= 0; i-- {
		layer, err := undo(codings[i], r)
		if err != nil {
			return nil, err
		}
		r = layer
	}
	return r, nil
}

// undo decodes one coding. Its errors tell malformed data from failed connections.
func undo(coding string, r io.Reader) (io.ReadCloser, error) {
	src := &source{Reader: r}
	var plain io.ReadCloser
	var err error
	switch coding {
	case "gzip", "x-gzip":
		plain, err = newMembers(src)
	case "br":
		plain = io.NopCloser(brotli.NewReader(src))
	case "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(src, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1)); err == nil {
			plain = z.IOReadCloser()
		}
	case "identity", "none":
		return io.NopCloser(r), nil
	default:
		b := bufio.NewReader(r)
		if head, _ := b.Peek(64); isText(head) { // some servers send a charset such as "utf-8"
			return io.NopCloser(b), nil
		}
		return nil, courant.Errorf(courant.Invalid, "unsupported Content-Encoding %q", coding)
	}
	if err != nil {
		return nil, src.blame(coding, err)
	}
	return &undone{plain, src, coding}, nil
}

// source remembers its read error.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// blame returns a decoder's error as it is if the source caused it, else as an error of
// kind Invalid.
func (s *source) blame(coding string, err error) error {
	if s.err != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return courant.Errorf(courant.Invalid, "the body is not valid %s: %w", coding, err)
}

// undone is a decoded body.
type undone struct {
	io.ReadCloser
	src    *source
	coding string
}

func (u *undone) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil {
		err = u.src.blame(u.coding, err)
	}
	return n, err
}

// isText reports whether bytes begin as XML, HTML or JSON do.
func isText(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(head) > 0 && (head[0] == '<' || head[0] == '{' || head[0] == '[')
}

// drain reads a short rest of the body, so that the connection can be reused.
func drain(resp *http.Response) {
	io.CopyN(io.Discard, resp.Body, drainMost) // an error shows again at the next use
}
