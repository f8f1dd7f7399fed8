package courant_test

import (
	"testing"
	"time"

	"github.com/courant-platform/courant"
)

func TestThePriceOfAnOfferFollowsItsSale(t *testing.T) {
	day := func(n int) courant.Time { return courant.Time{Time: time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC)} }
	for name, c := range map[string]struct {
		sale       *courant.Sale
		now        int
		price, old string
		next       int // 0 for never
	}{
		"no sale":             {nil, 5, "10", "12", 0},
		"before it begins":    {&courant.Sale{Price: "8", Regular: "10", Begins: day(6), Ends: day(9)}, 5, "10", "", 6},
		"as it begins":        {&courant.Sale{Price: "8", Regular: "10", Begins: day(5), Ends: day(9)}, 5, "8", "10", 9},
		"as it ends":          {&courant.Sale{Price: "8", Regular: "10", Begins: day(1), Ends: day(5)}, 5, "10", "", 0},
		"without a beginning": {&courant.Sale{Price: "8", Regular: "10", Ends: day(9)}, 5, "8", "10", 9},
		"without an end":      {&courant.Sale{Price: "8", Regular: "10", Begins: day(1)}, 5, "8", "10", 0},
		"later, without end":  {&courant.Sale{Price: "8", Regular: "10", Begins: day(7)}, 5, "10", "", 7},
	} {
		o := courant.Offer{Price: "10", OldPrice: "12", Sale: c.sale}
		price, old := o.PriceAt(day(c.now).Time)
		next := o.PriceChanges(day(c.now).Time)
		if price != c.price || old != c.old || next.IsZero() != (c.next == 0) || c.next != 0 && !next.Equal(day(c.next).Time) {
			t.Errorf("%s: %q, before %q, next %s", name, price, old, next)
		}
	}
}
