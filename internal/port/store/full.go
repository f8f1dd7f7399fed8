package store

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// ErrFull is wrapped by a driver's error when the disk is full.
var ErrFull = errors.New("disk full")

// fullness records since when the disk has been full, in nanoseconds since 1970; 0 if it
// is not.
type fullness struct{ since atomic.Int64 }

func (f *fullness) note(err error, log *slog.Logger) {
	if errors.Is(err, ErrFull) && f.since.CompareAndSwap(0, time.Now().UnixNano()) {
		log.Error("disk full; intake paused until there is room", "error", err)
	}
}

// Room returns ErrFull while the disk is full; stages call it before they take in what
// they could not store. Only a successful large write ends this state: a small one may
// succeed where a download does not fit.
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

// NoteFull records ErrFull in an error of the blob store, which may be on the same disk:
// it pauses intake like an error of the store itself.
func (s *Store) NoteFull(err error) { s.full.note(err, s.log) }
