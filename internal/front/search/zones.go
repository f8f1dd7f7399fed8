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

// ZoneSwitch is what PUT /api/v1/zones/{name} takes.
type ZoneSwitch struct {
	On *bool `json:"on"`
}

// errOneProcess is for who asks for zones where there are none.
var errOneProcess = courant.Errorf(courant.Conflict, "this search is one process without zones; zones are those of processes that run with --zone and search.listen")

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
		web.Fail(w, r, s.Log, courant.Errorf(courant.Invalid, `the body has to be {"on": true} or {"on": false}`))
		return
	}
	if err := s.Desk.SwitchZone(r.Context(), who, s.Fleet, r.PathValue("name"), *to.On); err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	s.zones(w, r)
}
