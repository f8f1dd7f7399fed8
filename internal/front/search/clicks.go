package search

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/admission"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/shard"
)

// served is what an answer showed. It is sent with the answer, signed, and comes back
// with the clicks, so that answers without clicks need not be stored.
type served struct {
	ID         []byte `json:"i"`
	At         int64  `json:"t"`
	Experiment string `json:"e,omitempty"`
	Arm        string `json:"a,omitempty"`
	Person     string `json:"p"`
	Asked      string `json:"q"`
	Shown      []byte `json:"s"` // ids of pages, 8 bytes each, big-endian
}

// secretName is the name of the key that signs answers, the same for all processes.
const secretName = "search"

func mark(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)[:16]
}

// sign is the signed text that identifies an answer.
func (s *Search) sign(ctx context.Context, a arm, asked string, hits []shard.Hit) (string, error) {
	key, err := s.Store.Secret(ctx, secretName)
	if err != nil {
		return "", err
	}
	v := served{ID: make([]byte, 16), At: s.Store.Now().UnixMilli(), Experiment: a.experiment, Arm: a.name, Person: a.user,
		Asked: asked[:min(len(asked), 2*longQuery)]}
	rand.Read(v.ID) // never fails
	for _, h := range hits {
		v.Shown = binary.BigEndian.AppendUint64(v.Shown, uint64(h.ID))
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(mark(key, text), text...)), nil
}

// open verifies and decodes the text of sign. Fails with Invalid for any other text.
func (s *Search) open(ctx context.Context, query string) (v served, err error) {
	key, err := s.Store.Secret(ctx, secretName)
	if err != nil {
		return v, err
	}
	b, bad := base64.RawURLEncoding.DecodeString(query)
	if bad != nil || len(b) < 16 || !hmac.Equal(b[:16], mark(key, b[16:])) {
		return v, courant.Errorf(courant.Invalid, "query must be the value of query in a search answer of this server")
	}
	err = json.Unmarshal(b[16:], &v)
	if err == nil && s.Store.Now().Sub(store.Time(v.At)) > answersLive {
		err = courant.Errorf(courant.Invalid, "query is of an answer that is more than %v old", answersLive)
	}
	return v, err
}

// Clicked is the body of POST /api/v1/clicks: the places, from 0, of the hits that people
// clicked and ordered.
type Clicked struct {
	Query   string `json:"query"`
	Clicked []int  `json:"clicked"`
	Ordered []int  `json:"ordered"`
}

const (
	longestClicks = 16 << 10       // bytes of one body
	mostClicked   = 20             // hits of one answer that a person clicks, or orders
	answersLive   = 24 * time.Hour // after that no clicks are taken
)

// crossOrigin detects reports that a page of another origin makes a browser send.
var crossOrigin = http.NewCrossOriginProtection()

// click stores clicks and orders. There may be several requests for one answer. What is
// learnt from them is worth attacking, so a network may send a limited number, unless it has
// a token as a shop's own server has.
func (s *Search) click(w http.ResponseWriter, r *http.Request) {
	who := admission.TurnOf(r.Context()).Client()
	if err := crossOrigin.Check(r); err != nil && who != admission.Holders {
		web.FailWith(w, http.StatusForbidden, "clicks are taken from this server's own pages, or with a token")
		return
	}
	if after := s.clicks.After(who); after > 0 && who != admission.Holders {
		web.Refuse(w, &web.Refusal{Status: http.StatusTooManyRequests, Text: "too many reports of clicks from your network; send them with a token", After: after})
		return
	}
	s.clicks.Use(who)
	var c Clicked
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestClicks))
	d.DisallowUnknownFields()
	err := d.Decode(&c)
	if err != nil {
		web.Fail(w, r, s.Log, courant.Errorf(courant.Invalid, "the body must be a JSON report of clicks: %w", err))
		return
	}
	v, err := s.open(r.Context(), c.Query)
	if err == nil {
		err = s.keepClicks(r.Context(), v, c)
	}
	if err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Search) keepClicks(ctx context.Context, v served, c Clicked) error {
	for _, place := range slices.Concat(c.Clicked, c.Ordered) {
		if place < 0 || place >= len(v.Shown)/8 {
			return courant.Errorf(courant.Invalid, "clicked and ordered must be positions, from 0, of the %d hits of the answer, not %d", len(v.Shown)/8, place)
		}
	}
	return s.Store.Write(ctx, func(tx *store.Tx) error {
		var clicked, ordered string
		if err := tx.Row(readClicked, v.ID).Scan(&clicked, &ordered); err != nil && !store.NoRow(err) {
			return err
		}
		clicks, orders := united(clicked, c.Clicked), united(ordered, c.Ordered)
		if max(len(clicks), len(orders)) > mostClicked {
			return courant.Errorf(courant.Invalid, "an answer takes at most %d clicks and %d orders", mostClicked, mostClicked)
		}
		_, err := tx.Exec(putClicks, v.ID, v.At, v.Experiment, v.Arm, v.Person, v.Asked, v.Shown, listed(clicks), listed(orders), len(clicks), len(orders))
		return err
	})
}

// united is the union of the places of a list and of more, sorted.
func united(list string, more []int) []int {
	all := slices.Clone(more)
	for _, f := range strings.Fields(list) {
		if n, err := strconv.Atoi(f); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func listed(places []int) string {
	var b []byte
	for i, n := range places {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}
