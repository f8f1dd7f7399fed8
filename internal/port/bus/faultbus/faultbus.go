// Package faultbus is the fault injector of the bus: it wraps a driver and loses,
// repeats, delays and reorders what is published. What it does to the nth message of
// a topic depends only on the seed, the topic and n.
//
// The bus promises no more than this, so publishers and subscribers must tolerate all
// of these faults.
package faultbus

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/port/bus"
)

// Refused is the error of a Publish that fails because of Driver.Fail.
var Refused = errors.New("faultbus: injected publish failure")

// Driver is a bus.Driver that injects faults into another one. Probabilities are from
// 0, never, to 1, always.
type Driver struct {
	bus.Driver
	Seed uint64

	Fail    float64 // that a Publish fails as a whole
	Drop    float64 // that a message is lost
	Repeat  float64 // that a message is published twice
	Reorder float64 // that the messages of a Publish are shuffled
	Delay   float64 // that a message is published later; decided separately for each copy

	MaxDelay time.Duration // 1 s if 0

	// mu guards the fields below, except ending.
	mu     sync.Mutex
	dice   map[string]*rand.Rand // by topic
	late   map[*time.Timer]struct{}
	ending sync.WaitGroup // counts late
	closed bool
	harm   Harm
}

var _ bus.Driver = (*Driver)(nil)

// Harm counts injected faults.
type Harm struct{ Failed, Dropped, Repeated, Reordered, Delayed int }

// Harm returns the faults injected so far.
func (d *Driver) Harm() Harm {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.harm
}

// Publish publishes the payloads that are neither dropped nor delayed; delayed ones
// follow later, even if ctx has ended by then.
func (d *Driver) Publish(ctx context.Context, topic string, payloads [][]byte) error {
	now, err := d.inject(ctx, topic, payloads)
	if err != nil || len(now) == 0 {
		return err
	}
	return d.Driver.Publish(ctx, topic, now)
}

// inject injects faults and returns the payloads to publish now.
func (d *Driver) inject(ctx context.Context, topic string, payloads [][]byte) ([][]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, bus.Closed
	}
	dice := d.topicDice(topic)
	if hit(dice, d.Fail, &d.harm.Failed) {
		return nil, Refused
	}
	var now [][]byte
	for _, payload := range payloads {
		copies := 1
		if hit(dice, d.Drop, &d.harm.Dropped) {
			continue
		}
		if hit(dice, d.Repeat, &d.harm.Repeated) {
			copies = 2
		}
		for range copies {
			if hit(dice, d.Delay, &d.harm.Delayed) {
				d.postpone(context.WithoutCancel(ctx), topic, payload, dice)
			} else {
				now = append(now, payload)
			}
		}
	}
	if hit(dice, d.Reorder, &d.harm.Reordered) {
		dice.Shuffle(len(now), func(i, j int) { now[i], now[j] = now[j], now[i] })
	}
	return now, nil
}

func hit(dice *rand.Rand, probability float64, count *int) bool {
	if dice.Float64() >= probability {
		return false
	}
	*count++
	return true
}

func (d *Driver) topicDice(topic string) *rand.Rand {
	dice := d.dice[topic]
	if dice != nil {
		return dice
	}
	if d.dice == nil {
		d.dice = map[string]*rand.Rand{}
	}
	hash := fnv.New64a()
	hash.Write([]byte(topic))
	dice = rand.New(rand.NewPCG(d.Seed, hash.Sum64()))
	d.dice[topic] = dice
	return dice
}

// postpone publishes the payload later, unless the driver is closed by then.
func (d *Driver) postpone(ctx context.Context, topic string, payload []byte, dice *rand.Rand) {
	if d.late == nil {
		d.late = map[*time.Timer]struct{}{}
	}
	wait := time.Duration(dice.Int64N(int64(cmp.Or(d.MaxDelay, time.Second)))) + 1
	d.ending.Add(1)
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() { // waits for d.mu, by which time timer is set
		defer d.ending.Done()
		d.mu.Lock()
		delete(d.late, timer)
		d.mu.Unlock()
		_ = d.Driver.Publish(ctx, topic, [][]byte{payload}) // a failure is one more fault
	})
	d.late[timer] = struct{}{}
}

// Close drops delayed messages and closes the wrapped driver.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.closed = true
	for timer := range d.late {
		if timer.Stop() {
			d.ending.Done()
		}
	}
	clear(d.late)
	d.mu.Unlock()
	d.ending.Wait()
	return d.Driver.Close()
}
