package faultbus_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/bustest"
	"github.com/courant-platform/courant/internal/port/bus/faultbus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
)

func TestWithoutFaultsItPassesTheSuite(t *testing.T) {
	bustest.Run(t, func(*testing.T) bus.Driver { return &faultbus.Driver{Driver: &membus.Driver{}} })
}

var numbers = bus.Topic[int]{Name: "number.drawn"}

// through publishes 1,000 numbers and returns what arrives within an hour, in order of
// arrival.
func through(t *testing.T, d *faultbus.Driver) (arrived []int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d.Driver = &membus.Driver{}
		ctx, cancel := context.WithCancel(t.Context())
		handler := numbers.Handle("parse", 1, func(_ context.Context, n int) error {
			arrived = append(arrived, n)
			return nil
		})
		b := &bus.Bus{Driver: d}
		go b.Run(ctx, handler)
		synctest.Wait()
		for n := 0; n < 1000; n += 10 {
			name, payloads := numbers.Encode(n, n+1, n+2, n+3, n+4, n+5, n+6, n+7, n+8, n+9)
			if err := b.Publish(ctx, name, payloads); err != nil && !errors.Is(err, faultbus.Refused) {
				t.Error(err)
			}
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		cancel()
		d.Close()
		synctest.Wait()
	})
	return arrived
}

func distinct(numbers []int) int {
	return len(slices.Compact(slices.Sorted(slices.Values(numbers))))
}

func TestEachFaultIsInjected(t *testing.T) {
	tests := []struct {
		name   string
		driver *faultbus.Driver
		as     func(got []int, harm faultbus.Harm) bool
	}{
		{"no fault", &faultbus.Driver{}, func(got []int, harm faultbus.Harm) bool {
			return distinct(got) == 1000 && slices.IsSorted(got) && harm == faultbus.Harm{}
		}},
		{"some are lost", &faultbus.Driver{Drop: 0.3}, func(got []int, harm faultbus.Harm) bool {
			return distinct(got) == 1000-harm.Dropped && 200 < harm.Dropped && harm.Dropped < 400
		}},
		{"all are lost", &faultbus.Driver{Drop: 1}, func(got []int, harm faultbus.Harm) bool {
			return len(got) == 0 && harm.Dropped == 1000
		}},
		{"some come twice", &faultbus.Driver{Repeat: 0.3}, func(got []int, harm faultbus.Harm) bool {
			return distinct(got) == 1000 && len(got) == 1000+harm.Repeated && harm.Repeated > 200
		}},
		{"some publishing fails", &faultbus.Driver{Fail: 0.3}, func(got []int, harm faultbus.Harm) bool {
			return len(got) == 1000-10*harm.Failed && harm.Failed > 20
		}},
		{"some change their order", &faultbus.Driver{Reorder: 0.3}, func(got []int, harm faultbus.Harm) bool {
			return distinct(got) == 1000 && !slices.IsSorted(got) && harm.Reordered > 20
		}},
		{"some come late", &faultbus.Driver{Delay: 0.3, MaxDelay: time.Minute}, func(got []int, harm faultbus.Harm) bool {
			return distinct(got) == 1000 && !slices.IsSorted(got) && harm.Delayed > 200
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := through(t, tt.driver)
			if !tt.as(got, tt.driver.Harm()) {
				t.Errorf("%d arrived, %d different; %+v", len(got), distinct(got), tt.driver.Harm())
			}
		})
	}
}

func TestTheSameSeedInjectsTheSameFaults(t *testing.T) {
	faulty := func(seed uint64) *faultbus.Driver {
		return &faultbus.Driver{Seed: seed, Fail: 0.1, Drop: 0.2, Repeat: 0.2, Reorder: 0.3, Delay: 0.2}
	}
	first, again, other := through(t, faulty(1)), through(t, faulty(1)), through(t, faulty(2))
	if !slices.Equal(first, again) {
		t.Error("the same seed injected different faults")
	}
	if slices.Equal(first, other) {
		t.Error("another seed injected the same faults")
	}
}
