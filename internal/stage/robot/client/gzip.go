package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// members reads the members of a gzip body. Bytes after the last member that are no
// member are ignored, as browsers do: some servers append them.
type members struct {
	*gzip.Reader
	src *bufio.Reader
}

func newMembers(r io.Reader) (*members, error) {
	src := bufio.NewReader(r)
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{z, src}, nil
}

func (m *members) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if head, _ := m.src.Peek(3); !bytes.Equal(head, []byte{0x1f, 0x8b, 8}) {
		return n, io.EOF
	}
	if err := m.Reset(m.src); err != nil {
		return n, err
	}
	m.Multistream(false)
	return n, nil
}
