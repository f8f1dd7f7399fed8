package robot

import (
	"container/heap"
	"time"
)

// task is one thing to ask a host for.
type task struct {
	source int64  // a poll, if not 0
	hash   string // else the digest of a wanted address
	url    string // where redirects have led, "" at first
	hops   int

	priority int   // lower first
	wanted   int64 // earlier first
}

// The priorities. A wanted address carries its own; polls go before all.
const pollPriority = 0

func (t task) id() taskID { return taskID{t.source, t.hash} }

type taskID struct {
	source int64
	hash   string
}

// queue holds what is to be asked, by host, and knows which host may be asked
// next. Its cost is logarithmic in the hosts and in the tasks of one host. It is
// not safe for use by many at once.
type queue struct {
	connections int              // at once per host
	hosts       map[string]*host // by origin
	ready       readyHeap
	known       map[taskID]bool
}

// add puts a task into the queue of its host; false if it is there already.
// A new host may be asked from the time first on.
func (q *queue) add(origin string, part int, t task, first time.Time) bool {
	if q.known[t.id()] {
		return false
	}
	if q.known == nil {
		q.known, q.hosts = map[taskID]bool{}, map[string]*host{}
	}
	h := q.hosts[origin]
	if h == nil {
		h = &host{origin: origin, part: part, next: first, at: -1}
		q.hosts[origin] = h
	}
	q.known[t.id()] = true
	heap.Push(&h.tasks, t)
	q.place(h)
	return true
}

// pop takes the next task of the host that may be asked first, or returns how
// long to wait for one; a negative wait is for ever.
func (q *queue) pop(now time.Time) (*host, task, time.Duration) {
	if len(q.ready) == 0 {
		return nil, task{}, -1
	}
	h := q.ready[0]
	if wait := h.next.Sub(now); wait > 0 {
		return nil, task{}, wait
	}
	t := heap.Pop(&h.tasks).(task)
	h.busy++
	q.place(h)
	return h, t, 0
}

// done ends a task that pop gave; the host may be asked again from next on.
func (q *queue) done(h *host, t task, next time.Time) {
	delete(q.known, t.id())
	q.leave(h, next)
}

// back puts a task that pop gave back into its host's queue.
func (q *queue) back(h *host, t task, next time.Time) {
	if h.gone {
		q.done(h, t, next) // its robot finds the task in the store
		return
	}
	heap.Push(&h.tasks, t)
	q.leave(h, next)
}

func (q *queue) leave(h *host, next time.Time) {
	h.busy--
	if next.After(h.next) {
		h.next = next
	}
	q.place(h)
}

// place keeps the host in the heap exactly while it may be given a task.
func (q *queue) place(h *host) {
	wanted := !h.gone && len(h.tasks) > 0 && h.busy < max(q.connections, 1)
	switch {
	case wanted && h.at < 0:
		heap.Push(&q.ready, h)
	case wanted:
		heap.Fix(&q.ready, h.at)
	case h.at >= 0:
		heap.Remove(&q.ready, h.at)
	}
}

// drop forgets what waits for the hosts of a part, and what is known of them.
func (q *queue) drop(part int) {
	for origin, h := range q.hosts {
		if h.part != part {
			continue
		}
		for _, t := range h.tasks {
			delete(q.known, t.id())
		}
		h.tasks, h.gone = nil, true
		q.place(h)
		delete(q.hosts, origin)
	}
}

// forget lets go of idle hosts that may be asked at any time, which are read
// from the store again when they are needed.
func (q *queue) forget(now time.Time) {
	for origin, h := range q.hosts {
		if len(h.tasks) == 0 && h.busy == 0 && h.next.Before(now.Add(-time.Minute)) {
			delete(q.hosts, origin)
		}
	}
}

// readyHeap orders hosts by the time from which they may be asked.
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
