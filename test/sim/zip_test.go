package sim

import (
	"bytes"
	"compress/gzip"
	"io"
)

func unzip(b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(z)
	if err != nil {
		return nil
	}
	return out
}
