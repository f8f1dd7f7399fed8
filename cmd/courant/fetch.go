package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/app"
)

func (f *flags) fetch() *cobra.Command {
	var now bool
	c := &cobra.Command{
		Use: "fetch URL…", Short: "Fetch addresses as the robot does, and explain each step",
		Long: "Fetch addresses as the robot does, and explain each step. If a courant is running, its settings of the robot apply, and no request is sent to hosts for which its robot is in back-off. " +
			"The exit status is 1 if an address could not be fetched; a response such as 404 counts as fetched.",
		Example: "  courant fetch https://example.org/feed.xml",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, urls []string) error {
			c, err := f.load()
			if err != nil {
				return err
			}
			running, err := app.Running(f.server, f.token, f.data)
			if err != nil && !errors.Is(err, courant.NotFound) {
				return err
			}
			fetcher, err := app.NewFetcher(cmd.Context(), c, running)
			if err != nil {
				return err
			}
			defer fetcher.Close()
			fetcher.Now, fetcher.Waiting = now, func(format string, args ...any) {
				fmt.Fprintln(os.Stderr, printable(fmt.Sprintf(format, args...)))
			}
			failed := 0
			for _, url := range urls {
				fetched := fetcher.Fetch(cmd.Context(), url)
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				if fetched.Error != "" {
					failed++
				}
				if err := f.showFetched(fetched); err != nil {
					return err
				}
			}
			if failed > 0 {
				return fmt.Errorf("%d of %d addresses could not be fetched", failed, len(urls))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&now, "now", false, "do not wait: fetch from hosts in back-off too, and ignore the Crawl-delay of robots.txt")
	return c
}

func (f *flags) showFetched(t *app.Fetched) error {
	if f.json {
		return writeJSON(os.Stdout, *t)
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
