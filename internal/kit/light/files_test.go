package light_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant"
)

func TestAttachedFilesAreLinkedWithTheirSizes(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		file    courant.Enclosure
		want    string // "" for no link of its own
	}{
		"a podcast":          {"<p>x</p>", courant.Enclosure{URL: "https://cdn.example/a.mp3?x=1&y=2", Type: "audio/mpeg", Length: 12_345_678}, `<p><a class="btn play" href="https://cdn.example/a.mp3?x=1&amp;y=2" rel="noopener">Audio at cdn.example</a> 12.3 MB</p>`},
		"a long podcast":     {"<p>x</p>", courant.Enclosure{URL: "https://cdn.example/a.mp3", Type: "audio/mpeg", Length: 1500, Duration: 3723}, `>Audio at cdn.example</a> 1:02:03 · 1.5 kB</p>`},
		"a chapter":          {"<p>x</p>", courant.Enclosure{URL: "https://cdn.example/a.mp3", Type: "audio/mpeg", Title: "One <1>", Duration: 65}, `>One &lt;1&gt; (cdn.example)</a> 1:05</p>`},
		"a film":             {"<p>x</p>", courant.Enclosure{URL: "https://cdn.example/a.mp4", Type: "video/mp4"}, `rel="noopener">Video at cdn.example</a></p>`},
		"a paper":            {"<p>x</p>", courant.Enclosure{URL: "https://cdn.example/p/The%20plan.pdf?v=2", Type: "application/pdf", Length: 1500}, `<p><a class="btn" href="https://cdn.example/p/The%20plan.pdf?v=2" rel="noopener">The plan.pdf</a> 1.5 kB</p>`},
		"no name":            {"<p>x</p>", courant.Enclosure{URL: "https://cdn.example/get/7", Type: "application/zip", Length: 12}, `>File at cdn.example</a> 12 bytes</p>`},
		"a lost picture":     {"<p>x</p>", courant.Enclosure{URL: "https://cdn.example/a.jpg", Type: "image/jpeg"}, `>a.jpg</a>`},
		"linked in the text": {`<p><a href="https://cdn.example/a.mp3">listen</a></p>`, courant.Enclosure{URL: "https://cdn.example/a.mp3", Type: "audio/mpeg"}, ""},
		"a script":           {"<p>x</p>", courant.Enclosure{URL: "javascript:alert(1)", Type: "audio/mpeg"}, ""},
	} {
		d := article(c.content)
		d.Item.Enclosures = []courant.Enclosure{c.file}
		html, _ := render(t, d)
		after := html[strings.Index(html, "<main>"):]
		if !strings.Contains(after, c.want) || c.want == "" && strings.Contains(after, " at cdn.example") || strings.Contains(after, "javascript") {
			t.Errorf("%s: want %s in\n%s", name, c.want, after)
		}
	}
}

func TestCategoriesAreShown(t *testing.T) {
	d := article("<p>x</p>")
	d.Item.Categories = []string{"Mills & wells", "<b>"}
	if html, _ := render(t, d); !strings.Contains(html, `<p class="by">Mills &amp; wells · &lt;b&gt;</p>`) {
		t.Error(html[strings.Index(html, "<main>"):])
	}
}
