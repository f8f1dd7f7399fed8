package schedule_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/schedule"
)

func TestWhatIsOverdueIsExported(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := s.Now()
		late := now.Add(-10 * time.Minute).UnixMilli()
		if err := s.Write(t.Context(), func(tx *store.Tx) error {
			for _, query := range []string{
				`INSERT INTO polls (source, due) VALUES (1, $1)`,
				`INSERT INTO documents (url, source, address, rank, as_of, state, due, fetched, content, trace) VALUES ('u', 1, 'a', 0, 1, 2, $1, 1, '', '')`,
			} {
				if _, err := tx.Exec(query, late); err != nil {
					return err
				}
			}
			for i, answer := range [][]any{{1, 5, 0, 0}, {2, 0, 0, 0}, {3, 5, 2, 0}, {4, 5, 9, 7}} {
				if _, err := tx.Exec(`INSERT INTO answers (source, url, origin, partition, checked, failures, gone_since) VALUES ($1, 'u', 'o', $2, $3, $4, $5)`,
					answer[0], i, answer[1], answer[2], answer[3]); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		m := obs.New()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			(&schedule.Schedule{Store: s, Config: schedule.Defaults(), Metrics: m, Log: slog.New(slog.DiscardHandler)}).Watch(ctx)
		}()
		text := ""
		for range 500 {
			w := httptest.NewRecorder()
			m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
			if text = w.Body.String(); strings.Contains(text, `courant_sources{state="ok"}`) && strings.Contains(text, `courant_sources{state="gone"}`) {
				break
			}
			time.Sleep(10 * time.Millisecond) // until the first round has run in its goroutine
		}
		cancel()
		<-done
		for _, line := range []string{`courant_work_due{stage="polls"} 1`, `courant_work_due{stage="ready"} 1`, `courant_work_due{stage="found"} 0`, `courant_work_due{stage="fetches"} 0`,
			`courant_work_oldest_seconds{stage="ready"} 600`, `courant_work_oldest_seconds{stage="found"} 0`, `courant_work_due{stage="outbox"} 0`,
			`courant_sources{state="ok"} 1`, `courant_sources{state="new"} 1`, `courant_sources{state="failing"} 1`, `courant_sources{state="gone"} 1`} {
			if !strings.Contains(text, line) {
				t.Errorf("there is no %s", line)
			}
		}
	})
}
