package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/courant-platform/courant"
)

// Zone is a group of replicas that may be lost at once, such as a data centre.
type Zone struct {
	Name     string    `json:"name"`
	On       bool      `json:"on"`
	Replicas []Replica `json:"replicas"`
}

// Replica is a replica of a zone, as this front sees it.
type Replica struct {
	Name     string  `json:"name"`
	Address  string  `json:"address"`
	State    string  `json:"state"` // ready, silent, behind, or of another engine
	Shards   []int   `json:"shards"`
	Version  int64   `json:"version"`
	Share    float64 `json:"share"`
	InFlight int     `json:"in_flight"`
	Waiting  int     `json:"waiting"`
}

// Zones are all zones with their replicas, sorted by name. They are read from the store.
func (f *Fleet) Zones(ctx context.Context) ([]Zone, error) {
	if err := f.read(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	zones := map[string]*Zone{}
	zone := func(name string) *Zone {
		if zones[name] == nil {
			zones[name] = &Zone{Name: name, On: !f.off[name], Replicas: []Replica{}}
		}
		return zones[name]
	}
	for name := range f.off {
		zone(name)
	}
	v := f.view.Load()
	for _, n := range f.nodes {
		z, is := zone(n.zone), &n.state
		r := Replica{Name: n.name, Address: n.address, State: f.stateOf(v, n), Shards: is.Held, Version: is.Version, Share: is.Report.Share,
			InFlight: is.Report.InFlight, Waiting: is.Report.Waiting}
		z.Replicas = append(z.Replicas, r)
	}
	var all []Zone
	for _, z := range zones {
		slices.SortFunc(z.Replicas, func(a, b Replica) int { return strings.Compare(a.Name, b.Name) })
		all = append(all, *z)
	}
	slices.SortFunc(all, func(a, b Zone) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (f *Fleet) stateOf(v *view, n *node) string {
	switch {
	case !n.heard || n.silent >= silences:
		return "silent"
	case !n.state.Ready:
		return "behind"
	case n.state.Engine != f.engine:
		return "of another engine"
	case v == nil || v.nodes[n.name] == nil:
		return "behind"
	}
	return "ready"
}

// MaySwitch is nil if a zone can be switched on or off: NotFound if it does not exist,
// Conflict if it is the last one that is on.
func (f *Fleet) MaySwitch(ctx context.Context, name string, on bool) error {
	zones, err := f.Zones(ctx)
	if err != nil {
		return err
	}
	var known, others []string
	for _, z := range zones {
		known = append(known, z.Name)
		if z.On && z.Name != name {
			others = append(others, z.Name)
		}
	}
	if !slices.Contains(known, name) {
		return courant.Errorf(courant.NotFound, "zone %q does not exist; the zones are %s", name, strings.Join(known, ", "))
	}
	if !on && len(others) == 0 {
		return courant.Errorf(courant.Conflict, "zone %q is the last one that is on; switching it off would stop the search", name)
	}
	return nil
}

// Ready is nil if this front can take queries: its zone is on, and all shards have a
// replica.
func (f *Fleet) Ready(context.Context) error {
	f.mu.Lock()
	off := f.off[f.Zone]
	f.mu.Unlock()
	switch v := f.view.Load(); {
	case off:
		return courant.Errorf(courant.Busy, "zone %s is switched off", f.Zone)
	case f.Index != nil && !f.Index.Status().Ready:
		return courant.Errorf(courant.Busy, "the index of this process is still being built") // queries would slow that down
	case v == nil || len(v.groups) == 0:
		return errNobody
	case len(v.missing) > 0:
		return courant.Errorf(courant.Busy, "shards %v have no replica", v.missing)
	}
	return nil
}
