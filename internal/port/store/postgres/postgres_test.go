package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/postgres"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

func TestPostgres(t *testing.T) {
	url := storetest.Postgres(t)
	suite(t, url, func(name string) postgres.Config { return postgres.Config{URL: url + " dbname=" + name} })
}

func TestBehindAPoolerOfTransactions(t *testing.T) {
	url := storetest.Postgres(t)
	pooler := storetest.Bouncer(t, url)
	suite(t, url, func(name string) postgres.Config {
		return postgres.Config{URL: pooler + " dbname=" + name, MigrateURL: url + " dbname=" + name, Pooler: true}
	})
}

// suite runs the suite with a new database for each test.
func suite(t *testing.T, url string, config func(name string) postgres.Config) {
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
		db, err := postgres.Open(t.Context(), config(name))
		if err != nil {
			t.Fatal(err)
		}
		return db
	})
}

func TestAPoolerIsExplained(t *testing.T) {
	url := storetest.Postgres(t)
	db, err := postgres.Open(t.Context(), postgres.Config{URL: storetest.Bouncer(t, url), MigrateURL: url})
	if err == nil {
		defer db.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "store.pooler") {
		t.Errorf("%v", err)
	}
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
