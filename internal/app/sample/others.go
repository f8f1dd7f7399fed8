package sample

import (
	"net/http"
	"strings"
	"time"
)

// town is the town hall: an Atom feed of its own notices, and of one article of the
// newspaper in other words. That address is on the newspaper's host, so the newspaper's
// version wins, and the page names both sources.
func (w *Web) town(origin, news string) http.Handler {
	mux := w.common()
	own := read("town.txt", origin)
	again := article{Link: news + "/crane-number-four", Title: "Decision 14: crane number four is kept", Author: "Town clerk",
		Section: "Decisions", Body: "<p>The council has decided, by nine votes to six, that crane number four is not to be scrapped. " +
			"It is let to E. and D. Kaya for use as a café of no more than eight seats. The stairs are to be lit.</p>"}
	again.show(origin, "cranes day", 4)
	list := func() []article { return dated(append([]article{again}, own...), w.Now(), 5*time.Hour) }
	mux.HandleFunc("GET /notices.atom", func(rw http.ResponseWriter, r *http.Request) {
		w.respond(rw, r, "application/atom+xml; charset=utf-8", render("atom", channel{
			Title: "Town hall: notices", Origin: origin, Self: origin + "/notices.atom", Language: "en",
			About: "What the town has to say", Articles: list()}))
	})
	w.pages(mux, "Town hall", origin, "/notices.atom", list)
	return mux
}

// gull publishes under others' addresses: besides items of its own it has one under the
// address of an article of the newspaper, which must not replace that article. Its feed
// is Turbo RSS; the first of its own items has blocks.
func (w *Web) gull(origin, news string) http.Handler {
	mux := w.common()
	claim := article{Link: news + "/tall-ship-meridian", Title: "SHOCKING: what they do not tell you about the Meridian",
		Author: "The Editor", Section: "Exclusive", Body: "<p>This text stands under the address of somebody else's article. " +
			"If you read it on that article's page, something is wrong.</p>"}
	claim.show(origin, "gulls dusk", 13)
	own := read("gull.txt", origin)
	blocks, err := texts.ReadFile("text/blocks.html")
	if err != nil {
		panic(err) // it is part of the program
	}
	own[0].Blocks = strings.ReplaceAll(strings.TrimSpace(string(blocks)), "ORIGIN", origin)
	list := func() []article { return dated(append([]article{claim}, own...), w.Now(), 3*time.Hour) }
	mux.HandleFunc("GET /megaphone.xml", func(rw http.ResponseWriter, r *http.Request) {
		w.respond(rw, r, "application/rss+xml; charset=utf-8", render("turbo", channel{
			Title: "The Gull's Megaphone", Origin: origin, Self: origin + "/megaphone.xml", Language: "en",
			About: "Everything that others have said", Articles: list()}))
	})
	w.pages(mux, "The Gull's Megaphone", origin, "/megaphone.xml", list)
	return mux
}

func dated(list []article, now time.Time, apart time.Duration) []article {
	for i := range list {
		list[i].At = day(now).Add(-time.Duration(i) * apart)
		list[i].Inside = true
	}
	return list
}

// broken is a feed as an old script might write it: declared as UTF-8 but encoded in
// Windows-1251, with mismatched tags and HTML entities, and cut off at the end.
func (w *Web) broken(origin string) http.Handler {
	mux := w.common()
	text, err := texts.ReadFile("text/broken.xml")
	if err != nil {
		panic(err) // it is part of the program
	}
	mux.HandleFunc("GET /rss", func(rw http.ResponseWriter, r *http.Request) {
		at := day(w.Now())
		var dates []string
		for i, name := range []string{"DATE1", "DATE2", "DATE3", "DATE4"} {
			dates = append(dates, name, at.Add(-time.Duration(i)*11*time.Hour).Format(time.RFC1123Z))
		}
		filled := strings.NewReplacer(append(dates, "ORIGIN", origin)...).Replace(strings.TrimSpace(string(text)))
		w.respond(rw, r, "text/xml", windows1251(filled))
	})
	mux.HandleFunc("GET /{page}", func(rw http.ResponseWriter, r *http.Request) {
		w.respond(rw, r, "text/html; charset=utf-8", []byte("<!DOCTYPE html><meta charset=utf-8><title>Маяк</title>"+
			"<p>Заметка радиокружка «Маяк». Весь текст есть в <a href=/rss>ленте</a>.</p>"))
	})
	return mux
}

// windows1251 encodes Russian text.
func windows1251(text string) (out []byte) {
	others := map[rune]byte{'ё': 0xb8, 'Ё': 0xa8, '«': 0xab, '»': 0xbb, '—': 0x97}
	for _, r := range text {
		switch {
		case r < 0x80:
			out = append(out, byte(r))
		case r >= 'А' && r <= 'я':
			out = append(out, byte(r-'А')+0xc0)
		default:
			out = append(out, others[r])
		}
	}
	return out
}
