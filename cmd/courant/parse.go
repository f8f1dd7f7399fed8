package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/jsonline"
	"github.com/courant-platform/courant/internal/read/feed"
)

// parsed is one line of `courant parse --json`.
type parsed struct {
	File  string  `json:"file"`
	Error *string `json:"error"`
	courant.Reading
}

func (f *flags) parse() *cobra.Command {
	var base, contentType string
	c := &cobra.Command{
		Use: "parse FILE…", Short: "Show feeds as Courant reads them",
		Example: "  courant parse feed.xml\n  courant parse --json --base https://example.org/feed.xml *.xml",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, files []string) error {
			failed := 0
			for _, name := range files {
				p := parseFile(name, feed.Options{URL: base, ContentType: contentType})
				if p.Error != nil {
					failed++
				}
				if err := f.showParsed(p); err != nil {
					return err
				}
			}
			if failed > 0 && !f.json { // in JSON each line says so
				return fmt.Errorf("%d of %d files could not be read", failed, len(files))
			}
			return nil
		},
	}
	c.Flags().StringVar(&base, "base", "", "address that the file came from: relative links are resolved against it")
	c.Flags().StringVar(&contentType, "content-type", "", "as the server gave it")
	return c
}

func parseFile(name string, o feed.Options) parsed {
	p := parsed{File: name}
	body, err := os.ReadFile(name)
	if err == nil {
		var r *courant.Reading
		if r, err = feed.Read(body, o); r != nil {
			p.Reading = *r
		}
	}
	if err != nil {
		text := err.Error()
		p.Error = &text
	}
	if p.Format == "" {
		p.Format = "unknown"
	}
	return p
}

func (f *flags) showParsed(p parsed) error {
	if f.json {
		return jsonline.Write(os.Stdout, p)
	}
	fmt.Printf("%s\n", p.File)
	if p.Error != nil {
		fmt.Printf("  %s\n", printable(*p.Error))
	}
	for _, l := range p.Links {
		fmt.Printf("  it offers %s  %s\n", printable(l.URL), printable(l.Title))
	}
	if p.Error != nil {
		return nil
	}
	fmt.Printf("  %s, %s, %d items: %s\n", p.Format, p.Encoding, len(p.Items), printable(p.Feed.Title))
	for _, i := range p.Items {
		fmt.Printf("  · %s\n    %s\n", printable(i.Title), printable(i.Link))
	}
	for _, w := range p.Warnings {
		fmt.Printf("  %d:%d %s: %s\n", w.Line, w.Column, w.Code, printable(w.Text))
	}
	return nil
}
