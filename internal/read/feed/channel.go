package feed

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// channelElement reads an element about the channel itself.
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
		r.first(&f.Title, r.plain(s.Inner(channelChild)))
	case "link":
		r.channelLink()
	case "description", "tagline", "subtitle", "abstract":
		r.first(&f.Description, r.channelNote())
	case "language":
		r.first(&f.Language, line(s.Inner(channelChild)))
		r.scope.lang = firstOf(r.scope.lang, f.Language)
	case "copyright":
		r.first(&f.Rights, r.channelNote())
	case "lastbuilddate", "pubdate":
		r.channelDate(s.Name.Local == "lastbuilddate")
	case "generator":
		r.first(&f.Generator, line(s.Inner(channelChild)))
	case "managingeditor", "author", "webmaster":
		if p, ok := r.person(s.Inner(channelChild)); ok {
			f.Authors = r.addPerson(f.Authors, p)
		}
	case "category":
		f.Categories = r.addWord(f.Categories, s.Inner(channelChild))
	case "ttl":
		r.ttl(s.Inner(channelChild))
	case "skiphours":
		r.skipped(&f.SkipHours, "hour", hour)
	case "skipdays":
		r.skipped(&f.SkipDays, "day", weekday)
	case "image":
		r.channelImage()
	case "logo":
		url := r.url(r.scope.base, s.Attr("href"))
		s.Skip(channelChild)
		r.feedPicture(url, false)
	default:
		r.skip(isItem)
	}
}

// channelDate reads the date of the last change, or that of the publication.
func (r *reader) channelDate(last bool) {
	f := &r.out.Feed
	var t courant.Time
	r.setDate(&t, r.scan.Inner(channelChild))
	switch {
	case t.IsZero():
	case f.Updated.IsZero() || last:
		if !f.Updated.IsZero() && !f.Updated.Equal(t.Time) {
			r.ignore(r.dateName, "", notNeeded)
		}
		f.Updated, r.dateName = t, r.scan.Raw
	case !f.Updated.Equal(t.Time):
		r.unused()
	}
}

// channelNote reads a text of the channel as HTML that may be shown.
func (r *reader) channelNote() string {
	base := r.inherit(r.scope).base
	return r.note(withBreaks(r.scan.Inner(channelChild)), base)
}

// channelLink reads a link from text, or from the attribute href as in Atom.
func (r *reader) channelLink() {
	s, f := &r.scan, &r.out.Feed
	if _, ok := s.LookupAttr("href"); ok {
		if s.Attr("rel") == "" && s.Attr("type") == "" {
			f.Link = "" // this form is more reliable than text
		}
		r.feedLink()
		return
	}
	base := r.inherit(r.scope).base
	r.first(&f.Link, r.pageLink(base, s.Inner(channelChild)))
	r.assumeBase(f.Link)
}

// ttl reads minutes and ignores implausible values.
func (r *reader) ttl(text string) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n <= 0 || n >= 60*24*366 {
		r.ignore(r.scan.Raw, "", notPlausible)
		return
	}
	r.out.Feed.TTL = int64(n) * 60
}

// skipped reads skipHours or skipDays of RSS 0.91, when clients should not fetch.
func (r *reader) skipped(list *[]int, name string, number func(string) int) {
	s, element := &r.scan, r.scan.Raw
	s.Children(isItem, func() {
		switch {
		case s.Kind() != xmlscan.Start:
			r.stray()
		case s.Name.Local == name:
			n := number(strings.ToLower(line(s.Inner(isItem))))
			if n < 0 {
				r.ignore(s.Raw, "", notPlausible)
			} else if !slices.Contains(*list, n) {
				*list = append(*list, n)
			}
		default:
			r.skipIn(element, isItem)
		}
	})
}

// hour returns 0 to 23; 24, as some write midnight, is 0. It returns -1 for other text.
func hour(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 24 {
		return -1
	}
	return n % 24
}

// weekday returns 0 for Sunday to 6 for Saturday, -1 for other text.
func weekday(text string) int {
	return slices.Index([]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}, text)
}

// channelImage reads only the address of the image.
func (r *reader) channelImage() {
	s, element := &r.scan, r.scan.Raw
	s.LookupAttr("rdf:resource") // names the element that has the url
	s.Children(isItem, func() {
		switch {
		case s.Kind() != xmlscan.Start:
			r.stray()
		case s.Name.Local == "url":
			r.feedPicture(r.url(r.scope.base, s.Inner(isItem)), true)
		default:
			r.skipIn(element, isItem)
		}
	})
}

// feedModule reads an extension element about the feed.
func (r *reader) feedModule() {
	s := &r.scan
	switch name := s.Name; {
	case name.Space == "itunes" && name.Local == "owner", name.Space == "media" && name.Local == "group":
		// its children belong to the feed
	case name.Space == "itunes" && (name.Local == "name" || name.Local == "email"):
		r.podcastOwner(name.Local == "email")
	case name.Space == "turbo" || name.Space == "yandex":
		r.turboChannel(name.Local)
	case name.Space == "dc" || name.Space == "itunes":
		r.feedWords(name.Local)
	case name.Space == "sy" && name.Local == "updateperiod":
		if r.period = period(s.Inner(channelChild)); r.period == 0 {
			r.ignore(s.Raw, "", notPlausible)
		}
		r.setTTL()
	case name.Space == "sy" && name.Local == "updatefrequency":
		r.frequency = int64(number(s.Inner(channelChild)))
		r.setTTL()
	case name.Space == "media":
		r.feedMedia(name.Local)
	default:
		r.skip(isItem)
	}
}

// podcastOwner reads the name or the email address of the owner of a podcast. The
// owner becomes an author if the feed has none, or completes the first one if the
// names are equal.
func (r *reader) podcastOwner(mail bool) {
	p, text := &r.owner, line(r.scan.Inner(channelChild))
	if mail && isMail(text) {
		r.first(&p.Email, text)
	} else if !mail {
		r.first(&p.Name, text)
	} else {
		r.ignore(r.scan.Raw, "", notPlausible)
	}
}

// feedMedia reads a Media RSS element that applies to the whole channel.
func (r *reader) feedMedia(local string) {
	s, f := &r.scan, &r.out.Feed
	switch local {
	case "thumbnail":
		url := r.url(r.scope.base, s.Attr("url"))
		s.Skip(channelChild)
		r.feedPicture(url, false)
	case "title":
		r.first(&f.Title, r.plain(s.Inner(channelChild)))
	case "description":
		r.first(&f.Description, r.channelNote())
	case "copyright":
		r.first(&f.Rights, r.channelNote())
	case "category":
		f.Categories = r.addWord(f.Categories, s.Inner(channelChild))
	case "keywords":
		f.Categories = r.addWords(f.Categories, s.Inner(channelChild))
	default:
		r.skip(isItem)
	}
}

// feedWords reads Dublin Core and the podcast module, whose names do not conflict.
func (r *reader) feedWords(local string) {
	s, f := &r.scan, &r.out.Feed
	switch local {
	case "title":
		r.first(&f.Title, r.plain(s.Inner(channelChild)))
	case "creator", "author", "publisher":
		if p, ok := r.person(s.Inner(channelChild)); ok {
			f.Authors = r.addPerson(f.Authors, p)
		}
	case "date", "modified":
		r.channelDate(false)
	case "keywords":
		f.Categories = r.addWords(f.Categories, s.Inner(channelChild))
	case "subject":
		f.Categories = r.addWord(f.Categories, s.Inner(channelChild))
	case "category":
		if word := s.Attr("text"); word != "" {
			f.Categories = r.addWord(f.Categories, word) // others may be inside
			return
		}
		f.Categories = r.addWord(f.Categories, s.Inner(channelChild))
	case "language":
		r.first(&f.Language, line(s.Inner(channelChild)))
		r.scope.lang = firstOf(r.scope.lang, f.Language)
	case "rights":
		r.first(&f.Rights, r.channelNote())
	case "description", "summary", "subtitle":
		r.first(&f.Description, r.channelNote())
	case "link": // as in the first podcasts
		if r.relation() != "image" {
			r.skip(channelChild)
			return
		}
		url := r.url(r.scope.base, s.Attr("href"))
		s.Skip(channelChild)
		r.feedPicture(url, false)
	case "image":
		url := firstOf(s.Attr("href"), s.Attr("url"))
		text := s.Inner(channelChild)
		r.feedPicture(r.url(r.scope.base, firstOf(url, text)), false)
	default:
		r.skip(channelChild)
	}
}

// setTTL computes the seconds between updates from updatePeriod and updateFrequency.
func (r *reader) setTTL() {
	if r.period > 0 && r.out.Feed.TTL == 0 || r.synced {
		r.synced = true
		r.out.Feed.TTL = r.period / max(r.frequency, 1)
	}
}

// period returns the length of an update period in seconds, 0 if it is unknown.
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
