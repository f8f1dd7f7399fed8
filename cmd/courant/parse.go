package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read"
)

// parsed is one line of `courant parse --json`. The offers of a catalogue are
// written before it, one at a time.
type parsed struct {
	File  string  `json:"file"`
	Error *string `json:"error"`
	courant.Reading
}

func (f *flags) parse() *cobra.Command {
	var o read.Options
	c := &cobra.Command{
		Use: "parse FILE…", Short: "Show feeds, catalogues and sitemaps as Courant reads them",
		Long:    "Show feeds, catalogues and sitemaps as Courant reads them. A file may be compressed with gzip, zip or zstd; \"-\" reads standard input.",
		Example: "  courant parse feed.xml\n  courant parse --json --base https://example.org/feed.xml *.xml",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, files []string) error {
			if o.Kind != courant.KindFeed && o.Kind != courant.KindCatalog {
				return fmt.Errorf("--kind must be feed or catalog, not %q", o.Kind)
			}
			out := bufio.NewWriterSize(os.Stdout, 64<<10)
			failed := 0
			for _, name := range files {
				ok, err := f.parseFile(out, name, o)
				if err == nil {
					err = out.Flush()
				}
				if err != nil {
					return err
				}
				if !ok {
					failed++
				}
			}
			if failed > 0 && !f.json { // in JSON each line says so
				return fmt.Errorf("%d of %d files could not be read", failed, len(files))
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.URL, "base", "", "address of the file; relative links are resolved against it")
	c.Flags().StringVar(&o.ContentType, "content-type", "", "Content-Type that the server sent")
	c.Flags().StringVar((*string)(&o.Kind), "kind", "feed", "kind of the source: with catalog, RSS and Atom are read as product feeds whatever their items hold")
	return c
}

// parseFile shows one file and reports whether it could be read. The error is from
// writing to out.
func (f *flags) parseFile(out *bufio.Writer, name string, o read.Options) (ok bool, err error) {
	show := &offers{out: out, json: f.json, name: name}
	o.Offer = show.offer
	if !f.json {
		fmt.Fprintf(out, "%s\n", name)
	}
	r, err := read.Read(func() (io.ReadCloser, error) { return openFile(name) }, o)
	if show.failed != nil {
		return false, show.failed
	}
	p := parsed{File: name, Reading: r.Reading}
	if err != nil {
		text := err.Error()
		p.Error = &text
	}
	if f.json {
		return err == nil, show.end(p)
	}
	f.showParsed(out, p, r.Count)
	return err == nil, nil
}

// openFile opens a file; standard input is kept in memory, because it may have to
// be read twice.
func openFile(name string) (io.ReadCloser, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a folder", name)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	body, err := standardInput()
	return io.NopCloser(bytes.NewReader(body)), err
}

var input []byte // what the standard input held

func standardInput() (body []byte, err error) {
	if input == nil {
		input, err = io.ReadAll(os.Stdin)
	}
	return input, err
}

// offers writes the offers of a catalogue while it is read, because there may be
// millions.
type offers struct {
	out    *bufio.Writer
	json   bool
	name   string
	count  int
	failed error
}

// shownOffers is how many offers of a catalogue the text form shows.
const shownOffers = 20

func (s *offers) offer(o *courant.Offer) error {
	s.count++
	switch {
	case s.json && s.count == 1:
		name, err := marshalJSON(s.name)
		if err != nil {
			return s.fail(err)
		}
		fmt.Fprintf(s.out, `{"file":%s,"offers":[`, name)
	case s.json:
		s.out.WriteByte(',')
	case s.count <= shownOffers:
		_, err := fmt.Fprintf(s.out, "  · %s  %s %s  %s\n    %s\n", printable(o.ID), o.Price, printable(o.Currency), printable(o.Name), printable(o.URL))
		return s.fail(err)
	default:
		return nil
	}
	text, err := marshalJSON(*o)
	if err == nil {
		_, err = s.out.Write(text)
	}
	return s.fail(err)
}

func (s *offers) fail(err error) error {
	s.failed = err
	return err
}

// end writes the rest of the JSON object after the offers.
func (s *offers) end(p parsed) error {
	if s.count == 0 {
		return writeJSON(s.out, p)
	}
	text, err := marshalJSON(withoutOffers{Error: p.Error, Reading: p.Reading})
	if err != nil {
		return err
	}
	_, err = s.out.WriteString("]," + string(text[1:]) + "\n")
	return err
}

// withoutOffers is parsed without the fields that were written before.
type withoutOffers struct {
	Error *string `json:"error"`
	courant.Reading
	Offers []courant.Offer `json:"offers,omitempty"`
}

func (f *flags) showParsed(out io.Writer, p parsed, offers int) {
	if offers > shownOffers {
		fmt.Fprintf(out, "  … and %d more\n", offers-shownOffers)
	}
	if p.Error != nil {
		fmt.Fprintf(out, "  %s\n", printable(*p.Error))
	}
	for _, l := range p.Links {
		fmt.Fprintf(out, "  feed  %s  %s\n", printable(l.URL), printable(l.Title))
	}
	if p.Error != nil {
		return
	}
	what := fmt.Sprintf("%d items", len(p.Items))
	switch {
	case p.Format == "yml" || p.Format == "merchant":
		what = fmt.Sprintf("%d offers in %d categories", offers, len(p.Categories))
	case p.Format == "opml":
		what = fmt.Sprintf("%d feeds", len(p.Links))
	case len(p.URLs) > 0:
		what = fmt.Sprintf("%d addresses", len(p.URLs))
	}
	fmt.Fprintf(out, "  %s, %s, %s: %s\n", p.Format, p.Encoding, what, printable(p.Feed.Title))
	for _, i := range p.Items {
		fmt.Fprintf(out, "  · %s\n    %s\n", printable(i.Title), printable(i.Link))
	}
	for _, u := range p.URLs {
		fmt.Fprintf(out, "  · %s\n", printable(u.Loc))
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(out, "  %d:%d %s: %s\n", w.Line, w.Column, w.Code, printable(w.Text))
	}
}
