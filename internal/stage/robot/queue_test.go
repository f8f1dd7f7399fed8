package robot

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// put queues a task as add does; a new host's first request is at first or later.
func put(q *queue, origin string, part int, t task, first time.Time) bool {
	return q.add(q.host(origin, part, first), t)
}

func poll(source int64) task { return task{id: taskID{source: source}} }

func named(hash string) (id taskID) {
	copy(id.hash[:], hash)
	return id
}

// next pops a task; there must be one.
func next(t *testing.T, q *queue, now time.Time) (*host, task) {
	t.Helper()
	h, one, wait := q.pop(now)
	if h == nil {
		t.Fatalf("nothing may be asked for %v", wait)
	}
	return h, one
}

// none checks that no host is ready for a time.
func none(t *testing.T, q *queue, now time.Time, want time.Duration) {
	t.Helper()
	if h, one, wait := q.pop(now); h != nil || wait != want {
		t.Fatalf("got %+v after %v, want nothing for %v", one, wait, want)
	}
}

func TestAHostsTasksGoByPriorityThenAge(t *testing.T) {
	var q queue
	for _, one := range []task{
		{id: named("old picture"), priority: 2, wanted: 1}, {id: named("article"), priority: 1, wanted: 5}, {id: taskID{source: 2}, wanted: 9},
		{id: named("new picture"), priority: 2, wanted: 8}, {id: taskID{source: 1}, wanted: 7},
	} {
		put(&q, "http://a.example", 0, one, noon)
	}
	var got []string
	for range 5 {
		h, one := next(t, &q, noon)
		got = append(got, fmt.Sprint(one.id.source, string(bytes.TrimRight(one.id.hash[:], "\x00"))))
		q.done(h, one, noon)
	}
	if want := "[1 2 0article 0old picture 0new picture]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	none(t, &q, noon, -1)
}

func TestAHostWaitsForItsPaceAndOthersDoNot(t *testing.T) {
	var q queue
	for i := range int64(3) {
		put(&q, "http://a.example", 0, poll(1+i), noon)
		put(&q, "http://b.example", 1, poll(11+i), noon.Add(time.Second))
	}
	h, one := next(t, &q, noon)
	q.done(h, one, noon.Add(10*time.Second))
	none(t, &q, noon, time.Second)
	h, one = next(t, &q, noon.Add(time.Second))
	if h.origin != "http://b.example" {
		t.Fatalf("%s goes first", h.origin)
	}
	q.done(h, one, noon.Add(20*time.Second))
	none(t, &q, noon.Add(2*time.Second), 8*time.Second)
	if h, _ = next(t, &q, noon.Add(10*time.Second)); h.origin != "http://a.example" {
		t.Errorf("%s goes first", h.origin)
	}
}

func TestAHostHasOneConnectionUnlessMoreAreAllowed(t *testing.T) {
	for connections, want := range map[int]int{0: 1, 1: 1, 3: 3} {
		q := queue{connections: connections}
		for i := range int64(5) {
			put(&q, "http://a.example", 0, poll(1+i), noon)
		}
		n := 0
		for {
			if h, _, _ := q.pop(noon); h == nil {
				break
			}
			n++
		}
		if n != want {
			t.Errorf("connections %d: %d tasks at once", connections, n)
		}
	}
}

func TestATaskIsQueuedOnceUntilItIsDone(t *testing.T) {
	var q queue
	one := task{id: named("a")}
	if !put(&q, "http://a.example", 0, one, noon) || put(&q, "http://a.example", 0, one, noon) {
		t.Error("queued twice")
	}
	h, one := next(t, &q, noon)
	if put(&q, "http://a.example", 0, one, noon) {
		t.Error("queued while it is in hand")
	}
	q.back(h, one, noon)
	if put(&q, "http://a.example", 0, one, noon) {
		t.Error("queued while it waits again")
	}
	h, one = next(t, &q, noon)
	q.done(h, one, noon)
	if !put(&q, "http://a.example", 0, one, noon) {
		t.Error("not queued after it was done")
	}
}

func TestALaterRequestTimeIsNeverMadeEarlier(t *testing.T) {
	var q queue
	q.connections = 2
	put(&q, "http://a.example", 0, poll(1), noon)
	put(&q, "http://a.example", 0, poll(2), noon)
	put(&q, "http://a.example", 0, poll(3), noon)
	h, one := next(t, &q, noon)
	_, two := next(t, &q, noon)
	q.done(h, one, noon.Add(time.Hour)) // it answered Retry-After
	q.done(h, two, noon.Add(time.Second))
	none(t, &q, noon, time.Hour)
}

func TestADroppedPartitionIsForgottenAndOthersStay(t *testing.T) {
	var q queue
	put(&q, "http://a.example", 7, poll(1), noon)
	put(&q, "http://b.example", 7, poll(2), noon)
	put(&q, "http://c.example", 8, poll(3), noon)
	q.drop(map[int]bool{7: true})
	h, one := next(t, &q, noon)
	if one.id.source != 3 {
		t.Errorf("%+v of a dropped part is handed out", one)
	}
	q.done(h, one, noon)
	none(t, &q, noon, -1)
	if !put(&q, "http://a.example", 7, poll(1), noon) {
		t.Error("what was dropped cannot be queued again")
	}
}

func TestAnIdleHostIsForgottenOnceItMayBeAsked(t *testing.T) {
	var q queue
	for i, wait := range []time.Duration{0, time.Hour} {
		put(&q, fmt.Sprintf("http://%d.example", i), 0, poll(int64(1+i)), noon)
		h, one := next(t, &q, noon)
		q.done(h, one, noon.Add(wait))
	}
	q.forget(noon.Add(10 * time.Minute))
	if len(q.hosts) != 1 || q.hosts["http://1.example"] == nil {
		t.Errorf("%d hosts are known", len(q.hosts))
	}
}

func TestAHostHasFewTasksInMemoryHoweverManyNotificationsArrive(t *testing.T) {
	var q queue
	h := q.host("http://a.example", 0, noon)
	for i := range 10_000 {
		one := task{id: named(fmt.Sprint(i)), priority: int32(5 - i%3), wanted: int64(i)}
		q.add(h, one)
	}
	if len(h.tasks) > mostUrgent || !h.more {
		t.Errorf("%d tasks are in memory; more: %v", len(h.tasks), h.more)
	}
	_, one := next(t, &q, noon)
	if q.done(h, one, noon); one.priority != 3 {
		t.Errorf("the first has priority %d", one.priority)
	}
	for len(q.hungry) == 0 {
		h, one := next(t, &q, noon)
		q.done(h, one, noon)
	}
	if h.wanted > lowWater {
		t.Errorf("hungry with %d tasks", h.wanted)
	}
}
