package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant/internal/app"
	"github.com/courant-platform/courant/internal/kit/jsonline"
)

func (f *flags) fetch() *cobra.Command {
	return &cobra.Command{
		Use: "fetch URL…", Short: "Fetch as the robot does, and explain",
		Example: "  courant fetch https://example.org/feed.xml",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, urls []string) error {
			c, err := f.load()
			if err != nil {
				return err
			}
			failed := 0
			for _, url := range urls {
				t, err := app.Fetch(cmd.Context(), c, url)
				if err != nil {
					return err
				}
				if t.Error != "" {
					failed++
				}
				if err := f.showFetched(t); err != nil {
					return err
				}
			}
			if failed > 0 && !f.json {
				return fmt.Errorf("%d of %d addresses were not fetched", failed, len(urls))
			}
			return nil
		},
	}
}

func (f *flags) showFetched(t app.Fetched) error {
	if f.json {
		return jsonline.Write(os.Stdout, t)
	}
	fmt.Println(printable(t.URL))
	for _, s := range t.Steps {
		fmt.Println("  " + printable(s))
	}
	if t.Error != "" {
		fmt.Println("  " + printable(t.Error))
	}
	return nil
}
