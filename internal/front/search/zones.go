package search

import (
	"encoding/json"
	"net/http"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/search/fleet"
)

// Zones is the answer of GET /api/v1/zones.
type Zones struct {
	Zones []fleet.Zone `json:"zones"`
}

// ZoneSwitch is the body of PUT /api/v1/zones/{name}.
type ZoneSwitch struct {
	On *bool `json:"on"`
}

// errOneProcess is the error of the zone endpoints where there are no zones.
var errOneProcess = courant.Errorf(courant.Conflict, "this search runs in one process and has no zones; set index.listen and run several processes with --zone")

func (s *Search) zones(w http.ResponseWriter, r *http.Request) {
	if s.Fleet == nil {
		web.Fail(w, r, s.Log, errOneProcess)
		return
	}
	zones, err := s.Fleet.Zones(r.Context())
	if err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	web.JSON(w, http.StatusOK, Zones{zones})
}

func (s *Search) switchZone(w http.ResponseWriter, r *http.Request, who courant.Visitor) {
	if s.Fleet == nil {
		web.Fail(w, r, s.Log, errOneProcess)
		return
	}
	var to ZoneSwitch
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&to); err != nil || to.On == nil {
		web.Fail(w, r, s.Log, courant.Errorf(courant.Invalid, `the body must be {"on": true} or {"on": false}`))
		return
	}
	if err := s.Desk.SwitchZone(r.Context(), who, s.Fleet, r.PathValue("name"), *to.On); err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	s.zones(w, r)
}
