package pages_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
)

// sale is an offer of 100 that costs 80 from one hour after now to two hours after.
func sale(now time.Time) *courant.Offer {
	at := func(hours time.Duration) courant.Time { return courant.Time{Time: now.Add(hours * time.Hour)} }
	return &courant.Offer{ID: "1", Name: "Cup", Price: "100", Currency: "EUR", Hash: hex.EncodeToString([]byte("a")),
		Sale: &courant.Sale{Price: "80", Regular: "100", Begins: at(1), Ends: at(2)}}
}

func TestASaleBeginsAndEndsOnThePageByItself(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		content, err := pack.Encode(courant.DocumentOf(address, 1, sale(time.Now())))
		if err != nil {
			t.Fatal(err)
		}
		key := link.Digest(address)
		w.exec(`INSERT INTO documents (url, source, address, rank, as_of, state, due, fetched, content, trace) VALUES ($1, 1, $2, 3, 5, 2, 1, 1, $3, '')`, key[:], address, content)
		time.Sleep(3 * time.Second)
		var changes []int64
		for i, want := range []string{"100", "80", "100", "100"} {
			p := w.page(address)
			if !strings.Contains(p.html, fmt.Sprintf(`itemprop="price" content="%s"`, want)) || strings.Contains(p.html, "<s>") != (want == "80") {
				t.Errorf("after %d hours: want %s in\n%s", i, want, p.html[strings.Index(p.html, "<article"):])
			}
			changes = append(changes, w.number(`SELECT change FROM pages`))
			time.Sleep(time.Hour)
		}
		if !(changes[0] < changes[1] && changes[1] < changes[2]) || changes[2] != changes[3] {
			t.Errorf("the change feed has %v", changes)
		}
		if p := w.page(address); p.revision != 3 || w.number(`SELECT COUNT(*) FROM price_changes`) != 0 {
			t.Errorf("%+v", p)
		}
	})
}

func TestASaleOfAPageThatIsNotRenderedIsAChangeToo(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		o := sale(time.Now())
		content, err := pack.Encode(courant.DocumentOf(address, 1, o))
		if err != nil {
			t.Fatal(err)
		}
		key := link.Digest(address)
		w.batch(10, courant.Found{Key: key[:], Address: address, Rank: courant.OwnFeed, Hash: []byte("a"), Title: "Cup", Document: content,
			Reprice: courant.Time{Time: o.PriceChanges(time.Now())}})
		before := w.number(`SELECT change FROM pages`)
		time.Sleep(time.Hour)
		if p, now := w.page(address), w.number(`SELECT change FROM pages`); p.revision != 2 || p.html != "" || now <= before {
			t.Errorf("it has begun: %+v, change %d after %d", p, now, before)
		}
		w.batch(11, courant.Found{Key: key[:], Withdrawn: true})
		time.Sleep(time.Hour)
		if p := w.page(address); !p.withdrawn || p.revision != 3 || w.number(`SELECT COUNT(*) FROM price_changes`) != 0 {
			t.Errorf("withdrawn: %+v", p)
		}
	})
}
