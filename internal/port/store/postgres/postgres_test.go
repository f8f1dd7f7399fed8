package postgres_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/postgres"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

func TestPostgres(t *testing.T) {
	url := storetest.Postgres(t)
	var n atomic.Int32
	storetest.Run(t, func(t *testing.T) store.Driver {
		name := fmt.Sprint("test", n.Add(1))
		c, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.WithoutCancel(t.Context()))
		if _, err := c.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		db, err := postgres.Open(t.Context(), postgres.Config{URL: url + " dbname=" + name})
		if err != nil {
			t.Fatal(err)
		}
		return db
	})
}

func BenchmarkReads(b *testing.B) {
	storetest.Bench(b, func(t testing.TB) store.Driver {
		db, err := postgres.Open(t.Context(), postgres.Config{URL: storetest.Postgres(t)})
		if err != nil {
			t.Fatal(err)
		}
		return db
	})
}
