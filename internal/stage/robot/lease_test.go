package robot_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/stage/robot"
)

func TestAnAnswerIsRefusedOnceTheHostHasAnotherRobot(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages[feed] = func(out http.ResponseWriter, r *http.Request) {
			time.Sleep(5 * time.Second)
			page("<rss/>")(out, r)
		}
		w.source(1, feed)
		w.ask(1, 0)
		for len(w.seen(feed)) == 0 {
			w.wait(time.Second)
		}
		w.exec(`UPDATE leases SET owner = 'other', epoch = epoch + 1, until = $1`, w.store.Now().Add(time.Hour).UnixMilli())
		w.wait(10 * time.Second)
		if p := w.poll(1); p.answered || p.open {
			t.Errorf("got %+v", p)
		}
	})
}

func TestTheSuccessorOfARobotThatDiedWaitsForItsLease(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.pages[feed] = page("<rss/>")
		w.source(1, feed)
		w.wait(time.Second)
		w.stop()
		// as a robot that died leaves it
		until := w.store.Now().Add(15 * time.Second)
		w.exec(`UPDATE leases SET owner = 'dead', until = $2 WHERE name = $1`, fmt.Sprint("robot/", part(feed)), until.UnixMilli())
		w.run("second")
		w.ask(1, 14*time.Second)
		if n := len(w.all()); n != 0 {
			t.Fatalf("%d requests while another robot has the host", n)
		}
		w.wait(30 * time.Second)
		if p := w.poll(1); !p.open {
			t.Errorf("got %+v", p)
		}
		for _, a := range w.all() {
			if a.at.Before(until.Add(time.Duration(robot.Defaults().Gap))) {
				t.Errorf("%s was asked before the lease had run out and a gap had passed", a.url)
			}
		}
	})
}

func TestANotificationIsHandledAtOnceAndASecondAddsNothing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		const picture = "http://b.example/p.png"
		w.pages[feed] = page("<rss/>")
		w.pages[picture] = page("picture")
		w.source(1, feed)
		w.wait(2 * time.Second) // between two sweeps
		w.ask(1, 0)
		w.want(picture)
		key := link.Digest(picture)
		poll := flow.Poll{Source: 1, Origin: link.Origin(feed), Partition: part(feed), AsOf: 1}
		fetch := flow.Fetch{Hash: key[:], Origin: link.Origin(picture), Partition: part(picture), Priority: 5}
		topic, facts := flow.SourceDue.Encode(poll, poll)
		w.ring(topic, facts)
		topic, facts = flow.FetchWanted.Encode(fetch, fetch)
		w.ring(topic, facts)
		w.wait(1500 * time.Millisecond) // robots.txt, then the page
		if !w.poll(1).open || !w.fetched(picture).answered {
			t.Errorf("not asked at once: %v", w.all())
		}
		w.wait(time.Minute)
		if n, m := len(w.seen(feed)), len(w.seen(picture)); n != 1 || m != 1 {
			t.Errorf("asked %d and %d times", n, m)
		}
	})
}
