package sample

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// How often the newspaper publishes.
const (
	dispatchEvery = 15 * time.Second
	dispatchMost  = 12 // in the feed at a time
	diaryEvery    = time.Minute
	diaryMost     = 8
)

// courier is the newspaper: an RSS feed with full text, the articles' pages, and a new
// dispatch every 15 seconds.
func (w *Web) courier(origin string) http.Handler {
	mux := w.common()
	standing, pool := read("courier.txt", origin), read("dispatches.txt", origin)
	measure := sync.OnceFunc(func() {
		for i, a := range standing {
			if !a.Inside && i < 10 { // only a few, because drawing takes time
				standing[i].Length = len(w.album.picture(a.Picture))
			}
		}
	})
	paper := func() []article { return w.paper(standing, pool, origin) }
	mux.HandleFunc("GET /feed.xml", func(rw http.ResponseWriter, r *http.Request) {
		measure()
		w.respond(rw, r, "application/rss+xml; charset=utf-8", render("rss", channel{
			Title: "The Harbour Courier", Origin: origin, Self: origin + "/feed.xml", Language: "en",
			About: "News of a harbour town that does not exist", Articles: paper()}))
	})
	w.pages(mux, "The Harbour Courier", origin, "/feed.xml", paper)
	return mux
}

// paper is all current articles, newest first.
func (w *Web) paper(standing, pool []article, origin string) []article {
	now := w.Now().UTC()
	out := slices.Clone(standing)
	for i := range out {
		out[i].At = day(now).Add(-time.Duration(i) * 97 * time.Minute)
		if strings.HasSuffix(out[i].Link, "/harbour-diary") {
			out[i].Body += w.diary(now)
		}
	}
	return append(dispatches(pool, origin, w.started, now), out...)
}

// dispatches are the short articles since the start, each named by its time.
func dispatches(pool []article, origin string, started, now time.Time) (out []article) {
	for at := now.Truncate(dispatchEvery); at.After(started) && len(out) < dispatchMost; at = at.Add(-dispatchEvery) {
		n := int(at.Unix() / int64(dispatchEvery/time.Second))
		a := pool[n%len(pool)]
		a.Link = fmt.Sprintf("%s-%d", a.Link, n)
		a.Title = strings.ReplaceAll(a.Title, "%s", at.Format("15:04:05"))
		a.At, a.Inside = at, true
		scene := strings.Split(strings.TrimPrefix(a.Picture, origin+"/pictures/"), "-")
		a.show(origin, strings.Join(scene[:len(scene)-1], " "), n%100000)
		out = append(out, a)
	}
	return out
}

// diary is what was added to one article since the start, a line per minute.
func (w *Web) diary(now time.Time) string {
	lines := []string{
		"A seal on the slipway, asleep. Traffic goes round it.", "Diver's flag up at the north quay.",
		"The seal has left.", "Two yachts in from the Holms, one of them under oars.",
		"Water on deck of the <em>Annelie</em>: a bucket, upset by the cook.", "The hat has been collected.",
		"Wind has gone round to the north-west.", "Somebody is practising the trombone on pier two.",
	}
	var out []string
	for at := now.Truncate(diaryEvery); at.After(w.started) && len(out) < diaryMost; at = at.Add(-diaryEvery) {
		n := int(at.Unix()/60) % len(lines)
		out = append(out, "<li>"+at.Format("15:04")+" "+lines[n]+"</li>")
	}
	if len(out) == 0 {
		return ""
	}
	slices.Reverse(out)
	return "\n<ul>" + strings.Join(out, "") + "</ul>"
}
