package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
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

// addSources adds one source or an array of them. The answer names the fields that no
// source has.
func (a *API) addSources(w http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	body, err := readBody(w, r)
	if err != nil {
		return 0, nil, err
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
		ignored(body, added)
		return http.StatusOK, added, err
	}
	var one desk.NewSource
	if err := json.Unmarshal(body, &one); err != nil {
		return 0, nil, courant.Errorf(courant.Invalid, "the source: %s", plainJSON(err))
	}
	added, err := a.Desk.Add(r.Context(), who, []desk.NewSource{one})
	ignored(slices.Concat([]byte("["), body, []byte("]")), added)
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

// ignored notes in the results the fields of the sources in a JSON array that no source has.
func ignored(array []byte, added []desk.Added) {
	var sources []map[string]json.RawMessage
	if json.Unmarshal(array, &sources) != nil {
		return // never: they were read before
	}
	for i := range added {
		added[i].Ignored = slices.DeleteFunc(slices.Sorted(maps.Keys(sources[i])), func(name string) bool {
			return slices.ContainsFunc(reflect.VisibleFields(reflect.TypeFor[desk.NewSource]()), func(f reflect.StructField) bool {
				field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				return strings.EqualFold(field, name)
			})
		})
	}
}

// askSource makes a source due now.
func (a *API) askSource(_ http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	s, err := a.Desk.Ask(r.Context(), who, r.PathValue("name"))
	return http.StatusOK, s, err
}

// setSource changes the settings that the body, a JSON object, has.
func (a *API) setSource(w http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	body, err := readBody(w, r)
	if err != nil {
		return 0, nil, err
	}
	var to desk.Settings
	if err := strict(body, &to); err != nil {
		return 0, nil, courant.Errorf(courant.Invalid, "the settings of the source: %s", plainJSON(err))
	}
	s, err := a.Desk.Set(r.Context(), who, r.PathValue("name"), to)
	return http.StatusOK, s, err
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		err = courant.Errorf(courant.Invalid, "the body is larger than %d bytes or was cut off", maxBody)
	}
	return body, err
}

// strict reads a JSON object. It fails on fields that it does not know and on anything
// after the object.
func strict(body []byte, to any) error {
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
		return errors.New("null is there where an object must be")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the end of the JSON text")
	}
	return nil
}

// plainJSON says what is wrong with a JSON text without the names of Go's types.
func plainJSON(err error) string {
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typed) && typed.Field != "":
		return fmt.Sprintf("%s must not be %s", typed.Field, kindOf(typed.Value))
	case errors.As(err, &typed):
		return fmt.Sprintf("%s is there where an object must be", kindOf(typed.Value))
	case errors.Is(err, io.EOF):
		return "the body is empty"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// kindOf is a kind of JSON value, as encoding/json calls it, with its article.
func kindOf(value string) string {
	value, _, _ = strings.Cut(value, " ") // a number has its digits
	switch value {
	case "array", "object":
		return "an " + value
	case "bool":
		return "true or false"
	}
	return "a " + value
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
