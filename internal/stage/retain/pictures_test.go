package retain_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

const (
	putPicture  = `INSERT INTO media (hash, url, state, content, changed) VALUES ($1, $2, 1, $2, $3)`
	putBody     = `INSERT INTO bodies (page, document, html) VALUES ($1, $2, $2)`
	putDocument = `INSERT INTO documents (url, source, address, rank, as_of, state, due, fetched, content, trace) VALUES ($1, 1, '', 1, 1, $2, 1, 1, $3, '')`
)

// addressOf is the address of a picture by its name.
func addressOf(name string) string { return "http://a.example/" + name + ".png" }

func hashOf(name string) []byte {
	key := link.Digest(addressOf(name))
	return key[:]
}

// document is a packed document with pictures.
func document(t *testing.T, names ...string) []byte {
	t.Helper()
	var d courant.Document
	for _, name := range names {
		d.Item.Images = append(d.Item.Images, addressOf(name))
	}
	packed, err := pack.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// picture stores a picture and its file, long ago.
func (w *world) picture(name string) {
	w.t.Helper()
	w.exec(putPicture, hashOf(name), name, w.ago(300*day))
}

func (w *world) page(id int, names ...string) {
	w.t.Helper()
	w.exec(putPage, []byte{byte(id)}, id, false)
	w.exec(putBody, id, document(w.t, names...))
}

// later has all sweeps and notes of unused pictures be older.
func (w *world) later(d time.Duration) {
	w.t.Helper()
	w.exec(`UPDATE retained SET done = done - $1 WHERE name <> 'clock'`, d.Milliseconds())
	w.exec(`UPDATE unused_media SET since = since - $1`, d.Milliseconds())
}

func (w *world) pictures() string { return w.list(`SELECT content FROM media ORDER BY content`) }

func TestAPictureThatNoPageShowsEndsAfterAMonth(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := worldOf(t, s)
		for _, name := range []string{"shown", "again", "unused"} {
			w.picture(name)
		}
		w.exec(putPicture, hashOf("fresh"), "fresh", w.ago(time.Minute))
		w.exec(`INSERT INTO media (hash, url, state) VALUES ($1, 'wanted', 0)`, hashOf("wanted"))
		w.page(1, "shown", "elsewhere")
		w.once()
		if got := w.list(`SELECT m.content FROM unused_media u JOIN media m ON m.hash = u.hash ORDER BY m.content`); got != "again unused" {
			t.Fatalf("%q are unused", got)
		}
		w.page(2, "again")
		w.later(29 * day)
		w.once()
		if got := w.pictures(); got != " again fresh shown unused" {
			t.Errorf("after 29 days: %q", got)
		}
		w.later(8 * day)
		w.once()
		if got := w.pictures(); got != " again fresh shown" {
			t.Errorf("after 37 days: %q", got)
		}
		if got := w.list(`SELECT 'row' FROM unused_media`); got != "" {
			t.Errorf("%s of unused_media are left", got)
		}
	})
}

func TestThePicturesOfDocumentsOnTheirWayStay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := worldOf(t, s)
		for _, name := range []string{"waiting", "ready", "found"} {
			w.picture(name)
		}
		w.once()
		for state, name := range []string{"found", "waiting", "ready"} {
			w.exec(putDocument, []byte(name), state, document(t, name))
		}
		w.later(40 * day)
		w.once()
		if got := w.pictures(); got != "ready waiting" { // media has not promised anything to the found one yet
			t.Errorf("%q are left", got)
		}
	})
}

// A document is promised a picture in a transaction that has locked it, while the sweep
// wants to delete it.
func TestAPictureThatIsBeingPromisedStays(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		if s.Serial() {
			return // no other transaction runs meanwhile
		}
		w := worldOf(t, s)
		w.picture("promised")
		w.once()
		w.exec(putDocument, []byte("url"), 0, document(t, "promised"))
		w.later(40 * day)
		err := s.Write(t.Context(), func(tx *store.Tx) error {
			if _, err := tx.Exec(`INSERT INTO media (hash, url, state) VALUES ($1, 'x', 0) ON CONFLICT (hash) DO UPDATE SET url = media.url`, hashOf("promised")); err != nil {
				return err
			}
			w.once()
			_, err := tx.Exec(`UPDATE documents SET state = 2`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		w.later(40 * day)
		w.once()
		if got := w.pictures(); got != "promised" {
			t.Errorf("%q are left", got)
		}
	})
}

func TestAPageThatCannotBeReadKeepsAllPictures(t *testing.T) {
	w := worldOf(t, storetest.Memory(t))
	w.picture("one")
	w.once()
	w.exec(putBody, 1, []byte("damaged"))
	w.later(40 * day)
	if err := w.Once(t.Context()); err == nil || !strings.Contains(err.Error(), "document of page 1") {
		t.Errorf("the run ended with %v", err)
	}
	if got := w.pictures(); got != "one" {
		t.Errorf("%q are left", got)
	}
}

func TestADocumentThatCannotBeReadKeepsNoPictures(t *testing.T) {
	w := worldOf(t, storetest.Memory(t))
	w.picture("one")
	w.exec(putDocument, []byte("url"), 2, []byte("damaged"))
	w.once()
	w.later(40 * day)
	w.once()
	if got := w.pictures(); got != "" {
		t.Errorf("%q are left", got)
	}
}

func TestPicturesAreKeptWhileTooManyDocumentsAreOnTheirWay(t *testing.T) {
	w := worldOf(t, storetest.Memory(t))
	w.picture("one")
	w.once()
	w.later(40 * day)
	packed := document(t)
	err := w.Store.Write(t.Context(), func(tx *store.Tx) error {
		var args [][]any
		for i := range 2000 {
			args = append(args, []any{[]byte{byte(i >> 8), byte(i)}, 2, packed})
		}
		_, err := tx.ExecAll(putDocument, args)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.once()
	if got := w.pictures(); got != "one" || !strings.Contains(w.said.String(), "too many documents are on their way") {
		t.Errorf("%q are left; it says %s", got, &w.said)
	}
	w.exec(`DELETE FROM documents`)
	w.later(8 * day)
	w.once()
	if got := w.pictures(); got != "" {
		t.Errorf("%q are left afterwards", got)
	}
}

func TestTheFilesOfAPictureEndUnlessAnotherHasTheSameContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worldOf(t, storetest.Memory(t))
		for _, name := range []string{"gone", "same", "copy", "left"} {
			file := courant.PictureKey(courant.PictureFile(name, 640, "image/png"))
			if err := w.Blobs.Put(t.Context(), file, []byte(name)); err != nil {
				t.Fatal(err)
			}
		}
		w.picture("gone")
		w.picture("same")
		w.exec(putPicture, hashOf("copy"), "same", w.ago(300*day))
		w.page(1, "copy")
		w.once()
		w.later(40 * day)
		time.Sleep(2 * time.Hour)
		if err := w.Blobs.Put(t.Context(), "media/fr/fresh/1.png", nil); err != nil {
			t.Fatal(err)
		}
		w.once() // deletes the file without a row, then the rows
		if got := w.files(); got != "gone same fresh" {
			t.Errorf("%q are left by the sweep", got)
		}
		time.Sleep(5 * time.Minute)
		w.once()
		if got := w.files(); got != "gone same fresh" {
			t.Errorf("%q are left at once", got)
		}
		time.Sleep(5 * time.Minute)
		w.once()
		if got := w.files(); got != "same fresh" {
			t.Errorf("%q are left", got)
		}
		if got := w.pictures(); got != "same" {
			t.Errorf("%q are left in the table", got)
		}
	})
}

// files returns the digests of the files, "fresh" last.
func (w *world) files() string {
	w.t.Helper()
	var all []string
	for _, name := range []string{"gone", "same", "copy", "left", "fresh"} {
		err := w.Blobs.List(w.t.Context(), "media/"+name[:2]+"/"+name+"/", func(blob.Info) error {
			all = append(all, name)
			return nil
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return strings.Join(all, " ")
}
