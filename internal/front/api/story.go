package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"sort"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
)

// Story is what happened to a document.
type Story struct {
	URL     string         `json:"url"`
	Sources []string       `json:"sources"`
	State   string         `json:"state"` // unknown, found, waiting, ready, live or withdrawn
	Missing int            `json:"missing"`
	Steps   []courant.Step `json:"steps"`
}

// story lists what happened to the document of an address, in order of time.
func (a *API) story(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	address, err := link.Canonical(web.Param(r, "url"))
	if err != nil {
		return 0, nil, err
	}
	key := link.Digest(address)
	s := Story{URL: address, State: "unknown", Sources: []string{}, Steps: []courant.Step{}}
	err = a.Store.Read(r.Context(), func(q store.Reader) error { return s.read(q, key[:]) })
	if err == nil && len(s.Steps) == 0 {
		err = courant.Errorf(courant.NotFound, "nothing is known about %s", address)
	}
	return http.StatusOK, s, err
}

func (s *Story) read(q store.Reader, key []byte) error {
	withdrawn := false
	var id int64
	switch err := q.Row(pageState, key).Scan(&withdrawn, &id); {
	case err == nil && withdrawn:
		s.State = "withdrawn"
	case err == nil:
		s.State = "live"
	case !store.NoRow(err):
		return err
	}
	err := q.Rows(func(rows store.Rows) error {
		var name string
		err := rows.Scan(&name)
		s.Sources = append(s.Sources, name)
		return err
	}, readSourcesOf, key)
	if err != nil {
		return err
	}
	if err := q.Rows(func(rows store.Rows) error {
		var trace string
		err := rows.Scan(&trace)
		s.add(trace)
		return err
	}, readEvents, key); err != nil {
		return err
	}
	s.begin(id)
	return q.Rows(func(rows store.Rows) error {
		var state int
		var trace string
		err := rows.Scan(&state, &s.Missing, &trace)
		s.add(trace)
		s.State = map[int]string{0: "found", 1: "waiting", 2: "ready"}[state]
		return err
	}, readWaiting, key)
}

// begin adds the first step of a page of which no step is kept, because it came in a batch
// or long ago: its time is in the id.
func (s *Story) begin(id int64) {
	const first = "revision 1"
	if id == 0 || slices.ContainsFunc(s.Steps, func(step courant.Step) bool { return step.Note == first }) {
		return
	}
	s.Steps = append([]courant.Step{{At: courant.PageTime(id), Step: "kept", Note: first + "; its steps are not kept, because it came in a batch or long ago"}}, s.Steps...)
}

// add adds the steps of a trace, one JSON object per line.
func (s *Story) add(trace string) {
	for line := range strings.Lines(trace) {
		var step courant.Step
		if json.Unmarshal([]byte(line), &step) == nil {
			s.Steps = append(s.Steps, step)
		}
	}
	sort.SliceStable(s.Steps, func(i, j int) bool { return s.Steps[i].At.Before(s.Steps[j].At) })
}
