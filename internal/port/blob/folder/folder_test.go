package folder_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/blobtest"
	"github.com/courant-platform/courant/internal/port/blob/folder"
)

func TestFolder(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Driver { return open(t, t.TempDir()) })
}

func open(t *testing.T, dir string) *folder.Folder {
	f, err := folder.Open(folder.Folder{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTemporaryFilesOfEndedProcessesAreRemovedAndOthersAreNot(t *testing.T) {
	dir := t.TempDir()
	left, written := filepath.Join(dir, ".part-123"), filepath.Join(dir, ".part-456")
	for _, name := range []string{left, written} {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(left, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Open(folder.Folder{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of an ended process still exists: %v", err)
	}
	if _, err := os.Stat(written); err != nil {
		t.Errorf("the file that another process is writing: %v", err)
	}
}

func TestAProcessThatStartsDoesNotBreakTheWritesOfOthers(t *testing.T) {
	dir := t.TempDir()
	first, err := folder.Open(folder.Folder{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	body := &opening{dir: dir, Reader: strings.NewReader("the whole body")}
	if err := first.Put(t.Context(), "a/b", body, true); err != nil || body.err != nil {
		t.Fatal(err, body.err)
	}
}

// opening opens the folder again when it is read.
type opening struct {
	io.Reader
	dir string
	err error
}

func (o *opening) Read(p []byte) (int, error) {
	_, err := folder.Open(folder.Folder{Dir: o.dir})
	o.err = errors.Join(o.err, err)
	return o.Reader.Read(p)
}
