package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/app"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/read/opml"
)

// importBatch is how many sources one request adds.
const importBatch = 500

func (f *flags) sourceImport() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Add the sources listed in an OPML or JSON file; \"-\" reads standard input",
		Example: "  courant source import subscriptions.opml", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			list, err := readList(names[0])
			if err != nil {
				return err
			}
			r, err := f.connectToAdd(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			for _, w := range list.Warnings {
				fmt.Fprintf(os.Stderr, "%s:%d:%d: %s\n", printable(names[0]), w.Line, w.Column, printable(w.Text))
			}
			return f.importAll(cmd, r, list.Entries)
		},
	}
}

func readList(name string) (opml.List, error) {
	body, err := io.ReadAll(os.Stdin)
	if name != "-" {
		body, err = os.ReadFile(name)
	}
	if err != nil {
		return opml.List{}, err
	}
	list, err := opml.Read(body)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return list, err
}

func (f *flags) importAll(cmd *cobra.Command, r *app.Remote, entries []opml.Entry) error {
	added, known, failed := 0, 0, 0
	entries = slices.DeleteFunc(entries, func(e opml.Entry) bool {
		file := e.Kind == courant.KindFile // in a list that an earlier version exported
		if file {
			fmt.Fprintf(os.Stderr, "%s was imported from a file: import the file again with courant import\n", printable(e.Name))
		}
		return file
	})
	for at := 0; at < len(entries); at += importBatch {
		var batch []desk.NewSource
		for _, e := range entries[at:min(at+importBatch, len(entries))] {
			n, err := listed(e)
			if err != nil {
				failed++
				fmt.Fprintln(os.Stderr, printable(err.Error()))
				continue
			}
			batch = append(batch, n)
		}
		var results []desk.Added
		if err := r.Do(cmd.Context(), http.MethodPost, "/api/v1/sources", batch, &results); err != nil {
			return err
		}
		for _, a := range results {
			switch {
			case a.Error != "":
				failed++
				fmt.Fprintln(os.Stderr, printable(a.Error))
			case a.Known:
				known++
			default:
				added++
			}
			if f.json {
				if err := writeJSON(os.Stdout, a); err != nil {
					return err
				}
			}
		}
	}
	if !f.json {
		fmt.Printf("%d sources added, %d known already, %d refused\n", added, known, failed)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d sources were refused", failed, len(entries))
	}
	return nil
}

// listed is the source that an entry of a list asks for.
func listed(e opml.Entry) (desk.NewSource, error) {
	n := desk.NewSource{URL: e.URL, Kind: e.Kind, Name: e.Name, Title: e.Title, Site: e.Site, Folder: e.Folder, Trusted: e.Trusted,
		IgnoreRobots: e.IgnoreRobots, Absence: e.Absence, ListXPath: e.XPath, NextXPath: e.Next}
	if e.Every == "" {
		return n, nil
	}
	if err := n.Every.UnmarshalText([]byte(e.Every)); err != nil {
		return n, fmt.Errorf("%s: every: %w", e.URL, err)
	}
	return n, nil
}

func (f *flags) sourceExport() *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: "Write all sources as OPML or, with --json, as one JSON object per line; import reads both",
		Example: "  courant source export > sources.opml", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := f.allSources(cmd)
			if err != nil {
				return err
			}
			var entries []opml.Entry
			files := 0
			for _, s := range all {
				if s.Kind == courant.KindFile {
					files++ // it has no address to poll
					continue
				}
				e := opml.Entry{URL: s.URL, Kind: s.Kind, Name: s.Name, Title: s.Title, Text: s.Feed.Title, Site: cmp.Or(s.Site, s.Feed.Home),
					Folder: s.Folder, Trusted: s.Trusted, IgnoreRobots: !s.Robots, Absence: s.Absence}
				if s.Every != 0 {
					e.Every = s.Every.String()
				}
				entries = append(entries, e)
			}
			if files > 0 {
				fmt.Fprintf(os.Stderr, "courant: left out %d sources that were imported from files: import the files again with courant import\n", files)
			}
			if f.json {
				for _, e := range entries {
					if err := writeJSON(os.Stdout, e); err != nil {
						return err
					}
				}
				return nil
			}
			return opml.Write(os.Stdout, "Courant sources", entries)
		},
	}
}
