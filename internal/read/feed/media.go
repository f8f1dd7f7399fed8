package feed

import (
	"strconv"
	"strings"

	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// mediaChild reads Media RSS. Only the best version in a group is kept.
func (r *reader) mediaChild(d *draft) {
	s := &r.scan
	switch s.Name.Local {
	case "group":
		r.mediaGroup(d)
	case "content":
		var best mediaFile
		r.mediaContent(d, &best)
		r.addBest(d, &best)
	default:
		r.mediaWords(d)
	}
}

// mediaWords reads elements that files, groups and items have in common.
func (r *reader) mediaWords(d *draft) {
	s := &r.scan
	switch s.Name.Local {
	case "thumbnail":
		url := r.url(d.scope.base, s.Attr("url"))
		s.Skip(itemChild)
		r.spare(&d.thumb, url)
	case "title":
		s.Attr("type")
		r.spare(&d.title, r.plain(s.Inner(itemChild)))
	case "description":
		r.offer(&d.summary, r.mediaText(d))
	case "category":
		word := s.Attr("label")
		text := s.Inner(itemChild)
		d.item.Categories = r.addWord(d.item.Categories, firstOf(word, text))
		if word != "" && text != "" {
			r.ignore(s.Raw+"/text()", "", notNeeded)
		}
	case "keywords":
		d.item.Categories = r.addWords(d.item.Categories, s.Inner(itemChild))
	case "credit":
		r.mediaCredit(d)
	case "copyright":
		r.spare(&d.rights, r.itemNote(d))
	default:
		r.skip(isItem)
	}
}

// mediaText reads a description: plain text, unless its type is html or it has end tags.
func (r *reader) mediaText(d *draft) piece {
	isHTML := strings.Contains(strings.ToLower(r.scan.Attr("type")), "html")
	p := r.piece(d, 1)
	if p.loose = !isHTML; p.loose && !strings.Contains(p.html, "</") {
		p.html, p.loose = textHTML(p.html), false
	}
	return p
}

// mediaCredit reads a person who has worked on the file; only authors matter.
func (r *reader) mediaCredit(d *draft) {
	role := strings.ToLower(r.scan.Attr("role"))
	if role != "author" && role != "writer" && role != "reporter" {
		r.skip(itemChild)
		return
	}
	if p, ok := r.person(r.scan.Inner(itemChild)); ok {
		d.author, d.authorName = r.addPerson(d.author, p), r.scan.Raw
	}
}

// mediaFile holds the best picture and the best video of a group.
type mediaFile struct {
	picture, movie           string
	pictureScore, movieScore int
}

// take keeps a file if it is better than another one, and names the other.
func (r *reader) take(best *string, bestScore *int, url string, score int) {
	if *best != "" && *best != url {
		r.unused()
	}
	if score > *bestScore {
		*best, *bestScore = url, score
	}
}

// addBest gives the best files of a group to the item.
func (r *reader) addBest(d *draft, m *mediaFile) {
	r.addPicture(d, m.picture)
	switch {
	case m.movie == "":
	case len(d.movies) >= maxImages:
		r.cut.videos++
	default:
		d.movies = append(d.movies, m.movie)
	}
}

// mediaGroup reads a group: several versions of one file.
func (r *reader) mediaGroup(d *draft) {
	s := &r.scan
	var best mediaFile
	s.Children(endsMedia, func() {
		switch {
		case s.Kind() != xmlscan.Start:
		case s.Name.Local == "content":
			r.mediaContent(d, &best)
		default:
			r.mediaWords(d)
		}
	})
	r.addBest(d, &best)
}

// endsMedia reports whether an element ends an unclosed group or file before it.
func endsMedia(n xmlscan.Name) bool { return itemChild(n) || isEntry(n) }

// mediaContent scores a file, which may contain thumbnails.
func (r *reader) mediaContent(d *draft, best *mediaFile) {
	s := &r.scan
	url := r.url(d.scope.base, s.Attr("url"))
	kind := firstOf(strings.ToLower(s.Attr("type")), strings.ToLower(s.Attr("medium")), typeOf(url))
	score := 1 + number(s.Attr("width"))*4 + number(s.Attr("bitrate"))
	if strings.EqualFold(s.Attr("isDefault"), "true") {
		score += 1 << 24
	}
	switch {
	case url == "":
	case strings.HasPrefix(kind, "image"):
		r.take(&best.picture, &best.pictureScore, url, score)
	case strings.HasPrefix(kind, "video"):
		r.take(&best.movie, &best.movieScore, url, score)
	default:
		r.attach(d, file{url: s.Attr("url"), kind: s.Attr("type"), length: s.Attr("fileSize"), duration: s.Attr("duration")})
	}
	s.Children(endsMedia, func() {
		if s.Kind() == xmlscan.Start {
			r.mediaWords(d)
		}
	})
}

// number reads an integer from 0 to 65536; other text gives 0.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > 1<<16 {
		return 0
	}
	return n
}
