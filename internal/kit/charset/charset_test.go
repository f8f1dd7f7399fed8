package charset_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/courant-platform/courant/internal/kit/charset"
)

const russian = "Городской совет принял новый бюджет, Ёжик в тумане"

func TestTheBytesDecideWhatADocumentIs(t *testing.T) {
	cp1251, _ := charmap.Windows1251.NewEncoder().String(russian)
	koi8, _ := charmap.KOI8R.NewEncoder().String(russian)
	iso5, _ := charmap.ISO8859_5.NewEncoder().String(russian)
	latin, _ := charmap.Windows1252.NewEncoder().String("Café crème à la carte, déjà vu")
	sjis, _ := japanese.ShiftJIS.NewEncoder().String("日本語のテキスト")
	utf16, _ := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String("<a>" + russian)
	utf32be, _ := utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM).NewEncoder().String("<a>" + russian)
	for _, c := range []struct {
		what, body, contentType, text, name string
		healed                              bool
	}{
		{"plain UTF-8", russian, "", russian, "utf-8", false},
		{"ASCII", "abc", "", "abc", "utf-8", false},
		{"ASCII declared as another", "abc", "text/xml; charset=windows-1251", "abc", "windows-1251", false},
		{"a mark wins", "\xef\xbb\xbf" + russian, "text/xml; charset=koi8-r", russian, "utf-8", false},
		{"HTTP wins over the declaration", `<?xml version="1.0" encoding="koi8-r"?>` + cp1251, `text/xml;charset="windows-1251"`,
			`<?xml version="1.0" encoding="koi8-r"?>` + russian, "windows-1251", false},
		{"declared", "\n<?xml version='1.0' encoding='KOI8-R'?>" + koi8, "", "\n<?xml version='1.0' encoding='KOI8-R'?>" + russian, "koi8-r", false},
		{"meta", `<meta charset=windows-1251>` + cp1251, "", `<meta charset=windows-1251>` + russian, "windows-1251", false},
		{"declared UTF-8 but windows-1251", cp1251, "text/xml; charset=utf-8", russian, "windows-1251", true},
		{"nothing declared, windows-1251", cp1251, "", russian, "windows-1251", true},
		{"nothing declared, koi8-r", koi8, "", russian, "koi8-r", true},
		{"nothing declared, iso-8859-5", iso5, "", russian, "iso-8859-5", true},
		{"nothing declared, windows-1252", latin, "", "Café crème à la carte, déjà vu", "windows-1252", true},
		{"declared latin but UTF-8", russian, "text/xml; charset=iso-8859-1", russian, "utf-8", true},
		{"shift_jis", sjis, "text/xml; charset=shift_jis", "日本語のテキスト", "shift_jis", false},
		{"UTF-16 without a mark", utf16, "", "<a>" + russian, "utf-16le", false},
		{"UTF-16 with a mark", "\xff\xfe" + utf16, "", "<a>" + russian, "utf-16le", false},
		{"UTF-32", utf32be, "", "<a>" + russian, "utf-32be", false},
		{"UTF-16 declared in vain", russian, "text/xml; charset=utf-16", russian, "utf-8", true},
		{"a few bad bytes", russian + "\xff", "", russian + "\uFFFD", "utf-8", true},
		{"an unknown name", russian, "text/xml; charset=nonsense", russian, "utf-8", false},
		{"controls", "a\x00b\x1f\tc\uFFFE\uFFFFd\x7f", "", "ab\tcd\x7f", "utf-8", false},
		{"nothing", "", "", "", "utf-8", false},
	} {
		text, name, healed := charset.Decode([]byte(c.body), c.contentType)
		if string(text) != c.text || name != c.name || healed != c.healed {
			t.Errorf("%s: got %q, %s, %v; want %q, %s, %v", c.what, text, name, healed, c.text, c.name, c.healed)
		}
	}
}

func TestCleanTextIsNotCopied(t *testing.T) {
	body := []byte(strings.Repeat(russian, 100))
	if text, _, _ := charset.Decode(body, "text/xml"); &text[0] != &body[0] {
		t.Error("clean UTF-8 was copied")
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"abc", "\xff\xfe<\x00", "\x00<\x00a", "<?xml encoding='utf-7'?>\xe9", "\xcf\xf0\xe8", "\xef\xbf\xbe\xef\xbb\xbf\x00", "<meta charset="} {
		f.Add([]byte(s), "text/xml; charset=koi8-r")
		f.Add([]byte(s), "charset=")
		f.Add([]byte(s), "text/html; charset=iso-2022-jp")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		text, name, _ := charset.Decode(body, contentType)
		if !utf8.Valid(text) || name == "" || name != strings.ToLower(name) {
			t.Errorf("%q gives %q, %s", body, text, name)
		}
		if i := strings.IndexAny(string(text), "\x00\x01\x08\x0b\x0c\x1f\uFFFE\uFFFF"); i >= 0 {
			t.Errorf("%q gives %q", body, text)
		}
	})
}

func BenchmarkDecodeOfCleanUTF8(b *testing.B) {
	body := []byte(strings.Repeat(russian+" and some plain text. ", 2000))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		charset.Decode(body, "text/xml; charset=utf-8")
	}
}
