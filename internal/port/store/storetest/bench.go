package storetest

import (
	"testing"

	"github.com/courant-platform/courant/internal/port/store"
)

// Bench measures reads of one row, alone and by many goroutines: in a transaction, and as
// a single statement.
func Bench(b *testing.B, driver func(testing.TB) store.Driver) {
	s := open(b, driver(b), nil)
	if err := s.Write(b.Context(), insert("a")); err != nil {
		b.Fatal(err)
	}
	reads := map[string]func() error{
		"transaction": func() error {
			return s.Read(b.Context(), func(r store.Reader) error { return r.Row(failures, "a").Scan(new(int)) })
		},
		"single": func() error { return s.Row(b.Context(), failures, "a").Scan(new(int)) },
	}
	for name, read := range reads {
		b.Run(name+" alone", func(b *testing.B) {
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+" by 64", func(b *testing.B) {
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := read(); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
