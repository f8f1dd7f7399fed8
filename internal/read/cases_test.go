package read_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/read"
)

// onecase is a row of the bug cases: a file that another reader read wrongly, and what
// is right.
type onecase struct {
	ID      string            `json:"id"`
	Kind    string            `json:"kind"`
	Symptom string            `json:"symptom"`
	Input   any               `json:"input"`
	Base    string            `json:"base_url"`
	Headers map[string]string `json:"headers"`
	Checks  []struct {
		Path  string `json:"path"`
		Op    string `json:"op"`
		Value any    `json:"value"`
	} `json:"checks"`
}

func TestFilesThatOtherReadersReadWrongly(t *testing.T) {
	shared := os.Getenv("COURANT_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	root := filepath.Join(shared, "suites/bugcases")
	f, err := os.Open(filepath.Join(root, "cases.jsonl"))
	if err != nil {
		t.Skip("the bug cases are not beside the checkout; COURANT_SHARED names their folder: ", err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c onecase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		name, ok := c.Input.(string)
		if !ok || !slices.Contains([]string{"feed", "catalog", "yml", "sitemap", "opml"}, c.Kind) {
			continue
		}
		n++
		c.check(t, filepath.Join(root, name))
	}
	if n < 70 {
		t.Errorf("only %d cases were tried", n)
	}
}

func (c *onecase) check(t *testing.T, path string) {
	t.Helper()
	opt := read.Options{URL: c.Base}
	for name, value := range c.Headers {
		if strings.EqualFold(name, "Content-Type") {
			opt.ContentType = value
		}
	}
	r, err := read.Read(opener(path), opt)
	text, bad := json.Marshal(r.Reading)
	if bad != nil {
		t.Fatal(bad)
	}
	var got map[string]any
	if bad := json.Unmarshal(text, &got); bad != nil {
		t.Fatal(bad)
	}
	got["error"], got["discovered"] = nil, urls(got["links"])
	if c.Kind == "yml" { // they name categories by their ids
		byID := map[string]any{}
		for _, category := range list(got["categories"]) {
			byID[fmt.Sprint(walk(category, "id"))] = category
		}
		got["categories"] = byID
	}
	if err != nil {
		got["error"], _, _ = strings.Cut(err.Error(), ":")
	}
	for _, check := range c.Checks {
		if strings.HasPrefix(check.Path, "second_poll") { // a matter of polling
			continue
		}
		if have := dig(got, check.Path); !holds(check.Op, have, check.Value) {
			t.Errorf("%s: %s: %s %s %v, got %v", c.ID, c.Symptom, check.Path, check.Op, check.Value, have)
		}
	}
}

func urls(links any) (all []any) {
	for _, l := range list(links) {
		all = append(all, walk(l, "url"))
	}
	return all
}

// dig returns the value at a path such as items.0.title; "#" is the length of a list.
// Some fields have other names in the cases, and some stand for the feed's.
func dig(all map[string]any, path string) any {
	switch path {
	case "distinct_ids":
		ids := map[any]bool{}
		for _, it := range list(all["items"]) {
			ids[it.(map[string]any)["id"]] = true
		}
		return float64(len(ids))
	case "urls.#", "items.#":
		if urls := list(all["urls"]); len(urls) > 0 {
			return float64(len(urls))
		}
	}
	path = regexp.MustCompile(`\.lang$`).ReplaceAllString(path, ".language")
	path = regexp.MustCompile(`\.image$`).ReplaceAllString(path, ".images.0")
	path = regexp.MustCompile(`\.author$`).ReplaceAllString(path, ".authors.0.name")
	first, _, _ := strings.Cut(path, ".")
	if feed, ok := all["feed"].(map[string]any); ok && all[first] == nil && feed[first] != nil {
		return walk(feed, path)
	}
	return walk(all, path)
}

func walk(at any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		n, err := strconv.Atoi(part)
		switch l := list(at); {
		case part == "#":
			return float64(len(l))
		case err == nil && n < len(l):
			at = l[n]
		default:
			m, ok := at.(map[string]any)
			if !ok {
				return nil
			}
			at = m[part]
		}
	}
	return at
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func holds(op string, have, want any) bool {
	h, w := fmt.Sprint(have), fmt.Sprint(want)
	if have == nil {
		h = ""
	}
	if want == nil {
		w = ""
	}
	switch op {
	case "contains", "~":
		return strings.Contains(h, w)
	case "not_contains", "lacks", "!~":
		return !strings.Contains(h, w)
	case "matches":
		return regexp.MustCompile(w).MatchString(h)
	}
	same := h == w || strings.TrimSpace(markup.Text(h)) == strings.TrimSpace(markup.Text(w)) || moment(h) != "" && moment(h) == moment(w)
	return same == (op != "!=")
}

func moment(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func opener(path string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return os.Open(path) }
}
