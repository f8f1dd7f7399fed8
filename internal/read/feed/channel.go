package feed

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// channelElement reads what a channel says of itself.
func (r *reader) channelElement() {
	s, f := &r.scan, &r.out.Feed
	if s.Name.Space == "atom" {
		r.feedElement()
		return
	}
	if s.Name.Space != "" {
		r.feedModule()
		return
	}
	switch s.Name.Local {
	case "title":
		f.Title = firstOf(f.Title, plain(s.Inner(channelChild)))
	case "link":
		r.channelLink()
	case "description", "tagline", "subtitle", "abstract":
		f.Description = firstOf(f.Description, r.channelNote())
	case "language":
		f.Language = line(s.Inner(channelChild))
		r.scope.lang = firstOf(r.scope.lang, f.Language)
	case "copyright":
		f.Rights = firstOf(f.Rights, r.channelNote())
	case "lastbuilddate", "pubdate":
		last := s.Name.Local == "lastbuilddate"
		var t courant.Time
		if r.setDate(&t, s.Inner(channelChild)); f.Updated.IsZero() || last {
			f.Updated = t
		}
	case "managingeditor", "author", "webmaster":
		if p, ok := person(s.Inner(channelChild)); ok {
			f.Authors = addPerson(f.Authors, p)
		}
	case "category":
		f.Categories = addWord(f.Categories, s.Inner(channelChild))
	case "ttl":
		r.ttl(s.Inner(channelChild))
	case "skiphours":
		r.skipped(&f.SkipHours, "hour", hour)
	case "skipdays":
		r.skipped(&f.SkipDays, "day", weekday)
	case "image":
		r.channelImage()
	case "logo":
		f.Image = firstOf(f.Image, resolve(r.scope.base, s.Attr("href")))
		s.Skip(channelChild)
	default:
		s.Skip(isItem)
	}
}

// channelNote reads a text of the channel as HTML that may be shown.
func (r *reader) channelNote() string {
	base := r.inherit(r.scope).base
	return r.note(r.scan.Inner(channelChild), base)
}

// channelLink takes text, or an attribute as Atom writes it.
func (r *reader) channelLink() {
	s, f := &r.scan, &r.out.Feed
	if _, ok := s.LookupAttr("href"); ok {
		if s.Attr("rel") == "" && s.Attr("type") == "" {
			f.Link = "" // says more plainly than text that it is a link
		}
		r.feedLink()
		return
	}
	base := r.inherit(r.scope).base
	f.Link = firstOf(f.Link, r.pageLink(base, s.Inner(channelChild)))
}

// ttl is in minutes; nonsense is left out.
func (r *reader) ttl(text string) {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n > 0 && n < 60*24*366 {
		r.out.Feed.TTL = int64(n) * 60
	}
}

// skipped reads the hours or the days of RSS 0.91 in which nobody should ask.
func (r *reader) skipped(list *[]int, name string, number func(string) int) {
	s := &r.scan
	s.Children(isItem, func() {
		switch {
		case s.Kind() != xmlscan.Start:
		case s.Name.Local == name:
			if n := number(strings.ToLower(line(s.Inner(isItem)))); n >= 0 && !slices.Contains(*list, n) {
				*list = append(*list, n)
			}
		default:
			s.Skip(isItem)
		}
	})
}

// hour is from 0 to 23; 24, as some write midnight, is 0. -1 is nonsense.
func hour(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 24 {
		return -1
	}
	return n % 24
}

// weekday is 0 for Sunday, -1 for nonsense.
func weekday(text string) int {
	return slices.Index([]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}, text)
}

// channelImage takes the address of the image and nothing else of it.
func (r *reader) channelImage() {
	s := &r.scan
	s.Children(isItem, func() {
		switch {
		case s.Kind() != xmlscan.Start:
		case s.Name.Local == "url":
			r.out.Feed.Image = firstOf(resolve(r.scope.base, s.Inner(isItem)), r.out.Feed.Image)
		default:
			s.Skip(isItem)
		}
	})
}

// feedModule reads what extensions say of a feed.
func (r *reader) feedModule() {
	s := &r.scan
	switch name := s.Name; {
	case name.Space == "itunes" && name.Local == "owner", name.Space == "media" && name.Local == "group":
		// what is in it belongs to the feed
	case name.Space == "itunes" && (name.Local == "name" || name.Local == "email"):
		r.podcastOwner(name.Local == "email")
	case name.Space == "turbo" || name.Space == "yandex":
		r.turboChannel(name.Local)
	case name.Space == "dc" || name.Space == "itunes":
		r.feedWords(name.Local)
	case name.Space == "sy" && name.Local == "updateperiod":
		r.period = period(s.Inner(channelChild))
		r.setTTL()
	case name.Space == "sy" && name.Local == "updatefrequency":
		r.frequency = int64(number(s.Inner(channelChild)))
		r.setTTL()
	case name.Space == "media":
		r.feedMedia(name.Local)
	default:
		s.Skip(isItem)
	}
}

// podcastOwner reads who publishes a podcast, in two elements. It counts where
// the feed names nobody else, and completes the one of that name.
func (r *reader) podcastOwner(mail bool) {
	p, text := &r.owner, line(r.scan.Inner(channelChild))
	if mail && isMail(text) {
		p.Email = firstOf(p.Email, text)
	} else if !mail {
		p.Name = firstOf(p.Name, text)
	}
}

// feedMedia reads what Media RSS says of all items of a channel.
func (r *reader) feedMedia(local string) {
	s, f := &r.scan, &r.out.Feed
	switch local {
	case "thumbnail":
		f.Image = firstOf(f.Image, resolve(r.scope.base, s.Attr("url")))
		s.Skip(channelChild)
	case "title":
		f.Title = firstOf(f.Title, plain(s.Inner(channelChild)))
	case "description":
		f.Description = firstOf(f.Description, r.channelNote())
	case "copyright":
		f.Rights = firstOf(f.Rights, r.channelNote())
	case "category":
		f.Categories = addWord(f.Categories, s.Inner(channelChild))
	case "keywords":
		f.Categories = addWords(f.Categories, s.Inner(channelChild))
	default:
		s.Skip(isItem)
	}
}

// feedWords reads Dublin Core and the podcast module, whose names do not clash.
func (r *reader) feedWords(local string) {
	s, f := &r.scan, &r.out.Feed
	switch local {
	case "title":
		f.Title = firstOf(f.Title, plain(s.Inner(channelChild)))
	case "creator", "author", "publisher":
		if p, ok := person(s.Inner(channelChild)); ok {
			f.Authors = addPerson(f.Authors, p)
		}
	case "date", "modified":
		r.setDate(&f.Updated, s.Inner(channelChild))
	case "keywords":
		f.Categories = addWords(f.Categories, s.Inner(channelChild))
	case "subject":
		f.Categories = addWord(f.Categories, s.Inner(channelChild))
	case "category":
		if word := s.Attr("text"); word != "" {
			f.Categories = addWord(f.Categories, word) // others may be inside
			return
		}
		f.Categories = addWord(f.Categories, s.Inner(channelChild))
	case "language":
		f.Language = firstOf(f.Language, line(s.Inner(channelChild)))
		r.scope.lang = firstOf(r.scope.lang, f.Language)
	case "rights":
		f.Rights = firstOf(f.Rights, r.channelNote())
	case "description", "summary", "subtitle":
		f.Description = firstOf(f.Description, r.channelNote())
	case "image":
		url := firstOf(s.Attr("href"), s.Attr("url"))
		f.Image = firstOf(f.Image, resolve(r.scope.base, firstOf(url, s.Inner(channelChild))))
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

// period is the length of an update period in seconds, 0 if it is none.
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
