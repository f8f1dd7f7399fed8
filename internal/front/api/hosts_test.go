package api_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
)

func TestAHostTellsWhatWaitsForItAndWhy(t *testing.T) {
	w := open(t)
	later := w.store.Now().Add(time.Hour).UnixMilli()
	part := courant.Partition("a.example")
	w.exec(`INSERT INTO hosts (origin, partition, robots, robots_status, robots_until, allowed, failures, reason, latency)
		VALUES ('http://www.a.example', $1, $2, 200, $3, $3, 2, 'the server answered 503', 120), ('*.a.example', $1, NULL, 0, 0, $3, 0, '429', 0),
		('http://idle.example', 1, NULL, 404, $3, 0, 0, '', 0)`, part, pack.Bytes([]byte("User-agent: *\nDisallow: /\xff\n")), later)
	w.exec(`INSERT INTO leases (name, owner, until, epoch) VALUES ($1, 'me', $2, 1)`, "robot/"+strconv.Itoa(part), later)
	for i := range 3 {
		key := link.Digest(strconv.Itoa(i))
		w.exec(`INSERT INTO fetches (hash, url, origin, partition, kind, priority, wanted, due) VALUES ($1, '', 'http://www.a.example', $2, 'picture', 5, $3, 1)`, key[:], part, 1000+i)
	}
	w.do("POST", "/api/v1/sources", `{"url":"http://www.a.example/feed","name":"a"}`, nil)
	w.exec(`UPDATE answers SET asked = 5, status = 503, problem = 'the server answered 503'`)

	var all []api.Host
	w.do("GET", "/api/v1/host?host=www.a.example", "", &all)
	if len(all) != 1 {
		t.Fatalf("got %+v", all)
	}
	h := all[0]
	if h.Robot != "me" || h.Next.IsZero() || h.Failures != 2 || h.Latency != "120ms" || h.Domain == nil || h.Domain.Reason != "429" {
		t.Errorf("got %+v", h)
	}
	if h.Robots.Status != 200 || h.Robots.Text != "User-agent: *\nDisallow: /\ufffd\n" {
		t.Errorf("robots.txt: %+v", h.Robots)
	}
	if len(h.Queue) != 2 || h.Queue[0].Kind != "poll" || h.Queue[0].Count != 1 || h.Queue[1].Count != 3 || h.Queue[1].Oldest.UnixMilli() != 1000 {
		t.Errorf("queue: %+v", h.Queue)
	}
	if len(h.Sources) != 1 || h.Sources[0].Name != "a" || h.Sources[0].Problem == "" {
		t.Errorf("sources: %+v", h.Sources)
	}
	w.do("GET", "/api/v1/hosts", "", &all)
	if len(all) != 2 || all[0].Robots.Text != "" {
		t.Errorf("left alone: %+v", all)
	}
	for path, want := range map[string]int{"/api/v1/host?host=b.example": http.StatusNotFound, "/api/v1/host?host=%20": http.StatusBadRequest, "/api/v1/host": http.StatusBadRequest} {
		if resp := w.do("GET", path, "", nil); resp.StatusCode != want {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	if resp := w.as("", "GET", "/api/v1/hosts", "", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Error(resp.Status)
	}
}

func TestASourceThatIsGoneIsPolledAgainOnRequest(t *testing.T) {
	w := open(t)
	w.do("POST", "/api/v1/sources", `{"url":"http://a.example/feed","name":"a","ignore_robots":true}`, nil)
	w.exec(`UPDATE polls SET due = 253402300799000, reason = 'it is gone'`)
	w.exec(`UPDATE answers SET gone_since = 5, url = 'http://b.example/new'`)
	var s api.SourceState
	w.do("GET", "/api/v1/sources/a", "", &s)
	if s.Gone.IsZero() || s.Asks != "http://b.example/new" || s.Why == "" || s.Robots || !s.Due.IsZero() {
		t.Errorf("got %+v", s)
	}
	if resp := w.do("POST", "/api/v1/sources/a/ask", "", nil); resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	w.do("GET", "/api/v1/sources/a", "", &s)
	if !s.Gone.IsZero() || s.Due.IsZero() {
		t.Errorf("got %+v", s)
	}
	if resp := w.do("POST", "/api/v1/sources/b/ask", "", nil); resp.StatusCode != http.StatusNotFound {
		t.Error(resp.Status)
	}
}
