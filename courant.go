// Package courant holds the domain types of the platform: sources, what they
// publish, and what becomes of it. It uses only the standard library and does no I/O.
package courant

import "time"

// Time is an instant that may be missing. In JSON the zero Time is "" and any other
// is RFC 3339 in UTC.
type Time struct{ time.Time }

// MarshalJSON writes "" for the zero Time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte(`""`), nil
	}
	return t.UTC().MarshalJSON()
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == `""` || string(b) == "null" {
		*t = Time{}
		return nil
	}
	return t.Time.UnmarshalJSON(b)
}

// Person is an author; any field may be empty.
type Person struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	URL   string `json:"url"`
}

// Enclosure is a file attached to an item. Length is in bytes, 0 if unknown.
type Enclosure struct {
	URL      string `json:"url"`
	Type     string `json:"type"`
	Length   int64  `json:"length"`
	Title    string `json:"title,omitempty"`
	Duration int64  `json:"duration_seconds,omitempty"` // of audio or video
}

// Feed is what a feed says about itself. URLs are absolute.
type Feed struct {
	Title       string   `json:"title"` // plain text
	Link        string   `json:"link"`
	Description string   `json:"description"` // cleaned HTML
	Language    string   `json:"language"`
	Rights      string   `json:"rights"` // cleaned HTML
	Updated     Time     `json:"updated"`
	Authors     []Person `json:"authors"`
	Categories  []string `json:"categories"`
	Hubs        []string `json:"hubs"` // WebSub
	Self        string   `json:"self"`
	Next        string   `json:"next"` // the page of the feed with older items
	TTL         int64    `json:"ttl_seconds"`
	Image       string   `json:"image"`
	Generator   string   `json:"generator,omitempty"` // the software that made the feed
	// When the feed asks not to be polled: hours of the day in UTC, 0 to 23, and days
	// of the week, 0 for Sunday.
	SkipHours []int `json:"skip_hours,omitempty"`
	SkipDays  []int `json:"skip_days,omitempty"`

	Analytics  []Counter   `json:"analytics,omitempty"` // of Turbo RSS
	Ads        []AdNetwork `json:"ads,omitempty"`
	Logo       string      `json:"logo,omitempty"`
	SquareLogo string      `json:"square_logo,omitempty"`
	Plugin     string      `json:"cms_plugin,omitempty"` // the software that made the feed
	Goals      []Goal      `json:"goals,omitempty"`
}

// Counter is a web analytics service that a site uses.
type Counter struct {
	Type   string `json:"type"` // Yandex, Google, LiveInternet, …
	ID     string `json:"id"`
	Params string `json:"params,omitempty"`
	URL    string `json:"url,omitempty"` // of a custom counter
}

// Goal is an event that a counter records when a reader does something.
type Goal struct {
	Type string `json:"type"` // of the counter
	ID   string `json:"id"`   // of the counter
	Name string `json:"name"`
	Key  string `json:"turbo_goal_id"` // the name of the goal in the page
}

// AdNetwork fills an ad slot of a site's pages. Code is the script that the site would
// run there; Courant never runs it.
type AdNetwork struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Slot string `json:"slot"`
	Code string `json:"code,omitempty"`
}

// RelatedLink is a page related to an item; Title and Image may be empty.
type RelatedLink struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Image string `json:"image"`
}

// Crumb is one step of the breadcrumbs of an item.
type Crumb struct {
	URL  string `json:"url"`
	Text string `json:"text"`
}

// Item is one entry of a feed. Title is plain text; Summary and Content are
// cleaned HTML; URLs are absolute.
type Item struct {
	ID         string        `json:"id"` // guid, atom:id
	Link       string        `json:"link"`
	Title      string        `json:"title"`
	Summary    string        `json:"summary"`
	Content    string        `json:"content"`
	Published  Time          `json:"published"`
	Updated    Time          `json:"updated"`
	Language   string        `json:"language"`
	Base       string        `json:"base"`
	Rights     string        `json:"rights"`
	Authors    []Person      `json:"authors"`
	Categories []string      `json:"categories"`
	Enclosures []Enclosure   `json:"enclosures"`
	Images     []string      `json:"images"` // in order of appearance, each once
	Videos     []string      `json:"videos"`
	Turbo      *bool         `json:"turbo"`     // the attribute of Turbo RSS, nil if absent
	Withdrawn  bool          `json:"withdrawn"` // the source says that it has been deleted
	Related    []RelatedLink `json:"related"`
	Hash       string        `json:"hash"` // of the content, hexadecimal; see read/feed

	Comments    string  `json:"comments,omitempty"` // address of the page with the comments
	Breadcrumbs []Crumb `json:"breadcrumbs,omitempty"`
	Cut         bool    `json:"-"`                      // the document ends within this item
	Endless     bool    `json:"endless,omitempty"`      // related pages load one after another (infinite scroll)
	ReportURL   string  `json:"report_url,omitempty"`   // reported to analytics instead of the link
	ReportTitle string  `json:"report_title,omitempty"` // and instead of the title
	Goals       []Goal  `json:"goals,omitempty"`
}

// FeedLink is a feed that an HTML page links to or that an OPML file lists; Folder is
// the path of the latter's folders, such as News / Science.
type FeedLink struct {
	URL    string `json:"url"`
	Title  string `json:"title"`
	Type   string `json:"type"`
	Site   string `json:"site,omitempty"`
	Folder string `json:"folder,omitempty"`
}

// Warning is something that a reader of files had to repair or leave out. Code is
// stable; Line and Column count from 1, Column in characters; Text tells the author
// what to fix.
type Warning struct {
	Code    string `json:"code"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Element string `json:"element"`
	Text    string `json:"text"`
	Level   string `json:"level,omitempty"` // LevelInfo, or "" for a warning
}

// LevelInfo is the level of a warning that names what Courant has no use for; the
// author of the file has nothing to fix. Its code is "ignored", and it comes once per
// name and file.
const LevelInfo = "info"

// Reading is the result of reading one file.
type Reading struct {
	Format     string       `json:"format"`   // rss20, atom10, …, unknown
	Encoding   string       `json:"encoding"` // actual encoding of the bytes: WHATWG name, lower case
	WellFormed bool         `json:"well_formed"`
	Feed       Feed         `json:"feed"`
	Items      []Item       `json:"items"`
	Offers     []Offer      `json:"offers"`
	Links      []FeedLink   `json:"links"`
	Categories []Category   `json:"categories,omitempty"` // of a catalogue
	Shop       *Shop        `json:"shop,omitempty"`
	URLs       []SitemapURL `json:"urls,omitempty"` // of a sitemap
	Warnings   []Warning    `json:"warnings"`
}
