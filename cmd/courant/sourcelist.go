package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/app"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/read/opml"
)

// importBatch is how many sources one request adds.
const importBatch = 500

func (f *flags) sourceImport() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Add the sources listed in an OPML or JSON file; \"-\" reads standard input",
		Example: "  courant source import subscriptions.opml", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			entries, err := readList(names[0])
			if err != nil {
				return err
			}
			r, err := f.connectToAdd(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			return f.importAll(cmd, r, entries)
		},
	}
}

func readList(name string) ([]opml.Entry, error) {
	body, err := io.ReadAll(os.Stdin)
	if name != "-" {
		body, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	entries, err := opml.Read(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return entries, nil
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
			batch = append(batch, desk.NewSource{URL: e.URL, Kind: e.Kind, Name: e.Name, Title: e.Title, ListXPath: e.XPath, NextXPath: e.Next})
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

func (f *flags) sourceExport() *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: "Write all sources as OPML or, with --json, as one JSON object per line; import reads both",
		Example: "  courant source export > sources.opml", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all []api.SourceState
			if err := f.get(cmd, "/api/v1/sources", &all); err != nil {
				return err
			}
			var entries []opml.Entry
			files := 0
			for _, s := range all {
				if s.Kind == courant.KindFile {
					files++ // it has no address to poll
					continue
				}
				entries = append(entries, opml.Entry{URL: s.URL, Kind: s.Kind, Name: s.Name, Title: s.Title})
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
