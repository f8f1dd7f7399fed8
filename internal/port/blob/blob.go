// Package blob stores files that are too large for the store: downloads, pictures,
// videos. Writes are atomic: a reader sees the whole file or none. What Put returned
// nil for survives a crash and a power cut.
package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/courant-platform/courant"
)

// Driver stores files under valid keys. Open returns courant.NotFound for a key that
// does not exist; Delete of such a key is no error.
type Driver interface {
	// Put stores body under key and replaces what was there. If durable is false, a power
	// cut may lose or damage the file; a crash of the process may not. If reading body
	// fails, the previous file stays.
	Put(ctx context.Context, key string, body io.Reader, durable bool) error
	Open(ctx context.Context, key string) (File, error)
	Delete(ctx context.Context, key string) error
	// List calls f for each file whose key begins with prefix, in any order.
	List(ctx context.Context, prefix string, f func(Info) error) error
	Close() error
}

// Packer is a driver for which creating a file is expensive: it appends small bodies to
// larger files, the packs. A crash of the machine may lose or damage them, a crash of the
// process may not. Append returns a key made by InPack; the body is deleted when its
// Holder is deleted.
type Packer interface {
	Append(folder string, body []byte) (key string, err error)
}

// PackPrefix is the beginning of the last part of a pack's key.
const PackPrefix = "pack-"

// InPack returns the key of a range of a pack; offset and size are in bytes.
func InPack(pack string, offset, size int64) string {
	return fmt.Sprintf("%s/%d-%d", pack, offset, size)
}

// Holder returns the key of the file that a body is in: key itself, or that of its pack.
func Holder(key string) string {
	if dir := path.Dir(key); strings.HasPrefix(path.Base(dir), PackPrefix) {
		return dir
	}
	return key
}

// File is an open file.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
	Info() Info
}

// Info describes a file.
type Info struct {
	Key  string
	Size int64
	Time time.Time // when it was written
}

// Bucket is a driver with checked keys, packs and digests.
type Bucket struct{ Driver Driver }

// Put stores body under key and replaces what was there. A wrong key is courant.Invalid.
func (b Bucket) Put(ctx context.Context, key string, body []byte) error {
	return b.PutFrom(ctx, key, bytes.NewReader(body))
}

// PutFrom is Put for what is too large for memory.
func (b Bucket) PutFrom(ctx context.Context, key string, body io.Reader) error {
	if err := check(key); err != nil {
		return err
	}
	if err := b.Driver.Put(ctx, key, body, true); err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	return nil
}

// PutCached stores what can be downloaded again, without waiting for the disk. The key
// that it returns is in prefix's folder and ends with the body's digest, by which
// GetCached detects damage.
func (b Bucket) PutCached(ctx context.Context, prefix string, body []byte) (key string, err error) {
	if p, ok := b.Driver.(Packer); ok && len(body) <= mostPacked {
		key, err = p.Append(path.Dir(prefix), body)
		if err != nil {
			return "", fmt.Errorf("write %s: %w", prefix, err)
		}
		return key + "-" + digest(body), nil
	}
	key = prefix + "-" + digest(body)
	if err := check(key); err != nil {
		return "", err
	}
	if err := b.Driver.Put(ctx, key, bytes.NewReader(body), false); err != nil {
		return "", fmt.Errorf("write %s: %w", key, err)
	}
	return key, nil
}

// mostPacked is the largest body that goes into a pack.
const mostPacked = 1 << 20

// streamed is the end of the keys of PutStream, where the digest is not known in advance.
const streamed = "-stream"

// PutStream is PutCached for what is too large for memory; it waits for the disk.
// An error leaves nothing behind.
func (b Bucket) PutStream(ctx context.Context, prefix string, body io.Reader) (key string, err error) {
	key = prefix + streamed
	return key, b.PutFrom(ctx, key, body)
}

// GetCached reads what PutCached stored; for a lost or damaged file it returns
// courant.NotFound.
func (b Bucket) GetCached(ctx context.Context, key string) ([]byte, error) {
	body, err := b.Get(ctx, key)
	if err == nil && !strings.HasSuffix(key, "-"+digest(body)) {
		return nil, courant.Errorf(courant.NotFound, "blob %s is damaged: digest mismatch", key)
	}
	return body, err
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:8])
}

// OpenCached opens what PutCached or PutStream stored; for a lost or damaged file it
// returns courant.NotFound. Files of PutStream have no digest to check.
func (b Bucket) OpenCached(ctx context.Context, key string) (File, error) {
	f, err := b.Open(ctx, key)
	if err != nil || strings.HasSuffix(key, streamed) {
		return f, err
	}
	sum := sha256.New()
	if _, err = io.Copy(sum, f); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil && !strings.HasSuffix(key, "-"+hex.EncodeToString(sum.Sum(nil)[:8])) {
		err = courant.Errorf(courant.NotFound, "blob %s is damaged: digest mismatch", key)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Get reads a whole file; courant.NotFound if there is none.
func (b Bucket) Get(ctx context.Context, key string) ([]byte, error) {
	f, err := b.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body := make([]byte, f.Info().Size)
	if _, err := io.ReadFull(f, body); err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return body, nil
}

// Open opens a file for reading; courant.NotFound if there is none.
func (b Bucket) Open(ctx context.Context, key string) (File, error) {
	if err := check(key); err != nil {
		return nil, err
	}
	f, err := b.Driver.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", key, err)
	}
	return f, nil
}

// Delete deletes a file; it is no error if there is none.
func (b Bucket) Delete(ctx context.Context, key string) error {
	if err := check(key); err != nil {
		return err
	}
	return b.Driver.Delete(ctx, key)
}

// List calls f for each file whose key begins with prefix, in any order.
func (b Bucket) List(ctx context.Context, prefix string, f func(Info) error) error {
	return b.Driver.List(ctx, prefix, f)
}

// Missing reports whether err means that a file does not exist.
func Missing(err error) bool { return errors.Is(err, courant.NotFound) }

// check accepts the keys that Courant makes: parts between slashes of lower-case ASCII
// letters, digits, '-', '_' and '.', which do not begin with a dot.
func check(key string) error {
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || len(part) > 200 || part[0] == '.' {
			return courant.Errorf(courant.Invalid, "blob key %q: each part must have 1 to 200 bytes and not begin with a dot", key)
		}
	}
	for _, c := range key {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789/-_.", c) {
			return courant.Errorf(courant.Invalid, "blob key %q: only a-z, 0-9, '/', '-', '_' and '.' are allowed", key)
		}
	}
	return nil
}
