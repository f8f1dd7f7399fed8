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
	"github.com/courant-platform/courant/internal/table"
)

// keepAfter changes are worth a new snapshot when the process ends.
const keepAfter = 1000

func (x *Index) snapshot(n int) string { return filepath.Join(x.Dir, fmt.Sprintf("shard%d.index", n)) }

// restore reads the snapshots, if there are some that fit together and the store.
// Otherwise the index is built anew.
func (x *Index) restore(r store.Reader) error {
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
			err = courant.Errorf(courant.Invalid, "the snapshots are of different times")
		}
	}
	if err == nil {
		oldest, newest, bad := table.ChangeBounds(r)
		if bad != nil {
			return bad
		}
		if version < oldest || version > newest {
			err = courant.Errorf(courant.Invalid, "the snapshots are of change %d, and the store has %d to %d", version, oldest, newest)
		}
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			x.Log.Warn("the index is built anew", "error", err)
		}
		x.each(func(_ int, sh *shard.Shard) { sh.Clear() })
		return nil
	}
	x.follower.after, x.follower.kept = version, version
	x.version.Store(version)
	x.Log.Info("the index was read", "change", version)
	return nil
}

// keep writes the snapshots. Nothing else changes the shards meanwhile.
func (x *Index) keep() error {
	if err := os.MkdirAll(x.Dir, 0o700); err != nil {
		return err
	}
	for _, n := range x.held {
		if err := x.keepOne(n); err != nil {
			return fmt.Errorf("snapshot of the index: %w", err)
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
