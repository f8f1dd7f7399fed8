package unpack_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"compress/gzip"

	"github.com/klauspost/compress/zstd"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/unpack"
)

func gz(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func zst(b []byte) []byte {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return z.EncodeAll(b, nil)
}

func zipped(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range names {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, "<a/>")
	}
	z.Close()
	return out.Bytes()
}

func read(src io.Reader, most int64) (string, bool, error) {
	f, err := unpack.Open(src, most)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), f.Packed, err
}

func TestADocumentComesOutOfItsArchives(t *testing.T) {
	plain := []byte("<a/>")
	for name, body := range map[string][]byte{
		"gzip": gz(plain), "gzip twice": gz(gz(plain)), "zstd": zst(plain), "members": append(gz([]byte("<a")), gz([]byte("/>"))...),
		"zip": zipped(t, "a.xml"), "zip with a folder": zipped(t, "data/", "data/a.xml", "__MACOSX/._a.xml"), "zip in gzip": gz(zipped(t, "a.xml")),
	} {
		for _, src := range []io.Reader{bytes.NewReader(body), io.MultiReader(bytes.NewReader(body))} {
			if text, packed, err := read(src, 100); text != "<a/>" || !packed || err != nil {
				t.Errorf("%s: %q, %v, %v", name, text, packed, err)
			}
		}
	}
	for _, body := range []string{"<a/>", "", "P", "\x1f"} {
		if text, packed, err := read(strings.NewReader(body), 100); text != body || packed || err != nil {
			t.Errorf("%q: %q, %v, %v", body, text, packed, err)
		}
	}
}

func TestWhatCannotBeUnpackedSaysWhy(t *testing.T) {
	for _, c := range []struct {
		body []byte
		want string
	}{
		{[]byte("\x1f\x8b nonsense"), "malformed: the gzip archive is broken"},
		{[]byte("PK\x03\x04 nonsense"), "malformed: the zip archive is broken"},
		{zipped(t, "a.xml", "b.xml"), "malformed: the zip archive holds several files"},
		{zipped(t), "empty: the zip archive holds no file"},
		{append(gz([]byte("<a/>"))[:10], 0xff, 0xff, 0xff, 0xff), "malformed: the gzip archive is broken"},
		{gz(make([]byte, 101)), "too_large: the unpacked document is larger than 100 bytes"},
		{gz(make([]byte, 100)), ""},
	} {
		_, _, err := read(bytes.NewReader(c.body), 100)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, courant.Invalid) || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
	body := gz([]byte(strings.Repeat("<a/>", 10000)))
	if text, _, err := read(bytes.NewReader(body[:len(body)-10]), 1<<20); err == nil || len(text) == 0 {
		t.Errorf("a truncated archive gives %d bytes, %v", len(text), err)
	}
}

func TestErrorsOfArchivesAreDistinguished(t *testing.T) {
	whole := gz([]byte("<a/>"))
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-8] ^= 1
	empty := bytes.Repeat(gz(nil), 100_000)
	for name, c := range map[string]struct {
		body []byte
		err  error
		junk bool
	}{
		"whole":            {whole, nil, false},
		"a wrong checksum": {damaged, unpack.ErrDamaged, false},
		"junk":             {append(bytes.Clone(whole), "junk"...), nil, true},
		"zeros":            {append(bytes.Clone(whole), make([]byte, 512)...), nil, true},
		"cut off":          {whole[:len(whole)-3], io.ErrUnexpectedEOF, false},
		"many empty ones":  {append(empty, whole...), nil, false},
	} {
		f, err := unpack.Open(bytes.NewReader(c.body), 100)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := io.ReadAll(f)
		if !errors.Is(err, c.err) || f.Junk != c.junk || c.err == nil && string(text) != "<a/>" {
			t.Errorf("%s: %q, %v, %v", name, text, f.Junk, err)
		}
		f.Close()
	}
}
