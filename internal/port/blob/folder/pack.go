package folder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/blob"
)

// pack is the file to which this process appends small bodies. Creating a file for each
// would cost more than downloading it.
type pack struct {
	// mu guards the fields below, and is held while a body is written.
	mu   sync.Mutex
	file *os.File
	key  string
	size int64
}

const mostPack = 64 << 20 // bytes in one pack

// Append appends body to the current pack of a folder and returns the key of that range.
func (f *Folder) Append(dir string, body []byte) (key string, err error) {
	p := f.pack
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil || path.Dir(p.key) != dir || p.size+int64(len(body)) > mostPack {
		if err := p.begin(f, dir); err != nil {
			return "", f.full(err)
		}
	}
	n, err := p.file.WriteAt(body, p.size)
	if err != nil {
		return "", f.full(errors.Join(err, p.end())) // the next body begins a new pack
	}
	key = blob.InPack(p.key, p.size, int64(n))
	p.size += int64(n)
	return key, nil
}

// begin opens a new pack, whose folder may not exist yet.
func (p *pack) begin(f *Folder, dir string) error {
	if err := p.end(); err != nil {
		return err
	}
	key := path.Join(dir, blob.PackPrefix+strings.ToLower(rand.Text()))
	to := f.path(key)
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	for tries := 0; errors.Is(err, fs.ErrNotExist) && tries < 10; tries++ {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		file, err = os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	}
	if err != nil {
		return err
	}
	p.file, p.key, p.size = file, key, 0
	return nil
}

func (p *pack) end() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// full marks an error of a full disk with f.Full and courant.Busy.
func (f *Folder) full(err error) error {
	if errors.Is(err, syscall.ENOSPC) && f.Full != nil {
		return errors.Join(f.Full, courant.Busy, err)
	}
	return err
}

// openPacked opens a range of a pack, written as in blob.InPack.
func (f *Folder) openPacked(key, pack, text string) (blob.File, error) {
	offset, size, err := parseRange(text)
	if err != nil {
		return nil, courant.Errorf(courant.NotFound, "no such file")
	}
	o, err := f.open(pack)
	if err != nil {
		return nil, err
	}
	if offset+size > o.info.Size {
		return nil, errors.Join(courant.Errorf(courant.NotFound, "no such file"), o.Close())
	}
	return packed{io.NewSectionReader(o, offset, size), o, blob.Info{Key: key, Size: size, Time: o.info.Time}}, nil
}

func parseRange(text string) (offset, size int64, err error) {
	from, rest, _ := strings.Cut(text, "-")
	length, _, _ := strings.Cut(rest, "-")
	offset, err = strconv.ParseInt(from, 10, 64)
	if err == nil {
		size, err = strconv.ParseInt(length, 10, 64)
	}
	if err == nil && (offset < 0 || size < 0 || offset > mostPack || size > mostPack) {
		err = fmt.Errorf("pack range %q: offset and size must be between 0 and %d", text, mostPack)
	}
	return offset, size, err
}

// packed is a range of an open pack.
type packed struct {
	*io.SectionReader
	file blob.File
	info blob.Info
}

func (p packed) Info() blob.Info { return p.info }
func (p packed) Close() error    { return p.file.Close() }
