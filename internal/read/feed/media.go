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
		best.addTo(d)
	default:
		r.mediaWords(d)
	}
}

// mediaWords reads elements that files, groups and items have in common.
func (r *reader) mediaWords(d *draft) {
	s := &r.scan
	switch s.Name.Local {
	case "thumbnail":
		d.thumb = firstOf(d.thumb, d.address(s.Attr("url")))
		s.Skip(itemChild)
	case "title":
		d.title = firstOf(d.title, plain(s.Inner(itemChild)))
	case "description":
		isHTML := s.Attr("type") == "html"
		html := s.Inner(itemChild)
		if !isHTML && !strings.Contains(html, "</") {
			html = escaped(html)
		}
		d.summary.offer(html, r.ownBase(d), 1)
	case "category":
		word := s.Attr("label")
		text := s.Inner(itemChild)
		d.item.Categories = addWord(d.item.Categories, firstOf(word, text))
	case "keywords":
		d.item.Categories = addWords(d.item.Categories, s.Inner(itemChild))
	case "credit":
		role := strings.ToLower(s.Attr("role"))
		p, ok := person(s.Inner(itemChild))
		if ok && (role == "author" || role == "writer" || role == "reporter") {
			d.author = addPerson(d.author, p)
		}
	case "copyright":
		d.rights = firstOf(d.rights, r.itemNote(d))
	default:
		s.Skip(isItem)
	}
}

// mediaFile holds the best picture and the best video of a group.
type mediaFile struct {
	picture, movie           string
	pictureScore, movieScore int
}

// addTo gives the best files to the item.
func (m *mediaFile) addTo(d *draft) {
	if m.picture != "" && len(d.pictures) < maxImages {
		d.pictures = append(d.pictures, m.picture)
	}
	if m.movie != "" && len(d.movies) < maxImages {
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
	best.addTo(d)
}

// endsMedia reports whether an element ends an unclosed group or file before it.
func endsMedia(n xmlscan.Name) bool { return itemChild(n) || isEntry(n) }

// mediaContent scores a file, which may contain thumbnails.
func (r *reader) mediaContent(d *draft, best *mediaFile) {
	s := &r.scan
	url := d.address(s.Attr("url"))
	kind := firstOf(strings.ToLower(s.Attr("type")), strings.ToLower(s.Attr("medium")), typeOf(url))
	score := 1 + number(s.Attr("width"))*4 + number(s.Attr("bitrate"))
	if strings.EqualFold(s.Attr("isDefault"), "true") {
		score += 1 << 24
	}
	switch {
	case url == "":
	case strings.HasPrefix(kind, "image") && score > best.pictureScore:
		best.picture, best.pictureScore = url, score
	case strings.HasPrefix(kind, "audio"):
		d.enclosure(s.Attr("url"), strings.ToLower(s.Attr("type")), s.Attr("fileSize"))
	case strings.HasPrefix(kind, "video") && score > best.movieScore:
		best.movie, best.movieScore = url, score
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
