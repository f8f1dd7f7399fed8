package charset_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/courant-platform/courant/internal/kit/charset"
)

const russian = "Городской совет принял новый бюджет, Ёжик в тумане"

func utf16le(text string) string {
	out, _ := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(text)
	return out
}

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
		{"meta in capitals, not the first tag", `<html><META HTTP-EQUIV=x><META CONTENT="text/html; CHARSET=windows-1251">` + cp1251, "",
			`<html><META HTTP-EQUIV=x><META CONTENT="text/html; CHARSET=windows-1251">` + russian, "windows-1251", false},
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
		{"controls", "a\x00b\x1f\tc\uFFFE\uFFFFd\x7f", "", "ab\tcd\x7f", "utf-8", true},
		{"UTF-16 that declares another", "\xff\xfe" + utf16le(`<?xml version="1.0" encoding="windows-1251"?><a/>`), "", `<?xml version="1.0" encoding="windows-1251"?><a/>`, "utf-16le", true},
		{"UTF-16 that HTTP calls another", "\xff\xfe" + utf16, "text/xml; charset=utf-8", "<a>" + russian, "utf-16le", true},
		{"UTF-16 that says so", "\xff\xfe" + utf16le(`<?xml version="1.0" encoding="UTF-16"?><a/>`), "", `<?xml version="1.0" encoding="UTF-16"?><a/>`, "utf-16le", false},
		{"UTF-32 that declares UTF-8", utf32be, "text/xml; charset=utf-8", "<a>" + russian, "utf-32be", true},
		{"C1 controls in UTF-8", "a \u0096 b\u0085 \u0093c\u0094 \u0081\u00a0", "", "a – b… “c” \u0081\u00a0", "utf-8", true},
		{"C1 controls in UTF-16", "\xff\xfe" + utf16le("a\u0092s"), "", "a’s", "utf-16le", true},
		{"C1 controls declared as latin", "caf\xe9 \x96 it\x92s", "text/xml; charset=iso-8859-1", "café – it’s", "windows-1252", false},
		{"a C1 control at the end", "a\u0080", "", "a€", "utf-8", true},
		{"nothing", "", "", "", "utf-8", false},
	} {
		text, name, healed := charset.Decode([]byte(c.body), c.contentType)
		if string(text) != c.text || name != c.name || healed != c.healed {
			t.Errorf("%s: got %q, %s, %v; want %q, %s, %v", c.what, text, name, healed, c.text, c.name, c.healed)
		}
	}
}

func TestWhatIsNotDeclaredIsGuessedFromTheBytes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		of         encoding.Encoding
	}{
		{"euc-kr", "서울시는 새로운 예산을 통과시켰다. 도로에 대한 지출은 줄고 학교에 대한 지출은 늘어난다.", korean.EUCKR},
		{"shift_jis", "市議会は新しい予算を可決した。道路への支出は減り、学校への支出は増える。", japanese.ShiftJIS},
		{"euc-jp", "市議会は新しい予算を可決した。道路への支出は減り、学校への支出は増える。", japanese.EUCJP},
		{"gb18030", "市议会周二通过了新的预算，据其作者说，这将减少道路支出，增加学校支出。", simplifiedchinese.GBK},
		{"big5", "市議會週二通過了新的預算，據其作者說，這將減少道路支出，增加學校支出。", traditionalchinese.Big5},
		{"windows-874", "สภาเมืองอนุมัติงบประมาณใหม่เมื่อวันอังคาร ซึ่งจะลดการใช้จ่ายบนถนน", charmap.Windows874},
		{"windows-1255", "מועצת העיר אישרה ביום שלישי תקציב חדש שיפחית את ההוצאות על כבישים", charmap.Windows1255},
		{"windows-1256", "وافق مجلس المدينة يوم الثلاثاء على الميزانية الجديدة التي ستقلل الإنفاق على الطرق", charmap.Windows1256},
		{"windows-1253", "Το δημοτικό συμβούλιο ενέκρινε την Τρίτη νέο προϋπολογισμό που θα μειώσει τις δαπάνες", charmap.Windows1253},
		{"windows-1251", "ГОРОДСКОЙ СОВЕТ принял во вторник новый бюджет, который сократит расходы на дороги", charmap.Windows1251},
		{"koi8-r", "Городской совет принял во вторник новый бюджет, который сократит расходы на дороги", charmap.KOI8R},
		{"windows-1252", "Der Stadtrat hat am Dienstag über das Budget für Straßen abgestimmt; ökologische Maßnahmen", charmap.Windows1252},
	} {
		body, err := c.of.NewEncoder().String("<rss><title>" + c.text + "</title>")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, declared := range []string{"", "text/xml; charset=utf-8"} {
			text, name, healed := charset.Decode([]byte(body), declared)
			if name != c.name || !healed || string(text) != "<rss><title>"+c.text+"</title>" {
				t.Errorf("%s declared as %q: got %s, %v, %q", c.name, declared, name, healed, text)
			}
		}
	}
}

func TestADeclarationThatMakesNoSenseIsNotBelieved(t *testing.T) {
	text := strings.Repeat("Городской Совет Москвы Принял Новый Бюджет Города, и это хорошо. ", 2)
	cp1251, _ := charmap.Windows1251.NewEncoder().String(text)
	koi8, _ := charmap.KOI8R.NewEncoder().String(text)
	capitals, _ := charmap.Windows1251.NewEncoder().String(strings.ToUpper(text))
	for _, c := range []struct{ what, body, declared, name, text string }{
		{"windows-1251 declared as koi8-r", cp1251, "koi8-r", "windows-1251", text},
		{"koi8-r declared as windows-1251", koi8, "windows-1251", "koi8-r", text},
		{"windows-1251 declared as latin", cp1251, "iso-8859-1", "windows-1251", text},
		{"capitals in windows-1251", capitals, "windows-1251", "windows-1251", strings.ToUpper(text)},
		{"UTF-8 declared as gb2312", text, "gb2312", "utf-8", text},
	} {
		got, name, _ := charset.Decode([]byte(c.body), "text/xml; charset="+c.declared)
		if name != c.name || string(got) != c.text {
			t.Errorf("%s: got %s, %q", c.what, name, got)
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

func TestAnUnknownEncodingIsNamed(t *testing.T) {
	for _, c := range []struct{ body, contentType, want string }{
		{`<?xml version="1.0" encoding="x-mac-klingon"?><a/>`, "", "x-mac-klingon"},
		{`<?xml version="1.0" encoding="UTF-8"?><a/>`, "", ""},
		{"\xef\xbb\xbf" + `<?xml version='1.0' encoding='nonsense'?><a/>`, "", "nonsense"},
		{`<?xml version="1.0" encoding="utf-8"?><a/>`, "text/xml; charset=nonsense", "nonsense"},
		{`<?xml version="1.0" encoding="nonsense"?><a/>`, "text/xml; charset=utf-8", ""},
		{`<?xml version="1.0"?><a encoding="nonsense"/>`, "", ""}, {`<?xml encoding="`, "", ""}, {"", "", ""}, {`{"a": 1}`, "application/json", ""},
	} {
		if got := charset.Unknown([]byte(c.body), c.contentType); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.body, c.contentType, got, c.want)
		}
	}
}
