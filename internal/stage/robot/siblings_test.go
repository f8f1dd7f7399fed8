package robot_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestALimitBlocksTheWholeDomainWhoseHostsThenShareAPace(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range int64(5) {
			host := fmt.Sprintf("http://u%d.a.example", i)
			w.pages[host+"/rss"] = page("<rss/>")
			w.source(i+1, host+"/rss")
		}
		w.pages["http://u0.a.example/rss"] = status(429, "Retry-After", "300")
		w.ask(1, 30*time.Second)
		start := w.seen("http://u0.a.example/rss")[0].at
		w.put("http://u0.a.example/rss", page("<rss/>"))
		for i := range int64(5) {
			w.exec(`UPDATE answers SET asked = $2 WHERE source = $1`, i+1, w.store.Now().UnixMilli())
		}
		w.stop() // a restart forgets nothing
		w.run("second")
		w.wait(10 * time.Minute)
		all := w.seen("")[1:]
		if len(all) != 5 {
			t.Fatalf("%d requests", len(all))
		}
		for i, a := range all {
			if a.at.Sub(start) < 300*time.Second {
				t.Errorf("%s after %v", a.url, a.at.Sub(start))
			}
			if i > 0 && a.at.Sub(all[i-1].at) < 400*time.Millisecond {
				t.Errorf("%v between two requests to the domain", a.at.Sub(all[i-1].at))
			}
		}
	})
}

func TestOneFailingHostDoesNotBlockItsDomainButTwoDo(t *testing.T) {
	for broken, want := range map[int]int{1: 1, 2: 0} {
		in(t, func(t *testing.T, w *world) {
			for i := range int64(3) {
				w.source(i+1, fmt.Sprintf("http://u%d.a.example/rss", i))
				w.pages[fmt.Sprintf("http://u%d.a.example/rss", i)] = page("<rss/>")
			}
			for i := range broken {
				w.pages[fmt.Sprintf("http://u%d.a.example/rss", i)] = status(503)
				w.ask(int64(i+1), 5*time.Second)
			}
			w.ask(3, 10*time.Second)
			if n := len(w.seen("http://u2.a.example/rss")); n != want {
				t.Errorf("with %d hosts that fail the third is asked %d times", broken, n)
			}
		})
	}
}

func TestARobotBacksOffFromAHostThatRefusesEverything(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range int64(6) {
			w.source(i+1, fmt.Sprintf("http://a.example/%d", i))
			w.pages[fmt.Sprintf("http://a.example/%d", i)] = status(403)
		}
		for i := range int64(6) {
			w.ask(i+1, time.Minute)
		}
		if n := len(w.seen("")); n != 3 {
			t.Errorf("asked %d times", n)
		}
		w.wait(90 * time.Minute)
		if n := len(w.seen("")); n != 4 {
			t.Errorf("asked %d times after a while", n)
		}
	})
}

func TestManyTasksOfOneHostDoNotDelayTheOthers(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
			INSERT INTO fetches (hash, url, origin, partition, kind, priority, wanted, due)
			SELECT CAST('0123456789' || (100000 + i) AS BLOB), 'http://a.example/' || i, 'http://a.example', $1, 'picture', 1, 1, 1 FROM n`, part(feed))
		w.pages["http://b.example/p"] = page("picture")
		w.want("http://b.example/p")
		w.wait(10 * time.Second)
		if f := w.fetched("http://b.example/p"); !f.answered {
			t.Error("the other host waits")
		}
		w.wait(50 * time.Second)
		if n := len(w.seen("")); n < 100 {
			t.Errorf("%d requests in a minute at two a second", n)
		}
	})
}

func TestAHostWithALimitIsSoonAskedBelowIt(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var last time.Time
		limits := 0
		for i := range 100 {
			address := fmt.Sprintf("http://a.example/%d", i)
			w.want(address)
			w.pages[address] = func(out http.ResponseWriter, r *http.Request) {
				if time.Since(last) < time.Second {
					limits++
					status(429, "Retry-After", "2")(out, r)
					return
				}
				last = time.Now()
				page("picture")(out, r)
			}
		}
		w.wait(6 * time.Minute)
		if n := w.number(`SELECT COUNT(*) FROM fetches WHERE answered > 0 AND status = 200`); n != 100 {
			t.Errorf("%d of 100 were had", n)
		}
		if limits > 6 {
			t.Errorf("%d requests were too early", limits)
		}
	})
}
