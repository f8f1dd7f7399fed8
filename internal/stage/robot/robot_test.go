package robot_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/blob"
)

const feed = "http://a.example/feed"

func TestAnAnswerIsKeptAsAPendingDownload(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages[feed] = page("<rss/>", "Etag", `"1"`, "Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT", "Content-Type", "text/xml")
		w.source(1, feed)
		w.ask(1, 30*time.Second)
		p := w.poll(1)
		if !p.answered || !p.open || p.status != 200 || p.problem != "" || p.url != feed || p.kind != "text/xml" {
			t.Fatalf("got %+v", p)
		}
		if w.body(p.blob) != "<rss/>" || !bytes.Equal(p.digest, digest("<rss/>")) {
			t.Errorf("the body is %q", w.body(p.blob))
		}
		if p.pendingTag != `"1"` || p.changed == "" || p.etag != "" || p.modified != "" {
			t.Errorf("validators count before the download is read: %+v", p)
		}
		if len(w.seen("http://a.example/robots.txt")) != 1 || len(w.seen(feed)) != 1 {
			t.Errorf("asked %v", w.all())
		}
	})
}

func TestNothingIsAskedWhileADownloadWaitsToBeRead(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages[feed] = page("<rss/>")
		w.source(1, feed)
		w.ask(1, 30*time.Second)
		w.ask(1, 30*time.Second)
		if n := len(w.seen(feed)); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestNotModifiedBringsNothingToRead(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages[feed] = func(out http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") != `"1"` || r.Header.Get("If-Modified-Since") != "Fri" {
				t.Errorf("the request has no validators: %v", r.Header)
			}
			out.WriteHeader(http.StatusNotModified)
		}
		w.source(1, feed)
		w.exec(`UPDATE readings SET etag = '"1"', modified = 'Fri'`)
		w.exec(`UPDATE answers SET failures = 3`)
		w.ask(1, 30*time.Second)
		if p := w.poll(1); !p.answered || p.open || p.status != 304 || p.failures != 0 {
			t.Errorf("got %+v", p)
		}
	})
}

func TestTheSameBytesAreNotReadAgain(t *testing.T) {
	for tag, open := range map[string]bool{`"1"`: false, `"2"`: true} {
		in(t, func(t *testing.T, w *world) {
			w.pages[feed] = page("<rss/>", "Etag", tag)
			w.source(1, feed)
			w.exec(`UPDATE readings SET etag = '"1"', body = $1`, digest("<rss/>"))
			w.ask(1, 30*time.Second)
			p := w.poll(1)
			if !p.answered || p.open != open || p.blob != "" || p.problem != "" {
				t.Errorf("under %s: got %+v", tag, p)
			}
			if open && p.pendingTag != `"2"` {
				t.Errorf("the new validators are lost: %+v", p)
			}
		})
	}
}

func TestAnErrorIsReportedAndCounted(t *testing.T) {
	for _, code := range []int{403, 404, 410, 500, 503} {
		in(t, func(t *testing.T, w *world) {
			w.pages[feed] = status(code)
			w.source(1, feed)
			w.ask(1, 30*time.Second)
			p := w.poll(1)
			if !p.answered || p.open || p.status != code || p.failures != 1 || !strings.Contains(p.problem, fmt.Sprint(code)) {
				t.Errorf("%d: got %+v", code, p)
			}
		})
	}
}

func TestAHostThatFailsIsAskedLessAndLess(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages[feed] = status(500)
		w.source(1, feed)
		for range 20 {
			w.ask(1, time.Minute)
		}
		seen := w.seen(feed)
		if n := len(seen); n < 4 || n > 8 {
			t.Fatalf("asked %d times in twenty minutes", n)
		}
		if last := seen[len(seen)-1].at.Sub(seen[len(seen)-2].at); last < 2*time.Minute {
			t.Errorf("at last every %v", last)
		}
	})
}

func TestRetryAfterSurvivesARestart(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages[feed] = status(http.StatusTooManyRequests, "Retry-After", "600")
		w.source(1, feed)
		w.ask(1, 30*time.Second)
		first := w.seen(feed)
		if len(first) != 1 || w.poll(1).status != 429 {
			t.Fatalf("asked %d times, got %+v", len(first), w.poll(1))
		}
		w.stop()
		w.put(feed, page("<rss/>"))
		w.run("second")
		w.ask(1, 8*time.Minute)
		if n := len(w.seen(feed)); n != 1 {
			t.Fatalf("asked again within ten minutes: %d times", n)
		}
		w.wait(3 * time.Minute)
		seen := w.seen(feed)
		if len(seen) != 2 || seen[1].at.Sub(seen[0].at) < 10*time.Minute || !w.poll(1).open {
			t.Errorf("asked %d times, got %+v", len(seen), w.poll(1))
		}
	})
}

func TestRobotsTxtIsObeyed(t *testing.T) {
	for _, c := range []struct {
		what    string
		robots  http.HandlerFunc
		asked   int
		problem string
	}{
		{"allows", page("User-agent: *\nDisallow: /closed\n"), 1, ""},
		{"forbids", page("User-agent: courant\nDisallow: /feed\n"), 0, "robots.txt of the host forbids it"},
		{"forbids others", page("User-agent: other\nDisallow: /\n"), 1, ""},
		{"is not there", status(404), 1, ""},
		{"is forbidden itself", status(403), 1, ""},
		{"fails", status(503), 0, "is not available"},
		{"is too busy", status(429), 0, "is not available"},
		{"leads elsewhere", status(301, "Location", "http://b.example/r"), 0, "robots.txt of the host forbids it"},
		{"leads in a circle", status(301, "Location", "/robots.txt"), 1, ""},
		{"is cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "User-agent: *\n")
		}, 0, "is not available"},
	} {
		t.Run(c.what, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.pages["http://a.example/robots.txt"] = c.robots
				w.pages["http://b.example/r"] = page("User-agent: *\nDisallow: /\n")
				w.pages[feed] = page("<rss/>")
				w.source(1, feed)
				w.ask(1, time.Minute)
				p := w.poll(1)
				if n := len(w.seen(feed)); n != c.asked || !p.answered || !strings.Contains(p.problem, c.problem) || (p.problem == "") != (c.problem == "") {
					t.Errorf("asked %d times, got %+v", n, p)
				}
			})
		})
	}
}

func TestRobotsTxtIsAskedForAgainWhenItIsStaleAlsoAfterARestart(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages["http://a.example/robots.txt"] = page("User-agent: *\nDisallow: /closed\n")
		w.pages[feed] = status(304)
		w.source(1, feed)
		for i := range 6 {
			w.ask(1, 2*time.Minute)
			if i == 2 {
				w.stop()
				w.run("second")
			}
		}
		if n := len(w.seen("http://a.example/robots.txt")); n != 1 {
			t.Errorf("asked %d times within minutes", n)
		}
		w.exec(`UPDATE hosts SET robots_until = robots_until - $1`, 24*time.Hour.Milliseconds())
		w.ask(1, 2*time.Minute)
		if n := len(w.seen("http://a.example/robots.txt")); n != 2 {
			t.Errorf("asked %d times in a day", n)
		}
		if n := len(w.seen(feed)); n != 7 {
			t.Errorf("the feed was asked for %d times", n)
		}
	})
}

func TestAHostIsAskedAtItsPaceAndHostsSideBySide(t *testing.T) {
	for _, c := range []struct {
		robots string
		gap    time.Duration
	}{{"", 500 * time.Millisecond}, {"User-agent: *\nCrawl-delay: 3\n", 3 * time.Second}} {
		in(t, func(t *testing.T, w *world) {
			for _, host := range []string{"http://a.example", "http://b.example", "http://c.example"} {
				w.pages[host+"/robots.txt"] = page(c.robots)
				for i := range 10 {
					w.want(fmt.Sprintf("%s/%d.png", host, i))
				}
			}
			start := time.Now()
			w.wait(time.Minute)
			last := map[string]time.Time{}
			for _, a := range w.all() {
				host := a.url[:16]
				if gap := a.at.Sub(last[host]); gap < c.gap {
					t.Errorf("%s came %v after the one before", a.url, gap)
				}
				last[host] = a.at
			}
			if n := len(w.seen("")); n != 30 {
				t.Errorf("%d of 30 were asked for", n)
			}
			for host, at := range last {
				if took := at.Sub(start); took > 11*c.gap+6*time.Second {
					t.Errorf("%s took %v", host, took)
				}
			}
		})
	}
}

func TestASlowHostIsAskedLessOften(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range 5 {
			address := fmt.Sprintf("http://a.example/%d.png", i)
			w.want(address)
			w.pages[address] = func(out http.ResponseWriter, _ *http.Request) {
				time.Sleep(4 * time.Second)
				out.WriteHeader(http.StatusNotFound)
			}
		}
		w.wait(2 * time.Minute)
		seen := w.seen("")
		if len(seen) != 5 {
			t.Fatalf("%d of 5 were asked for", len(seen))
		}
		for i := 1; i < len(seen); i++ {
			if gap := seen[i].at.Sub(seen[i-1].at); gap < 4*time.Second {
				t.Errorf("two requests are %v apart", gap)
			}
		}
	})
}

func TestFeedsGoBeforePictures(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range 20 {
			w.want(fmt.Sprintf("http://a.example/%d.png", i))
		}
		w.pages[feed] = page("<rss/>")
		w.source(1, feed)
		w.ask(1, 30*time.Second)
		if seen := w.seen(""); len(seen) < 5 || seen[0].url != feed {
			t.Errorf("asked in the order %v", seen)
		}
	})
}

func TestRedirectsLeadToOtherHostsByTheirOwnRules(t *testing.T) {
	for _, c := range []struct {
		what, location, robots, final, problem string
	}{
		{"to the same host", "/new", "", "http://a.example/new", ""},
		{"to another host", "http://b.example/new", "", "http://b.example/new", ""},
		{"to a host that forbids it", "http://b.example/new", "User-agent: *\nDisallow: /new\n", "", "robots.txt of the host forbids it"},
		{"to itself", feed, "", "", "redirect loop"},
		{"to this machine", "http://127.0.0.1/", "", "", "not allowed"},
		{"to the cloud's secrets", "http://169.254.169.254/latest", "", "", "not allowed"},
		{"to a file", "file:///etc/passwd", "", "", ""},
		{"to another scheme", "gopher://b.example/", "", "", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.pages[feed] = status(302, "Location", c.location)
				w.pages["http://a.example/new"] = page("<rss/>", "Etag", `"1"`)
				w.pages["http://b.example/new"] = page("<rss/>", "Etag", `"1"`)
				w.pages["http://b.example/robots.txt"] = page(c.robots)
				w.source(1, feed)
				w.ask(1, 2*time.Minute)
				p := w.poll(1)
				if !p.answered || p.open != (c.final != "") || !strings.Contains(p.problem, c.problem) {
					t.Fatalf("got %+v", p)
				}
				if c.final == "" && p.problem == "" || c.final != "" && (p.url != c.final || w.body(p.blob) != "<rss/>") {
					t.Errorf("got %+v", p)
				}
			})
		})
	}
}

func TestAPictureIsKeptForItsConsumer(t *testing.T) {
	const picture = "http://a.example/p.png"
	in(t, func(t *testing.T, w *world) {
		w.pages[picture] = page("picture", "Content-Type", "image/png")
		w.want(picture)
		w.wait(30 * time.Second)
		if f := w.fetched(picture); !f.answered || f.status != 200 || f.kind != "image/png" || f.problem != "" || w.body(f.blob) != "picture" {
			t.Errorf("got %+v", f)
		}
	})
}

func TestAPictureThatCannotBeHadIsAnsweredWithTheReason(t *testing.T) {
	for _, c := range []struct {
		what, address string
		page          http.HandlerFunc
		within        time.Duration
		requests      int
		problem       string
	}{
		{"not there", "http://a.example/p", status(404), time.Minute, 1, "404"},
		{"failing each time", "http://a.example/p", status(500), 12 * time.Minute, 5, "500"},
		{"too large", "http://a.example/p", page(strings.Repeat("a", 2000)), time.Minute, 1, "too_large"},
		{"leading nowhere", "http://a.example/p", status(302, "Location", "/p"), time.Minute, 1, "redirect loop"},
		{"of this machine", "http://127.0.0.1/p", nil, time.Minute, 0, "not allowed"},
		{"behind a password", "http://a.example/p", status(401), time.Minute, 1, "401"},
	} {
		t.Run(c.what, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.config.MaxPicture = 1000
				w.pages[c.address] = c.page
				w.want(c.address)
				w.wait(c.within)
				if f := w.fetched(c.address); !f.answered || f.blob != "" || !strings.Contains(f.problem, c.problem) {
					t.Errorf("got %+v", f)
				}
				if n := len(w.seen(c.address)); n != c.requests {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

func TestAPictureComesAfterAFailureThatPasses(t *testing.T) {
	const picture = "http://a.example/p.png"
	in(t, func(t *testing.T, w *world) {
		w.pages[picture] = status(503, "Retry-After", "600")
		w.want(picture)
		w.wait(time.Minute)
		w.put(picture, page("picture", "Content-Type", "image/png"))
		w.wait(20 * time.Minute)
		seen := w.seen(picture)
		if f := w.fetched(picture); f.status != 200 || len(seen) != 2 || seen[1].at.Sub(seen[0].at) < 10*time.Minute {
			t.Errorf("got %+v, asked %v", f, seen)
		}
	})
}

func TestDownloadsAreKeptForAWhileAndWhatWaitsToBeReadForEver(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.config.KeepBodies = setting.Duration(10 * time.Minute)
		old := "body/" + w.store.Now().UTC().Format("20060102t1504") + "/old"
		if err := w.blobs.Put(t.Context(), old, []byte("old")); err != nil {
			t.Fatal(err)
		}
		w.pages[feed] = page("<rss/>")
		w.source(1, feed)
		w.ask(1, 8*time.Minute)
		if w.body(old) != "old" {
			t.Error("deleted too early")
		}
		w.wait(5 * time.Minute)
		if _, err := w.blobs.Get(t.Context(), old); !blob.Missing(err) {
			t.Errorf("kept too long: %v", err)
		}
		if w.body(w.poll(1).blob) != "<rss/>" {
			t.Error("a pending download was deleted")
		}
	})
}

func TestDownloadsBeyondTheBoundGoOldestFirst(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.config.KeepBodiesSize = setting.Size(2500)
		var keys []string
		for i := range 5 {
			key := "body/" + w.store.Now().UTC().Format("20060102t1504") + "/" + fmt.Sprint(i)
			keys = append(keys, key)
			if err := w.blobs.Put(t.Context(), key, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			w.wait(2 * time.Minute)
		}
		w.wait(5 * time.Minute)
		for i, key := range keys {
			_, err := w.blobs.Get(t.Context(), key)
			if blob.Missing(err) != (i < 3) {
				t.Errorf("number %d of 5: %v", i, err)
			}
		}
	})
}
