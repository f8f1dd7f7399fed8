package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// SourceState is a source with what the platform has learned about it.
type SourceState struct {
	courant.Source
	Every    setting.Duration `json:"every,omitempty"` // a fixed polling interval
	Feed     FeedNames        `json:"feed"`
	Due      courant.Time     `json:"due"`
	Interval string           `json:"interval"`
	Why      string           `json:"why"`            // the reason of the interval
	Asks     string           `json:"asks,omitempty"` // the address that is polled, if the source has moved
	Gone     courant.Time     `json:"gone"`           // since when the server has answered that it is gone; it is not polled any more
	Checked  courant.Time     `json:"checked"`
	Changed  courant.Time     `json:"changed"`
	Status   int              `json:"status"`
	Failures int              `json:"failures"`
	Problem  string           `json:"problem"`
	Items    int              `json:"items"`
	Reading  int              `json:"reading"`  // offers read so far of a catalogue that is being read
	Pages    int              `json:"pages"`    // counted up to a million, as waiting and pictures are; only in the answer for one source
	Waiting  int              `json:"waiting"`  // documents and batches that are not live yet
	Pictures int              `json:"pictures"` // documents some of whose pictures are still to be fetched; only in the answer for one source
	ETag     string           `json:"etag"`
	Modified string           `json:"modified"`
	Report   json.RawMessage  `json:"report"`
	Read     bool             `json:"read"`          // the newest download has been read
	Hub      *HubState        `json:"hub,omitempty"` // only in the answer for one source
	// Wait is set if the source is not polled when it is due.
	Wait *SourceWait `json:"wait,omitempty"`

	asking    bool   // a poll is queued or under way
	reading   bool   // a download of it is being read
	partition int    // of its host
	redirect  string // target of redirects in the current poll, if its host belongs to another robot
	moved     string // target of permanent redirects
	final     string // address of the newest download, after redirects
}

// FeedNames is what the feed or shop says about itself.
type FeedNames struct {
	Title string `json:"title"`
	Home  string `json:"home"` // address of its site
}

// HubState is the subscription to the hub that a feed names.
type HubState struct {
	URL       string       `json:"url"`
	Topic     string       `json:"topic"`
	State     string       `json:"state"`     // wanted, pending, active, denied
	Until     courant.Time `json:"until"`     // the end of the lease
	Pinged    courant.Time `json:"pinged"`    // the newest ping
	Announces bool         `json:"announces"` // it pushes news reliably, so the source is polled rarely
	Problem   string       `json:"problem"`
}

// Bounds of the list of sources, and of the counts for one source, which a catalogue may
// exceed.
const (
	usualSources = 200
	mostListed   = 1000
	mostCounted  = 1_000_000
)

// sources lists sources by name, from the first one after the parameter after. A Link
// header has the address of the next part.
func (a *API) sources(w http.ResponseWriter, r *http.Request) (int, any, error) {
	after, limit := r.URL.Query().Get("after"), usualSources
	if text := r.URL.Query().Get("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostListed {
			return 0, nil, courant.Errorf(courant.Invalid, "limit must be from 1 to %d, not %q", mostListed, text)
		}
	}
	out := []SourceState{}
	err := a.Store.Read(r.Context(), func(q store.Reader) (err error) {
		if out, err = listOf(q, out[:0], listSources, after, limit); err != nil {
			return err
		}
		waits, err := a.waitsOf(q, out)
		for i := range out {
			if err == nil {
				out[i].Wait = waits.of(&out[i])
			}
		}
		return err
	})
	if err == nil && len(out) == limit {
		next := url.Values{"after": {out[limit-1].Name}, "limit": {strconv.Itoa(limit)}}
		w.Header().Set("Link", "</api/v1/sources?"+next.Encode()+`>; rel="next"`)
	}
	return http.StatusOK, out, err
}

func listOf(q store.Reader, out []SourceState, query string, args ...any) ([]SourceState, error) {
	err := q.Rows(func(rows store.Rows) error {
		var s SourceState
		err := s.scan(rows)
		s.Report = onlyError(s.Report)
		out = append(out, s)
		return err
	}, query, args...)
	return out, err
}

// onlyError reduces a report to its error, for the list of sources; nil if it has none.
func onlyError(report json.RawMessage) json.RawMessage {
	var r struct {
		Error string `json:"error"`
	}
	if len(report) == 0 || json.Unmarshal(report, &r) == nil && r.Error == "" {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	return text
}

// source gives one source, by name or address.
func (a *API) source(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	var s SourceState
	err := a.Store.Read(r.Context(), func(q store.Reader) error {
		found, err := desk.Find(q, r.PathValue("name"))
		if err != nil {
			return err
		}
		if err := s.scan(q.Row(sourceState, found.ID)); err != nil {
			return err
		}
		waits, err := a.waitsOf(q, []SourceState{s})
		if err != nil {
			return err
		}
		s.Wait = waits.of(&s)
		if s.Hub, err = readHub(q, &s, a.Store.Now()); err != nil {
			return err
		}
		if err := q.Row(countWaiting, found.ID, mostCounted).Scan(&s.Waiting); err != nil {
			return err
		}
		if err := q.Row(countPictures, found.ID, mostCounted).Scan(&s.Pictures); err != nil {
			return err
		}
		return q.Row(countPages, found.ID, mostCounted).Scan(&s.Pages)
	})
	return http.StatusOK, s, err
}

// readHub reads the subscription of a source, nil if it has none.
func readHub(q store.Reader, s *SourceState, now time.Time) (*HubState, error) {
	h := &HubState{}
	var until, pinged int64
	err := q.Row(hubState, s.ID).Scan(&h.URL, &h.Topic, &h.State, &until, &pinged, &h.Problem)
	if store.NoRow(err) {
		return nil, nil
	}
	h.Until.Time, h.Pinged.Time = store.Time(until), store.Time(pinged)
	h.Announces = h.State == "active" && h.Until.After(now) && courant.Announced(s.Changed.Time, h.Pinged.Time)
	return h, err
}

func (s *SourceState) scan(rows interface{ Scan(...any) error }) error {
	var added, gone, due, interval, checked, read, came, changed int64
	var report, folder string
	var every int64
	err := rows.Scan(&s.ID, &s.Name, &s.Kind, &s.URL, &s.Title, &s.Trusted, &s.Robots, &s.Absence, &s.Site, &folder, &every, &s.Feed.Title, &s.Feed.Home, &added, &s.Asks, &gone, &s.Why, &due, &interval, &checked, &read, &came, &changed,
		&s.Status, &s.Failures, &s.Problem, &s.Items, &s.Reading, &s.ETag, &s.Modified, &report, &s.Read,
		&s.asking, &s.reading, &s.partition, &s.redirect, &s.moved, &s.final)
	s.Added, s.Folder, s.Every = store.Time(added), courant.FoldersOf(folder), setting.Duration(time.Duration(every)*time.Millisecond)
	if due == table.Never {
		due = 0
	}
	if s.Gone.Time = store.Time(gone); s.Asks == s.URL {
		s.Asks = ""
	}
	s.Due.Time, s.Checked.Time, s.Changed.Time = store.Time(due), store.Time(max(checked, read, came)), store.Time(changed)
	s.Interval = (time.Duration(interval) * time.Millisecond).String()
	if s.Kind == courant.KindFile && s.Read {
		s.Status = http.StatusOK // it was imported: there was no HTTP answer
	}
	if report != "" {
		s.Report = json.RawMessage(report)
	}
	return err
}
