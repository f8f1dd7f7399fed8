package robot

import (
	"container/heap"
	"slices"
	"time"
)

// task is one request to a host. There may be millions, so it is small.
type task struct {
	id       taskID
	wanted   int64  // earlier first
	trail    *trail // redirects so far; nil at first
	priority int32  // lower first
}

// taskID names a poll by its source, an errand by a number below 0 in source, or a
// wanted address by its digest.
type taskID struct {
	source int64
	hash   [16]byte
}

// Wanted addresses carry their own priority; polls go before all of them.
const pollPriority = 0

// window is how many wanted addresses of a host are in memory; the others wait in
// the store until lowWater or fewer are left.
const (
	window     = 16
	lowWater   = 4
	mostUrgent = 4 * window // including those that are more urgent than the ones in memory
)

// queue holds tasks by host, and knows which host is ready next. Its cost is
// logarithmic in the hosts and in the tasks of one host. It is not safe for
// concurrent use.
type queue struct {
	connections int              // per host at once
	hosts       map[string]*host // by origin
	ready       readyHeap
	polls       map[int64]bool // sources that are queued or in hand
	groups      groups
	hungry      []*host // hosts with few tasks left in memory and perhaps more in the store
}

// host returns the host of an origin. A new one gets its first request at the time first or later.
func (q *queue) host(origin string, part int, first time.Time) *host {
	h := q.hosts[origin]
	if h == nil {
		if q.hosts == nil {
			q.hosts, q.polls = map[string]*host{}, map[int64]bool{}
		}
		h = &host{origin: origin, part: part, next: first, at: -1}
		q.hosts[origin] = h
	}
	return h
}

// add puts a task into the queue of a host. It returns false if the task is queued
// already, or stays in the store for now.
func (q *queue) add(h *host, t task) bool {
	switch {
	case t.id.source != 0 && q.polls[t.id.source], t.id.source == 0 && h.has(t.id):
		return false
	case t.id.source != 0:
		q.polls[t.id.source] = true
	case h.wanted >= window && (t.priority >= h.worst || h.wanted >= mostUrgent):
		h.more = true
		return false
	default:
		h.wanted++
		h.worst = max(h.worst, t.priority)
	}
	heap.Push(&h.tasks, t)
	q.place(h)
	return true
}

// pop takes the next task of the host that is ready first, or returns how long to
// wait for one; a negative wait means that there is none.
func (q *queue) pop(now time.Time) (*host, task, time.Duration) {
	for len(q.ready) > 0 {
		h := q.ready[0]
		if wait := h.next.Sub(now); wait > 0 {
			return nil, task{}, wait
		}
		if turn := q.groups.turn(h, now); turn.After(now) {
			h.next = turn
			heap.Fix(&q.ready, h.at)
			continue
		}
		t := heap.Pop(&h.tasks).(task)
		h.hands = append(h.hands, t.id)
		q.place(h)
		return h, t, 0
	}
	return nil, task{}, -1
}

// done ends a task that pop returned; the host's next request is at next or later.
func (q *queue) done(h *host, t task, next time.Time) {
	delete(q.polls, t.id.source)
	if t.id.source == 0 {
		if h.wanted--; h.wanted == 0 {
			h.worst = 0
		}
	}
	q.leave(h, t, next)
	q.feed(h)
}

// feed marks a host hungry when few of its tasks are left in memory.
func (q *queue) feed(h *host) {
	if h.more && !h.hungry && !h.gone && h.wanted <= lowWater {
		h.hungry = true
		q.hungry = append(q.hungry, h)
	}
}

// back returns a task from pop to its host's queue.
func (q *queue) back(h *host, t task, next time.Time) {
	if h.gone {
		q.done(h, t, next) // the new robot finds the task in the store
		return
	}
	heap.Push(&h.tasks, t)
	q.leave(h, t, next)
}

func (q *queue) leave(h *host, t task, next time.Time) {
	at := slices.Index(h.hands, t.id)
	h.hands = slices.Delete(h.hands, at, at+1)
	if next.After(h.next) {
		h.next = next
	}
	q.place(h)
}

// place keeps the host in the heap exactly while a task of it may be started.
func (q *queue) place(h *host) {
	wanted := !h.gone && len(h.tasks) > 0 && len(h.hands) < max(q.connections, 1)
	switch {
	case wanted && h.at < 0:
		heap.Push(&q.ready, h)
	case wanted:
		heap.Fix(&q.ready, h.at)
	case h.at >= 0:
		heap.Remove(&q.ready, h.at)
	}
}

// drop forgets the hosts of some partitions, with their tasks.
func (q *queue) drop(parts map[int]bool) {
	for origin, h := range q.hosts {
		if !parts[h.part] {
			continue
		}
		for _, t := range h.tasks {
			delete(q.polls, t.id.source)
		}
		h.tasks, h.gone = nil, true
		q.remove(origin, h)
	}
}

// remove forgets a host.
func (q *queue) remove(origin string, h *host) {
	q.place(h)
	delete(q.hosts, origin)
}

// forget drops idle hosts that are ready; they are read from the store again when
// they are needed.
func (q *queue) forget(now time.Time) {
	for origin, h := range q.hosts {
		if len(h.tasks) == 0 && len(h.hands) == 0 && !h.hungry && h.next.Before(now.Add(-time.Minute)) {
			q.remove(origin, h)
		}
	}
	q.groups.forget(now)
}

// readyHeap orders hosts by the earliest time of their next request.
type readyHeap []*host

func (r readyHeap) Len() int           { return len(r) }
func (r readyHeap) Less(i, j int) bool { return r[i].next.Before(r[j].next) }
func (r readyHeap) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].at, r[j].at = i, j
}
func (r *readyHeap) Push(x any) {
	h := x.(*host)
	h.at = len(*r)
	*r = append(*r, h)
}
func (r *readyHeap) Pop() any {
	old := *r
	h := old[len(old)-1]
	h.at = -1
	old[len(old)-1] = nil
	*r = old[:len(old)-1]
	return h
}

// taskHeap orders the tasks of one host.
type taskHeap []task

func (t taskHeap) Len() int      { return len(t) }
func (t taskHeap) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t taskHeap) Less(i, j int) bool {
	if t[i].priority != t[j].priority {
		return t[i].priority < t[j].priority
	}
	return t[i].wanted < t[j].wanted
}
func (t *taskHeap) Push(x any) { *t = append(*t, x.(task)) }
func (t *taskHeap) Pop() any {
	old := *t
	last := old[len(old)-1]
	*t = old[:len(old)-1]
	return last
}
