package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

func never(int) {}

// filled is an open platform over a data folder with a row and a picture.
func filled(t *testing.T, dir string) *Platform {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := Open(t.Context(), Defaults(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if _, err := p.Store.Secret(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	for key, body := range map[string]string{"media/0a/picture/640.png": "picture", "body/download": "download"} {
		if err := p.Blobs.Put(t.Context(), key, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestABackupOfARunningCourantIsRestored(t *testing.T) {
	dir := t.TempDir()
	data, backup, again := filepath.Join(dir, "data"), filepath.Join(dir, "backup"), filepath.Join(dir, "again")
	p := filled(t, data)
	want, err := p.Store.Secret(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	made, err := Backup(t.Context(), Defaults(), data, backup, never)
	if err != nil || made.Files != 1 || made.Database == "" {
		t.Fatalf("%+v, %v", made, err)
	}
	if b, err := Restore(t.Context(), Defaults(), backup, again, never); err != nil || b.Files != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	restored, err := Open(t.Context(), Defaults(), again, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	var got []byte
	if err := restored.Store.Row(t.Context(), `SELECT value FROM secrets WHERE name = 'kept'`).Scan(&got); err != nil || string(got) != string(want) {
		t.Errorf("the row is %x, %v, want %x", got, err, want)
	}
	if body, err := restored.Blobs.Get(t.Context(), "media/0a/picture/640.png"); err != nil || string(body) != "picture" {
		t.Errorf("the picture is %q, %v", body, err)
	}
	if st, err := os.Stat(again); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", st.Mode(), err)
	}
}

func TestABackupDoesNotOverwriteAnything(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	filled(t, data)
	if _, err := Backup(t.Context(), Defaults(), data, data, never); !errors.Is(err, courant.Conflict) {
		t.Errorf("into the data folder: %v", err)
	}
	backup := filepath.Join(dir, "backup")
	if _, err := Backup(t.Context(), Defaults(), data, backup, never); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), Defaults(), backup, data, never); !errors.Is(err, courant.Conflict) {
		t.Errorf("over the data folder: %v", err)
	}
	if _, err := Backup(t.Context(), Defaults(), filepath.Join(dir, "none"), filepath.Join(dir, "other"), never); !errors.Is(err, courant.NotFound) {
		t.Errorf("of a folder without a database: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "other.part")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it left %v", err)
	}
}

func TestAnIncompleteBackupIsNotRestored(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, backup string) error{
		"cut off": func(_ *testing.T, b string) error { return os.Remove(filepath.Join(b, backedFile)) },
		"another database": func(_ *testing.T, b string) error {
			return os.WriteFile(filepath.Join(b, databaseFile), []byte("x"), 0o600)
		},
		"no database": func(_ *testing.T, b string) error { return os.Remove(filepath.Join(b, databaseFile)) },
		"a picture less": func(_ *testing.T, b string) error {
			return os.RemoveAll(filepath.Join(b, blobsFolder, mediaFolder, "0a"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data, backup := filepath.Join(dir, "data"), filepath.Join(dir, "backup")
			filled(t, data)
			if _, err := Backup(t.Context(), Defaults(), data, backup, never); err != nil {
				t.Fatal(err)
			}
			if err := damage(t, backup); err != nil {
				t.Fatal(err)
			}
			again := filepath.Join(dir, "again")
			if _, err := Restore(t.Context(), Defaults(), backup, again, never); !errors.Is(err, courant.Invalid) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			for _, left := range []string{again, again + ".part"} {
				if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it left %s", left)
				}
			}
		})
	}
}

func TestABackupThatIsInterruptedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	data, backup := filepath.Join(dir, "data"), filepath.Join(dir, "backup")
	p := filled(t, data)
	if err := p.Store.Read(t.Context(), func(store.Reader) error { return nil }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Backup(ctx, Defaults(), data, backup, never); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, left := range []string{backup, backup + ".part"} {
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it left %s", left)
		}
	}
}
