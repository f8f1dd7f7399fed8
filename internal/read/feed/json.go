package feed

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// readJSON reads JSON Feed 1.0 and 1.1, which begins at start. After a syntax error it
// repairs the text and reads it again; it keeps the second reading if that is without
// error or has more items, else what stood before the error.
func (r *reader) readJSON(start int) error {
	src, doc := r.src[start:], jsonFeed{start: start, most: r.opt.MaxItems}
	r.scan = xmlscan.Scanner{Source: r.src} // for the places of warnings
	at, err := doc.read(src)
	if err == nil && strings.Trim(src[at:], " \t\r\n\x1a") != "" {
		r.out.WellFormed = false
		r.warn("junk-after", start+at, "", "there is other data after the feed, which was skipped; remove it")
	}
	if err != nil {
		r.out.WellFormed = false
		code, text := "bad-json", "JSON syntax error: "+jsonReason(err)
		if isCut(err) {
			code, text = "truncated", "the document ends in the middle; send the whole document"
		}
		r.warn(code, start+at, "", text)
		if again := (jsonFeed{start: start, most: r.opt.MaxItems}); code == "bad-json" {
			if _, err := again.read(healJSON(src)); err == nil || len(again.items) > len(doc.items) {
				again.healed = true
				doc = again
			}
		}
	}
	version := jsonText(doc.fields["version"])
	switch {
	case strings.HasSuffix(version, "jsonfeed.org/version/1"):
		r.out.Format = "json10"
	case strings.Contains(version, "jsonfeed.org") || doc.listed:
		r.out.Format = "json11"
	case err != nil:
		return courant.Errorf(courant.Invalid, "malformed: the JSON has a syntax error before the list of items")
	default:
		return courant.Errorf(courant.Invalid, "not_a_feed: this is JSON but not a JSON Feed: it has no list of items")
	}
	if version == "" {
		r.warn("no-version", 0, "version", "the feed does not state its version; add \"version\": \"https://jsonfeed.org/version/1.1\"")
	}
	r.jsonFeed(doc.fields)
	r.room(len(doc.items))
	for _, it := range doc.items {
		r.jsonItem(&doc, it)
	}
	return nil
}

// jsonFeed reads the fields of the feed itself.
func (r *reader) jsonFeed(o jsonObject) {
	f := &r.out.Feed
	r.scope.base = firstOf(r.scope.base, resolve("", jsonText(o["feed_url"])), resolve("", jsonText(o["home_page_url"])))
	f.Title = line(jsonText(o["title"]))
	f.Link = r.jsonURL(o, "home_page_url")
	f.Self = r.jsonURL(o, "feed_url")
	f.Next = r.jsonURL(o, "next_url")
	f.Description = textHTML(jsonText(o["description"]))
	f.Language = line(jsonText(o["language"]))
	f.Image = r.or(r.jsonURL(o, "icon"), spare{r.jsonURL(o, "favicon"), "favicon"})
	f.Authors = r.jsonPeople("", o)
	r.scope.lang = f.Language
	for _, hub := range jsonList(o["hubs"]) {
		url := r.url(r.scope.base, firstOf(jsonText(jsonFields(hub)["url"]), jsonText(hub)))
		switch {
		case url == "":
		case len(f.Hubs) >= maxList:
			r.feedCuts.links++
		default:
			f.Hubs = append(f.Hubs, url)
		}
	}
	r.jsonIgnored("", o, feedField)
	if o["expired"] == "true" {
		r.warn("expired", 0, "expired", "the feed says that it is finished; if this is not so, remove \"expired\"")
	}
}

// jsonItem reads an item.
func (r *reader) jsonItem(doc *jsonFeed, raw jsonValue) {
	at := doc.start + raw.offset
	if doc.healed {
		at = doc.start // offsets in the repaired text mean nothing in the source
	}
	if len(r.out.Items) >= r.opt.MaxItems {
		if r.counts["too-many-items"] == 0 {
			r.warn("too-many-items", at, "items", r.tooMany())
		}
		return
	}
	o := raw.fields
	if o == nil {
		o = jsonFields(raw.text)
	}
	if o == nil {
		r.warn("bad-item", at, "items", "the item is not a JSON object and was left out; write {…}")
		return
	}
	r.scan.Offset, r.scan.Raw = at, "items"
	d := r.begin(r.scope)
	r.jsonIgnored("items/", o, itemField)
	r.jsonWords(d, o)
	r.jsonFiles(d, o)
	it := &d.item
	it.Authors = r.jsonPeople("items/", o)
	d.author = slices.Clone(r.out.Feed.Authors)
	it.Language = line(jsonText(o["language"]))
	for _, tag := range jsonList(o["tags"]) {
		it.Categories = r.addWord(it.Categories, escaped(jsonText(tag)))
	}
	r.add(d)
}

// jsonWords reads the identity, the dates and the texts of an item.
func (r *reader) jsonWords(d *draft, o jsonObject) {
	it := &d.item
	it.ID = jsonText(o["id"])
	it.Title = jsonText(o["title"])
	it.Link = r.jsonURL(o, "url")
	external := r.jsonURL(o, "external_url")
	if it.Link == "" {
		it.Link = external
	} else if external != "" {
		r.relate(d, courant.RelatedLink{URL: external})
	}
	r.setDate(&it.Published, jsonText(o["date_published"]))
	r.setDate(&it.Updated, jsonText(o["date_modified"]))
	r.offer(&d.summary, piece{html: textHTML(jsonText(o["summary"])), rank: 1, name: "items/summary"})
	r.offer(&d.content, piece{html: textHTML(jsonText(o["content_text"])), rank: 1, name: "items/content_text"})
	r.offer(&d.content, piece{html: jsonText(o["content_html"]), rank: 2, name: "items/content_html"})
}

// jsonFiles reads the pictures and attachments of an item.
func (r *reader) jsonFiles(d *draft, o jsonObject) {
	for _, name := range [...]string{"image", "banner_image"} {
		r.addPicture(d, r.jsonURL(o, name))
	}
	for _, value := range jsonList(o["attachments"]) {
		f := jsonFields(value)
		size, _, _ := strings.Cut(jsonText(f["size_in_bytes"]), ".")
		r.jsonIgnored("items/attachments/", f, fileField)
		r.attach(d, file{url: firstOf(jsonText(f["url"]), jsonText(value)), kind: jsonText(f["mime_type"]), length: size,
			title: jsonText(f["title"]), duration: jsonText(f["duration_in_seconds"])})
	}
}

// jsonURL resolves an address, or the field url of an object.
func (r *reader) jsonURL(o jsonObject, name string) string {
	return r.url(r.scope.base, firstOf(jsonText(o[name]), jsonText(jsonFields(o[name])["url"])))
}

// jsonPeople reads authors and author of an object, to which path leads. Each may be an
// object, a list of them or a name.
func (r *reader) jsonPeople(path string, o jsonObject) (people []courant.Person) {
	for _, name := range [...]string{"authors", "author"} {
		for _, a := range jsonList(o[name]) {
			f := jsonFields(a)
			p := courant.Person{Name: line(jsonText(f["name"]))}
			r.personLink(&p, r.scope.base, jsonText(f["url"]))
			if mail := strings.TrimSpace(jsonText(f["email"])); isMail(mail) {
				r.first(&p.Email, mail)
			}
			if f == nil {
				p, _ = r.person(jsonText(a))
			}
			if p != (courant.Person{}) {
				people = r.addPerson(people, p)
			}
			r.jsonIgnored(path+name+"/", f, personField)
		}
	}
	return people
}

// jsonReason returns the message of the decoder without the name of its package.
func jsonReason(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return syntax.Error()
	}
	return "this is not the JSON of a feed"
}
