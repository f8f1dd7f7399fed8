package websub_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/websub"
)

func TestAHubThatAFeedNamesIsSubscribedTo(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub+" http://other.example/", topic)
		w.wait(2 * time.Second)
		r := w.last()
		id := strings.TrimPrefix(r.form.Get("hub.callback"), "https://we.example/websub/")
		if r.hub != hub || r.form.Get("hub.mode") != "subscribe" || r.form.Get("hub.topic") != topic || len(id) < 26 ||
			r.form.Get("hub.lease_seconds") != "864000" || len(r.form.Get("hub.secret")) < 26 || len(r.form.Get("hub.secret")) >= 200 {
			t.Errorf("the hub was asked %+v", r)
		}
		if s := w.subscription(1); s.state != "pending" {
			t.Errorf("before it verifies: %+v", s)
		}
		w.subscribe()
		if s := w.subscription(1); s.state != "active" || s.until.Sub(s.verified) != 6*time.Hour {
			t.Errorf("after: %+v", s)
		}
		w.wait(5 * time.Hour)
		if n := len(w.requests()); n != 1 {
			t.Errorf("the hub was asked %d times", n)
		}
	})
}

func TestALeaseIsHeldWithinBounds(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		for given, want := range map[string]time.Duration{"864000": 240 * time.Hour, "60": time.Hour, "-5": time.Hour, "99999999999": 720 * time.Hour,
			"": 240 * time.Hour, "soon": 240 * time.Hour} {
			w.verify(w.last().callback(), "mode", "subscribe", "topic", topic, "challenge", "c", "lease_seconds", given)
			if s := w.subscription(1); s.until.Sub(s.verified) != want {
				t.Errorf("a lease of %q is held for %v, want %v", given, s.until.Sub(s.verified), want)
			}
		}
	})
}

func TestWhatNobodyAskedForIsNotFound(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		callback := w.last().callback()
		for _, c := range []struct {
			callback string
			params   []string
			want     int
		}{
			{"/websub/unknown", []string{"mode", "subscribe", "topic", topic, "challenge", "c"}, 404},
			{callback, []string{"mode", "subscribe", "topic", "http://a.example/other", "challenge", "c"}, 404},
			{callback, []string{"mode", "subscribe", "topic", topic}, 404},
			{callback, []string{"mode", "unsubscribe", "topic", topic, "challenge", "c"}, 404},
			{callback, []string{"mode", "publish", "topic", topic, "challenge", "c"}, 404},
			{callback, []string{"mode", "subscribe", "topic", topic, "challenge", strings.Repeat("c", 2000)}, 400},
		} {
			if got := w.verify(c.callback, c.params...); got.Code != c.want || strings.Contains(got.Body.String(), "cc") {
				t.Errorf("%s %v: %d %s", c.callback, c.params, got.Code, got.Body)
			}
		}
		if s := w.subscription(1); s.state != "pending" {
			t.Errorf("after all that: %+v", s)
		}
		if code := w.ping("/websub/unknown", "x", ""); code != http.StatusGone {
			t.Errorf("a ping for no subscription was answered %d", code)
		}
	})
}

func TestAHubThatIsSilentIsAskedAgain(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(48 * time.Hour)
		all := w.requests()
		if len(all) < 10 || len(all) > 24 {
			t.Fatalf("it was asked %d times in two days", len(all))
		}
		for i := 1; i < len(all); i++ {
			gap := all[i].at.Sub(all[i-1].at)
			if gap < 40*time.Second || gap > 8*time.Hour {
				t.Errorf("request %d came %v after the one before", i, gap)
			}
			if all[i].form.Get("hub.secret") != all[0].form.Get("hub.secret") {
				t.Error("the secret changed before the hub has taken it")
			}
		}
		w.subscribe()
		if s := w.subscription(1); s.state != "active" {
			t.Errorf("when it speaks at last: %+v", s)
		}
	})
}

func TestARenewalComesBeforeTheLeaseEnds(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		first := w.subscribe()
		w.wait(6 * time.Hour * 92 / 100)
		if after := w.requests()[1].at.Sub(first.at); after < 5*time.Hour || after > 330*time.Minute {
			t.Fatalf("the renewal came after %v", after)
		}
		second := w.last()
		if second.form.Get("hub.secret") == first.form.Get("hub.secret") || second.callback() != first.callback() {
			t.Error("a renewal has a new secret and the old callback")
		}
		if s := w.subscription(1); s.state != "active" {
			t.Errorf("while the renewal is under way: %+v", s)
		}
		pinged := func(body string, by request) bool {
			before := w.count(`SELECT as_of FROM answers`)
			w.exec(`DELETE FROM pending`)
			w.wait(time.Second)
			w.ping(first.callback(), body, by.signed(body))
			return w.count(`SELECT as_of FROM answers`) > before
		}
		if !pinged("one", first) || !pinged("two", second) {
			t.Error("while a renewal is under way both secrets are good")
		}
		w.subscribe()
		if !pinged("three", first) || !pinged("four", second) {
			t.Error("what the hub sent before it took the new secret is still good")
		}
		w.wait(2 * time.Hour)
		if pinged("five", first) || !pinged("six", second) {
			t.Error("later the old secret is not valid any more")
		}
	})
}

func TestASubscriptionWhoseLeaseHasEndedBeginsAnew(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		w.subscribe()
		w.wait(8 * time.Hour)
		if s := w.subscription(1); s.state != "pending" {
			t.Errorf("hours after the lease: %+v", s)
		}
		w.subscribe()
		if s := w.subscription(1); s.state != "active" || !s.until.After(time.Now()) {
			t.Errorf("%+v", s)
		}
	})
}

func TestADenialHoldsForADay(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		if got := w.verify(w.last().callback(), "mode", "denied", "topic", topic, "reason", "no\x00 room"); got.Code != 200 {
			t.Errorf("a denial was answered %d", got.Code)
		}
		if s := w.subscription(1); s.state != "denied" || s.problem != "the hub denied the subscription: no room" {
			t.Errorf("%+v", s)
		}
		w.wait(20 * time.Hour)
		early := len(w.requests())
		w.wait(8 * time.Hour)
		if early != 1 || len(w.requests()) < 2 {
			t.Errorf("%d requests after 20 hours, %d after 28", early, len(w.requests()))
		}
	})
}

func TestAProblemOfTheHubIsReportedAndLeadsToABackOff(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.source(2, topic+"2", hub, topic+"2")
		w.script(func(request) (websub.Reply, error) { return websub.Reply{}, errors.New("no answer: refused") })
		w.wait(30 * time.Second)
		if n := len(w.requests()); n != 1 {
			t.Errorf("a hub that does not answer was asked %d times at once", n)
		}
		w.script(func(request) (websub.Reply, error) {
			return websub.Reply{Status: 400, Text: "hub.topic\n is unknown"}, nil
		})
		w.wait(3 * time.Minute)
		if s := w.subscription(1); s.problem != "the hub answered 400 Bad Request: hub.topic is unknown" || s.state != "pending" {
			t.Errorf("%+v", s)
		}
		w.script(nil)
		w.wait(20 * time.Minute)
		w.subscribe()
		if n := w.count(`SELECT COUNT(*) FROM websub WHERE state = 'active' AND problem = ''`); n != 1 {
			t.Errorf("%d are active without a problem", n)
		}
	})
}

func TestHubsOfOneHostAreAskedInTurn(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range 8 {
			feed := fmt.Sprint(topic, i)
			w.source(int64(i+1), feed, fmt.Sprint(hub, i), feed)
		}
		w.wait(20 * time.Second)
		all := w.requests()
		if len(all) != 8 {
			t.Fatalf("%d requests", len(all))
		}
		for i := 1; i < len(all); i++ {
			if gap := all[i].at.Sub(all[i-1].at); gap < 100*time.Millisecond {
				t.Errorf("asked again after %v", gap)
			}
		}
	})
}

func TestAHubWhoseHostIsInBackOffIsAskedLater(t *testing.T) {
	for _, origin := range []string{"http://hub.example", "*.hub.example"} {
		in(t, func(t *testing.T, w *world) {
			w.exec(`INSERT INTO hosts (origin, partition, allowed, reason) VALUES ($1, 1, $2, 'it asked for it')`, origin, w.store.Now().Add(time.Hour).UnixMilli())
			w.source(1, topic, hub, topic)
			w.source(2, "http://b.example/feed", "http://elsewhere.example/", "http://b.example/feed")
			w.script(func(r request) (websub.Reply, error) {
				if r.hub != hub {
					return websub.Reply{Status: 307, Location: hub}, nil
				}
				return websub.Reply{Status: 202}, nil
			})
			w.wait(50 * time.Minute)
			for _, r := range w.requests() {
				if r.hub == hub {
					t.Fatalf("%s: it was asked at %v", origin, r.at)
				}
			}
			w.wait(15 * time.Minute)
			if w.last().hub != hub {
				t.Errorf("%s: it was not asked afterwards", origin)
			}
		})
	}
}

func TestTheNextHubIsAskedWhereOneFails(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub+" http://second.example/", topic)
		w.script(func(r request) (websub.Reply, error) {
			if r.hub == hub {
				return websub.Reply{Status: 404}, nil
			}
			return websub.Reply{Status: 202}, nil
		})
		w.wait(2 * time.Minute)
		if r := w.last(); r.hub != "http://second.example/" {
			t.Errorf("asked %s", r.hub)
		}
		w.subscribe()
		w.wait(time.Hour)
		if n := len(w.requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestARedirectThatKeepsTheMethodIsFollowed(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.script(func(r request) (websub.Reply, error) {
			if r.hub == hub {
				return websub.Reply{Status: 307, Location: "http://moved.example/"}, nil
			}
			return websub.Reply{Status: 202}, nil
		})
		w.wait(2 * time.Second)
		if all := w.requests(); len(all) != 2 || all[1].hub != "http://moved.example/" || all[1].form.Encode() != all[0].form.Encode() {
			t.Errorf("asked %+v", all)
		}
	})
}

func TestAHubThatNobodyNamesAnyMoreIsLeft(t *testing.T) {
	for what, change := range map[string]string{
		"the source is removed":        `DELETE FROM readings`,
		"the feed names no hub":        `UPDATE readings SET hubs = ''`,
		"the feed has another address": `UPDATE readings SET hubs = '', self = 'http://a.example/new'`,
	} {
		in(t, func(t *testing.T, w *world) {
			w.source(1, topic, hub, topic)
			w.wait(2 * time.Second)
			w.subscribe()
			w.exec(change)
			w.wait(time.Minute)
			r := w.last()
			if r.form.Get("hub.mode") != "unsubscribe" || r.form.Get("hub.topic") != topic || r.callback() != w.requests()[0].callback() {
				t.Fatalf("%s: asked %+v", what, r)
			}
			if code := w.ping(r.callback(), "x", r.signed("x")); code != http.StatusGone {
				t.Errorf("%s: a ping meanwhile was answered %d", what, code)
			}
			if got := w.verify(r.callback(), "mode", "unsubscribe", "topic", topic, "challenge", "bye"); got.Code != 200 || got.Body.String() != "bye" {
				t.Errorf("%s: %d %s", what, got.Code, got.Body)
			}
			if n := w.count(`SELECT COUNT(*) FROM websub`); n != 0 {
				t.Errorf("%s: %d rows are left", what, n)
			}
		})
	}
}

func TestAHubThatDoesNotVerifyALeaveIsForgotten(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		w.subscribe()
		w.exec(`UPDATE readings SET hubs = ''`)
		w.wait(2 * time.Hour)
		if n := w.count(`SELECT COUNT(*) FROM websub`); n != 0 || len(w.requests()) != 6 {
			t.Errorf("%d rows are left after %d requests", n, len(w.requests()))
		}
	})
}

func TestAFeedMovesToAnotherHub(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		w.subscribe()
		w.exec(`UPDATE readings SET hubs = 'http://new.example/'`)
		w.wait(time.Minute)
		asked := map[string]string{}
		for _, r := range w.requests()[1:] {
			asked[r.hub] = r.form.Get("hub.mode")
		}
		if asked[hub] != "unsubscribe" || asked["http://new.example/"] != "subscribe" || len(asked) != 2 {
			t.Errorf("asked %v", asked)
		}
	})
}

func TestWithoutAnAddressOfOursNoHubIsAsked(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.websub.Public = ""
		w.source(1, topic, hub, topic)
		w.source(2, "http://127.0.0.1/feed", "http://127.0.0.1/hub", "")
		w.wait(time.Hour)
		if s := w.subscription(1); s.state != "wanted" || !strings.Contains(s.problem, "http.public_url") {
			t.Errorf("%+v", s)
		}
		for _, r := range w.requests() {
			if r.hub != "http://127.0.0.1/hub" || !strings.HasPrefix(r.form.Get("hub.callback"), "http://127.0.0.1:8080/websub/") {
				t.Errorf("asked %+v", r)
			}
		}
		if len(w.requests()) == 0 {
			t.Error("a hub on this machine can reach us")
		}
	})
}

func TestATopicIsOnTheHostThatWasAsked(t *testing.T) {
	for self, want := range map[string]string{
		"":                           topic,
		"http://a.example/Feed?x=1#": "http://a.example/Feed?x=1#",
		"https://A.example/feed":     "https://A.example/feed",
		"http://victim.example/feed": topic,
		"javascript:alert(1)":        topic,
		"http://moved.example/feed":  "http://moved.example/feed",
	} {
		in(t, func(t *testing.T, w *world) {
			w.source(1, topic, hub, self)
			w.exec(`UPDATE readings SET url = 'http://moved.example/f'`)
			w.wait(2 * time.Second)
			if got := w.last().form.Get("hub.topic"); got != want {
				t.Errorf("%q: subscribed to %s", self, got)
			}
		})
	}
}

// until waits in real time.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			w.t.Fatalf("timeout waiting until %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestALifeOfASubscriptionOnEveryStore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		w.source(1, topic, hub, topic)
		w.run()
		w.until("the hub is asked", func() bool { return len(w.requests()) == 1 })
		w.subscribe()
		w.exec(`UPDATE websub SET due = 1`)
		w.until("it is asked to renew", func() bool { return len(w.requests()) == 2 })
		r := w.subscribe()
		w.ping(r.callback(), "x", "")
		if s := w.subscription(1); s.state != "active" || !s.pinged || !s.owed {
			t.Errorf("%+v", s)
		}
		w.exec(`DELETE FROM readings`)
		w.stop()
		w.run() // sweeps at its start
		w.until("the hub is left", func() bool { return w.last().form.Get("hub.mode") == "unsubscribe" })
		w.verify(r.callback(), "mode", "unsubscribe", "topic", topic, "challenge", "c")
		if n := w.count(`SELECT COUNT(*) FROM websub`); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		w.stop()
	})
}

func TestTwoProcessesAskAHubOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		w.websub.Config.Gap = 1
		for i := range int64(40) {
			address := fmt.Sprint(topic, i)
			w.source(i+1, address, hub, address)
		}
		other := newWorld(t, s).websub
		other.Post, other.Config.Gap = w.post, 1
		w.run()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { other.Run(ctx) })
		w.until("all are asked for", func() bool { return w.count(`SELECT COUNT(*) FROM websub WHERE asked > 0`) == 40 })
		w.stop()
		cancel()
		running.Wait()
		if n := len(w.requests()); n != 40 {
			t.Errorf("%d requests for 40 feeds", n)
		}
	})
}
