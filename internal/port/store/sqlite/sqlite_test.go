package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/sqlite"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Driver { return database(t, "") })
}

func TestFile(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Driver { return database(t, filepath.Join(t.TempDir(), "a b?%c.db")) })
}

func BenchmarkReads(b *testing.B) {
	storetest.Bench(b, func(t testing.TB) store.Driver { return database(t, filepath.Join(t.TempDir(), "courant.db")) })
}

func database(t testing.TB, path string) store.Driver {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestADatabaseNewerThanTheProgramIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "courant.db")
	if err := database(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	_, err = sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if !errors.Is(err, courant.Conflict) || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("got %v", err)
	}
}

func TestADatabaseOfAnEarlierVersionIsRefusedWithOneSentence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "courant.db")
	if err := database(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE goose_db_version SET version_id = 1 WHERE version_id > 0"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	_, err = sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if !errors.Is(err, courant.Conflict) || !strings.Contains(err.Error(), "an earlier version wrote the database") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}
