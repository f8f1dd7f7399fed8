package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant/internal/app"
)

func (f *flags) backup() *cobra.Command {
	return &cobra.Command{
		Use: "backup DIR", Short: "Copy the database and the pictures to a new folder, also while Courant runs",
		Long: "Copy the database and the pictures to a new folder, also while Courant runs. Pictures are hard links where the folder is on the same file system. " +
			"Downloads and the search index are not copied: they are made again. With PostgreSQL only the pictures are copied; use pg_dump for the database.",
		Example: "  courant backup /backup/courant-monday", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			c, err := f.load()
			if err != nil {
				return err
			}
			b, err := app.Backup(cmd.Context(), c, f.data, dirs[0], filesDone("copied"))
			if err != nil {
				return err
			}
			return f.showBacked("backed up", dirs[0], &b)
		},
	}
}

func (f *flags) restore() *cobra.Command {
	return &cobra.Command{
		Use: "restore DIR", Short: "Copy a backup into an empty data folder",
		Example: "  courant restore /backup/courant-monday --data ./data", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			c, err := f.load()
			if err != nil {
				return err
			}
			b, err := app.Restore(cmd.Context(), c, dirs[0], f.data, filesDone("restored"))
			if err != nil {
				return err
			}
			return f.showBacked("restored", f.data, &b)
		},
	}
}

func (f *flags) showBacked(what, dir string, b *app.Backed) error {
	if f.json {
		return writeJSON(os.Stdout, b)
	}
	database := "the database and "
	if b.Database == "" {
		database = "no database (use pg_dump), "
	}
	fmt.Printf("%s to %s: %s%d files of pictures, %.1f MB in all, as of %s\n", what, dir, database, b.Files, float64(b.Bytes)/1e6, b.Made.Format(time.RFC3339))
	return nil
}

// filesDone shows progress once a second, on a terminal or in a log.
func filesDone(what string) func(int) {
	last := time.Now()
	return func(n int) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			fmt.Fprintf(os.Stderr, "%s %d files\n", what, n)
		}
	}
}
