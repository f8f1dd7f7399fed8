package chaos

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/test/rig"
)

// TestDamagedPicturesAreNotServedAndHeal flips, empties and deletes the files of all
// pictures while readers fetch them.
func TestDamagedPicturesAreNotServedAndHeal(t *testing.T) {
	t.Parallel()
	w := programs.Web(t, "-mix", "plain", "-hosts", "12", "-items", "5", "-seed", strconv.FormatUint(*seed, 10))
	c := programs.Courant(t, rig.Config(`robot.proxy = "`+w.Proxy+`"`, `robot.gap = "50ms"`, `schedule.min_interval = "1h"`, `schedule.max_interval = "1h"`))
	c.Import(t, w.Sources(t, rig.Source.Whole))
	c.Start(t)
	names := settled(t, c)
	var stop atomic.Bool
	var all sync.WaitGroup
	var served, missing, damaged atomic.Int64
	for i := range 4 {
		all.Go(func() {
			for n := i; !stop.Load(); n += 4 {
				name := names[n%len(names)]
				switch status, body := c.Get(t, "/media/"+name); {
				case status == http.StatusNotFound:
					missing.Add(1)
				case status == http.StatusOK && intact(name, body):
					served.Add(1)
				default:
					damaged.Add(1)
				}
			}
		})
	}
	for i, name := range names {
		harm(t, filepath.Join(c.Data, "blobs", courant.PictureKey(name)), i)
	}
	healed := rig.Until(2*time.Minute, func() bool {
		rig.Pass(time.Second)
		for _, name := range names {
			body, err := os.ReadFile(filepath.Join(c.Data, "blobs", courant.PictureKey(name)))
			if err != nil || !intact(name, body) {
				return false
			}
		}
		return true
	})
	stop.Store(true)
	all.Wait()
	t.Logf("%d files; %d answers with a picture, %d without, %d damaged", len(names), served.Load(), missing.Load(), damaged.Load())
	if damaged.Load() > 0 || missing.Load() == 0 {
		t.Errorf("%d damaged pictures were served, %d were missing", damaged.Load(), missing.Load())
	}
	if !healed {
		t.Error("not all are healed after two minutes")
	}
	c.Stop(t)
}

// settled returns the names of all pictures when no more come.
func settled(t *testing.T, c *rig.Courant) (names []string) {
	t.Helper()
	last := 0
	if !rig.Until(2*time.Minute, func() bool {
		names = nil
		root := filepath.Join(c.Data, "blobs", "media")
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				parts := strings.Split(filepath.ToSlash(path), "/")
				names = append(names, strings.Join(parts[len(parts)-2:], "/"))
			}
			return nil // a folder may not be there yet
		}); err != nil {
			t.Fatal(err)
		}
		still := len(names) > 0 && len(names) == last
		last = len(names)
		rig.Pass(3 * time.Second)
		return still
	}) {
		t.Fatal("no pictures come")
	}
	return names
}

// intact reports whether body is what its name says.
func intact(name string, body []byte) bool {
	sum := sha256.Sum256(body)
	digest, _ := courant.PictureDigest(name)
	return strings.HasPrefix(hex.EncodeToString(sum[:]), digest)
}

// harm flips a byte of a file, empties it, or deletes it.
func harm(t *testing.T, path string, how int) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch how % 3 {
	case 0:
		body[len(body)/2] ^= 1
		err = os.WriteFile(path, body, 0o600)
	case 1:
		err = os.Truncate(path, 0)
	case 2:
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}
