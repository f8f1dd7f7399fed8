package search

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// keepAfter changes are worth a new snapshot when the process ends.
const keepAfter = 1000

func (s *Search) snapshot(n int) string { return filepath.Join(s.Dir, fmt.Sprintf("shard%d.index", n)) }

// restore reads the snapshots, if there are some that fit together and the store.
// Otherwise the index is built anew.
func (s *Search) restore(r store.Reader) error {
	versions, errs := make([]int64, len(s.shards)), make([]error, len(s.shards))
	var all sync.WaitGroup
	for n := range s.shards {
		all.Go(func() {
			f, err := os.Open(s.snapshot(n))
			if err == nil {
				versions[n], err = s.shards[n].Load(f)
				err = errors.Join(err, f.Close())
			}
			errs[n] = err
		})
	}
	all.Wait()
	err := errors.Join(errs...)
	for _, v := range versions {
		if err == nil && v != versions[0] {
			err = courant.Errorf(courant.Invalid, "the snapshots are of different times")
		}
	}
	var oldest, newest int64
	if err == nil {
		if err := r.Row(changeBounds).Scan(&oldest, &newest); err != nil {
			return err
		}
		if versions[0] < oldest || versions[0] > newest {
			err = courant.Errorf(courant.Invalid, "the snapshots are of change %d, and the store has %d to %d", versions[0], oldest, newest)
		}
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Log.Warn("the index is built anew", "error", err)
		}
		for _, sh := range s.shards {
			sh.Clear()
		}
		return nil
	}
	s.follower.after, s.follower.kept = versions[0], versions[0]
	s.Log.Info("the index was read", "change", versions[0])
	return nil
}

// keep writes the snapshots. Nothing else changes the shards meanwhile.
func (s *Search) keep() error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	for n := range s.shards {
		if err := s.keepOne(n); err != nil {
			return fmt.Errorf("snapshot of the index: %w", err)
		}
	}
	s.follower.kept = s.follower.after
	return nil
}

func (s *Search) keepOne(n int) (err error) {
	f, err := os.CreateTemp(s.Dir, "shard")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(s.shards[n].Save(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), s.snapshot(n))
}
