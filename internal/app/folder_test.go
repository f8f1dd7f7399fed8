package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADataFolderIsClosedToOtherUsersUnlessItIsSomebodyElses(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		works bool
	}{"empty": {"", true}, "of an earlier version": {"courant.db", true}, "of something else": {"main.go", false}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if c.file != "" {
				if err := os.WriteFile(filepath.Join(dir, c.file), []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f, err := OpenFolder(dir)
			st, _ := os.Stat(dir)
			if !c.works {
				if err == nil || !strings.Contains(err.Error(), "chmod 700") || st.Mode().Perm() != 0o755 {
					t.Errorf("%v, %v", err, st.Mode())
				}
				return
			}
			if err != nil || st.Mode().Perm() != 0o700 {
				t.Fatalf("%v, %v", err, st.Mode())
			}
			f.Close()
		})
	}
}
