package bus

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// waiting holds the jobs that wait for a retry, outside the workers and outside the
// driver. It is bounded, and its jobs are lost when the process ends: the stages sweep
// their tables.
type waiting struct {
	most int
	// mu guards jobs.
	mu     sync.Mutex
	jobs   schedule
	sooner chan struct{} // has a value when another job has become the next
}

// add returns false if the limit is reached.
func (w *waiting) add(j job, d time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.jobs) >= w.most {
		return false
	}
	due := time.Now().Add(d)
	heap.Push(&w.jobs, timed{j, due})
	if w.jobs[0].due.Equal(due) {
		notify(w.sooner)
	}
	return true
}

// run sends jobs to out when they are due, until ctx ends.
func (w *waiting) run(ctx context.Context, out chan<- job) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		j, d := w.next()
		if d == 0 {
			if !send(ctx, out, j) {
				return
			}
			continue
		}
		timer.Reset(d)
		select {
		case <-timer.C:
		case <-w.sooner:
		case <-ctx.Done():
			return
		}
	}
}

// next removes and returns the next job if it is due, with 0; otherwise it returns how
// long to wait.
func (w *waiting) next() (job, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.jobs) == 0 {
		return job{}, time.Hour
	}
	if d := time.Until(w.jobs[0].due); d > 0 {
		return job{}, d
	}
	return heap.Pop(&w.jobs).(timed).job, 0
}

// notify does not block: one pending notification is enough.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

type timed struct {
	job
	due time.Time
}

// schedule is a heap ordered by due time.
type schedule []timed

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].due.Before(s[j].due) }
func (s schedule) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *schedule) Push(x any)        { *s = append(*s, x.(timed)) }
func (s *schedule) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	(*s)[last] = timed{}
	*s = (*s)[:last]
	return x
}
