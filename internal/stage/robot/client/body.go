package client

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/courant-platform/courant"
)

const (
	defaultMax = 10 << 20
	maxLayers  = 2       // of Content-Encoding
	maxWindow  = 8 << 20 // of a zstd frame
	drainMost  = 64 << 10
)

// body decodes the answer, within a bound on the decoded bytes.
func body(resp *http.Response, most int64) ([]byte, error) {
	if most <= 0 {
		most = defaultMax
	}
	r, err := decoded(resp)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 {
		b.Grow(int(min(4*n, most) + bytes.MinRead))
	}
	n, err := b.ReadFrom(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if n > most {
		return nil, courant.Errorf(courant.Invalid, "too_large: more than %d bytes", most)
	}
	return b.Bytes(), nil
}

// decoded undoes Content-Encoding, the last coding first.
func decoded(resp *http.Response) (io.ReadCloser, error) {
	codings := strings.FieldsFunc(strings.ToLower(resp.Header.Get("Content-Encoding")), func(r rune) bool { return r == ',' || r == ' ' })
	if len(codings) > maxLayers {
		return nil, courant.Errorf(courant.Invalid, "%d layers of Content-Encoding", len(codings))
	}
	r := io.NopCloser(resp.Body)
	for i := len(codings) - 1; i >= 0; i-- {
		layer, err := undo(codings[i], r)
		if err != nil {
			return nil, err
		}
		r = layer
	}
	return r, nil
}

func undo(coding string, r io.Reader) (io.ReadCloser, error) {
	switch coding {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, courant.Errorf(courant.Invalid, "the gzip encoding is broken: %w", err)
		}
		return z, nil
	case "br":
		return io.NopCloser(brotli.NewReader(r)), nil
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, courant.Errorf(courant.Invalid, "the zstd encoding is broken: %w", err)
		}
		return z.IOReadCloser(), nil
	case "identity", "none":
		return io.NopCloser(r), nil
	}
	return nil, courant.Errorf(courant.Invalid, "unknown Content-Encoding %q", coding)
}

// drain reads a short rest, so that the connection can be used again.
func drain(resp *http.Response) {
	io.CopyN(io.Discard, resp.Body, drainMost) // what fails here fails again at the next use
}
