// Package media keeps the pictures of documents. A document waits here until
// the last of its pictures has arrived, or a deadline: then it goes on at once,
// and is printed again when the rest comes. A picture that cannot be had is
// shown as missing and loses nobody's document.
package media

import (
	"context"
	"log/slog"
	"runtime"
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
	Pictures bool             `toml:"pictures" comment:"fetch and keep pictures; without, pages have none"`
	Deadline setting.Duration `toml:"deadline" comment:"how long a document waits for its pictures"`
	Late     setting.Duration `toml:"late" comment:"how long late pictures are gathered before the page is printed again"`
	Most     int              `toml:"most" comment:"pictures of one document"`
	Width    int              `toml:"width" comment:"of the smaller variant, in pixels"`
	Workers  int              `toml:"workers" comment:"pictures worked on at once"`
}

// Defaults are the working values.
func Defaults() Config {
	return Config{
		Pictures: true, Deadline: setting.Duration(time.Second), Late: setting.Duration(3 * time.Second),
		Most: 60, Width: 640, Workers: max(1, runtime.NumCPU()/2), // the other half prints pages
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

// How often due rows are looked for, at least and at most.
const (
	sweepShort = 50 * time.Millisecond
	sweepLong  = 500 * time.Millisecond
)

// Handlers are what the stage wants to hear.
func (m *Media) Handlers() []bus.Handler {
	return []bus.Handler{
		flow.DocumentFound.Handle("media", 4, m.found),
		flow.PictureFetched.Handle("media", max(m.Config.Workers, 1), m.arrived),
	}
}

// Run releases documents at their deadline and takes up what no bell announced,
// until ctx ends.
func (m *Media) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	answers := time.NewTicker(5 * time.Second)
	defer answers.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			err = m.due(ctx)
			timer.Reset(m.sleep(ctx))
		case <-answers.C:
			err = m.answered(ctx)
		}
		if err != nil && ctx.Err() == nil {
			m.Log.Warn("documents wait for the next sweep", "error", err)
		}
	}
}

// sleep is the time until the next deadline, within bounds.
func (m *Media) sleep(ctx context.Context) time.Duration {
	var due int64
	err := m.Store.Read(ctx, func(r store.Reader) error { return r.Row(nextDue).Scan(&due) })
	if err != nil {
		return sweepLong
	}
	return min(max(store.Time(due).Sub(m.Store.Now()), sweepShort), sweepLong)
}

// due takes up documents whose time has come: new ones that were not announced,
// and those that have waited long enough.
func (m *Media) due(ctx context.Context) error {
	late, err := m.dueDocuments(ctx)
	if err != nil {
		return err
	}
	var waited []flow.Version
	for _, d := range late {
		if d.state == stateWaiting {
			waited = append(waited, d.Version)
		}
	}
	if err := m.release(ctx, waited...); err != nil {
		return err
	}
	for _, d := range late {
		if d.state != stateFound {
			continue
		}
		if err := m.found(ctx, d.Version); err != nil {
			return err
		}
	}
	return nil
}

// release lets documents go on without the pictures that they still wait for.
func (m *Media) release(ctx context.Context, documents ...flow.Version) error {
	if len(documents) == 0 {
		return nil
	}
	var released []flow.Version
	err := m.Store.Write(ctx, func(tx *store.Tx) error {
		released = nil
		line := step(tx.Now(), "released", "the deadline; some pictures are still missing")
		for _, v := range documents {
			n, err := tx.Exec(releaseDocument, v.URL, v.Source, v.AsOf, tx.Now().Add(turnTime).UnixMilli(), line)
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

// answered takes up pictures that have arrived and were not announced.
func (m *Media) answered(ctx context.Context) error {
	var hashes [][]byte
	err := m.Store.Read(ctx, func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var hash []byte
			err := rows.Scan(&hash)
			hashes = append(hashes, hash)
			return err
		}, answeredFetches, m.Store.Now().Add(-turnTime).UnixMilli())
	})
	for _, hash := range hashes {
		if err := m.arrived(ctx, flow.Fetch{Hash: hash}); err != nil {
			return err
		}
	}
	return err
}
