package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
)

func (f *flags) source() *cobra.Command {
	c := &cobra.Command{Use: "source", Short: "Manage sources: add, list, show, set, ask, remove, import, export",
		Example: "  courant source add https://example.org/feed.xml\n  courant source import subscriptions.opml"}
	c.AddCommand(f.sourceAdd(), f.sourceList(), f.sourceShow(), f.sourceSet(), f.sourceAsk(), f.sourceRemove(), f.sourceImport(), f.sourceExport())
	c.RunE = func(_ *cobra.Command, given []string) error {
		return usageError{fmt.Errorf("source must be followed by add, list, show, set, ask, remove, import or export")}
	}
	return c
}

// sourcesAtOnce is how many sources one request lists.
const sourcesAtOnce = 1000

// allSources reads the list of sources part by part.
func (f *flags) allSources(cmd *cobra.Command) (all []api.SourceState, err error) {
	r, err := f.connect(cmd.Context())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	q := url.Values{"limit": {strconv.Itoa(sourcesAtOnce)}}
	for {
		var some []api.SourceState
		if err := r.Do(cmd.Context(), http.MethodGet, "/api/v1/sources?"+q.Encode(), nil, &some); err != nil {
			return nil, err
		}
		if all = append(all, some...); len(some) != sourcesAtOnce { // an older server gives all at once
			return all, nil
		}
		q.Set("after", some[len(some)-1].Name)
	}
}

func (f *flags) sourceShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME|URL", Short: "Show the state of one source", Example: "  courant source show example.org-feed",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			var s api.SourceState
			if err := f.get(cmd, "/api/v1/sources/"+url.PathEscape(names[0]), &s); err != nil {
				return err
			}
			if f.json {
				return writeJSON(os.Stdout, s)
			}
			return showSource(s)
		},
	}
}

func (f *flags) sourceAsk() *cobra.Command {
	return &cobra.Command{
		Use: "ask NAME|URL", Short: "Poll a source as soon as its host allows, even if it has answered 410 Gone", Example: "  courant source ask example.org-feed",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			r, err := f.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			var s courant.Source
			if err := r.Do(cmd.Context(), http.MethodPost, "/api/v1/sources/"+url.PathEscape(names[0])+"/ask", nil, &s); err != nil {
				return err
			}
			if f.json {
				return writeJSON(os.Stdout, s)
			}
			fmt.Printf("%s will be polled as soon as its host allows; see: courant source show %s\n", printable(s.URL), named(s.Name))
			return nil
		},
	}
}

func (f *flags) sourceRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME|URL", Short: "Remove a source; its pages stay", Example: "  courant source remove example.org-feed",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			r, err := f.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			var s courant.Source
			if err := r.Do(cmd.Context(), http.MethodDelete, "/api/v1/sources/"+url.PathEscape(names[0]), nil, &s); err != nil {
				return err
			}
			if f.json {
				return writeJSON(os.Stdout, s)
			}
			fmt.Printf("removed %s, %s\n", named(s.Name), printable(s.URL))
			return nil
		},
	}
}
