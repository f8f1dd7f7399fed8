package category

import (
	"fmt"
	"strings"
	"testing"
)

const tree = `# two shops that call the same thing differently
category,electronics,,Electronics
category,phones,electronics,"Phones, all"
source,one,17,phones
source,two,phones,phones
source,*,5,electronics
`

func read(t *testing.T, text string) *Map {
	t.Helper()
	m, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCategoriesOfSourcesHaveTheirPlaces(t *testing.T) {
	m := read(t, tree)
	for _, c := range []struct {
		source     string
		ids, names []string
		want       string
	}{
		{"one", []string{"1", "17"}, []string{"a", "b"}, "[electronics phones] [Electronics Phones, all]"},
		{"one", []string{"17", "99"}, []string{"b", "c"}, "[electronics phones] [Electronics Phones, all]"},
		{"two", []string{"phones"}, []string{"b"}, "[electronics phones] [Electronics Phones, all]"},
		{"three", []string{"5", "6"}, []string{"b", "c"}, "[electronics] [Electronics]"},
		{"three", []string{"17", "18"}, []string{"b", "c"}, "[three/17 three/18] [b c]"},
		{"one", nil, nil, "[] []"},
	} {
		path, names := m.Path(c.source, c.ids, c.names)
		if got := fmt.Sprint(path, " ", names); got != c.want {
			t.Errorf("%s %v: %s, not %s", c.source, c.ids, got, c.want)
		}
	}
	for own, want := range map[[2]string]string{{"one", "17"}: "phones", {"three", "17"}: "three/17", {"", "phones"}: "phones", {"nine", "5"}: "electronics"} {
		if got := m.ID(own[0], own[1]); got != want {
			t.Errorf("%v is %s, not %s", own, got, want)
		}
	}
	var none *Map
	if path, _ := none.Path("one", []string{"17"}, []string{"b"}); path[0] != "17" || none.ID("one", "17") != "17" || none.Digest() != nil {
		t.Error("no map changes something")
	}
}

func TestAMapWithAnErrorIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"category,a\n":                     "line 1 must be category",
		"\n\nkategory,a,,A\n":              "line 3 must start with category or source, not \"kategory\"",
		"category,a,,A\ncategory,a,,B\n":   "line 2: category \"a\" is defined twice",
		"category,a,b,A\n":                 "line 1: category \"b\" does not exist",
		"source,one,17,phones\n":           "line 1: category \"phones\" does not exist",
		"category,a,b,A\ncategory,b,a,B\n": "is its own ancestor",
		"category,a,,\"A\n":                "line 1",
		"category,,,A\n":                   "line 1 must be category",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(tree)
	f.Add("category,a,b,A\ncategory,b,a,B\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for id := range m.nodes {
			if path := m.path(id); len(path) == 0 || path[len(path)-1] != id {
				t.Fatalf("%q: the way to %q is %q", text, id, path)
			}
		}
	})
}
