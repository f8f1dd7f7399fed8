// Package unpack reads documents from gzip, zstd and zip archives (zip with one file),
// also an archive inside an archive. It detects formats from the bytes, not from names.
package unpack

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/courant-platform/courant"
)

const (
	maxLayers = 2
	maxZip    = 256 << 20 // bytes of a zip archive without random access
	maxWindow = 8 << 20   // of a zstd frame
	peekSize  = 64 << 10
)

// ErrDamaged is returned at the end of a document whose archive has a wrong checksum.
// All of the document has been read then.
var ErrDamaged = errors.New("the checksum of the archive does not match its contents; compress the file again")

// File is an open, unpacked document. Packed reports that it came in an archive. Junk
// reports that there is data after the archive; it is set when the document has been
// read to its end.
type File struct {
	*bufio.Reader
	Packed bool
	Junk   bool
	limit  *limit
	close  []func()
}

// Close releases memory; it does not close the source.
func (f *File) Close() error {
	for _, c := range f.close {
		c()
	}
	return nil
}

// Open opens a document of at most most bytes after unpacking. Errors of Open and of
// reads are of kind courant.Invalid and begin with "too_large:" for a longer document,
// "malformed:" for a broken archive and "empty:" for an archive without a file; errors
// of src are returned unchanged.
func Open(src io.Reader, most int64) (*File, error) {
	f := &File{Reader: bufio.NewReaderSize(src, peekSize)}
	for range maxLayers {
		magic, err := f.Peek(4)
		if err != nil && len(magic) == 0 && !errors.Is(err, io.EOF) {
			return nil, err
		}
		var inner io.Reader
		switch {
		case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
			inner, err = f.gunzip()
		case bytes.HasPrefix(magic, []byte("\x28\xb5\x2f\xfd")):
			inner, err = f.unzstd()
		case bytes.HasPrefix(magic, []byte("PK\x03\x04")), bytes.HasPrefix(magic, []byte("PK\x05\x06")):
			inner, err = f.unzip(src)
		default:
			inner, err = nil, nil
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if inner == nil {
			break
		}
		f.Packed = true
		f.Reader = bufio.NewReaderSize(inner, peekSize)
	}
	f.limit = &limit{src: f.Reader, left: most, most: most}
	f.Reader = bufio.NewReaderSize(f.limit, peekSize)
	return f, nil
}

// Beginning returns up to n unread bytes of the document without consuming them.
func (f *File) Beginning(n int) []byte {
	head, err := f.Peek(n)
	if err != nil {
		return head // shorter; the next read returns the error
	}
	return head
}

func (f *File) gunzip() (io.Reader, error) {
	z, err := gzip.NewReader(f.Reader)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "malformed: the gzip archive is broken: %w", err)
	}
	z.Multistream(false)
	return &members{file: f, src: f.Reader, gzip: z}, nil
}

// members reads the members of a gzip archive as one document.
type members struct {
	file *File
	src  *bufio.Reader
	gzip *gzip.Reader
}

func (m *members) Read(b []byte) (int, error) {
	for {
		n, err := m.gzip.Read(b)
		var corrupt flate.CorruptInputError
		switch {
		case errors.Is(err, gzip.ErrChecksum):
			return n, ErrDamaged
		case errors.As(err, &corrupt):
			return n, courant.Errorf(courant.Invalid, "malformed: the gzip archive is broken: %w", err)
		case errors.Is(err, io.EOF):
			err = m.next()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next starts the next member; other data sets Junk.
func (m *members) next() error {
	magic, err := m.src.Peek(2)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case len(magic) == 0:
		return io.EOF
	case string(magic) != "\x1f\x8b":
		m.file.Junk = true
		return io.EOF
	}
	if err := m.gzip.Reset(m.src); err != nil {
		return err
	}
	m.gzip.Multistream(false)
	return nil
}

func (f *File) unzstd() (io.Reader, error) {
	z, err := zstd.NewReader(f.Reader, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "malformed: the zstd archive is broken: %w", err)
	}
	f.close = append(f.close, z.Close)
	return z, nil
}

// unzip opens the one document of a zip archive.
func (f *File) unzip(src io.Reader) (io.Reader, error) {
	at, size := random(src)
	if at == nil || f.Packed {
		body, err := io.ReadAll(io.LimitReader(f.Reader, maxZip+1))
		if err != nil {
			return nil, err
		}
		if len(body) > maxZip {
			return nil, courant.Errorf(courant.Invalid, "too_large: the zip archive is larger than %d bytes", maxZip)
		}
		at, size = bytes.NewReader(body), int64(len(body))
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "malformed: the zip archive is broken: %w", err)
	}
	var one *zip.File
	for _, e := range z.File {
		switch {
		case e.FileInfo().IsDir() || strings.HasPrefix(e.Name, "__MACOSX/"):
		case one != nil:
			return nil, courant.Errorf(courant.Invalid, "malformed: the zip archive holds several files; send an archive for each file")
		default:
			one = e
		}
	}
	if one == nil {
		return nil, courant.Errorf(courant.Invalid, "empty: the zip archive holds no file")
	}
	r, err := one.Open()
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "malformed: the zip archive is broken: %w", err)
	}
	f.close = append(f.close, func() { r.Close() })
	return r, nil
}

// random returns the source and its size if it allows random access, which a zip
// archive needs because its directory is at the end; else nil.
func random(src io.Reader) (io.ReaderAt, int64) {
	at, ok := src.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil, 0
	}
	here, err := at.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, 0
	}
	size, err := at.Seek(0, io.SeekEnd)
	if _, back := at.Seek(here, io.SeekStart); err != nil || back != nil {
		return nil, 0
	}
	return at, size
}

// limit is an io.Reader that fails after most bytes.
type limit struct {
	src  io.Reader
	left int64
	most int64
}

func (l *limit) Read(b []byte) (int, error) {
	if l.left <= 0 {
		if n, err := l.src.Read(b[:min(len(b), 1)]); n == 0 {
			return 0, err
		}
		return 0, courant.Errorf(courant.Invalid, "too_large: the unpacked document is larger than %d bytes", l.most)
	}
	n, err := l.src.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}
