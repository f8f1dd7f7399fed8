package api

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// Page is a page in the API.
type Page struct {
	ID          int64               `json:"id,string"`
	URL         string              `json:"url"`
	Source      string              `json:"source"`
	Sources     []string            `json:"sources"`    // all sources that have it
	Duplicates  []string            `json:"duplicates"` // addresses of pages with nearly the same text
	Link        string              `json:"link"`       // of the original, as the source gives it
	GUID        string              `json:"guid"`
	Title       string              `json:"title"`
	Text        string              `json:"text"`
	HTML        string              `json:"html"`
	Language    string              `json:"language"`
	Authors     []courant.Person    `json:"authors"`
	PublishedAt courant.Time        `json:"published_at"`
	UpdatedAt   courant.Time        `json:"updated_at"`
	FetchedAt   courant.Time        `json:"fetched_at"`
	StoredAt    courant.Time        `json:"stored_at"`
	Revision    int                 `json:"revision"`
	ContentHash string              `json:"content_hash"`
	Images      []Image             `json:"images"`
	Videos      []string            `json:"videos"`
	Categories  []string            `json:"categories"`
	Enclosures  []courant.Enclosure `json:"enclosures"`
	Offer       *courant.Offer      `json:"offer,omitempty"`
}

// Image is a stored picture of a page.
type Image struct {
	SourceURL   string    `json:"source_url"`
	URL         string    `json:"url"`
	Width       int       `json:"width"`
	Height      int       `json:"height"`
	Type        string    `json:"type"`
	Alt         string    `json:"alt"`
	Placeholder string    `json:"placeholder"`
	Variants    []Variant `json:"variants"`
}

// Variant is a smaller version of a picture.
type Variant struct {
	URL   string `json:"url"`
	Width int    `json:"width"`
	Type  string `json:"type"`
}

// page gives one page by its address.
func (a *API) page(w http.ResponseWriter, r *http.Request) (int, any, error) {
	address, err := link.Canonical(web.Param(r, "url"))
	if err != nil {
		return 0, nil, err
	}
	key := link.Digest(address)
	p := Page{Sources: []string{}, Duplicates: []string{}, Images: []Image{}, Videos: []string{}, Categories: []string{}, Enclosures: []courant.Enclosure{}}
	withdrawn := false
	err = a.Store.Read(r.Context(), func(q store.Reader) error {
		if withdrawn, err = p.read(q, key[:]); err != nil || withdrawn {
			return err
		}
		return p.readBody(q, a.Store.Now())
	})
	if withdrawn {
		web.FailWith(w, http.StatusGone, errGone.Error())
		return 0, nil, nil
	}
	if store.NoRow(err) {
		err = courant.Errorf(courant.NotFound, "there is no page for %s", address)
	}
	return http.StatusOK, p, err
}

// read fills in the columns of pages, and the names and addresses that go with it.
func (p *Page) read(q store.Reader, key []byte) (withdrawn bool, err error) {
	var published, updated, fetched, stored, original int64
	var hash []byte
	err = q.Row(readPage, key).Scan(&p.ID, &p.URL, &p.Source, &p.Title, &p.Language, &published, &updated, &fetched, &stored,
		&p.Revision, &hash, &withdrawn, &original)
	if err != nil {
		return false, err
	}
	p.ContentHash = hex.EncodeToString(hash)
	for at, ms := range map[*courant.Time]int64{&p.PublishedAt: published, &p.UpdatedAt: updated, &p.FetchedAt: fetched, &p.StoredAt: stored} {
		at.Time = store.Time(ms)
	}
	if p.Sources, err = texts(q, readSourcesOf, key); err != nil {
		return withdrawn, err
	}
	p.Duplicates, err = texts(q, readDuplicates, cmp.Or(original, p.ID), p.ID)
	return withdrawn, err
}

// texts reads the only column of a query.
func texts(q store.Reader, query string, args ...any) ([]string, error) {
	out := []string{}
	err := q.Rows(func(rows store.Rows) error {
		var text string
		err := rows.Scan(&text)
		out = append(out, text)
		return err
	}, query, args...)
	return out, err
}

// readBody fills in text and pictures.
func (p *Page) readBody(q store.Reader, now time.Time) error {
	packed, err := table.Body(q, p.ID)
	if err != nil {
		return err
	}
	var doc courant.Document
	if err := pack.Decode(packed, &doc); err != nil {
		return err
	}
	p.Offer = doc.Whole(now)
	p.HTML = doc.Item.Content
	if p.HTML == "" {
		p.HTML = doc.Item.Summary
	}
	p.Text = markup.Text(p.HTML)
	p.Authors = append([]courant.Person{}, doc.Item.Authors...)
	p.Videos = append(p.Videos, doc.Item.Videos...)
	p.Link, p.GUID = doc.Item.Link, doc.Item.ID
	p.Categories = append([]string{}, doc.Item.Categories...)
	p.Enclosures = append([]courant.Enclosure{}, doc.Item.Enclosures...)
	var c markup.Cleaner
	_, seen := c.Append(nil, p.HTML)
	alts := map[string]string{}
	for _, i := range seen.Images {
		alts[i.URL] = i.Alt
	}
	for _, url := range doc.Item.Images {
		if err := p.readImage(q, url, alts[url]); err != nil {
			return err
		}
	}
	return nil
}

// readImage adds a picture if it is stored.
func (p *Page) readImage(q store.Reader, url, alt string) error {
	canonical, err := link.Canonical(url)
	if err != nil {
		return nil
	}
	key := link.Digest(canonical)
	kept, err := table.ReadPicture(q, key[:])
	if store.NoRow(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var smaller []courant.Picture
	if err := json.Unmarshal([]byte(kept.Variants), &smaller); err != nil {
		return err
	}
	i := Image{SourceURL: url, URL: "/media/" + courant.PictureFile(kept.Content, kept.Full.Width, kept.Full.Type), Alt: alt,
		Type: kept.Full.Type, Width: kept.Full.Width, Height: kept.Full.Height, Variants: []Variant{}}
	for _, v := range smaller {
		i.Variants = append(i.Variants, Variant{"/media/" + v.File, v.Width, v.Type})
	}
	p.Images = append(p.Images, i)
	return nil
}
