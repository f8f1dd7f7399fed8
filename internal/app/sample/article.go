package sample

import (
	"embed"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
)

//go:embed text
var texts embed.FS

// article is a page of a site.
type article struct {
	Link, Title, Author, Section string
	Body                         string // HTML without the picture
	At                           time.Time
	Picture, Kind, Alt           string // address, media type and description of the picture
	Inside                       bool   // the picture is part of the text
	Length                       int    // of the picture in bytes, 0 if not known
	Blocks                       string // content of its Turbo page, "" for none
}

// HTML is the article as the site shows it.
func (a article) HTML() string {
	if !a.Inside {
		return a.Body
	}
	return fmt.Sprintf("<figure><img src=%q alt=%q width=\"%d\" height=\"%d\"><figcaption>%s</figcaption></figure>\n%s",
		a.Picture, a.Alt, sceneWidth, sceneHeight, a.Alt, a.Body)
}

// Summary is the first paragraph without its tags.
func (a article) Summary() string {
	first, _, _ := strings.Cut(a.Body, "\n")
	var b strings.Builder
	for first != "" {
		text, rest, _ := strings.Cut(first, "<")
		b.WriteString(text)
		_, first, _ = strings.Cut(rest, ">")
	}
	return b.String()
}

// read reads the articles of an embedded file. Each begins with a line
// "# slug | motif and hour | author | section"; then come the title and paragraphs,
// separated by empty lines, which may be HTML.
func read(name, origin string) []article {
	text, err := texts.ReadFile("text/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	var out []article
	for i, part := range strings.Split("\n"+string(text), "\n# ")[1:] {
		head, rest, _ := strings.Cut(part, "\n")
		title, body, _ := strings.Cut(rest, "\n\n")
		f := strings.Split(head, " | ")
		a := article{Link: origin + "/" + f[0], Title: title, Author: f[2], Section: f[3], Body: paragraphs(body), Inside: i%5 != 4}
		a.show(origin, f[1], int(crc32.ChecksumIEEE([]byte(f[0]))%1000))
		out = append(out, a)
	}
	return out
}

// show gives the article a picture; charts are PNG, scenes JPEG.
func (a *article) show(origin, scene string, seed int) {
	motif, when, _ := strings.Cut(scene, " ")
	a.Kind, a.Alt = "image/jpeg", caption(motif, when)
	suffix := "jpg"
	if motif == "chart" {
		a.Kind, suffix = "image/png", "png"
	}
	a.Picture = fmt.Sprintf("%s/pictures/%s-%d.%s", origin, strings.ReplaceAll(scene, " ", "-"), seed, suffix)
}

// caption describes a scene.
func caption(motif, when string) string {
	what := map[string]string{
		"sails": "Sails in the bay", "boat": "A cutter in the bay", "lighthouse": "The light on Kestrel Head", "town": "Rope Street from the water",
		"gulls": "Gulls over the bay", "hills": "The hills behind the Holms", "cranes": "The cranes on the old quay",
		"harbour": "The breakwater", "storm": "The bay on a rough day", "night": "The bay by moonlight", "chart": "The height of the water this week",
	}[motif]
	switch when {
	case "":
		return what
	case "day":
		return what + ", by day"
	}
	return what + ", at " + when
}

func paragraphs(text string) string {
	var out []string
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if !strings.HasPrefix(p, "<") || strings.HasPrefix(p, "<strong>") {
			p = "<p>" + p + "</p>"
		}
		out = append(out, p)
	}
	return strings.Join(out, "\n")
}

// day is the last midnight in UTC. Standing articles are dated from it, so that they do
// not change when the program restarts.
func day(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }
