package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// invoke runs a command as a process would, in this one.
func invoke(t *testing.T, args ...string) (status int, out, complaint string) {
	t.Helper()
	files := [2]*os.File{}
	for i := range files {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = files[0], files[1]
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	status = execute(t.Context(), args)
	var texts [2]string
	for i, f := range files {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(b)
	}
	return status, texts[0], texts[1]
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const rss = "<rss version=\"2.0\"><channel><title>News</title><item><title>One\u2028two\u0085three</title><link>/1</link></item></channel></rss>"

func TestTheStatusSaysHowACommandEnded(t *testing.T) {
	feed, data := write(t, "feed.xml", rss), filepath.Join(t.TempDir(), "none")
	badConfig := write(t, "courant.toml", "[robot]\ngapp = \"1s\"\n")
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"version", 0, ""}, {"roles", 0, ""}, {"config", 0, ""}, {"--help", 0, ""}, {"run --help", 0, ""}, {"parse " + feed, 0, ""},
		{"pasre " + feed, 2, `unknown command "pasre"`},
		{"sources list", 2, "unknown command"},
		{"source", 2, "source must be followed by"},
		{"source ad http://a.example/", 2, "source must be followed by"},
		{"parse", 2, "parse FILE…"},
		{"page", 2, "page URL"},
		{"page a b", 2, "page URL"},
		{"version now", 2, ""},
		{"parse --jsno " + feed, 2, "--jsno"},
		{"config --config " + badConfig, 2, "did you mean robot.gap?"},
		{"config --config /nonexistent.toml", 2, "/nonexistent.toml"},
		{"run robot", 2, "bus.kind"},
		{"run robbot", 2, "did you mean robot?"},
		{"run --listen 0.0.0.0:8080", 2, "http.admin_password must be set"},
		{"parse /nonexistent.xml", 1, "1 of 1 files"},
		{"parse " + feed + " /nonexistent.xml", 1, "1 of 2 files"},
		{"page http://a.example/ --data " + data, 1, "courant run"},
		{"source list --data " + data, 1, "courant run"},
		{"source list --server http://127.0.0.1:1", 1, "does not answer"},
		{"source list --server nonsense", 1, "--server"},
	} {
		status, _, complaint := invoke(t, strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(complaint, c.says) || (complaint == "") != (c.status == 0) {
			t.Errorf("courant %s: status %d, says %q", c.args, status, complaint)
		}
		if complaint != "" && (strings.Count(complaint, "\n") != 1 || !strings.HasPrefix(complaint, "courant: ")) {
			t.Errorf("courant %s: the complaint is not one line: %q", c.args, complaint)
		}
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if name := sub.Name(); name == "help" || name == "completion" {
				continue
			}
			if sub.Example == "" || sub.Short == "" {
				t.Errorf("courant %s lacks an example or a description", sub.Name())
			}
			check(sub)
		}
	}
	check(command())
}

func TestParseGivesOneObjectALineForEveryFile(t *testing.T) {
	files := []string{
		write(t, "a.xml", rss),
		"/nonexistent.xml",
		write(t, "empty.xml", ""),
		write(t, "b.html", "<html><head><link rel=alternate type=application/rss+xml href=/f></head><body>\n\nHello</body></html>"),
		write(t, "c.xml", strings.Replace(rss, "rss", "rss\n\n", 1)),
	}
	status, out, complaint := invoke(t, append([]string{"parse", "--json", "--base", "http://a.example/feed"}, files...)...)
	if status != 0 || complaint != "" {
		t.Errorf("status %d, %q", status, complaint)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(files) || strings.ContainsAny(out, "\u2028\u2029\u0085") {
		t.Fatalf("%d lines for %d files: %q", len(lines), len(files), out)
	}
	for i, line := range lines {
		var p struct {
			File     string
			Error    *string
			Format   string
			Items    []map[string]any
			Offers   []any
			Links    []any
			Warnings []any
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		broken := i == 1 || i == 2 || i == 3
		if p.File != files[i] || (p.Error != nil) != broken || p.Format == "" {
			t.Errorf("got %s", line)
		}
		if i == 0 && (len(p.Items) != 1 || p.Items[0]["link"] != "http://a.example/1" || p.Items[0]["title"] != "One two…three") {
			t.Errorf("got %+v", p.Items)
		}
		if i == 2 && !strings.HasPrefix(*p.Error, "empty: ") || i == 3 && !strings.HasPrefix(*p.Error, "not_a_feed: ") {
			t.Errorf("the error is %q", *p.Error)
		}
		if i == 0 && (p.Offers == nil || p.Links == nil || p.Warnings == nil) {
			t.Errorf("a list is null: %s", line)
		}
	}
}

func TestOutputFromASourceCannotMoveTheCursor(t *testing.T) {
	status, out, _ := invoke(t, "parse", write(t, "a.xml", strings.Replace(rss, "News", "Ne\u009b2Jws", 1)))
	if status != 0 || strings.ContainsAny(out, "\x1b\u009b") {
		t.Errorf("printed %q", out)
	}
}

func TestASourceIsAddedShownAndRemovedWithoutARunningCourant(t *testing.T) {
	data := t.TempDir()
	for _, c := range []struct{ args, says string }{
		{"source list", "no sources yet"},
		{"source add http://a.example/feed.xml --title News", "added http://a.example/feed.xml as a.example-feed"},
		{"source add http://a.example/feed.xml", "is there already"},
		{"source list", "a.example-feed"},
		{"source show http://a.example/feed.xml", "a.example-feed"},
		{"source export", `xmlUrl="http://a.example/feed.xml"`},
		{"source remove a.example-feed", "removed a.example-feed"},
		{"source list", "no sources yet"},
	} {
		status, out, complaint := invoke(t, append(strings.Fields(c.args), "--data", data)...)
		if status != 0 || !strings.Contains(out, c.says) {
			t.Errorf("courant %s: status %d, printed %q, %q", c.args, status, out, complaint)
		}
	}
}

func TestAFailureWithOneSourceDoesNotStopTheOthers(t *testing.T) {
	data := t.TempDir()
	status, out, complaint := invoke(t, "source", "add", "--data", data, "http://a.example/feed", "nonsense", "ftp://b.example/", "http://c.example/feed")
	if status != 1 || !strings.Contains(out, "added http://a.example/feed as") || !strings.Contains(out, "added http://c.example/feed as") ||
		!strings.Contains(out, "\nnonsense: ") || !strings.Contains(out, "\nftp://b.example/: ") || !strings.HasPrefix(complaint, "courant: 2 of 4 sources") {
		t.Errorf("%d, %q, %q", status, out, complaint)
	}
	status, out, _ = invoke(t, "source", "add", "--json", "--data", data, "nonsense", "http://d.example/feed")
	if lines := strings.Split(out, "\n"); status != 1 || len(lines) != 3 || !strings.Contains(lines[0], `"error":"nonsense: `) || !strings.Contains(lines[1], `"url":"http://d.example/feed"`) {
		t.Errorf("%d, %q", status, out)
	}
	if status, _, complaint := invoke(t, "source", "add", "--data", data, "--name", "n", "http://e.example/", "http://f.example/"); status != 2 || !strings.Contains(complaint, "--name names one source, but 2 addresses") {
		t.Errorf("%d, %q", status, complaint)
	}
	if _, out, _ := invoke(t, "source", "add", "--help"); !strings.Contains(out, "--every duration ") {
		t.Error(out)
	}
	if status, _, complaint := invoke(t, "source", "add", "--data", data, "--every", "5", "http://e.example/"); status != 2 || !strings.Contains(complaint, "a number and a unit") {
		t.Errorf("%d, %q", status, complaint)
	}
}

func TestUnprintableNamesAreQuoted(t *testing.T) {
	for name, want := range map[string]string{"a.example-feed": "a.example-feed", "Новости 24": "Новости 24", "a\tb\x1b[2J": `"a\tb\x1b[2J"`, "a\u202eb": `"a\u202eb"`, "\xff": `"\xff"`} {
		if got := named(name); got != want {
			t.Errorf("%q is shown as %s", name, got)
		}
	}
}

func TestSourcesAreImportedAndRefusedOnesReported(t *testing.T) {
	data := t.TempDir()
	file := write(t, "list.jsonl", `{"url":"http://a.example/feed"}`+"\n"+`{"url":"http://b.example/feed","title":"B"}`+"\n"+`{"url":"nonsense"}`+"\n")
	status, out, complaint := invoke(t, "source", "import", file, "--data", data)
	if status != 1 || !strings.Contains(out, "2 sources added, 0 known already, 1 refused") || !strings.Contains(complaint, "nonsense") {
		t.Errorf("status %d, printed %q, %q", status, out, complaint)
	}
	if _, out, _ := invoke(t, "source", "import", file, "--data", data); !strings.Contains(out, "0 sources added, 2 known already") {
		t.Errorf("again: %q", out)
	}
}

func TestACatalogueIsImportedAndReadAgainOnlyWhenItHasChanged(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	catalogue := func(offers ...string) string {
		return `<yml_catalog><shop><categories><category id="1">C</category></categories><offers>` + strings.Join(offers, "") + `</offers></shop></yml_catalog>`
	}
	offer := func(id, price string) string {
		return `<offer id="` + id + `"><url>http://shop.example/` + id + `</url><name>Cup ` + id + `</name><price>` + price + `</price><currencyId>EUR</currencyId><categoryId>1</categoryId></offer>`
	}
	file := write(t, "shop one.yml", catalogue(offer("1", "10"), offer("2", "20")))
	for _, c := range []struct{ args, says string }{
		{"import " + file, "shop-one: 2 read, 2 pages"},
		{"import " + file, "shop-one: unchanged, 2 pages"},
		{"page http://shop.example/1", "Cup 1"},
		{"source show shop-one", "never"},
		{"source list", "shop-one"},
	} {
		name, rest, _ := strings.Cut(c.args, " ")
		args := append([]string{name}, strings.Fields(rest)...)
		if name == "import" {
			args = []string{name, rest}
		}
		if status, out, complaint := invoke(t, append(args, "--data", data)...); status != 0 || !strings.Contains(out, c.says) {
			t.Errorf("%s: %d, %q, %q", c.args, status, out, complaint)
		}
	}
	if err := os.WriteFile(file, []byte(catalogue(offer("1", "11"))), 0o600); err != nil {
		t.Fatal(err)
	}
	pictured := write(t, "pictured.yml", catalogue(strings.Replace(offer("9", "1"), "<name>", "<picture>http://shop.example/9.jpg</picture><name>", 1)))
	if status, out, complaint := invoke(t, "import", "--data", data, pictured); status != 0 || !strings.Contains(out, "1 read, 1 page, ") || !strings.Contains(out, "1 page still without some pictures, which are fetched while courant runs") {
		t.Errorf("%d, %q, %q", status, out, complaint)
	}
	status, out, complaint := invoke(t, "import", "--json", "--data", data, file)
	if status != 0 || !strings.Contains(out, `"items":1,"pages":1,"waiting":0,"unchanged":false`) {
		t.Errorf("%d, %q, %q", status, out, complaint)
	}
	if status, out, _ := invoke(t, "page", "--json", "http://shop.example/1", "--data", data); status != 0 || !strings.Contains(out, `"price":"11"`) {
		t.Errorf("%d, %q", status, out)
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"import", "--source", "a", file, file}, 2, "--source"},
		{[]string{"import", "/nonexistent.yml"}, 1, "1 of 1 files"},
		{[]string{"import", write(t, "page.html", "<html><body>x</body></html>")}, 1, "could not be imported"},
		{[]string{"import", "--absence", "never", file, "--source", "b"}, 1, "could not be imported"},
	} {
		if status, out, complaint := invoke(t, append(c.args, "--data", data)...); status != c.status || !strings.Contains(complaint, c.says) {
			t.Errorf("%v: %d, %q, %q", c.args, status, out, complaint)
		}
	}
}

func TestItemsThatMakeNoPageAreReported(t *testing.T) {
	item := `<item turbo="false"><link>http://a.example/1</link></item>`
	for items, want := range map[string]string{item: "no item became a page", `<item><title>A</title></item><item><title>B</title></item>`: "2 read, 2 pages"} {
		file := write(t, "rss.xml", `<rss version="2.0"><channel>`+items+`</channel></rss>`)
		if status, out, _ := invoke(t, "import", "--data", t.TempDir(), file); status != 0 || !strings.Contains(out, want) || strings.Contains(out, "became") != (items == item) {
			t.Errorf("%d, %s", status, out)
		}
	}
}

func TestTheVersionIsShownEitherWay(t *testing.T) {
	_, word, _ := invoke(t, "version")
	if status, flag, _ := invoke(t, "--version"); status != 0 || flag != word || !strings.HasPrefix(flag, "courant ") {
		t.Errorf("%d, %q and %q", status, flag, word)
	}
}

func TestEveryCommandThatPrintsCanPrintJSON(t *testing.T) {
	data := t.TempDir()
	if status, out, _ := invoke(t, "source", "list", "--json", "--data", data); status != 0 || out != "" {
		t.Errorf("no sources: %d, %q", status, out)
	}
	invoke(t, "source", "add", "http://a.example/feed", "--title", "News", "--data", data)
	t.Setenv("COURANT_HTTP_ADMIN_PASSWORD", "correct horse battery")
	for args, want := range map[string]func(map[string]any) bool{
		"version": func(o map[string]any) bool { return o["version"] != "" && len(o) == 1 },
		"config": func(o map[string]any) bool {
			return o["robot"].(map[string]any)["gap"] == "500ms" && o["http"].(map[string]any)["admin_password"] == "(set)"
		},
		"source export": func(o map[string]any) bool {
			return o["url"] == "http://a.example/feed" && o["title"] == "News" && o["name"] == "a.example-feed"
		},
	} {
		status, out, complaint := invoke(t, append(strings.Fields(args), "--json", "--data", data)...)
		var o map[string]any
		if err := json.Unmarshal([]byte(out), &o); err != nil || status != 0 || strings.Count(out, "\n") != 1 || !want(o) {
			t.Errorf("%s: %d, %v, %q, %q", args, status, err, out, complaint)
		}
	}
	_, exported, _ := invoke(t, "source", "export", "--json", "--data", data)
	if status, out, _ := invoke(t, "source", "import", write(t, "list.jsonl", exported), "--data", t.TempDir()); status != 0 || !strings.Contains(out, "1 sources added") {
		t.Errorf("%d, %q", status, out)
	}
}

func TestASourceOfFilesIsNeverPolled(t *testing.T) {
	data, file := t.TempDir(), write(t, "shop.yml", `<yml_catalog><shop><name>S</name><offers></offers></shop></yml_catalog>`)
	if status, out, complaint := invoke(t, "import", "--data", data, file); status != 0 || !strings.Contains(out, "shop: 0 read, 0 pages") {
		t.Errorf("%d, %s, %s", status, out, complaint)
	}
	if _, out, _ := invoke(t, "source", "show", "--data", data, "shop"); !strings.Contains(out, "never polled") || strings.Contains(out, "every") || strings.Contains(out, "unreadable") {
		t.Error(out)
	}
	if _, out, _ := invoke(t, "source", "list", "--data", data); !strings.Contains(out, "ok") || strings.Contains(out, "unreadable") {
		t.Error(out)
	}
	if _, out, _ := invoke(t, "parse", file); !strings.Contains(out, "0 offers in 0 categories: S") {
		t.Error(out)
	}
}

func TestParseShowsCatalogues(t *testing.T) {
	offers := ""
	for i := range 30 {
		offers += fmt.Sprintf(`<offer id="%d"><name>A "cup"</name><price>5</price><categoryId>1</categoryId></offer>`, i)
	}
	file := write(t, "shop.yml", `<yml_catalog><shop><name>S</name><categories><category id="1">C</category></categories><offers>`+offers+`</offers></shop></yml_catalog>`)
	if status, out, _ := invoke(t, "parse", file); status != 0 || !strings.Contains(out, "… and 10 more") || !strings.Contains(out, "30 offers in 1 categories: S") {
		t.Errorf("%d, %s", status, out)
	}
	status, out, _ := invoke(t, "parse", "--json", file)
	var p struct {
		File, Format string
		Error        *string
		Offers       []struct{ Name, Price string }
		Categories   []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(out), &p); err != nil || status != 0 || strings.Count(out, "\n") != 1 || p.File != file || p.Format != "yml" || p.Error != nil ||
		len(p.Offers) != 30 || p.Offers[29].Name != `A "cup"` || len(p.Categories) != 1 || strings.Count(out, `"offers"`) != 1 {
		t.Errorf("%d, %v, %+v", status, err, p)
	}
}

func TestSourcesAreNamedByTheirFiles(t *testing.T) {
	for file, want := range map[string]string{
		"/x/shop0001.yml.gz": "shop0001", "Магазин 1.yml": "Магазин-1", "Склад 1.yml": "Склад-1", "каталог.yml": "каталог", "产品.xml": "产品",
		"a & b.xml": "a---b-cbc644", "?.xml": "8a8de8",
	} {
		got, renamed := sourceName(file)
		if stem, _, _ := strings.Cut(filepath.Base(file), "."); got != want || renamed != (got != stem) {
			t.Errorf("%s is named %s, want %s", file, got, want)
		}
	}
	long := strings.Repeat("ж", 200)
	a, _ := sourceName(long + "1")
	if b, _ := sourceName(long + "2"); a == b || len([]rune(a)) > 100 {
		t.Errorf("%s and %s", a, b)
	}
}

func TestNoTwoFilesAreSilentlyOneSource(t *testing.T) {
	data, folder := t.TempDir(), t.TempDir()
	file := func(name string) string {
		path := filepath.Join(folder, name)
		text := `<rss version="2.0"><channel><item><link>http://a.example/` + name + `</link><title>One</title></item></channel></rss>`
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := file("Магазин 1.xml"), file("Магазин-1.xml")
	status, out, _ := invoke(t, "import", "--data", data, a, b)
	if status != 1 || !strings.Contains(out, "Магазин-1: 1 read, 1 page") || !strings.Contains(out, "the source of "+a+" is named Магазин-1") ||
		!strings.Contains(out, b+" would replace the source Магазин-1, which "+a+" is a file of") || !strings.Contains(out, "--source") {
		t.Errorf("%d, %s", status, out)
	}
	if status, out, _ := invoke(t, "import", "--data", data, "--source", "other", b); status != 0 || out == "" || strings.Contains(out, "is named") {
		t.Errorf("%d, %s", status, out)
	}
	if status, out, _ := invoke(t, "import", "--data", data, "--source", "a/b", b); status != 1 || !strings.Contains(out, "letters, digits, dots and dashes; set one with --source") {
		t.Errorf("%d, %s", status, out)
	}
	for _, name := range []string{strings.Repeat("я", 120) + ".yml", "\u0301.xml", "产品 & 1.yml"} {
		if status, out, complaint := invoke(t, "import", "--data", data, file(name)); status != 0 || !strings.Contains(out, "1 read, 1 page") {
			t.Errorf("%s: %d, %s, %s", name, status, out, complaint)
		}
	}
}

func TestAnImportThatFailsLeavesNoSource(t *testing.T) {
	data := t.TempDir()
	for _, name := range []string{"garbage.xml", "page.html", "empty.yml", "broken.gz"} {
		file := filepath.Join(t.TempDir(), name)
		text := map[string]string{"garbage.xml": "\x01\x02", "page.html": "<html><body>x</body></html>", "broken.gz": "\x1f\x8b\x08"}[name]
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, out, _ := invoke(t, "import", "--data", data, file); status != 1 || !strings.Contains(out, ": ") {
			t.Errorf("%s: %d, %s", name, status, out)
		}
	}
	if _, out, _ := invoke(t, "source", "list", "--data", data, "--json"); strings.TrimSpace(out) != "" && strings.TrimSpace(out) != "[]" {
		t.Errorf("sources: %s", out)
	}
}

func TestWhatComesThroughAPipeIsImportedUnderAName(t *testing.T) {
	data := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		w.WriteString(`<rss version="2.0"><channel><item><link>http://a.example/1</link><title>One</title></item></channel></rss>`)
		w.Close()
	}()
	name := fmt.Sprint("/proc/self/fd/", r.Fd())
	if status, _, complaint := invoke(t, "import", name, "--data", data); status != 1 || !strings.Contains(complaint, "could not be imported") {
		t.Errorf("%d, %s", status, complaint)
	}
	if status, out, complaint := invoke(t, "import", "--source", "piped", name, "--data", data); status != 0 || !strings.Contains(out, "piped: 1 read, 1 page") {
		t.Errorf("%d, %s, %s", status, out, complaint)
	}
	if status, out, _ := invoke(t, "import", "--source", "none", write(t, "x.txt", "\x00\x01"), "--data", data); status != 1 || !strings.Contains(out, "none: ") {
		t.Errorf("%d, %s", status, out)
	}
	if _, out, _ := invoke(t, "source", "list", "--data", data); strings.Contains(out, "none") || !strings.Contains(out, "piped") {
		t.Errorf("sources: %s", out)
	}
	r.Close()
}
