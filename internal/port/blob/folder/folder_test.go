package folder_test

import (
	"os"
	"path/filepath"
	"testing"

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

func TestTemporaryFilesAreRemovedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	part := filepath.Join(dir, ".part-123")
	if err := os.WriteFile(part, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if _, err := os.Stat(part); !os.IsNotExist(err) {
		t.Errorf("the file still exists: %v", err)
	}
}
