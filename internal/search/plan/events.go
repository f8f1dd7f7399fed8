package plan

import "time"

// kind is the kind of an event.
type kind uint8

const (
	arrives  kind = iota // a query
	finishes             // a request, at its server
	ticks                // a server's gate
	second               // ends
	switches             // a zone
)

// event is something that happens at a time.
type event struct {
	at      time.Duration
	order   uint64 // of events at one time
	kind    kind
	request *request
	server  *server
	to      Switch
}

// events is a heap with the next event first.
type events struct {
	all   []event
	count uint64
}

func (e *events) add(v event) {
	e.count++
	v.order = e.count
	e.all = append(e.all, v)
	i := len(e.all) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.all[i].before(&e.all[up]) {
			break
		}
		e.all[i], e.all[up] = e.all[up], e.all[i]
		i = up
	}
}

func (e *events) next() event {
	first := e.all[0]
	n := len(e.all) - 1
	e.all[0] = e.all[n]
	e.all[n] = event{}
	e.all = e.all[:n]
	for i := 0; ; {
		least := i
		for _, down := range []int{2*i + 1, 2*i + 2} {
			if down < n && e.all[down].before(&e.all[least]) {
				least = down
			}
		}
		if least == i {
			return first
		}
		e.all[i], e.all[least] = e.all[least], e.all[i]
		i = least
	}
}

func (a *event) before(b *event) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}
