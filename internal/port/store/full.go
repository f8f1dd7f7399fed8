package store

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// ErrFull is what a driver's error is when the disk has no room.
var ErrFull = errors.New("disk full")

// fullness remembers that the last write found no room.
type fullness struct{ since atomic.Int64 }

func (f *fullness) note(err error, log *slog.Logger) {
	if errors.Is(err, ErrFull) && f.since.CompareAndSwap(0, time.Now().UnixNano()) {
		log.Error("disk full; intake paused until there is room", "error", err)
	}
}

// Room returns ErrFull while the disk has no room: intake asks it before it
// takes what it could not keep. Only a large write that succeeds ends this state:
// a small one may find room where a download does not.
func (s *Store) Room(ctx context.Context) error {
	since := s.full.since.Load()
	if since == 0 {
		return nil
	}
	err := s.Write(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(probeRoom, make([]byte, probeSize)); err != nil {
			return err
		}
		_, err := tx.Exec(probeDone)
		return err
	})
	if err == nil && s.full.since.CompareAndSwap(since, 0) {
		s.log.Info("disk has room again; intake resumed")
	}
	return err
}

const probeSize = 1 << 20

// NoteFull is for blobs, which share the disk: an error of theirs stops the
// intake like one of the store's.
func (s *Store) NoteFull(err error) { s.full.note(err, s.log) }
