// Package blobtest defines what a blob.Driver must do.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/blob"
)

// Run runs the suite. driver returns a new, empty driver.
func Run(t *testing.T, driver func(t *testing.T) blob.Driver) {
	for _, c := range []struct {
		name string
		test func(*testing.T, blob.Bucket)
	}{
		{"a file is read back as it was written, even if empty", readBack},
		{"a second Put replaces the file", newest},
		{"an open file does not change when its key is written again", openIsStable},
		{"a part of a file can be read", part},
		{"a key that does not exist is NotFound", missing},
		{"deleting twice is no error", deleteTwice},
		{"List visits exactly the files with the prefix", list},
		{"invalid keys are refused", keys},
		{"a damaged or deleted cached file is NotFound", cached},
		{"concurrently cached bodies do not mix", manyCached},
		{"concurrent writers and readers never see a torn file", concurrent},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := blob.Bucket{Driver: driver(t)}
			defer b.Driver.Close()
			c.test(t, b)
		})
	}
}

func put(t *testing.T, b blob.Bucket, key, body string) {
	t.Helper()
	if err := b.Put(context.Background(), key, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, b blob.Bucket, key, body string) {
	t.Helper()
	got, err := b.Get(context.Background(), key)
	if err != nil || string(got) != body {
		t.Fatalf("%s: %.40q, %v; want %.40q", key, got, err, body)
	}
}

func readBack(t *testing.T, b blob.Bucket) {
	large := strings.Repeat("abc", 1<<20)
	for key, body := range map[string]string{"a": "x", "d/e/f.jpg": large, "d/empty": ""} {
		put(t, b, key, body)
		want(t, b, key, body)
	}
}

func newest(t *testing.T, b blob.Bucket) {
	put(t, b, "a/b", "a long first one")
	put(t, b, "a/b", "second")
	want(t, b, "a/b", "second")
}

func openIsStable(t *testing.T, b blob.Bucket) {
	put(t, b, "a", "first")
	f, err := b.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	put(t, b, "a", "other")
	if got, _ := io.ReadAll(f); string(got) != "first" {
		t.Errorf("read %q", got)
	}
}

func part(t *testing.T, b blob.Bucket) {
	put(t, b, "a", "0123456789")
	f, err := b.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info := f.Info(); info.Size != 10 || info.Key != "a" || info.Time.IsZero() {
		t.Errorf("info %+v", info)
	}
	if _, err := f.Seek(-3, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(f); string(got) != "789" {
		t.Errorf("read %q", got)
	}
}

func missing(t *testing.T, b blob.Bucket) {
	put(t, b, "a/b", "x")
	for _, key := range []string{"b", "a", "a/b/c", "a/c"} {
		if _, err := b.Get(t.Context(), key); !blob.Missing(err) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func deleteTwice(t *testing.T, b blob.Bucket) {
	put(t, b, "a/b/c", "x")
	put(t, b, "a/b/d", "y")
	for range 2 {
		if err := b.Delete(t.Context(), "a/b/c"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Get(t.Context(), "a/b/c"); !blob.Missing(err) {
		t.Errorf("deleted file: %v, want NotFound", err)
	}
	want(t, b, "a/b/d", "y")
}

func list(t *testing.T, b blob.Bucket) {
	for _, key := range []string{"a/1", "a/2/3", "ab", "b/1"} {
		put(t, b, key, key)
	}
	for prefix, keys := range map[string]string{"a/": "a/1 a/2/3", "a": "a/1 a/2/3 ab", "": "a/1 a/2/3 ab b/1", "c/": ""} {
		var got []string
		err := b.List(t.Context(), prefix, func(i blob.Info) error {
			if i.Size != int64(len(i.Key)) {
				t.Errorf("%s has size %d", i.Key, i.Size)
			}
			got = append(got, i.Key)
			return nil
		})
		sort.Strings(got)
		if err != nil || strings.Join(got, " ") != keys {
			t.Errorf("%q: %v, %v", prefix, got, err)
		}
	}
}

func keys(t *testing.T, b blob.Bucket) {
	for _, key := range []string{"", "/", "/a", "a/", "../a", "a/../b", "a//b", "A", "a b", "a\\b", "a\x00", ".a", strings.Repeat("a", 300)} {
		if err := b.Put(t.Context(), key, nil); !errors.Is(err, courant.Invalid) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func cached(t *testing.T, b blob.Bucket) {
	key, err := b.PutCached(t.Context(), "body/x", []byte("download"))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := b.GetCached(t.Context(), key); err != nil || string(body) != "download" {
		t.Errorf("%q, %v", body, err)
	}
	other, err := b.PutCached(t.Context(), "body/y", nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := b.GetCached(t.Context(), other); err != nil || len(body) != 0 {
		t.Errorf("%q, %v", body, err)
	}
	put(t, b, blob.Holder(key), "downl")
	if _, err := b.GetCached(t.Context(), key); !blob.Missing(err) {
		t.Errorf("truncated file: %v, want NotFound", err)
	}
	put(t, b, blob.Holder(key), "downlaod")
	if _, err := b.GetCached(t.Context(), key); !blob.Missing(err) {
		t.Errorf("damaged file: %v, want NotFound", err)
	}
	if err := b.Delete(t.Context(), blob.Holder(key)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.GetCached(t.Context(), key); !blob.Missing(err) {
		t.Errorf("deleted file: %v, want NotFound", err)
	}
	held := 0
	if err := b.List(t.Context(), "body/", func(blob.Info) error { held++; return nil }); err != nil || held > 1 {
		t.Errorf("%d files are left, want at most 1: %v", held, err)
	}
}

// manyCached writes many small and large bodies concurrently and reads each back.
func manyCached(t *testing.T, b blob.Bucket) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 50 {
				body := bytes.Repeat([]byte{byte(i), byte(j)}, 1+(i*j)%700)
				if j == 7 {
					body = bytes.Repeat(body, 3000)
				}
				key, err := b.PutCached(t.Context(), fmt.Sprintf("body/%d/%d-%d", j%3, i, j), body)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := b.GetCached(t.Context(), key); err != nil || !bytes.Equal(got, body) {
					t.Errorf("%s: %d of %d bytes, %v", key, len(got), len(body), err)
				}
				f, err := b.OpenCached(t.Context(), key)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, body) || f.Info().Size != int64(len(body)) || f.Close() != nil {
					t.Errorf("%s: %d of %d bytes, %v", key, len(got), len(body), err)
				}
			}
		})
	}
	all.Wait()
}

func concurrent(t *testing.T, b blob.Bucket) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				key := fmt.Sprintf("x/%d", j%5)
				body := bytes.Repeat([]byte{byte('a' + i)}, 1000)
				if err := b.Put(t.Context(), key, body); err != nil {
					t.Error(err)
				}
				got, err := b.Get(t.Context(), key)
				if err != nil || len(got) != 1000 || bytes.Count(got, got[:1]) != 1000 {
					t.Errorf("torn file: %d bytes, %v", len(got), err)
				}
			}
		})
	}
	all.Wait()
}
