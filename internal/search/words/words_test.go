package words_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/courant-platform/courant/internal/search/words"
)

func TestTextsAreCutIntoWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"Smartphone Zonogor A-7, 5.9": "smartphone zonogor a 7 5 9",
		"Ёлка ЁЖ":                     "елка еж",
		"&quot;<b>x</b>":              "quot b x b",
		"手机壳 a机":                      "手机 机壳 a 机",
		"機 x":                         "機 x",
		"Straße İ":                    "straße i",
		"a\xffb":                      "a b",
	} {
		if got := strings.Join(words.All(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAVeryLongWordCountsByItsBeginning(t *testing.T) {
	got := words.All(strings.Repeat("ж", 1000))
	if len(got) != 1 || len(got[0]) != 64 {
		t.Errorf("got %q", got)
	}
}

func FuzzWordsLieWhereTheySay(f *testing.F) {
	f.Add("Smartphone 手机壳 ёлка \xff")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		words.EachAt(text, func(w []byte, from, to int) bool {
			if from < 0 || to <= from || to > len(text) || to < last || !utf8.Valid(w) || len(w) == 0 || len(w) > 68 {
				t.Fatalf("%q: %q from %d to %d", text, w, from, to)
			}
			if again := words.All(text[from:to]); len(w) < 64 && (len(again) != 1 || again[0] != string(w)) {
				t.Fatalf("%q: %q is %q alone", text, w, again)
			}
			last = to
			return true
		})
	})
}

func TestFormsOfAWordShareAStem(t *testing.T) {
	keys := func(w string) (all []string) {
		words.Stems(w, func(k string) { all = append(all, k) })
		return all
	}
	for _, pair := range [][2]string{{"phone", "phones"}, {"чайник", "чайники"}, {"häuser", "haus"}, {"teléfonos", "teléfono"}, {"running", "run"}} {
		if !slices.ContainsFunc(keys(pair[0]), func(k string) bool { return slices.Contains(keys(pair[1]), k) }) {
			t.Errorf("%v: %q and %q", pair, keys(pair[0]), keys(pair[1]))
		}
	}
	for _, w := range []string{"a7", "手机", "xж"} {
		if k := keys(w); len(k) > 0 {
			t.Errorf("%s has the stems %q", w, k)
		}
	}
}

func TestAFileOfSynonyms(t *testing.T) {
	s, err := words.ReadSynonyms(strings.NewReader("# remark\nPhone, телефон , cell phone\nstop: buy, купить\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Of("phone"), " "); got != "phone телефон" || !s.Stops("buy") || s.Stops("the") || len(s.Of("cell")) > 0 {
		t.Errorf("got %q", got)
	}
	if !words.Default().Stops("the") {
		t.Error("the usual stop words are missing")
	}
}
