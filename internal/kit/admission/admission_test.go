package admission_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant/internal/kit/admission"
)

// world is a door to a handler that takes as long as the path says and records whom it
// answers: the path is /KIND/DURATION.
type world struct {
	*admission.Door
	mu       sync.Mutex
	answered []string
}

func open(g *admission.Gate) *world {
	w := &world{}
	w.Door = &admission.Door{Gate: g, Next: http.HandlerFunc(w.serve),
		Client: func(r *http.Request) admission.Client { return admission.Client(r.Header.Get("From")) },
		Rule: func(r *http.Request) admission.Rule {
			kind := strings.Split(r.URL.Path, "/")[1]
			return admission.Rule{Kind: kind, Outside: kind == "outside"}
		}}
	return w
}

func (w *world) serve(out http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	d, err := time.ParseDuration(parts[2])
	if err != nil {
		panic(err)
	}
	turn := admission.TurnOf(r.Context())
	if parts[1] == "sleep" {
		if err := turn.Sleep(r.Context()); err != nil {
			out.WriteHeader(http.StatusTeapot)
			return
		}
	}
	if parts[1] == "send" {
		io.WriteString(out, "the rest waits for the client")
	}
	time.Sleep(d)
	if parts[1] == "sleep" {
		if err := turn.Wake(r.Context()); err != nil {
			panic(err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered = append(w.answered, r.Header.Get("From")+r.URL.Path)
}

// ask sends a request in its own goroutine; what comes back has the response when
// synctest.Wait returns after its end.
func (w *world) ask(ctx context.Context, from, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	r.Header.Set("From", from)
	out := httptest.NewRecorder()
	out.Code = 0
	go w.ServeHTTP(out, r)
	synctest.Wait() // so that requests come in order
	return out
}

// said returns whom the handler has answered since it was last asked for with clear.
func (w *world) said(clear bool) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := slices.Clone(w.answered)
	if clear {
		w.answered = nil
	}
	return all
}

func (w *world) has(t *testing.T, want ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.answered, want) {
		t.Errorf("answered %v, want %v", w.answered, want)
	}
}

func TestAClientAloneHasAllSlotsAndTheNewOneIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 2})
		for i := range 6 {
			w.ask(t.Context(), "greedy", fmt.Sprintf("/list/%dms", 100+10*i))
		}
		time.Sleep(50 * time.Millisecond)
		w.ask(t.Context(), "other", "/list/1ms")
		time.Sleep(time.Second)
		synctest.Wait()
		w.has(t, "greedy/list/100ms", "other/list/1ms", "greedy/list/110ms", "greedy/list/120ms", "greedy/list/130ms", "greedy/list/140ms", "greedy/list/150ms")
	})
}

func TestTwoClientsShareByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1})
		for range 10 {
			w.ask(t.Context(), "a", "/long/30ms")
		}
		for range 30 {
			w.ask(t.Context(), "b", "/short/10ms")
		}
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		n := map[string]int{}
		for _, who := range w.said(false) {
			n[who[:1]]++
		}
		if n["a"] < 4 || n["a"] > 6 || n["b"] < 11 {
			t.Errorf("after 300 ms a had %d requests of 30 ms, and b %d of 10 ms", n["a"], n["b"])
		}
		time.Sleep(time.Second)
	})
}

func TestTheCheapestRequestOfAClientIsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1})
		for _, path := range []string{"/list/100ms", "/page/1ms"} { // teaches what they cost
			w.ask(t.Context(), "a", path)
			time.Sleep(time.Second)
		}
		w.said(true)
		for _, path := range []string{"/list/90ms", "/list/91ms", "/list/92ms", "/page/2ms", "/page/3ms"} {
			w.ask(t.Context(), "a", path)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		w.has(t, "a/list/90ms", "a/page/2ms", "a/page/3ms", "a/list/91ms", "a/list/92ms")
	})
}

// refused waits for the refusal of a request, which is delayed.
func refused(t *testing.T, r *httptest.ResponseRecorder, status int) {
	t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	if r.Code != status || r.Header().Get("Retry-After") == "" {
		t.Errorf("answered %d with Retry-After %q, want %d", r.Code, r.Header().Get("Retry-After"), status)
	}
}

func TestAClientWithTooManyRequestsIsRefusedAndOthersAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1, Each: 3})
		for range 3 {
			w.ask(t.Context(), "a", "/list/10ms")
		}
		fourth := w.ask(t.Context(), "a", "/list/10ms")
		other := w.ask(t.Context(), "b", "/list/10ms")
		refused(t, fourth, http.StatusTooManyRequests)
		if other.Code != 0 || !slices.Contains(w.said(false), "b/list/10ms") {
			t.Errorf("the other client is answered %d", other.Code)
		}
		time.Sleep(time.Second)
		if r := w.ask(t.Context(), "a", "/list/10ms"); r.Code != 0 {
			t.Errorf("later it is answered %d", r.Code)
		}
		time.Sleep(time.Second)
	})
}

func TestWhenThereAreTooManyTheClientWithMostMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1, Each: 10, Most: 5})
		var last *httptest.ResponseRecorder
		for range 5 {
			last = w.ask(t.Context(), "a", "/list/10ms")
		}
		other := w.ask(t.Context(), "b", "/list/10ms")
		next := w.ask(t.Context(), "a", "/list/10ms")
		refused(t, last, http.StatusTooManyRequests)
		refused(t, next, http.StatusServiceUnavailable)
		if other.Code != 0 || !slices.Contains(w.said(false), "b/list/10ms") {
			t.Errorf("the other client is answered %d", other.Code)
		}
		time.Sleep(time.Second)
	})
}

func TestHoldersOfATokenHaveAReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1, Reserve: 1, Each: 2})
		w.ask(t.Context(), "a", "/list/100ms")
		w.ask(t.Context(), string(admission.Holders), "/list/10ms")
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		w.has(t, string(admission.Holders)+"/list/10ms")
		time.Sleep(time.Second)
	})
}

func TestAnAnswerThatIsBeingSentNeedsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1})
		w.ask(t.Context(), "slow", "/send/10s")
		w.ask(t.Context(), "other", "/list/1ms")
		time.Sleep(time.Second)
		synctest.Wait()
		w.has(t, "other/list/1ms")
		time.Sleep(time.Minute)
	})
}

func TestABodyIsReadBeforeTheSlotIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1})
		body, writer := io.Pipe()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/list/1ms", body)
		r.ContentLength = 3
		r.Header.Set("From", "slow")
		go w.ServeHTTP(httptest.NewRecorder(), r)
		synctest.Wait()
		w.ask(t.Context(), "other", "/list/1ms")
		time.Sleep(time.Second)
		synctest.Wait()
		w.has(t, "other/list/1ms")
		io.WriteString(writer, "abc")
		time.Sleep(time.Second)
		synctest.Wait()
		w.has(t, "other/list/1ms", "slow/list/1ms")
	})
}

func TestAClientCannotTakeAllPlacesOfThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1, Asleep: 2, Sleepers: 3})
		for range 2 {
			w.ask(t.Context(), "a", "/sleep/1s")
		}
		third := w.ask(t.Context(), "a", "/sleep/1s")
		w.ask(t.Context(), "b", "/sleep/1s")
		fourth := w.ask(t.Context(), "c", "/sleep/1s")
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		if third.Code != http.StatusTeapot || fourth.Code != http.StatusTeapot {
			t.Errorf("a third one of a waits, or a fourth one of all: %d, %d", third.Code, fourth.Code)
		}
		if r := w.ask(t.Context(), string(admission.Holders), "/sleep/1s"); r.Code != 0 {
			t.Errorf("a holder of a token cannot wait: %d", r.Code)
		}
		w.ask(t.Context(), "a", "/list/1ms") // they hold no slot
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		w.has(t, "a/list/1ms")
		time.Sleep(time.Minute)
		if r := w.ask(t.Context(), "c", "/sleep/1s"); r.Code != 0 {
			t.Errorf("later c is answered %d", r.Code)
		}
		time.Sleep(time.Minute)
	})
}

func TestNobodyWaitsForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1, Patience: time.Second})
		w.ask(t.Context(), "a", "/list/1m")
		late := w.ask(t.Context(), "b", "/list/1ms")
		ctx, cancel := context.WithCancel(t.Context())
		w.ask(ctx, "c", "/list/2ms")
		cancel()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		refused(t, late, http.StatusServiceUnavailable)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		w.has(t, "a/list/1m")
	})
}

func TestARequestOutsideNeedsNoSlotButCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1, Each: 2})
		w.ask(t.Context(), "a", "/list/10s")
		w.ask(t.Context(), "a", "/outside/1ms")
		time.Sleep(10 * time.Millisecond)
		w.ask(t.Context(), "a", "/outside/10s")
		refused(t, w.ask(t.Context(), "a", "/list/1ms"), http.StatusTooManyRequests)
		w.has(t, "a/outside/1ms")
		time.Sleep(time.Minute)
	})
}

func TestWhoAsks(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      admission.Client
	}{
		{"192.0.2.7:1234", nil, "192.0.2.7"},
		{"[2001:db8:1:2:3::4]:1234", nil, "2001:db8:1:2::/64"},
		{"[::ffff:192.0.2.7]:1234", nil, "192.0.2.7"},
		{"[fe80::1%eth0]:1234", nil, "fe80::/64"},
		{"192.0.2.7:1234", []string{"198.51.100.1"}, "192.0.2.7"}, // not from a proxy of ours
		{"10.1.1.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.1.1.1:1234", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"}, // the first may be invented
		{"10.1.1.1:1234", []string{"203.0.113.9", "198.51.100.1, 10.2.2.2"}, "198.51.100.1"},
		{"10.1.1.1:1234", []string{"[2001:db8::1]:99"}, "2001:db8::/64"},
		{"10.1.1.1:1234", []string{"unknown"}, "10.1.1.1"},
		{"10.1.1.1:1234", []string{"10.3.3.3"}, "10.3.3.3"},
		{"10.1.1.1:1234", nil, "10.1.1.1"},
		{"@", nil, ""},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := admission.ClientOf(r, proxies); got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.remote, c.forwarded, got, c.want)
		}
	}
}

func TestWhatAClientHadCountsAlsoIfItWaitsForEachAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(&admission.Gate{Slots: 1})
		for range 20 {
			w.ask(t.Context(), "steady", "/list/10ms")
		}
		w.ask(t.Context(), "dear", "/list/50ms")
		time.Sleep(65 * time.Millisecond) // it has been answered
		w.ask(t.Context(), "dear", "/list/1ms")
		w.ask(t.Context(), "cheap", "/list/2ms")
		time.Sleep(time.Second)
		synctest.Wait()
		if cheap, dear := slices.Index(w.said(false), "cheap/list/2ms"), slices.Index(w.said(false), "dear/list/1ms"); cheap > 4 || dear < 7 {
			t.Errorf("the cheap one is answered as number %d, the dear one as %d: %v", cheap, dear, w.said(false))
		}
	})
}
