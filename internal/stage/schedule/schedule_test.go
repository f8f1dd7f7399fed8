package schedule_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/schedule"
)

func write(t *testing.T, s *store.Store, query string, args ...any) {
	t.Helper()
	if err := s.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func addSources(t *testing.T, s *store.Store, n int) {
	t.Helper()
	if err := s.Write(t.Context(), func(tx *store.Tx) error {
		for i := range n {
			origin := fmt.Sprintf("http://%d.example", i)
			for query, args := range map[string][]any{
				`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES ($1, $2, 'feed', $2, $2, '', FALSE, 1)`: {i + 1, origin},
				`INSERT INTO polls (source, due) VALUES ($1, 1)`:                                                                       {i + 1},
				`INSERT INTO answers (source, url, origin, partition) VALUES ($1, $2, $2, $3)`:                                         {i + 1, origin, i % 256},
				`INSERT INTO readings (source) VALUES ($1)`:                                                                            {i + 1},
			} {
				if _, err := tx.Exec(query, args...); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// bells are the requested polls in the outbox.
func bells(t *testing.T, s *store.Store) (asked []flow.Poll) {
	t.Helper()
	err := s.Read(t.Context(), func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var text []byte
			if err := rows.Scan(&text); err != nil {
				return err
			}
			var messages []struct {
				Topic string
				Facts []flow.Poll
			}
			err := json.Unmarshal(text, &messages)
			for _, m := range messages {
				if m.Topic == flow.SourceDue.Name {
					asked = append(asked, m.Facts...)
				}
			}
			return err
		}, `SELECT messages FROM outbox ORDER BY seq`)
	})
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// run runs schedulers until stop is called.
func run(t *testing.T, s *store.Store, config schedule.Config, n int) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if err := (&schedule.Schedule{Store: s, Config: config, Log: slog.New(slog.DiscardHandler)}).Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

func TestASourceIsAskedForOnceUntilItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Memory(t)
		addSources(t, s, 1)
		config := schedule.Defaults()
		config.MaxInterval = setting.Duration(5 * time.Minute)
		defer run(t, s, config, 1)()
		time.Sleep(20 * time.Minute)
		if asked := bells(t, s); len(asked) != 1 || asked[0].Source != 1 || asked[0].Origin != "http://0.example" || asked[0].AsOf == 0 {
			t.Fatalf("asked for %+v", asked)
		}
		for _, outstanding := range []string{
			`INSERT INTO pending (source, as_of, fetched, blob, url, type, etag, modified, pushed, hubs, self) VALUES (1, 1, 1, '', '', '', '', '', FALSE, '', '')`, // a download waits to be parsed
			`UPDATE answers SET answered = asked`,
			`DELETE FROM pending`, // it has been parsed
		} {
			if n := len(bells(t, s)); n != 1 {
				t.Errorf("asked %d times before %s", n, outstanding)
			}
			write(t, s, outstanding)
			time.Sleep(6 * time.Minute)
		}
		asked := bells(t, s)
		if len(asked) != 2 || asked[1].AsOf <= asked[0].AsOf {
			t.Errorf("asked for %+v", asked)
		}
	})
}

func TestTheAsOfGrowsAlsoWhenTheClockStandsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Memory(t)
		addSources(t, s, 1)
		ahead := s.Now().Add(time.Hour).UnixMilli()
		write(t, s, `UPDATE answers SET as_of = $1, asked = $1, answered = $1`, ahead)
		stop := run(t, s, schedule.Defaults(), 1)
		time.Sleep(time.Second)
		stop()
		if asked := bells(t, s); len(asked) != 1 || asked[0].AsOf != ahead+1 {
			t.Errorf("asked for %+v, the one before was as of %d", asked, ahead)
		}
	})
}

func TestSourcesAreAskedAtTheirIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Memory(t)
		addSources(t, s, 3)
		write(t, s, `UPDATE readings SET rhythm = $1 WHERE source = 1`, (20 * time.Minute).Milliseconds())
		write(t, s, `UPDATE readings SET ttl = $1 WHERE source = 2`, time.Hour.Milliseconds())
		stop := run(t, s, schedule.Defaults(), 1)
		for range 59 {
			time.Sleep(time.Minute)
			write(t, s, `UPDATE answers SET answered = asked`)
		}
		stop()
		count := map[int64]int{}
		for _, a := range bells(t, s) {
			count[a.Source]++
		}
		if count[1] != 12 || count[2] != 1 || count[3] != 4 {
			t.Errorf("asked %v times in 59 minutes", count)
		}
	})
}

func TestManySchedulersNeverAskTwice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const sources = 1200
		addSources(t, s, sources)
		stop := run(t, s, schedule.Defaults(), 4)
		deadline := time.After(20 * time.Second)
		for len(bells(t, s)) < sources {
			select {
			case <-deadline:
				t.Fatalf("%d of %d were asked for", len(bells(t, s)), sources)
			case <-time.After(10 * time.Millisecond):
			}
		}
		stop()
		seen := map[int64]bool{}
		for _, a := range bells(t, s) {
			if seen[a.Source] {
				t.Errorf("source %d is asked for twice", a.Source)
			}
			seen[a.Source] = true
		}
		if len(seen) != sources {
			t.Errorf("%d of %d were asked for", len(seen), sources)
		}
	})
}

func TestASourceThatTurnsOutLivelierIsAskedSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Memory(t)
		addSources(t, s, 1)
		write(t, s, `UPDATE readings SET rhythm = $1`, (24 * time.Hour).Milliseconds())
		b := &bus.Bus{Driver: &membus.Driver{}}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			b.Run(ctx, (&schedule.Schedule{Store: s, Config: schedule.Defaults(), Log: slog.New(slog.DiscardHandler)}).Handlers()...)
		})
		stop := run(t, s, schedule.Defaults(), 1)
		time.Sleep(time.Second)
		write(t, s, `UPDATE readings SET changed = $1, rhythm = $2`, s.Now().UnixMilli(), (8 * time.Minute).Milliseconds())
		write(t, s, `UPDATE answers SET answered = asked`)
		name, facts := flow.SourceChanged.Encode(flow.Poll{Source: 1}, flow.Poll{Source: 99})
		if err := b.Publish(t.Context(), name, facts); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		stop()
		cancel()
		running.Wait()
		if asked := bells(t, s); len(asked) != 2 || slices.ContainsFunc(asked, func(p flow.Poll) bool { return p.Source != 1 }) {
			t.Errorf("asked for %+v", asked)
		}
	})
}

// A hub that goes silent must not make its source stale.
func TestASourceWhoseHubAnnouncesChangesIsPolledRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Memory(t)
		addSources(t, s, 1)
		defer run(t, s, schedule.Defaults(), 1)()
		asked := func(d time.Duration) int {
			before := len(bells(t, s))
			for range d / time.Minute {
				time.Sleep(time.Minute)
				write(t, s, `UPDATE answers SET answered = asked`)
			}
			return len(bells(t, s)) - before
		}
		now := func() int64 { return s.Now().UnixMilli() }
		asked(time.Minute)
		write(t, s, `UPDATE readings SET rhythm = $1, changed = $2`, (20 * time.Minute).Milliseconds(), now())
		write(t, s, `INSERT INTO websub (id, source, hub, topic, secret, state, until, due, pinged) VALUES ('id', 1, '', '', '', 'active', $1, 0, $2)`,
			now()+(10*time.Hour).Milliseconds(), now())
		asked(15 * time.Minute) // the poll that was planned before
		if n := asked(5 * time.Hour); n != 5 {
			t.Errorf("while the hub tells, it was asked %d times in 5 hours", n)
		}
		write(t, s, `UPDATE readings SET changed = $1`, now()) // polling has found a change that the hub did not announce
		asked(time.Hour)
		if n := asked(time.Hour); n < 8 {
			t.Errorf("when the hub is silent, it was asked %d times in an hour", n)
		}
		write(t, s, `UPDATE websub SET pinged = $1`, now())
		asked(10 * time.Minute)
		if n := asked(2 * time.Hour); n != 2 {
			t.Errorf("when the hub tells again, it was asked %d times in 2 hours", n)
		}
		asked(3 * time.Hour)
		if n := asked(time.Hour); n < 2 {
			t.Errorf("after the lease, it was asked %d times in an hour", n)
		}
	})
}
