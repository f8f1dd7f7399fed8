package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/store"
)

// NewSource is a request to add a source. Only URL is required.
type NewSource struct {
	URL     string             `json:"url"`
	Kind    courant.SourceKind `json:"kind"`
	Name    string             `json:"name"`
	Title   string             `json:"title"`
	Trusted bool               `json:"trusted"`
	// IgnoreRobots polls the source's own address whatever its robots.txt says, for
	// which the publisher may have given permission.
	IgnoreRobots bool `json:"ignore_robots,omitempty"`
	// Every fixes the polling interval, at least a second; 0 adapts it to the source.
	Every setting.Duration `json:"every,omitempty"`
	// Absence says what happens to offers that disappear from a catalogue.
	Absence courant.Absence `json:"absence,omitempty"`
	// Site is the address of the site, Folder the names of the folders that the source
	// is in, the outermost first.
	Site   string   `json:"site,omitempty"`
	Folder []string `json:"folder,omitempty"`
	// ListXPath and NextXPath are for list pages, which cannot be added yet.
	ListXPath string `json:"list_xpath,omitempty"`
	NextXPath string `json:"next_xpath,omitempty"`
}

// Added is the result for one new source.
type Added struct {
	URL    string          `json:"url"`
	Source *courant.Source `json:"source,omitempty"`
	Known  bool            `json:"known,omitempty"` // it already existed
	Error  string          `json:"error,omitempty"`
	// Ignored are the fields of the request that no source has.
	Ignored []string `json:"ignored,omitempty"`
}

// Add adds sources and returns a result for each.
func (d *Desk) Add(ctx context.Context, who courant.Visitor, sources []NewSource) ([]Added, error) {
	if err := who.MayOperate(); err != nil {
		return nil, err
	}
	out := make([]Added, 0, len(sources))
	for len(sources) > 0 {
		n := min(len(sources), 200)
		var batch []Added
		err := d.Store.Write(ctx, func(tx *store.Tx) error {
			batch = batch[:0]
			for _, s := range sources[:n] {
				added, err := addOne(tx, who, s)
				if err != nil {
					return err
				}
				batch = append(batch, added)
			}
			return nil
		})
		if err != nil {
			return out, err
		}
		out, sources = append(out, batch...), sources[n:]
	}
	return out, nil
}

func addOne(tx *store.Tx, who courant.Visitor, n NewSource) (Added, error) {
	added := Added{URL: link.Redact(n.URL)}
	s, err := n.source(tx.Now())
	if err != nil {
		added.Error = err.Error()
		return added, nil
	}
	known, err := readSource(tx.Reader, sourceByURL, s.URL)
	if err == nil {
		added.Source, added.Known = &known, true
		return added, nil
	}
	if !store.NoRow(err) {
		return added, err
	}
	if s.Name, err = freeName(tx, n.Name, s.URL); err != nil {
		if errors.Is(err, courant.Conflict) {
			added.Error = err.Error()
			return added, nil
		}
		return added, err
	}
	if err := put(tx, s, n.Every); err != nil {
		return added, err
	}
	if _, err := tx.Exec(putPoll, s.ID, tx.Now().UnixMilli()); err != nil {
		return added, err
	}
	added.Source = &s
	return added, note(tx, who, "source.add", s.Name, Change{After: shown(s, n.Every)})
}

// put inserts the rows of a source.
func put(tx *store.Tx, s courant.Source, every setting.Duration) error {
	host := link.Host(s.URL)
	if _, err := tx.Exec(putSource, s.ID, s.Name, s.Kind, s.URL, host, s.Title, s.Trusted, s.Robots, s.Absence, s.Site, courant.FolderText(s.Folder),
		time.Duration(every).Milliseconds(), store.Millis(s.Added)); err != nil {
		return err
	}
	if _, err := tx.Exec(putAnswer, s.ID, s.URL, link.Origin(s.URL), courant.Partition(link.Domain(host))); err != nil {
		return err
	}
	_, err := tx.Exec(putReading, s.ID)
	return err
}

// shown is a source as the audit shows it.
func shown(s courant.Source, every setting.Duration) any {
	s.URL, s.Site = link.Redact(s.URL), link.Redact(s.Site)
	return state{s, every}
}

// source checks the request and makes the source of it.
func (n NewSource) source(now time.Time) (courant.Source, error) {
	s := courant.Source{Kind: n.Kind, Title: oneLine(n.Title), Trusted: n.Trusted, Robots: !n.IgnoreRobots, Absence: n.Absence, Folder: n.Folder, Added: now}
	if site := oneLine(n.Site); link.Host(site) != "" {
		s.Site = site
	}
	if s.Kind == "" {
		s.Kind = courant.KindFeed
	}
	if why := badName(n.Name); why != "" {
		return s, courant.Errorf(courant.Invalid, "%s: the name %.120q %s", link.Redact(n.URL), n.Name, why)
	}
	if why := badSettings(s, n.Every); why != nil {
		return s, courant.Errorf(courant.Invalid, "%s: %w", link.Redact(n.URL), why)
	}
	url, err := link.Entered(n.URL)
	if err != nil {
		return s, courant.Errorf(courant.Invalid, "%s: %w", link.Redact(n.URL), err)
	}
	s.URL, s.ID = url, newID()
	return s, nil
}

// badSettings says what is wrong with the settings of a source, nil for nothing.
func badSettings(s courant.Source, every setting.Duration) error {
	if s.Kind != courant.KindFeed && s.Kind != courant.KindCatalog {
		return fmt.Errorf("kind must be feed or catalog, not %q", s.Kind)
	}
	if s.Absence != courant.AbsenceWithdraws && s.Absence != courant.AbsenceKept {
		return fmt.Errorf("absence must be kept or empty, not %q", s.Absence)
	}
	if every != 0 && time.Duration(every) < time.Second {
		return fmt.Errorf("every must be at least 1s, not %v", every)
	}
	if utf8.RuneCountInString(s.Title) > mostTitle {
		return fmt.Errorf("the title has more than %d characters", mostTitle)
	}
	if len(s.Folder) > mostFolders {
		return fmt.Errorf("folders may be nested at most %d deep", mostFolders)
	}
	for _, name := range s.Folder {
		if why := badName(name); why != "" && !strings.Contains(name, "://") {
			return fmt.Errorf("the folder %.120q %s", name, why)
		}
	}
	return nil
}

// oneLine is a text without control characters, broken UTF-8 and line breaks, which lists
// of sources and one of the databases cannot hold.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(text), " ")
}

// mostTitle is the longest title of a source, in characters.
const mostTitle = 1000

// mostFolders is how deep folders may be nested.
const mostFolders = 64

// mostName is the longest name of a source, in characters.
const mostName = 100

// badName says what is wrong with a name for a source, "" for nothing. A name that looks
// like an address could be confused with the address of another source.
func badName(name string) string {
	switch {
	case utf8.RuneCountInString(name) > mostName:
		return fmt.Sprintf("has more than %d characters", mostName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "has unprintable characters"
	case strings.Contains(name, "://"):
		return "looks like an address"
	case strings.TrimSpace(name) != name:
		return "begins or ends with a space"
	case name == "." || name == "..":
		return "is not a valid name"
	}
	return ""
}

// freeName is the wanted name, or an unused one derived from the address.
func freeName(tx *store.Tx, wanted, url string) (string, error) {
	base := wanted
	if base == "" {
		base = nameOf(url)
	}
	for i := 1; ; i++ {
		name := base
		if i > 1 {
			name = fmt.Sprint(base, "-", i)
		}
		_, err := readSource(tx.Reader, sourceByName, name)
		if store.NoRow(err) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		if wanted != "" {
			return "", courant.Errorf(courant.Conflict, "a source named %q already exists", wanted)
		}
	}
}

// nameOf derives a name from an address: letters, digits, dots and dashes.
func nameOf(url string) string {
	host := strings.TrimPrefix(link.Host(url), "www.")
	path := strings.TrimPrefix(url, link.Origin(url))
	path, _, _ = strings.Cut(path, "?")
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(host+path))
	name = strings.Trim(withoutExtensions(name), "-.")
	return name[:min(len(name), 60)]
}

// withoutExtensions removes the extensions of feeds, catalogues and archives.
func withoutExtensions(name string) string {
	for {
		i := strings.LastIndexByte(name, '.')
		if i <= 0 || !slices.Contains([]string{"xml", "rss", "atom", "rdf", "json", "yml", "yaml", "html", "htm", "php", "gz", "zip", "zst"}, name[i+1:]) {
			return name
		}
		name = name[:i]
	}
}

// Ask makes a source due now, even one that is gone. The pace of its host still applies.
func (d *Desk) Ask(ctx context.Context, who courant.Visitor, name string) (s courant.Source, err error) {
	if err := who.MayOperate(); err != nil {
		return s, err
	}
	err = d.Store.Write(ctx, func(tx *store.Tx) (err error) {
		if s, err = Find(tx.Reader, name); err != nil {
			return err
		}
		if s.Kind == courant.KindFile {
			return courant.Errorf(courant.Invalid, "%s was imported from a file and cannot be polled", s.Name)
		}
		if _, err := tx.Exec(dueNow, s.ID, tx.Now().UnixMilli()); err != nil {
			return err
		}
		if _, err := tx.Exec(notGone, s.ID); err != nil {
			return err
		}
		return note(tx, who, "source.ask", s.Name, Change{})
	})
	return s, err
}

// Remove removes a source, by name or address; its pages stay, and Clean deletes its items.
// If only is not nil, a source for which it returns false is not removed, and the
// error is NotFound.
func (d *Desk) Remove(ctx context.Context, who courant.Visitor, name string, only func(courant.Source) bool) (s courant.Source, err error) {
	if err := who.MayOperate(); err != nil {
		return s, err
	}
	err = d.Store.Write(ctx, func(tx *store.Tx) (err error) {
		st, err := readState(tx.Reader, name)
		if s = st.Source; err != nil {
			return err
		}
		if only != nil && !only(s) {
			return courant.Errorf(courant.NotFound, "the source %q is a different one", name)
		}
		for _, query := range []string{dropPoll, dropAnswer, dropPending, dropReading, dropSource, putRemoval} {
			if _, err := tx.Exec(query, s.ID); err != nil {
				return err
			}
		}
		return note(tx, who, "source.remove", s.Name, Change{Before: shown(s, st.Every)})
	})
	return s, err
}

// Find finds a source by name or address. An address is looked up as an address first,
// even if another source has it as its name.
func Find(q store.Reader, name string) (courant.Source, error) {
	if url, bad := link.Canonical(link.Feed(name)); bad == nil {
		if s, err := readSource(q, sourceByURL, url); !store.NoRow(err) {
			return s, err
		}
	}
	s, err := readSource(q, sourceByName, name)
	if store.NoRow(err) {
		err = courant.Errorf(courant.NotFound, "there is no source %q; `courant source list` shows all", name)
	}
	return s, err
}
