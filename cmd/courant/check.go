package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant/internal/app"
	"github.com/courant-platform/courant/internal/front/api"
)

func (f *flags) check() *cobra.Command {
	var repair bool
	c := &cobra.Command{
		Use: "check", Short: "Check the database and the files of all pictures",
		Long: "Check the structures of the SQLite database and the files of all pictures, also while Courant runs. Each fault is one line, and then the exit status is 1. " +
			"With --repair, pictures that are missing or damaged are made or fetched again by the roles media and robot.",
		Example: "  courant check\n  courant check --repair", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			faults, err := f.checkDatabase(cmd.Context())
			if err != nil {
				return err
			}
			more, err := f.checkPictures(cmd, repair)
			if err == nil && faults+more > 0 {
				err = fmt.Errorf("%d faults", faults+more)
			}
			return err
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "replace missing and damaged pictures")
	return c
}

// checkDatabase checks the SQLite database of the data folder.
func (f *flags) checkDatabase(ctx context.Context) (faults int, err error) {
	c, err := f.load()
	if err != nil || c.Store.URL != "" || f.server != "" {
		return 0, err
	}
	name := filepath.Join(f.data, "courant.db")
	if _, err := os.Stat(name); err != nil {
		return 0, fmt.Errorf("there is no database in %s; choose the data folder with --data", f.data)
	}
	lines, err := app.CheckDatabase(ctx, name)
	for _, line := range lines {
		if err := f.showFault(api.Fault{File: name, Reason: line}); err != nil {
			return 0, err
		}
	}
	return len(lines), err
}

func (f *flags) showFault(fault api.Fault) error {
	if f.json {
		return writeJSON(os.Stdout, fault)
	}
	from := ""
	if fault.URL != "" {
		from = "  " + fault.URL
	}
	_, err := fmt.Printf("%s: %s%s\n", fault.File, printable(fault.Reason), printable(from))
	return err
}

// checkPictures checks the files of all pictures through the API.
func (f *flags) checkPictures(cmd *cobra.Command, repair bool) (faults int, err error) {
	r, err := f.connect(cmd.Context())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	pictures, files := 0, 0
	for after, last := "", time.Now(); ; {
		var part api.Checked
		path := "/api/v1/check?" + url.Values{"after": {after}, "repair": {fmt.Sprint(repair)}}.Encode()
		if err := r.Do(cmd.Context(), http.MethodPost, path, nil, &part); err != nil {
			return faults, err
		}
		pictures, files, faults = pictures+part.Pictures, files+part.Files, faults+len(part.Faults)
		for _, fault := range part.Faults {
			if err := f.showFault(fault); err != nil {
				return faults, err
			}
		}
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			fmt.Fprintf(os.Stderr, "checked %d pictures\n", pictures)
		}
		if after = part.Next; after == "" {
			break
		}
	}
	if !f.json {
		fmt.Printf("checked %d pictures in %d files: %d faults\n", pictures, files, faults)
	}
	return faults, nil
}
