package robot_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// leading is a site of several hosts whose robots.txt all redirect to one address.
func (w *world) leading(n int, to string) {
	for i := range n {
		host := fmt.Sprintf("http://n%d.a.example", i)
		w.pages[host+"/robots.txt"] = status(302, "Location", to)
		w.pages[host+"/feed"] = page("<rss/>")
		w.source(int64(i+1), host+"/feed")
		w.exec(`UPDATE answers SET asked = 1 WHERE source = $1`, i+1)
	}
}

func TestADelegatedFetchOfRobotsTxtKeepsTheHostsPace(t *testing.T) {
	for _, host := range []string{"http://b.example", "http://of-another-robot.example"} {
		in(t, func(t *testing.T, w *world) {
			w.leading(8, host+"/robots.txt")
			w.pages[host+"/robots.txt"] = page("User-agent: *\nDisallow: /closed\n")
			w.wait(time.Minute)
			asked := w.seen(host + "/robots.txt")
			if len(asked) != 8 {
				t.Fatalf("%s: asked %d times", host, len(asked))
			}
			for i := 1; i < len(asked); i++ {
				if gap := asked[i].at.Sub(asked[i-1].at); gap < 500*time.Millisecond {
					t.Errorf("%s: asked again after %v", host, gap)
				}
			}
			for id := range int64(8) {
				if p := w.poll(id + 1); p.status != 200 {
					t.Errorf("%s: source %d: got %+v", host, id+1, p)
				}
			}
		})
	}
}

func TestNoDelegatedFetchGoesToAHostInBackOff(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.exec(`INSERT INTO hosts (origin, partition, allowed, reason) VALUES ('http://b.example', $1, $2, 'it asked for it')`,
			part("http://b.example"), w.store.Now().Add(2*time.Hour).UnixMilli())
		w.leading(1, "http://b.example/robots.txt")
		w.pages["http://b.example/robots.txt"] = page("User-agent: *\nDisallow: /closed\n")
		w.wait(100 * time.Minute)
		if n := len(w.seen("http://b.example/robots.txt")); n != 0 {
			t.Errorf("it was asked %d times", n)
		}
		if n := len(w.seen("http://n0.a.example/robots.txt")); n > 11 {
			t.Errorf("the host that leads there was asked %d times", n)
		}
		if p := w.poll(1); p.answered {
			t.Errorf("got %+v", p)
		}
		w.wait(30 * time.Minute)
		if p := w.poll(1); p.status != 200 {
			t.Errorf("got %+v", p)
		}
	})
}

func TestARedirectLoopOfRobotsTxtKeepsThePace(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages["http://a.example/robots.txt"] = status(302, "Location", "/1")
		w.pages["http://a.example/1"] = status(302, "Location", "/2")
		w.pages["http://a.example/2"] = status(302, "Location", "/robots.txt")
		w.pages[feed] = page("<rss/>")
		w.source(1, feed)
		w.ask(1, time.Minute)
		all := w.all()
		if len(all) != 4 || w.poll(1).status != 200 {
			t.Fatalf("asked %d times", len(all))
		}
		for i := 1; i < len(all); i++ {
			if gap := all[i].at.Sub(all[i-1].at); gap < 500*time.Millisecond {
				t.Errorf("asked again after %v", gap)
			}
		}
	})
}

func TestALostConnectionIsRetriedOnceAtTheHostsPace(t *testing.T) {
	hangUp := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	}
	in(t, func(t *testing.T, w *world) {
		times := 0
		w.pages["http://a.example/robots.txt"] = page("User-agent: *\nDisallow: /closed\n")
		w.pages[feed] = func(out http.ResponseWriter, r *http.Request) {
			if times++; times == 1 {
				hangUp(out, r)
			} else {
				page("<rss/>")(out, r)
			}
		}
		w.source(1, feed)
		w.ask(1, time.Minute)
		if p := w.poll(1); p.status != 200 || p.failures != 0 {
			t.Errorf("got %+v", p)
		}
		all := w.seen(feed)
		if len(all) != 2 || all[1].at.Sub(all[0].at) < 500*time.Millisecond {
			t.Errorf("asked %d times", len(all))
		}
	})
	in(t, func(t *testing.T, w *world) {
		w.pages["http://a.example/robots.txt"] = page("User-agent: *\nDisallow: /closed\n")
		w.pages[feed] = hangUp
		w.source(1, feed)
		w.ask(1, 10*time.Second)
		if p := w.poll(1); p.failures != 1 || len(w.seen(feed)) != 2 {
			t.Errorf("asked %d times, got %+v", len(w.seen(feed)), p)
		}
	})
}
