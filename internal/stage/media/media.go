// Package media stores the pictures of documents. A document waits here until the
// last of its pictures has arrived, or until a deadline: then it goes on at once, and
// is rendered again when the rest arrives. An offer does not wait, since its price and
// its availability count before its pictures. A picture that cannot be fetched is shown
// as missing and holds up no document.
package media

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/media/picture"
)

// Config is the stage's section.
type Config struct {
	Pictures      bool             `toml:"pictures" comment:"fetch and store pictures; if false, pages have none"`
	Deadline      setting.Duration `toml:"deadline" comment:"how long a document waits for its pictures"`
	RerenderDelay setting.Duration `toml:"rerender_delay" comment:"how long late pictures are collected before the page is rendered again"`
	MaxPictures   int              `toml:"max_pictures" comment:"largest number of pictures of a document"`
	Width         int              `toml:"width" comment:"width of the smaller variant, in pixels"`
	Workers       int              `toml:"workers" comment:"pictures processed at once"`
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		Pictures: true, Deadline: setting.Duration(time.Second), RerenderDelay: setting.Duration(3 * time.Second),
		MaxPictures: 60, Width: 640, Workers: max(1, runtime.NumCPU()/2), // the other half renders pages
	}
}

// Media is the stage.
type Media struct {
	Store   *store.Store
	Blobs   blob.Bucket
	Config  Config
	Metrics *obs.Set
	Log     *slog.Logger

	scaler picture.Scaler
}

// The shortest and the longest time between two checks of deadlines, the time between
// two sweeps for lost notifications, and the age at which a sweep takes up a fetched
// picture: pictures may be queued for long, and must not be processed twice.
const (
	sweepShort  = 50 * time.Millisecond
	sweepLong   = 500 * time.Millisecond
	sweepEvery  = 5 * time.Second
	pictureTime = 30 * time.Second
)

// Handlers returns the stage's handlers.
func (m *Media) Handlers() []bus.Handler {
	return []bus.Handler{
		flow.DocumentFound.Handle("media", 4, m.found),
		flow.PictureFetched.Handle("media", max(m.Config.Workers, 1), m.arrived),
		flow.PictureLost.Handle("media", 1, m.lost),
	}
}

// Run releases documents at their deadline and processes rows whose notification was
// lost, until ctx ends.
func (m *Media) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { m.loop(ctx, m.deadlines) })
	both.Go(func() {
		age := time.Duration(0) // at the start no notification is under way
		m.loop(ctx, func(ctx context.Context) (time.Duration, error) {
			wait, err := m.sweep(ctx, age)
			if err == nil {
				age = pictureTime
			}
			return wait, err
		})
	})
	both.Wait()
	return nil
}

// loop calls step, which returns the time until the next call.
func (m *Media) loop(ctx context.Context, step func(context.Context) (time.Duration, error)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait, err := step(ctx)
		if err != nil && ctx.Err() == nil {
			m.Log.Warn("sweep failed; retrying", "error", err)
		}
		timer.Reset(wait)
	}
}

// deadlines releases the documents whose deadline has passed.
func (m *Media) deadlines(ctx context.Context) (time.Duration, error) {
	late, next, err := m.late(ctx)
	if err == nil {
		err = m.release(ctx, late...)
	}
	if err != nil || next.IsZero() {
		return sweepLong, err
	}
	return min(max(next.Sub(m.Store.Now()), sweepShort), sweepLong), nil
}

// sweep processes new documents and pictures whose notification was lost: pictures
// that were fetched at least age ago.
func (m *Media) sweep(ctx context.Context, age time.Duration) (time.Duration, error) {
	documents, pictures, err := m.unannounced(ctx, age)
	if err != nil {
		return sweepEvery, err
	}
	for _, v := range documents {
		if err := m.found(ctx, v); err != nil {
			return sweepEvery, err
		}
	}
	for _, hash := range pictures {
		if err := m.arrived(ctx, flow.Fetch{Hash: hash}); err != nil {
			return sweepEvery, err
		}
	}
	return sweepEvery, nil
}

// release lets documents go on without the pictures that they still wait for.
func (m *Media) release(ctx context.Context, documents ...flow.Version) error {
	if len(documents) == 0 {
		return nil
	}
	var released []flow.Version
	err := m.Store.Write(ctx, func(tx *store.Tx) error {
		released = nil
		line := step(tx.Now(), "released", "deadline reached; some pictures are still missing")
		for _, v := range documents {
			n, err := tx.Exec(releaseDocument, v.URL, v.Source, v.AsOf, tx.Now().Add(sweepAfter).UnixMilli(), line)
			if err != nil {
				return err
			}
			if n == 1 {
				released = append(released, v)
			}
		}
		tx.Emit(flow.DocumentReady.Encode(released...))
		return nil
	})
	m.Metrics.Add("courant_media_released_total", float64(len(released)), "by", "deadline")
	return err
}
