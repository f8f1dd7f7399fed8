package feed

import (
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/when"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// ownBase is the base of a piece of markup if the document itself gives one.
func (r *reader) ownBase(d *draft) string {
	if r.based {
		return d.scope.base
	}
	return ""
}

// setDate reads a date into t unless t is set; nonsense leaves it as it is.
func (r *reader) setDate(t *courant.Time, text string) {
	text = strings.TrimSpace(text)
	if text == "" || !t.IsZero() {
		return
	}
	v, zoned, ok := when.Parse(text)
	switch {
	case !ok:
		r.here("bad-date", "a date cannot be read; write it as RFC 822 or RFC 3339 say")
		return
	case !zoned:
		r.here("date-without-zone", "a date has no time zone; it was read as UTC")
	}
	t.Time = v
}

// moduleChild reads one child of an item from the usual extensions.
func (r *reader) moduleChild(d *draft) {
	switch r.scan.Name.Space {
	case "dc":
		r.dublinCore(d)
	case "media":
		r.mediaChild(d)
	case "itunes":
		r.itunesChild(d)
	case "content":
		r.contentChild(d)
	case "xhtml":
		html := r.scan.InnerXHTML(itemChild)
		d.content.offer(html, r.ownBase(d), 3)
	case "turbo", "yandex":
		r.yandexChild(d)
	default:
		r.scan.Skip(isItem)
	}
}

func (r *reader) contentChild(d *draft) {
	if r.scan.Name.Local != "encoded" {
		r.scan.Skip(itemChild)
		return
	}
	html := r.scan.Inner(itemChild)
	d.content.offer(html, r.ownBase(d), 4)
}

// yandexChild takes the full texts of these modules when there is no other.
func (r *reader) yandexChild(d *draft) {
	rank := 0
	switch r.scan.Name.Local {
	case "content":
		rank = 3
		r.turbo = true
	case "full-text":
		rank = 2
	default:
		r.scan.Skip(itemChild)
		return
	}
	html := r.scan.Inner(itemChild)
	d.content.offer(html, r.ownBase(d), rank)
}

func (r *reader) dublinCore(d *draft) {
	s, it := &r.scan, &d.item
	switch local := s.Name.Local; local {
	case "title":
		d.title = firstOf(d.title, plain(s.Inner(itemChild)))
	case "creator", "author":
		if p, ok := person(s.Inner(itemChild)); ok {
			it.Authors = addPerson(it.Authors, p)
		}
	case "date", "created", "issued":
		r.setDate(&d.date, s.Inner(itemChild))
		if local == "date" && it.Updated.IsZero() {
			it.Updated = d.date
		}
	case "modified":
		r.setDate(&it.Updated, s.Inner(itemChild))
	case "subject":
		it.Categories = addWord(it.Categories, s.Inner(itemChild))
	case "description", "abstract":
		html := s.Inner(itemChild)
		d.summary.offer(html, r.ownBase(d), 1)
	case "language":
		it.Language = firstOf(it.Language, line(s.Inner(itemChild)))
	case "rights":
		it.Rights = firstOf(it.Rights, plain(s.Inner(itemChild)))
	default:
		s.Skip(itemChild)
	}
}

func (r *reader) itunesChild(d *draft) {
	s := &r.scan
	switch s.Name.Local {
	case "author":
		if p, ok := person(s.Inner(itemChild)); ok {
			d.author = addPerson(d.author, p)
		}
	case "title":
		d.title = firstOf(d.title, plain(s.Inner(itemChild)))
	case "summary", "subtitle":
		html := s.Inner(itemChild)
		d.summary.offer(html, r.ownBase(d), 1)
	case "image":
		d.thumb = firstOf(d.thumb, d.address(s.Attr("href")))
		s.Skip(itemChild)
	default:
		s.Skip(itemChild)
	}
}

// mediaChild reads Media RSS. Of a group only the best version counts.
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

// mediaWords reads what files, groups and items have in common.
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
	default:
		s.Skip(isItem)
	}
}

// mediaFile is the best file of a group.
type mediaFile struct {
	picture, movie           string
	pictureScore, movieScore int
}

func (m *mediaFile) addTo(d *draft) {
	if m.picture != "" && len(d.pictures) < maxImages {
		d.pictures = append(d.pictures, m.picture)
	}
	if m.movie != "" && len(d.movies) < maxImages {
		d.movies = append(d.movies, m.movie)
	}
}

func (r *reader) mediaGroup(d *draft) {
	s := &r.scan
	var best mediaFile
	for depth := s.Depth(); ; {
		switch s.Next() {
		case xmlscan.Start:
			if isItem(s.Name) || isEntry(s.Name) {
				s.Interrupt(depth)
				best.addTo(d)
				return
			}
			r.mediaMember(d, &best)
		case xmlscan.EOF:
			return
		case xmlscan.End:
			if s.Depth() <= depth {
				best.addTo(d)
				return
			}
		}
	}
}

func (r *reader) mediaMember(d *draft, best *mediaFile) {
	if r.scan.Name.Local == "content" {
		r.mediaContent(d, best)
		return
	}
	r.mediaWords(d)
}

// mediaContent weighs a file; it may hold thumbnails.
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
	case strings.HasPrefix(kind, "video") && score > best.movieScore:
		best.movie, best.movieScore = url, score
	}
	for depth := s.Depth(); ; {
		switch s.Next() {
		case xmlscan.Start:
			if itemChild(s.Name) || isEntry(s.Name) {
				s.Interrupt(depth)
				return
			}
			r.mediaWords(d)
		case xmlscan.EOF:
			return
		case xmlscan.End:
			if s.Depth() <= depth {
				return
			}
		}
	}
}

func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > 1<<16 {
		return 0
	}
	return n
}

// feedModule reads what extensions say of a feed.
func (r *reader) feedModule() {
	s, f := &r.scan, &r.out.Feed
	switch name := s.Name; {
	case name.Space == "dc" || name.Space == "itunes":
		r.feedWords(name.Local)
	case name.Space == "sy" && name.Local == "updateperiod":
		r.period = period(s.Inner(channelChild))
		r.setTTL()
	case name.Space == "sy" && name.Local == "updatefrequency":
		r.frequency = int64(number(s.Inner(channelChild)))
		r.setTTL()
	case name.Space == "media" && name.Local == "thumbnail":
		f.Image = firstOf(f.Image, resolve(r.scope.base, s.Attr("url")))
		s.Skip(channelChild)
	default:
		s.Skip(isItem)
	}
}

func (r *reader) feedWords(local string) {
	s, f := &r.scan, &r.out.Feed
	switch local {
	case "title":
		f.Title = firstOf(f.Title, plain(s.Inner(channelChild)))
	case "creator", "author", "publisher":
		if p, ok := person(s.Inner(channelChild)); ok {
			f.Authors = addPerson(f.Authors, p)
		}
	case "date":
		r.setDate(&f.Updated, s.Inner(channelChild))
	case "subject":
		f.Categories = addWord(f.Categories, s.Inner(channelChild))
	case "category":
		word := s.Attr("text")
		s.Skip(channelChild)
		f.Categories = addWord(f.Categories, word)
	case "language":
		f.Language = firstOf(f.Language, line(s.Inner(channelChild)))
		r.scope.lang = firstOf(r.scope.lang, f.Language)
	case "rights":
		f.Rights = firstOf(f.Rights, plain(s.Inner(channelChild)))
	case "description", "summary", "subtitle":
		f.Description = firstOf(f.Description, plain(s.Inner(channelChild)))
	case "image":
		f.Image = firstOf(f.Image, resolve(r.scope.base, s.Attr("href")))
		s.Skip(channelChild)
	default:
		s.Skip(channelChild)
	}
}

// setTTL turns "so often in this period" into seconds between two changes.
func (r *reader) setTTL() {
	if r.period > 0 && r.out.Feed.TTL == 0 || r.synced {
		r.synced = true
		r.out.Feed.TTL = r.period / max(r.frequency, 1)
	}
}

func period(s string) int64 {
	day := int64(24 * time.Hour / time.Second)
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "hourly":
		return day / 24
	case "daily":
		return day
	case "weekly":
		return 7 * day
	case "monthly":
		return 30 * day
	case "yearly":
		return 365 * day
	}
	return 0
}
