// Package folder stores blobs as files in a folder. A file is written under a temporary
// name, synced and renamed, and its folder is synced, so that a power cut leaves the
// whole file or none.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/blob"
)

// Folder is the driver. Full, if set, is wrapped by the error of a write to a full disk.
type Folder struct {
	Dir  string
	Full error

	pack *pack
}

const temporary = ".part-"

// abandoned is the age of a temporary file whose writer has ended: other processes may be
// writing into the same folder.
const abandoned = time.Hour

// Open creates the folder and removes the temporary files of interrupted writes.
func Open(f Folder) (*Folder, error) {
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("blob folder: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(f.Dir, temporary+"*"))
	for _, name := range left {
		st, failed := os.Stat(name)
		if failed == nil && time.Since(st.ModTime()) > abandoned {
			failed = os.Remove(name)
		}
		if !errors.Is(failed, fs.ErrNotExist) { // its writer has renamed it
			err = errors.Join(err, failed)
		}
	}
	f.pack = &pack{}
	return &f, err
}

func (f *Folder) path(key string) string { return filepath.Join(f.Dir, filepath.FromSlash(key)) }

// Put writes the file, and syncs it if durable.
func (f *Folder) Put(_ context.Context, key string, body io.Reader, durable bool) error {
	path := f.path(key)
	if err := f.write(path, body, durable); err != nil {
		return f.full(err)
	}
	if !durable {
		return nil
	}
	return f.sync(filepath.Dir(path))
}

func (f *Folder) write(path string, body io.Reader, durable bool) error {
	t, err := os.CreateTemp(f.Dir, temporary+"*")
	if err != nil {
		return err
	}
	_, err = io.Copy(t, body)
	if err == nil && durable {
		err = t.Sync()
	}
	err = errors.Join(err, t.Chmod(0o644), t.Close())
	if err == nil {
		err = f.rename(t.Name(), path, durable)
	}
	if err != nil {
		os.Remove(t.Name()) // if this fails, a later Open removes it
	}
	return err
}

// rename moves the file to its place. The target's folder may not exist yet, or a
// concurrent Delete of its last file may remove it.
func (f *Folder) rename(from, to string, durable bool) error {
	dir := filepath.Dir(to)
	err := os.Rename(from, to)
	for tries := 0; errors.Is(err, fs.ErrNotExist) && tries < 10; tries++ {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err = os.Rename(from, to); err == nil && durable {
			return f.syncAbove(dir)
		}
	}
	return err
}

// syncAbove syncs the parents of a new folder, so that the folder itself is durable.
func (f *Folder) syncAbove(dir string) error {
	for d := filepath.Dir(dir); len(d) >= len(f.Dir); d = filepath.Dir(d) {
		if err := f.sync(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (f *Folder) sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Open opens a file, or a range of a pack.
func (f *Folder) Open(_ context.Context, key string) (blob.File, error) {
	if pack := blob.Holder(key); pack != key {
		return f.openPacked(key, pack, key[len(pack)+1:])
	}
	o, err := f.open(key)
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (f *Folder) open(key string) (*file, error) {
	o, err := os.Open(f.path(key))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, courant.Errorf(courant.NotFound, "no such file")
	}
	if err != nil {
		return nil, err
	}
	st, err := o.Stat()
	if err == nil && st.IsDir() {
		err = courant.Errorf(courant.NotFound, "no such file")
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return &file{o, blob.Info{Key: key, Size: st.Size(), Time: st.ModTime()}}, nil
}

type file struct {
	*os.File
	info blob.Info
}

func (f *file) Info() blob.Info { return f.info }

// Delete removes the file, and its folder if that is empty then. A range of a pack is
// only removed together with the pack.
func (f *Folder) Delete(_ context.Context, key string) error {
	if blob.Holder(key) != key {
		return nil
	}
	path := f.path(key)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if dir := filepath.Dir(path); dir != filepath.Clean(f.Dir) {
		os.Remove(dir) // fails if the folder is not empty
	}
	return nil
}

// List walks the folder of prefix.
func (f *Folder) List(_ context.Context, prefix string, visit func(blob.Info) error) error {
	root := f.path(prefix[:strings.LastIndexByte(prefix, '/')+1])
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(f.Dir, path)
		key := filepath.ToSlash(rel)
		if err != nil || !strings.HasPrefix(key, prefix) || strings.HasPrefix(d.Name(), temporary) {
			return err
		}
		st, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return visit(blob.Info{Key: key, Size: st.Size(), Time: st.ModTime()})
	})
}

// Close closes the current pack.
func (f *Folder) Close() error {
	f.pack.mu.Lock()
	defer f.pack.mu.Unlock()
	return f.pack.end()
}
