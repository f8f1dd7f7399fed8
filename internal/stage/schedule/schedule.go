// Package schedule finds the sources that are due and has the robot poll them. Any
// number of processes may run it; the store decides which one takes a source. A
// source is not polled again while its last poll is unanswered or unread.
package schedule

import (
	"context"
	"log/slog"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// Config bounds the intervals.
type Config struct {
	MinInterval   setting.Duration `toml:"min_interval" comment:"minimum time between two polls of a source; at least 1s"`
	MaxInterval   setting.Duration `toml:"max_interval" comment:"maximum time; set it to min_interval to switch adaptation off"`
	FirstInterval setting.Duration `toml:"first_interval" comment:"used until it is known how often a source changes"`
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		MinInterval:   setting.Duration(time.Minute),
		MaxInterval:   setting.Duration(6 * time.Hour),
		FirstInterval: setting.Duration(15 * time.Minute),
	}
}

// Schedule is the stage.
type Schedule struct {
	Store   *store.Store
	Config  Config
	Metrics *obs.Set
	Log     *slog.Logger

	healed time.Time // when heal ran last; only Run uses it
}

const (
	batch = 500                   // sources claimed in one transaction
	short = 50 * time.Millisecond // shortest sleep, so that sources are claimed in batches
	long  = time.Second           // longest sleep: a source may be added at any time
)

// Handlers returns the stage's handlers.
func (s *Schedule) Handlers() []bus.Handler {
	return []bus.Handler{flow.SourceChanged.Handle("schedule", 1, s.changed)}
}

// Run polls what is due until ctx ends.
func (s *Schedule) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		timer.Reset(s.step(ctx))
	}
}

// step claims one batch and returns how long to sleep.
func (s *Schedule) step(ctx context.Context) time.Duration {
	if err := s.Store.Room(ctx); err != nil {
		return long
	}
	var err error
	if time.Since(s.healed) >= long {
		s.healed, err = time.Now(), s.heal(ctx)
	}
	n := 0
	if err == nil {
		n, err = s.claim(ctx)
	}
	if err != nil {
		if ctx.Err() == nil {
			s.Log.Warn("polls not scheduled; retrying", "error", err)
		}
		return long
	}
	if n == batch {
		return 0
	}
	return s.sleep(ctx)
}

// sleep is the time until the next source is due, within bounds.
func (s *Schedule) sleep(ctx context.Context) time.Duration {
	var due int64
	err := s.Store.Row(ctx, nextDue).Scan(&due)
	if err != nil {
		if ctx.Err() == nil && !store.NoRow(err) { // no row: there is no source
			s.Log.Warn("next due time not read; retrying", "in", long, "error", err)
		}
		return long
	}
	return min(max(store.Time(due).Sub(s.Store.Now()), short), long)
}

// heal brings forward sources whose due time is later than any that is ever
// planned: a clock was ahead and has been corrected since.
func (s *Schedule) heal(ctx context.Context) error {
	_, high := s.Config.bounds()
	latest := s.Store.Now().Add(high + time.Minute)
	var due int64
	err := s.Store.Row(ctx, lateDue, store.Millis(latest), int64(table.Never)).Scan(&due)
	if store.NoRow(err) {
		return nil
	}
	return s.Store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(healDue, store.Millis(latest), store.Millis(tx.Now()))
		return err
	})
}

// claim plans the next poll of every due source, and requests a poll of those
// that have none outstanding.
func (s *Schedule) claim(ctx context.Context) (n int, err error) {
	err = s.Store.Write(ctx, func(tx *store.Tx) error {
		due, err := dueSources(tx)
		if err != nil {
			return err
		}
		n = len(due)
		var polls []flow.Poll
		for _, d := range due {
			ask := s.plan(&d, tx.Now())
			if _, err := tx.Exec(planPoll, d.poll.Source, store.Millis(d.due), d.interval.Milliseconds(), d.why); err != nil {
				return err
			}
			if !ask {
				continue
			}
			asked, err := tx.Exec(askPoll, d.poll.Source, d.poll.AsOf)
			if err != nil {
				return err
			}
			if asked == 1 { // else something was delivered just now
				polls = append(polls, d.poll)
			}
		}
		tx.Emit(flow.SourceDue.Encode(polls...))
		return nil
	})
	return n, err
}

// plan sets the next due time, and the as-of of a new poll if there is to be one.
func (s *Schedule) plan(d *dueSource, now time.Time) (ask bool) {
	if d.gone {
		d.due, d.why = store.Time(table.Never), "the server answered 410 Gone; polling has stopped"
		return false
	}
	d.interval, d.why = s.Config.interval(d.history, now)
	planned := next(d.due, now, d.interval)
	if d.due = d.skip.after(planned); d.due.After(planned) {
		d.why = "postponed by the feed (skipHours, skipDays)"
	}
	if d.outstanding {
		return false
	}
	d.poll.AsOf = max(now.UnixMilli(), d.poll.AsOf+1)
	return true
}

// changed brings forward the next poll of a source that changes more often than
// its interval assumes.
func (s *Schedule) changed(ctx context.Context, p flow.Poll) error {
	if low, high := s.Config.bounds(); low == high {
		return nil // adaptation is off
	}
	return s.Store.Write(ctx, func(tx *store.Tx) error {
		d, err := oneSource(tx, p.Source)
		if store.NoRow(err) {
			return nil
		}
		if err != nil {
			return err
		}
		shorter, why := s.Config.interval(d.history, tx.Now())
		if shorter >= d.interval || d.gone {
			return nil
		}
		due := d.due.Add(shorter - d.interval)
		if due.Before(tx.Now()) {
			due = tx.Now()
		}
		_, err = tx.Exec(planPoll, p.Source, store.Millis(d.skip.after(due)), shorter.Milliseconds(), why)
		return err
	})
}
