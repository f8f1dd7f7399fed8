package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store/sqlite"
)

// Backed describes a backup. It is the last file that is written, so that one that was cut
// off has none.
type Backed struct {
	Version  string    `json:"version"` // of the program
	Made     time.Time `json:"made"`
	Database string    `json:"database,omitempty"` // SHA-256 of courant.db; "" without one
	Files    int       `json:"files"`              // pictures
	Bytes    int64     `json:"bytes"`              // of all
}

const (
	databaseFile = "courant.db"
	backedFile   = "backup.json"
	blobsFolder  = "blobs"
	mediaFolder  = "media" // of the blobs; the others are downloads, which can be fetched again
)

// Backup copies the database and the pictures of a data folder to a new folder, also while
// Courant runs. With PostgreSQL it copies the pictures alone. say is called with the number
// of files done so far.
func Backup(ctx context.Context, c Config, data, to string, say func(done int)) (b Backed, err error) {
	if err := mustBeNew(to); err != nil {
		return b, err
	}
	b = Backed{Version: Version(), Made: time.Now().UTC().Truncate(time.Second)}
	part := to + ".part"
	if err := os.Mkdir(part, 0o700); err != nil {
		return b, courant.Errorf(courant.Conflict, "%w; another backup is running, or was cut off: then delete %s", err, part)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	if c.Store.URL == "" {
		if err := b.copyDatabase(ctx, filepath.Join(data, databaseFile), filepath.Join(part, databaseFile)); err != nil {
			return b, err
		}
	}
	blobs := cmp.Or(c.Blob.Dir, filepath.Join(data, blobsFolder))
	if err := b.copyFiles(ctx, filepath.Join(blobs, mediaFolder), filepath.Join(part, blobsFolder, mediaFolder), os.Link, say); err != nil {
		return b, err
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return b, err
	}
	if err := os.WriteFile(filepath.Join(part, backedFile), append(text, '\n'), 0o600); err != nil {
		return b, err
	}
	return b, os.Rename(part, to)
}

// mustBeNew fails if a folder has anything.
func mustBeNew(dir string) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(files) == 0 {
		return os.Remove(dir)
	}
	return courant.Errorf(courant.Conflict, "%s is not empty; choose a new folder", dir)
}

func (b *Backed) copyDatabase(ctx context.Context, from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return courant.Errorf(courant.NotFound, "there is no database in %s; choose the data folder with --data", filepath.Dir(from))
	}
	if err := sqlite.Copy(ctx, from, to); err != nil {
		return err
	}
	if err := os.Chmod(to, 0o600); err != nil {
		return err
	}
	sum, size, err := digestOf(to)
	b.Database, b.Bytes = sum, b.Bytes+size
	return err
}

func digestOf(name string) (sum string, size int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// copyFiles copies the files below a folder, if there is one. Pictures never change, so a
// hard link is a copy, where the file system has them.
func (b *Backed) copyFiles(ctx context.Context, from, to string, link func(old, new string) error, say func(done int)) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile, or there are no pictures
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		size, err := copyFile(path, target, link)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		b.Files, b.Bytes = b.Files+1, b.Bytes+size
		say(b.Files)
		return err
	})
	return err
}

func copyFile(from, to string, link func(old, new string) error) (size int64, err error) {
	st, err := os.Stat(from)
	if err != nil {
		return 0, err
	}
	if link != nil && link(from, to) == nil {
		return st.Size(), nil
	}
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(out, in)
	return size, errors.Join(err, out.Sync(), out.Close())
}

// Restore copies a backup into an empty data folder. A backup that was cut off, or whose
// database is not the one that was written, is courant.Invalid.
func Restore(ctx context.Context, c Config, from, data string, say func(done int)) (b Backed, err error) {
	text, err := os.ReadFile(filepath.Join(from, backedFile))
	if err != nil {
		return b, courant.Errorf(courant.Invalid, "%s is no complete backup: %w", from, err)
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return b, courant.Errorf(courant.Invalid, "%s: %w", filepath.Join(from, backedFile), err)
	}
	if err := checkRestore(c, &b, from); err != nil {
		return b, err
	}
	if err := mustBeNew(data); err != nil {
		return b, err
	}
	part := data + ".part"
	if err := os.Mkdir(part, 0o700); err != nil {
		return b, courant.Errorf(courant.Conflict, "%w; another restore is running, or was cut off: then delete %s", err, part)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	if b.Database != "" {
		if _, err := copyFile(filepath.Join(from, databaseFile), filepath.Join(part, databaseFile), nil); err != nil {
			return b, err
		}
	}
	done := Backed{}
	blobs := cmp.Or(c.Blob.Dir, filepath.Join(part, blobsFolder))
	if err := done.copyFiles(ctx, filepath.Join(from, blobsFolder, mediaFolder), filepath.Join(blobs, mediaFolder), nil, say); err != nil {
		return b, err
	}
	if done.Files != b.Files {
		return b, courant.Errorf(courant.Invalid, "%s has %d pictures, and had %d when it was made", from, done.Files, b.Files)
	}
	return b, os.Rename(part, data)
}

// checkRestore checks that a backup is whole and fits the configuration.
func checkRestore(c Config, b *Backed, from string) error {
	switch {
	case c.Store.URL != "" && b.Database != "":
		return courant.Errorf(courant.Conflict, "%s has a SQLite database, but store.url is set", from)
	case c.Store.URL == "" && b.Database == "":
		return courant.Errorf(courant.Conflict, "%s has no database, because it was made with PostgreSQL: set store.url", from)
	case b.Database == "":
		return nil
	}
	sum, _, err := digestOf(filepath.Join(from, databaseFile))
	if err == nil && sum != b.Database {
		err = fmt.Errorf("its database has changed since it was made")
	}
	if err != nil {
		return courant.Errorf(courant.Invalid, "%s cannot be restored: %w", from, err)
	}
	return nil
}

// CheckDatabase returns what is wrong with the structures of a SQLite file, one line for
// each fault.
func CheckDatabase(ctx context.Context, name string) ([]string, error) {
	return sqlite.Check(ctx, name)
}
