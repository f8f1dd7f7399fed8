package pages

import (
	"fmt"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// ids makes unique page ids without coordination: 41 bits of milliseconds
// (courant.PageTime), ten bits of a leased node prefix, twelve bits of a counter. Ids
// grow, even when the clock steps back.
type ids struct {
	// mu guards the fields below. It is locked within a transaction, never the other way round.
	mu     sync.Mutex
	prefix int64
	until  time.Time // of the prefix's lease
	last   int64     // milliseconds and counter of the newest id
}

const (
	prefixes   = 1 << 10
	perMillis  = 1 << 12
	prefixTime = time.Hour
)

func (g *ids) next(tx *store.Tx, owner string) (int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if tx.Now().Add(prefixTime / 2).After(g.until) {
		if err := g.lease(tx, owner); err != nil {
			return 0, err
		}
	}
	g.last = max(g.last+1, (tx.Now().UnixMilli()-courant.PageTime(0).UnixMilli())*perMillis)
	millis, count := g.last/perMillis, g.last%perMillis
	return millis*prefixes*perMillis + g.prefix*perMillis + count, nil
}

// lease renews our prefix or takes the first free one, and continues after the newest
// id in the store.
func (g *ids) lease(tx *store.Tx, owner string) error {
	for i := range int64(prefixes) {
		n := (g.prefix + i) % prefixes
		l, err := tx.Take(fmt.Sprint("node/", n), owner, prefixTime)
		if err != nil {
			return err
		}
		if l.Epoch == 0 {
			continue
		}
		g.prefix, g.until = n, tx.Now().Add(prefixTime)
		var newest int64
		if err := tx.Row(newestID).Scan(&newest); err != nil {
			return err
		}
		g.last = max(g.last, newest/(prefixes*perMillis)*perMillis+perMillis-1)
		return nil
	}
	return courant.Errorf(courant.Busy, "all %d node prefixes are in use", prefixes)
}
