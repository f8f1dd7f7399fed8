// Package memory stores blobs in memory, for tests.
package memory

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/blob"
)

// Memory is the driver; the zero value is empty and ready.
type Memory struct {
	// mu guards files.
	mu    sync.Mutex
	files map[string]entry
}

type entry struct {
	body []byte
	time time.Time
}

func (e entry) info(key string) blob.Info {
	return blob.Info{Key: key, Size: int64(len(e.body)), Time: e.time}
}

// Put stores a copy of body.
func (m *Memory) Put(_ context.Context, key string, body io.Reader, _ bool) error {
	copied, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		m.files = map[string]entry{}
	}
	m.files[key] = entry{copied, time.Now()}
	return nil
}

// Open opens the current file; a later Put does not change it.
func (m *Memory) Open(_ context.Context, key string) (blob.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.files[key]
	if !ok {
		return nil, courant.Errorf(courant.NotFound, "no such file")
	}
	return file{bytes.NewReader(e.body), e.info(key)}, nil
}

type file struct {
	*bytes.Reader
	info blob.Info
}

func (f file) Info() blob.Info { return f.info }
func (f file) Close() error    { return nil }

// Delete removes the file.
func (m *Memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, key)
	return nil
}

// List visits a snapshot, so that f may write and delete files.
func (m *Memory) List(_ context.Context, prefix string, f func(blob.Info) error) error {
	m.mu.Lock()
	var found []blob.Info
	for key, e := range m.files {
		if strings.HasPrefix(key, prefix) {
			found = append(found, e.info(key))
		}
	}
	m.mu.Unlock()
	for _, info := range found {
		if err := f(info); err != nil {
			return err
		}
	}
	return nil
}

// Close does nothing.
func (m *Memory) Close() error { return nil }
