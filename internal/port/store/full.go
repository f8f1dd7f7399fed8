package store

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// ErrFull is what a driver's error is when the disk has no room.
var ErrFull = errors.New("the disk is full")

// fullness remembers that the last write found no room.
type fullness struct{ since atomic.Int64 }

func (f *fullness) note(err error, log *slog.Logger) {
	switch {
	case err == nil && f.since.Load() != 0:
		f.since.Store(0)
		log.Info("there is room again: intake goes on")
	case errors.Is(err, ErrFull) && f.since.CompareAndSwap(0, time.Now().UnixNano()):
		log.Error("the disk is full: intake stops until there is room", "error", err)
	}
}

// Room returns ErrFull while the disk has no room: intake asks it before it
// takes what it could not keep. While full, a write is tried at each call.
func (s *Store) Room(ctx context.Context) error {
	if s.full.since.Load() == 0 {
		return nil
	}
	return s.Write(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(probeRoom, make([]byte, 64<<10)); err != nil {
			return err
		}
		_, err := tx.Exec(probeDone)
		return err
	})
}

// NoteFull is for blobs, which share the disk: an error of theirs stops the
// intake like one of the store's.
func (s *Store) NoteFull(err error) {
	if errors.Is(err, ErrFull) {
		s.full.note(err, s.log)
	}
}
