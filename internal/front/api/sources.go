package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/port/store"
)

// Limits of one request that adds sources.
const (
	maxBody     = 16 << 20
	mostSources = 10_000
)

// addSources adds one source or an array of them.
func (a *API) addSources(w http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return 0, nil, courant.Errorf(courant.Invalid, "the body is larger than %d bytes or was cut off", maxBody)
	}
	if strings.HasPrefix(strings.TrimSpace(string(body)), "[") {
		var many []desk.NewSource
		if err := json.Unmarshal(body, &many); err != nil {
			return 0, nil, courant.Errorf(courant.Invalid, "the array of sources: %s", plainJSON(err))
		}
		if len(many) > mostSources {
			return 0, nil, courant.Errorf(courant.Invalid, "too many sources: %d in one request, at most %d are allowed", len(many), mostSources)
		}
		added, err := a.Desk.Add(r.Context(), who, many)
		return http.StatusOK, added, err
	}
	var one desk.NewSource
	if err := json.Unmarshal(body, &one); err != nil {
		return 0, nil, courant.Errorf(courant.Invalid, "the source: %s", plainJSON(err))
	}
	added, err := a.Desk.Add(r.Context(), who, []desk.NewSource{one})
	switch {
	case err != nil:
		return 0, nil, err
	case added[0].Error != "":
		return 0, nil, courant.Errorf(courant.Invalid, "%s", added[0].Error)
	case added[0].Known:
		return http.StatusOK, added[0], nil
	}
	return http.StatusCreated, added[0], nil
}

// askSource makes a source due now.
func (a *API) askSource(_ http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	s, err := a.Desk.Ask(r.Context(), who, r.PathValue("name"))
	return http.StatusOK, s, err
}

// setSource changes the settings that the body, a JSON object, has.
func (a *API) setSource(w http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	var to desk.Settings
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&to); err != nil {
		return 0, nil, courant.Errorf(courant.Invalid, "the settings of the source: %s", plainJSON(err))
	}
	s, err := a.Desk.Set(r.Context(), who, r.PathValue("name"), to)
	return http.StatusOK, s, err
}

// plainJSON says what is wrong with a JSON text without the names of Go's types.
func plainJSON(err error) string {
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typed) && typed.Field != "":
		return fmt.Sprintf("%s is a %s, but that is not what it must be", typed.Field, typed.Value)
	case errors.As(err, &typed):
		return fmt.Sprintf("the body is a %s, but must be an object", typed.Value)
	case errors.Is(err, io.EOF):
		return "the body is empty"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// removeSource removes a source; its pages stay.
func (a *API) removeSource(_ http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	s, err := a.Desk.Remove(r.Context(), who, r.PathValue("name"), nil)
	return http.StatusOK, s, err
}

// audit lists what was changed and by whom, newest first.
func (a *API) audit(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	limit, _, err := bounds(r.URL.Query().Get("limit"), "")
	if err != nil {
		return 0, nil, err
	}
	var all []desk.Entry
	err = a.Store.Read(r.Context(), func(q store.Reader) (err error) {
		all, err = desk.Audit(q, limit)
		return err
	})
	return http.StatusOK, all, err
}
