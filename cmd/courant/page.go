package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant/internal/front/api"
)

func (f *flags) page() *cobra.Command {
	return &cobra.Command{
		Use: "page URL", Short: "Show a stored page",
		Example: "  courant page https://example.org/article", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, urls []string) error {
			var p api.Page
			if err := f.get(cmd, "/api/v1/page?url="+url.QueryEscape(urls[0]), &p); err != nil {
				return err
			}
			if f.json {
				return writeJSON(os.Stdout, p)
			}
			fmt.Printf("%s\n%s\n", printable(p.Title), p.URL)
			fmt.Printf("source %s · stored %s · revision %d · %d pictures\n\n", named(p.Source), p.StoredAt.Format("2006-01-02 15:04:05Z"), p.Revision, len(p.Images))
			showFacts(&p)
			fmt.Println(p.Text)
			return nil
		},
	}
}

// showFacts prints what a page has besides its text.
func showFacts(p *api.Page) {
	var facts []string
	if o := p.Offer; o != nil {
		price := strings.TrimSpace(o.Price + " " + o.Currency)
		if o.OldPrice != "" {
			price += ", before " + o.OldPrice
		}
		if price != "" {
			facts = append(facts, "price "+price)
		}
		if !o.Available {
			facts = append(facts, cmp.Or(strings.ReplaceAll(o.Availability, "_", " "), "not in stock"))
		}
	}
	if len(p.Categories) > 0 {
		facts = append(facts, "categories "+strings.Join(p.Categories, ", "))
	}
	for _, e := range p.Enclosures {
		facts = append(facts, "file "+strings.TrimSpace(e.URL+"  "+e.Type))
	}
	for _, v := range p.Videos {
		facts = append(facts, "video "+v)
	}
	for _, fact := range facts {
		fmt.Println(printable(fact))
	}
	if len(facts) > 0 {
		fmt.Println()
	}
}

// get sends one GET request to the API and closes the connection to it.
func (f *flags) get(cmd *cobra.Command, path string, out any) error {
	r, err := f.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Do(cmd.Context(), http.MethodGet, path, nil, out)
}

func (f *flags) story() *cobra.Command {
	return &cobra.Command{
		Use: "story URL", Short: "Show what happened to a document, step by step",
		Example: "  courant story https://example.org/article", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, urls []string) error {
			var s api.Story
			if err := f.get(cmd, "/api/v1/story?url="+url.QueryEscape(urls[0]), &s); err != nil {
				return err
			}
			if f.json {
				return writeJSON(os.Stdout, s)
			}
			fmt.Printf("%s\n%s\n", s.URL, s.State)
			for i, step := range s.Steps {
				since := ""
				if i > 0 {
					since = "+" + step.At.Sub(s.Steps[i-1].At).String()
				}
				fmt.Printf("  %s  %9s  %-9s  %s\n", step.At.UTC().Format("2006-01-02 15:04:05.000"), since, step.Step, printable(step.Note))
			}
			return nil
		},
	}
}
