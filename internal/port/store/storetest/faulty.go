package storetest

import (
	"testing"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/faultstore"
	"github.com/courant-platform/courant/internal/port/store/sqlite"
)

// Faulty returns a new store in memory and its fault injector.
func Faulty(t testing.TB) (*store.Store, *faultstore.Driver) {
	d, err := sqlite.Open(t.Context(), sqlite.Config{})
	faulty := &faultstore.Driver{Driver: d}
	s := open(t, faulty, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil { // faultstore leaves it open
			t.Error(err)
		}
	})
	return s, faulty
}
