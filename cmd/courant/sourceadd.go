package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
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
	var n desk.NewSource
	c := &cobra.Command{
		Use: "add URL…", Short: "Add sources",
		Example: "  courant source add https://example.org/feed.xml", Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, urls []string) error {
			if n.Name != "" && len(urls) > 1 {
				return usageError{fmt.Errorf("--name names one source, but %d addresses are given", len(urls))}
			}
			r, err := f.connectToAdd(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			return f.addAll(cmd.Context(), r, n, urls)
		},
	}
	c.Flags().StringVar(&n.Name, "name", "", "short name (default: derived from the address)")
	c.Flags().StringVar(&n.Title, "title", "", "title shown to readers")
	c.Flags().StringVar((*string)(&n.Kind), "kind", "feed", "feed or catalog")
	c.Flags().Var(&duration{&n.Every}, "every", "fixed polling interval, such as 5m (default: adapted to the source)")
	c.Flags().StringVar((*string)(&n.Absence), "absence", "", `of a catalogue: "kept" keeps offers that disappear from it; otherwise they are withdrawn`)
	c.Flags().BoolVar(&n.IgnoreRobots, "ignore-robots", false, "ignore robots.txt for the source's address; needs the publisher's permission")
	c.Flags().BoolVar(&n.Trusted, "trusted", false, "the source may publish pages of any host")
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

// addAll adds all sources before it waits for their first downloads. A failure with
// one source does not stop the others from being added.
func (f *flags) addAll(ctx context.Context, r *app.Remote, n desk.NewSource, urls []string) error {
	failed := 0
	fail := func(err error) error {
		if failed++; len(urls) == 1 || ctx.Err() != nil {
			return err // main prints it
		}
		if !f.json { // in JSON, the source's own line has the error
			fmt.Println(printable(oneLine(err)))
		}
		return nil
	}
	var fresh []*courant.Source
	for _, n.URL = range urls {
		added := desk.Added{URL: link.Redact(n.URL)}
		err := r.Do(ctx, http.MethodPost, "/api/v1/sources", n, &added)
		if err == nil && added.Source != nil && !added.Known {
			fresh = append(fresh, added.Source)
		}
		if err != nil {
			added.Error = err.Error()
		}
		if said := f.showAdded(added); said != nil {
			return said
		}
		if errors.Is(err, courant.Busy) || errors.Is(err, courant.Forbidden) {
			return err // it would be the same for every other source
		}
		if err != nil {
			err = fail(err)
		}
		if err != nil {
			return err
		}
	}
	if err := f.showFirsts(ctx, r, fresh, fail); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d sources could not be added or read", failed, len(urls))
	}
	return nil
}

// showAdded prints what became of an address. In text form the caller prints its error.
func (f *flags) showAdded(added desk.Added) error {
	switch s := added.Source; {
	case f.json:
		return writeJSON(os.Stdout, added)
	case s == nil:
	case added.Known:
		fmt.Printf("%s is there already, as %s\n", printable(s.URL), named(s.Name))
	default:
		fmt.Printf("added %s as %s\n", printable(s.URL), named(s.Name))
	}
	return nil
}

// firstLook is how long `source add` waits for the first downloads of new sources.
const firstLook = 15 * time.Second

// showFirsts prints what the first download of each new source brought, if a courant
// is running.
func (f *flags) showFirsts(ctx context.Context, r *app.Remote, sources []*courant.Source, fail func(error) error) error {
	if f.json || len(sources) == 0 {
		return nil
	}
	if !r.Running {
		fmt.Println("New sources are polled once courant is running; start it with: courant run")
		return nil
	}
	late := time.Now().Add(firstLook)
	for _, s := range sources {
		state, err := firstAnswer(ctx, r, s.Name, late)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && !state.Read:
			fmt.Printf("%s has not answered yet; see: courant source show %s\n", printable(s.URL), named(s.Name))
		case err == nil:
			err = showFirst(state)
		}
		if err != nil {
			err = fail(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// firstAnswer waits until the first download of a source was read, or until the
// deadline late.
func firstAnswer(ctx context.Context, r *app.Remote, name string, late time.Time) (state api.SourceState, err error) {
	for {
		err = r.Do(ctx, http.MethodGet, "/api/v1/sources/"+url.PathEscape(name), nil, &state)
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

func showFirst(s api.SourceState) error {
	r := reportOf(s)
	switch {
	case s.Problem != "":
		return fmt.Errorf("%s was asked and failed: %s", s.URL, s.Problem)
	case r.Error != "":
		for _, l := range r.Links {
			fmt.Printf("  it offers %s  %s\n", printable(l.URL), printable(l.Title))
		}
		return fmt.Errorf("there is no feed at %s: %s; remove the source with: courant source remove %s", s.URL, r.Error, named(s.Name))
	}
	fmt.Printf("%s has %s; %s.\n", named(s.Name), count(s.Items, "item"), count(len(r.Warnings)+r.More, "warning"))
	return nil
}
