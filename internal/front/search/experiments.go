package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
)

// experiment gives a fraction of the users a share or another reranker, and compares
// them with a control group of the same size.
type experiment struct {
	name     string
	users    float64 // fraction of users; the control group has as many
	share    float64
	reranker *reranker // nil for the usual one
}

// parseExperiments reads "NAME users=0.02 share=0.7 reranker=FILE".
func parseExperiments(lines, signals []string) (all []experiment, err error) {
	for _, line := range lines {
		e := experiment{share: 1}
		fields := strings.Fields(line)
		for i, f := range fields {
			name, value, is := strings.Cut(f, "=")
			if i == 0 && !is {
				e.name = f
				continue
			}
			if name == "reranker" || name == "second" { // its name until version 0.2
				if e.reranker, err = openReranker(value, signals); err != nil {
					return nil, fmt.Errorf("search.experiments: %q: %w", line, err)
				}
				continue
			}
			part, err := strconv.ParseFloat(value, 64)
			switch {
			case err != nil || !(part > 0 && part <= 1):
				return nil, courant.Errorf(courant.Invalid, "search.experiments: %q: %s must be above 0 and at most 1", line, f)
			case name == "users" && part <= 0.5:
				e.users = part
			case name == "share":
				e.share = part
			default:
				return nil, courant.Errorf(courant.Invalid, "search.experiments: %q: %s must be users= (up to 0.5), share= or reranker=", line, f)
			}
		}
		if e.name == "" || e.users == 0 || slices.ContainsFunc(all, func(o experiment) bool { return o.name == e.name }) {
			return nil, courant.Errorf(courant.Invalid, "search.experiments: %q needs a unique name and users=", line)
		}
		all = append(all, e)
	}
	return all, nil
}

// arm is the experiment of a user, and the group there.
type arm struct {
	user       string // a digest; "" if there is no user
	experiment string
	name       string // cut or control
	share      float64
	reranker   *reranker
}

// String is the experiment and the arm, "" for none.
func (a arm) String() string {
	if a.experiment == "" {
		return ""
	}
	return a.experiment + ":" + a.name
}

// armOf is the arm of a user, always the same one. A user is in at most one experiment:
// the first whose fraction includes the user's hash.
func (s *Search) armOf(user string) arm {
	if user == "" {
		return arm{share: 1}
	}
	sum := sha256.Sum256([]byte("user " + user))
	a := arm{user: hex.EncodeToString(sum[:8]), share: 1}
	for _, e := range s.experiments {
		sum := sha256.Sum256([]byte(e.name + "\x00" + user))
		switch at := float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53); {
		case at < e.users:
			a.experiment, a.name, a.share, a.reranker = e.name, "cut", e.share, e.reranker
			return a
		case at < 2*e.users:
			a.experiment, a.name = e.name, "control"
			return a
		}
	}
	return a
}

// exposed counts the queries of experiments until they are stored.
type exposed struct {
	// mu guards counts.
	mu     sync.Mutex
	counts map[[2]string]int
}

func (e *exposed) add(a arm) {
	if a.experiment == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counts == nil {
		e.counts = map[[2]string]int{}
	}
	e.counts[[2]string{a.experiment, a.name}]++
}

// count stores the number of queries of the experiments. After an error it keeps them.
func (s *Search) count(ctx context.Context) error {
	s.exposed.mu.Lock()
	counts := s.exposed.counts
	s.exposed.counts = nil
	s.exposed.mu.Unlock()
	if len(counts) == 0 {
		return nil
	}
	err := s.Store.Write(ctx, func(tx *store.Tx) error {
		day := tx.Now().UnixMilli() / (24 * 3600 * 1000)
		for a, n := range counts {
			if _, err := tx.Exec(addExposed, a[0], a[1], day, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.exposed.mu.Lock()
		defer s.exposed.mu.Unlock()
		for a, n := range s.exposed.counts {
			counts[a] += n
		}
		s.exposed.counts = counts
	}
	return err
}

// Arm is the result of one arm of an experiment.
type Arm struct {
	Queries         int64   `json:"queries"`
	Clicks          int64   `json:"clicks"`
	Orders          int64   `json:"orders"`
	ClicksPerQuery  float64 `json:"clicks_per_query"`
	OrdersPerQuery  float64 `json:"orders_per_query"`
	squares, oquare int64
}

// Comparison is the loss of the cut group against the control group: a fraction of the
// control's clicks or orders per query, with its 95 % confidence interval.
type Comparison struct {
	Lost float64 `json:"lost"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Outcome is the report on an experiment.
type Outcome struct {
	Name    string     `json:"name"`
	Share   float64    `json:"share"` // 0 if it is no longer configured
	Cut     Arm        `json:"cut"`
	Control Arm        `json:"control"`
	Clicks  Comparison `json:"clicks_lost"`
	Orders  Comparison `json:"orders_lost"`
}

// Outcomes are all experiments. LargestCut is the smallest share whose loss of clicks is
// at most Budget with 97.5 % confidence, 1 if there is none.
type Outcomes struct {
	Experiments []Outcome `json:"experiments"`
	Budget      float64   `json:"budget"`
	LargestCut  float64   `json:"largest_cut"`
}

// report returns the results of the experiments. Parameter: budget, the fraction of
// clicks that may be lost (0.01).
func (s *Search) report(w http.ResponseWriter, r *http.Request) {
	given, err := web.Query(r)
	p := parameters{v: given, err: err}
	budget := 0.01
	if p.v.Get("budget") != "" {
		budget = p.share("budget")
	}
	if p.err != nil {
		web.Fail(w, r, s.Log, p.err)
		return
	}
	arms, err := s.arms(r.Context())
	if err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	out := Outcomes{Experiments: []Outcome{}, Budget: budget, LargestCut: 1}
	for name, of := range arms {
		o := Outcome{Name: name, Cut: *of["cut"], Control: *of["control"]}
		for _, e := range s.experiments {
			if e.name == name {
				o.Share = e.share
			}
		}
		o.Clicks = compare(o.Cut.Queries, o.Cut.Clicks, o.Cut.squares, o.Control.Queries, o.Control.Clicks, o.Control.squares)
		o.Orders = compare(o.Cut.Queries, o.Cut.Orders, o.Cut.oquare, o.Control.Queries, o.Control.Orders, o.Control.oquare)
		if o.Share > 0 && o.Control.Clicks > 0 && o.Clicks.High <= budget {
			out.LargestCut = min(out.LargestCut, o.Share)
		}
		out.Experiments = append(out.Experiments, o)
	}
	slices.SortFunc(out.Experiments, func(a, b Outcome) int { return cmp.Compare(a.Name, b.Name) })
	web.JSON(w, http.StatusOK, out)
}

// arms reads the sums of all arms.
func (s *Search) arms(ctx context.Context) (map[string]map[string]*Arm, error) {
	all := map[string]map[string]*Arm{}
	of := func(experiment, name string) *Arm {
		if all[experiment] == nil {
			all[experiment] = map[string]*Arm{"cut": {}, "control": {}}
		}
		if all[experiment][name] == nil {
			all[experiment][name] = &Arm{}
		}
		return all[experiment][name]
	}
	err := s.Store.Read(ctx, func(r store.Reader) error {
		if err := r.Rows(func(rows store.Rows) error {
			var experiment, name string
			var n int64
			err := rows.Scan(&experiment, &name, &n)
			of(experiment, name).Queries = n
			return err
		}, sumExposed); err != nil {
			return err
		}
		return r.Rows(func(rows store.Rows) error {
			var experiment, name string
			var a Arm
			err := rows.Scan(&experiment, &name, &a.Clicks, &a.squares, &a.Orders, &a.oquare)
			a.Queries = of(experiment, name).Queries
			if a.Queries > 0 {
				a.ClicksPerQuery, a.OrdersPerQuery = float64(a.Clicks)/float64(a.Queries), float64(a.Orders)/float64(a.Queries)
			}
			*of(experiment, name) = a
			return err
		}, sumClicks)
	})
	return all, err
}

// compare is the fraction that was lost, with the 95 % confidence interval of a ratio of
// two means by the delta method, from the number of queries, the sum and the sum of
// squares of both groups.
func compare(n1, sum1, squares1, n0, sum0, squares0 int64) Comparison {
	if n1 < 2 || n0 < 2 || sum0 == 0 {
		return Comparison{Low: -1, High: 1}
	}
	m1, v1 := moments(n1, sum1, squares1)
	m0, v0 := moments(n0, sum0, squares0)
	lost := 1 - m1/m0
	half := 1.96 * math.Sqrt(v1/(m0*m0)+v0*m1*m1/(m0*m0*m0*m0))
	return Comparison{lost, lost - half, lost + half}
}

// moments are a mean and the variance of the mean.
func moments(n, sum, squares int64) (mean, variance float64) {
	mean = float64(sum) / float64(n)
	return mean, max(float64(squares)/float64(n)-mean*mean, 0) / float64(n-1)
}
