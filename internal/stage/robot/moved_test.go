package robot_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

const target = "http://b.example/new"

// aWeekAgo dates the move of the source back by a week.
func (w *world) aWeekAgo() {
	w.t.Helper()
	w.exec(`UPDATE answers SET moved_since = moved_since - $1 WHERE moved_url <> ''`, (7 * 24 * time.Hour).Milliseconds())
}

// registered adds a source as the API does.
func (w *world) registered(id int64, address string) {
	w.t.Helper()
	w.exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES ($1, $2, 'feed', $2, $3, '', FALSE, 0)`,
		id, address, strings.Split(address, "/")[2])
	w.source(id, address)
}

func (w *world) text(query string, args ...any) (s string) {
	w.t.Helper()
	w.scan(&s, query, args...)
	return s
}

func TestAPermanentRedirectSeenTwiceIsNotAskedAgainForAWeek(t *testing.T) {
	for code, moves := range map[int]bool{301: true, 308: true, 302: false, 307: false} {
		in(t, func(t *testing.T, w *world) {
			w.pages[feed] = status(code, "Location", target)
			w.pages[target] = page("<rss/>", "Etag", `"1"`)
			w.registered(1, feed)
			for range 5 {
				w.ask(1, time.Minute)
				w.parsed()
			}
			want := 5
			if moves {
				want = 2
			}
			if n := len(w.seen(feed)); n != want || len(w.seen(target)) != 5 {
				t.Errorf("%d: asked %d times, the target %d times", code, n, len(w.seen(target)))
			}
			if at := w.text(`SELECT url FROM sources`); at != feed {
				t.Errorf("%d: the source is at %s at once", code, at)
			}
			if !moves {
				return
			}
			w.aWeekAgo()
			w.ask(1, time.Minute)
			if at := w.text(`SELECT url || ' ' || host FROM sources`); at != target+" b.example" {
				t.Errorf("after a week the source is at %s", at)
			}
			w.parsed()
			w.ask(1, time.Minute)
			if n := len(w.seen(feed)); n != 3 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func TestAMoveThatIsTakenBackIsForgotten(t *testing.T) {
	for what, back := range map[string]func(w *world){
		"the old address answers itself again": func(w *world) {
			w.put(feed, page("<rss/>"))
			w.aWeekAgo()
			w.ask(1, time.Minute)
		},
		"the new one is not there": func(w *world) {
			w.put(feed, page("<rss/>"))
			w.put(target, status(404))
			w.ask(1, time.Minute)
		},
		"the new one leads to what is not there": func(w *world) {
			w.put(feed, page("<rss/>"))
			w.put(target, status(301, "Location", "http://c.example/away"))
			w.ask(1, time.Minute)
		},
		"the new one leads back, to a feed that leads there": func(w *world) {
			w.put(target, status(302, "Location", feed))
			for range 3 {
				w.ask(1, time.Minute)
			}
			w.put(feed, page("<rss/>"))
		},
		"the new one fails and fails": func(w *world) {
			w.put(target, status(500))
			for range 3 {
				w.ask(1, 3*time.Hour)
			}
			w.put(feed, page("<rss/>"))
		},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.pages[feed] = status(301, "Location", target)
				w.pages[target] = page("<rss/>")
				w.registered(1, feed)
				for range 3 {
					w.ask(1, time.Minute)
					w.parsed()
				}
				back(w)
				w.parsed()
				w.ask(1, time.Minute)
				if at := w.text(`SELECT url || moved_url FROM answers`); at != feed || w.poll(1).problem != "" {
					t.Errorf("asked at %s: %+v", at, w.poll(1))
				}
			})
		})
	}
}

func TestARedirectToAnotherRobotsHostIsHandedOver(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		const far = "http://far.example.org/feed"
		w.pages[feed] = status(302, "Location", far)
		w.pages["http://a.example/p"] = status(302, "Location", "http://far.example.org/p")
		w.source(1, feed)
		w.want("http://a.example/p")
		w.ask(1, time.Minute)
		if led := w.text(`SELECT redirect_url FROM answers`); led != far || w.poll(1).answered {
			t.Errorf("redirected to %q, %+v", led, w.poll(1))
		}
		if n := w.number(`SELECT COUNT(*) FROM fetches WHERE redirect_url = 'http://far.example.org/p' AND partition = $1 AND answered = 0`, part(far)); n != 1 {
			t.Error("the picture is not handed over")
		}
		// This robot takes over its partition.
		w.put(far, page("<rss/>"))
		w.put("http://far.example.org/p", page("picture"))
		w.exec(`DELETE FROM leases WHERE name LIKE 'robot-alive/1%'`)
		w.exec(`UPDATE leases SET until = 1 WHERE name = $1`, "robot/"+strconv.Itoa(part(far)))
		w.wait(2 * time.Minute)
		if p := w.poll(1); !p.open || p.url != far || w.text(`SELECT redirect_url FROM answers`) != "" {
			t.Errorf("got %+v", p)
		}
		if f := w.fetched("http://a.example/p"); !f.answered || w.body(f.blob) != "picture" {
			t.Errorf("got %+v", f)
		}
		if n := len(w.seen(feed)); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestCookiesGoAlongWithRedirectsAndNoFurther(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages[feed] = func(out http.ResponseWriter, r *http.Request) {
			if c, err := r.Cookie("seen"); err == nil && c.Value == "1" {
				page("<rss/>")(out, r)
				return
			}
			http.SetCookie(out, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(out, r, feed, http.StatusFound)
		}
		w.source(1, feed)
		w.ask(1, time.Minute)
		if p := w.poll(1); !p.open {
			t.Fatalf("got %+v", p)
		}
		w.parsed()
		w.ask(1, time.Minute)
		for i, a := range w.seen(feed) {
			if has := a.header.Get("Cookie") != ""; has != (i%2 == 1) {
				t.Errorf("request %d has the cookie: %v", i, has)
			}
		}
	})
}

func TestAServerThatAnswers304ForADayGetsAnUnconditionalRequest(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		body := "<rss/>"
		w.pages[feed] = func(out http.ResponseWriter, r *http.Request) {
			out.Header().Set("Etag", `"always"`)
			if r.Header.Get("If-None-Match") != "" {
				out.WriteHeader(http.StatusNotModified)
				return
			}
			page(body)(out, r)
		}
		w.source(1, feed)
		w.ask(1, time.Minute)
		w.parsed()
		body = "<rss>new</rss>"
		for range 3 {
			w.ask(1, time.Minute)
			w.parsed()
		}
		if n := len(w.seen(feed)); n != 4 || w.seen(feed)[3].header.Get("If-None-Match") == "" {
			t.Fatalf("%d requests", n)
		}
		w.exec(`UPDATE answers SET last_body_at = last_body_at - $1`, (25 * time.Hour).Milliseconds())
		w.ask(1, time.Minute)
		if p := w.poll(1); !p.open || w.body(p.blob) != body {
			t.Fatalf("got %+v", p)
		}
		w.parsed()
		w.ask(1, time.Minute)
		if seen := w.seen(feed); seen[len(seen)-1].header.Get("If-None-Match") != "" {
			t.Error("who was found wrong is sent validators")
		}
	})
}

func TestTheValidatorsOfA304Count(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages[feed] = status(304, "Etag", `"2"`)
		w.source(1, feed)
		w.exec(`UPDATE readings SET etag = '"1"', modified = 'Fri'`)
		w.ask(1, time.Minute)
		if p := w.poll(1); p.etag != `"2"` || p.modified != "Fri" {
			t.Errorf("got %+v", p)
		}
	})
}

func TestAMoveIsProvedByTheRobotThatHasTheOldAddress(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		const home = "http://far.example.org/feed"
		w.pages[target] = page("<rss/>")
		w.registered(1, home)
		w.exec(`UPDATE answers SET url = $1, origin = $2, partition = $3, moved_url = $1, moved_seen = 2, moved_since = 1`, target, "http://b.example", part(target))
		w.ask(1, time.Minute)
		if led := w.text(`SELECT redirect_url FROM answers`); led != home || w.poll(1).answered || len(w.seen(target)) != 0 {
			t.Errorf("redirected to %q, %+v", led, w.poll(1))
		}
	})
}

func TestAHostMayHaveSeveralConnections(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.config.ConnectionsPerHost = 3
		for i := range 30 {
			address := "http://a.example/" + strconv.Itoa(i)
			w.want(address)
			w.pages[address] = func(out http.ResponseWriter, r *http.Request) {
				time.Sleep(5 * time.Second)
				status([]int{200, 401, 404}[i%3])(out, r)
			}
		}
		w.wait(10 * time.Minute)
		if n := w.number(`SELECT COUNT(*) FROM fetches WHERE answered > 0`); n != 30 {
			t.Errorf("%d of 30 are answered", n)
		}
	})
}
