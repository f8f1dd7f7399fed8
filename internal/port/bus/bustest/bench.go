package bustest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/courant-platform/courant/internal/port/bus"
)

// Benchmark measures facts from publishing to handling, published 100 at a time, as the
// outbox does. At most 10,000 are in flight.
func Benchmark(b *testing.B, d bus.Driver) {
	const batch, underway = 100, 10_000
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var handled atomic.Int64
	room := make(chan struct{}, underway/batch)
	ready := make(chan struct{})
	server := &bus.Bus{Driver: d, Ready: func() { close(ready) }}
	running.Go(func() {
		_ = server.Run(ctx, notes.Handle("parse", 2, func(context.Context, note) error {
			if handled.Add(1)%batch == 0 {
				<-room
			}
			return nil
		}))
	})
	<-ready
	name, payloads := notes.Encode(numbered(batch)...)
	b.SetBytes(int64(len(payloads[0])))
	for b.Loop() {
		room <- struct{}{}
		if err := server.Publish(ctx, name, payloads); err != nil {
			b.Fatal(err)
		}
	}
	for range cap(room) {
		room <- struct{}{}
	}
	b.ReportMetric(float64(handled.Load())/b.Elapsed().Seconds(), "facts/s")
	cancel()
	running.Wait()
}
