package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/shard"
)

// keepAfter is the number of changes that are worth a snapshot when the process ends.
const keepAfter = 1000

func (x *Index) snapshot(n int) string { return filepath.Join(x.Dir, fmt.Sprintf("shard%d.index", n)) }

// restore reads the snapshots, if they match each other and the store. Otherwise the
// index is rebuilt.
func (x *Index) restore(r store.Reader) error {
	var b bounds
	if err := b.read(r); err != nil {
		return err
	}
	versions, errs := make([]int64, len(x.shards)), make([]error, len(x.shards))
	x.each(func(n int, sh *shard.Shard) {
		f, err := os.Open(x.snapshot(n))
		if err == nil {
			versions[n], err = sh.Load(f)
			err = errors.Join(err, f.Close())
		}
		errs[n] = err
	})
	version := versions[x.held[0]]
	err := errors.Join(errs...)
	for _, n := range x.held {
		if err == nil && versions[n] != version {
			err = courant.Errorf(courant.Invalid, "the snapshots of the shards were not written at the same time")
		}
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			x.Log.Warn("index snapshots not usable; rebuilding the index", "error", err)
		}
		x.clear()
		return nil
	}
	x.follower.after, x.follower.kept = version, version
	x.version.Store(version)
	if !b.hold(version) {
		return x.discard(b)
	}
	x.Log.Info("index restored from snapshots", "change", version)
	return nil
}

// clear removes all documents, so that the change feed is followed from its beginning.
func (x *Index) clear() {
	x.ready.Store(false)
	x.each(func(_ int, sh *shard.Shard) { sh.Clear() })
	x.follower.after, x.follower.kept = 0, 0
	x.version.Store(0)
}

// discard clears an index that belongs to another store, such as the one before a restore
// from a backup, and deletes its snapshots, because the changes of the new store may
// reach their numbers.
func (x *Index) discard(b bounds) error {
	x.Log.Warn("index position not in the change feed; rebuilding the index", "change", x.follower.after, "oldest", b.oldest, "newest", b.newest)
	x.clear()
	if x.Dir == "" {
		return nil
	}
	for _, n := range x.held {
		if err := os.Remove(x.snapshot(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// keep writes the snapshots. Nothing else changes the shards meanwhile.
func (x *Index) keep() error {
	if err := os.MkdirAll(x.Dir, 0o700); err != nil {
		return err
	}
	for _, n := range x.held {
		if err := x.keepOne(n); err != nil {
			return fmt.Errorf("write index snapshot: %w", err)
		}
	}
	x.follower.kept = x.follower.after
	return nil
}

func (x *Index) keepOne(n int) (err error) {
	f, err := os.CreateTemp(x.Dir, "shard")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(x.shards[n].Save(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), x.snapshot(n))
}
