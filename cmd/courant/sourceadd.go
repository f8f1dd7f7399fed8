package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/app"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/setting"
)

func (f *flags) sourceAdd() *cobra.Command {
	var n settingFlags
	var keep bool
	c := &cobra.Command{
		Use: "add URL…", Short: "Add sources", Args: args(cobra.MinimumNArgs(1)),
		Long: "Add sources, and show what their first downloads bring. If an address is a web page with one feed, the feed is added. " +
			"A source that cannot be read is not kept, unless --keep is given. With --json the sources are added without waiting for their downloads.",
		Example: "  courant source add https://example.org/feed.xml\n  courant source add example.org --folder News",
		RunE: func(cmd *cobra.Command, urls []string) error {
			if n.Name != "" && len(urls) > 1 {
				return usageError{fmt.Errorf("--name names one source, but %d addresses are given", len(urls))}
			}
			r, err := f.connectToAdd(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			n.Folder = n.folders()
			a := adding{f: f, r: r, new: n.NewSource, given: n.given(cmd), keep: keep, many: len(urls) > 1}
			return a.all(cmd.Context(), urls)
		},
	}
	c.Flags().StringVar(&n.Name, "name", "", "short name (default: derived from the address)")
	n.register(c)
	c.Flags().BoolVar(&keep, "keep", false, "keep sources that cannot be read now")
	return c
}

// duration is a flag like 5m.
type duration struct{ *setting.Duration }

func (d *duration) Set(text string) error { return d.UnmarshalText([]byte(text)) }

func (d *duration) String() string {
	if d.Duration == nil || *d.Duration == 0 { // pflag shows no default that is empty
		return ""
	}
	return d.Duration.String()
}

func (*duration) Type() string { return "duration" }

// adding is one call of `source add`.
type adding struct {
	f      *flags
	r      *app.Remote
	new    desk.NewSource
	given  desk.Settings // the settings whose options were given
	keep   bool
	many   bool // there are several addresses
	failed int
}

// all adds all sources before it waits for their first downloads. A failure with
// one source does not stop the others from being added.
func (a *adding) all(ctx context.Context, urls []string) error {
	var fresh []*courant.Source
	for _, url := range urls {
		s, err := a.one(ctx, url)
		if errors.Is(err, courant.Busy) || errors.Is(err, courant.Forbidden) {
			return err // it would be the same for every other source
		}
		if err = a.fail(ctx, err); err != nil {
			return err
		}
		if s != nil {
			fresh = append(fresh, s)
		}
	}
	if err := a.firsts(ctx, fresh); err != nil {
		return err
	}
	if a.failed > 0 {
		return fmt.Errorf("%d of %d sources could not be added or read", a.failed, len(urls))
	}
	return nil
}

// fail counts an error and prints it, or returns it if it is the only one.
func (a *adding) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if a.failed++; !a.many || ctx.Err() != nil {
		return err // main prints it
	}
	if !a.f.json { // in JSON, the source's own line has the error
		fmt.Println(printable(oneLine(err)))
	}
	return nil
}

// one adds a source and returns it if it is new.
func (a *adding) one(ctx context.Context, url string) (*courant.Source, error) {
	a.new.URL = url
	added := desk.Added{URL: link.Redact(url)}
	err := a.r.Do(ctx, http.MethodPost, "/api/v1/sources", a.new, &added)
	if err == nil && added.Known {
		err = a.differs(ctx, added.Source)
	}
	if err != nil {
		added.Error = err.Error()
	}
	switch s := added.Source; {
	case a.f.json:
		if said := writeJSON(os.Stdout, added); said != nil {
			return nil, said
		}
	case s == nil:
	case added.Known:
		fmt.Printf("%s is there already, as %s\n", printable(s.URL), named(s.Name))
	default:
		fmt.Printf("added %s as %s\n", printable(s.URL), named(s.Name))
	}
	if err != nil || added.Known {
		return nil, err
	}
	return added.Source, nil
}

// differs says which of the given options a known source does not have, nil for none.
func (a *adding) differs(ctx context.Context, known *courant.Source) error {
	var s api.SourceState
	if err := a.r.Do(ctx, http.MethodGet, "/api/v1/sources/"+url.PathEscape(known.Name), nil, &s); err != nil {
		return err
	}
	var options []string
	for option, differ := range map[string]bool{
		"--title": a.given.Title != nil && *a.given.Title != s.Title, "--kind": a.given.Kind != nil && *a.given.Kind != s.Kind,
		"--every": a.given.Every != nil && *a.given.Every != s.Every, "--absence": a.given.Absence != nil && *a.given.Absence != s.Absence,
		"--ignore-robots": a.given.IgnoreRobots != nil && *a.given.IgnoreRobots == s.Robots, "--trusted": a.given.Trusted != nil && *a.given.Trusted != s.Trusted,
		"--site": a.given.Site != nil && *a.given.Site != s.Site, "--folder": a.given.Folder != nil && !slices.Equal(*a.given.Folder, s.Folder),
	} {
		if differ {
			options = append(options, option)
		}
	}
	if a.new.Name != "" && a.new.Name != s.Name {
		return fmt.Errorf("%s is there already, as %s: a source keeps its name", s.URL, named(s.Name))
	}
	if len(options) == 0 {
		return nil
	}
	slices.Sort(options)
	return fmt.Errorf("%s is there already, as %s, and %s did not change; change it with: courant source set %s", s.URL, named(s.Name),
		strings.Join(options, " and "), named(s.Name))
}

// firstLook is how long `source add` waits for the first downloads of new sources.
const firstLook = 15 * time.Second

// firsts prints what the first download of each new source brought, if a courant
// is running.
func (a *adding) firsts(ctx context.Context, sources []*courant.Source) error {
	if a.f.json || len(sources) == 0 {
		return nil
	}
	if !a.r.Running {
		fmt.Println("New sources are polled once courant is running; start it with: courant run")
		return nil
	}
	late := time.Now().Add(firstLook)
	for _, s := range sources {
		err := a.first(ctx, s, late)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := a.fail(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// first prints what the first download of a source brought. It follows a web page to
// its only feed.
func (a *adding) first(ctx context.Context, s *courant.Source, late time.Time) error {
	state, err := a.answer(ctx, s.Name, late)
	if err != nil {
		return err
	}
	if !state.Read {
		fmt.Printf("%s has not answered yet; see: courant source show %s\n", printable(s.URL), named(s.Name))
		return nil
	}
	offers := reportOf(state).Links
	if len(offers) != 1 || state.Problem != "" || a.keep || offers[0].URL == s.URL {
		return a.show(ctx, state)
	}
	if err := a.drop(ctx, s); err != nil {
		return err
	}
	fmt.Printf("%s is a page with one feed, which is added instead\n", printable(s.URL))
	fresh, err := a.one(ctx, offers[0].URL)
	if err != nil || fresh == nil {
		return err
	}
	if state, err = a.answer(ctx, fresh.Name, time.Now().Add(firstLook)); err != nil {
		return err
	}
	if !state.Read {
		fmt.Printf("%s has not answered yet; see: courant source show %s\n", printable(fresh.URL), named(fresh.Name))
		return nil
	}
	return a.show(ctx, state)
}

// drop removes a source that was added just now.
func (a *adding) drop(ctx context.Context, s *courant.Source) error {
	return a.r.Do(ctx, http.MethodDelete, "/api/v1/sources/"+url.PathEscape(s.Name), nil, nil)
}

// answer waits until the first download of a source was read, or until the
// deadline late.
func (a *adding) answer(ctx context.Context, name string, late time.Time) (state api.SourceState, err error) {
	for {
		err = a.r.Do(ctx, http.MethodGet, "/api/v1/sources/"+url.PathEscape(name), nil, &state)
		if err != nil || state.Read || time.Now().After(late) {
			return state, err
		}
		select {
		case <-ctx.Done():
			return state, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// show prints what a download brought. A source that cannot be read is removed again,
// unless it is to be kept.
func (a *adding) show(ctx context.Context, s api.SourceState) error {
	r := reportOf(s)
	var failure error
	switch {
	case s.Problem != "":
		failure = fmt.Errorf("%s was asked and failed: %s", s.URL, s.Problem)
	case r.Error != "":
		for _, l := range r.Links {
			fmt.Printf("  it offers %s  %s\n", printable(l.URL), printable(l.Title))
		}
		failure = fmt.Errorf("there is no feed at %s: %s", s.URL, r.Error)
	default:
		title := cmp.Or(s.Title, s.Feed.Title)
		if title != "" {
			title = " (" + printable(title) + ")"
		}
		fmt.Printf("%s%s has %s; %s.\n", named(s.Name), title, count(s.Items, "item"), count(warnings(r), "warning"))
		return nil
	}
	if a.keep { // as was asked for
		fmt.Println(printable(fmt.Sprintf("%v; it is kept as %s", failure, named(s.Name))))
		return nil
	}
	if err := a.drop(ctx, &s.Source); err != nil {
		return err
	}
	return fmt.Errorf("%w; it was not kept, but would be with --keep", failure)
}

// warnings counts those that name something to fix.
func warnings(r sourceReport) int {
	n := r.More
	for _, w := range r.Warnings {
		if w.Level != courant.LevelInfo {
			n++
		}
	}
	return n
}
