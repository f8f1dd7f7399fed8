package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/search"
)

func (f *flags) search() *cobra.Command {
	var category, source, vendor, param, low, high, sort, kind, match string
	var available bool
	var region, k, page int
	c := &cobra.Command{
		Use: "search [TEXT]", Short: "Search pages and product offers",
		Long: "Search queries a running courant. Without TEXT it finds everything that matches the filters.",
		Example: "  courant search light pages\n" +
			"  courant search --category 1000 --param 'Color:red|blue;Memory:8..' --price-max 30000 --sort price phone",
		RunE: func(cmd *cobra.Command, text []string) error {
			if k < 1 || k > 200 {
				return usageError{fmt.Errorf("--limit must be from 1 to 200, not %d", k)}
			}
			q := url.Values{}
			for name, value := range map[string]string{"text": strings.Join(text, " "), "category": category, "source": source, "vendor": vendor,
				"param": param, "price_min": low, "price_max": high, "sort": sort, "kind": kind, "match": match, "k": strconv.Itoa(k),
				"page": strconv.Itoa(page)} {
				if value != "" {
					q.Set(name, value)
				}
			}
			if available {
				q.Set("available", "true")
			}
			if region != 0 {
				q.Set("region", strconv.Itoa(region))
			}
			var found search.Found
			if err := noSearch(f.get(cmd, "/api/v1/search?"+q.Encode(), &found)); err != nil {
				return err
			}
			if f.json {
				return writeJSON(os.Stdout, found)
			}
			show(&found)
			return nil
		},
	}
	p := c.Flags()
	p.StringVar(&category, "category", "", "category id; its subcategories are included")
	p.StringVar(&source, "source", "", "name of a source")
	p.StringVar(&vendor, "vendor", "", "vendors, separated by commas; any of them matches")
	p.StringVar(&param, "param", "", "properties, such as Age:3..8;Color:red|blue")
	p.StringVar(&low, "price-min", "", "lowest price")
	p.StringVar(&high, "price-max", "", "highest price")
	p.StringVar(&sort, "sort", "", "relevance, price, -price or date")
	p.StringVar(&kind, "kind", "", "offers or pages")
	p.StringVar(&match, "match", "", "exact finds the words as written and their synonyms, without stemming")
	p.BoolVar(&available, "available", false, "only what is in stock")
	p.IntVar(&region, "region", 0, "region number")
	p.IntVar(&k, "limit", 10, "results per page, up to 200")
	p.IntVar(&page, "page", 1, "page of results, from 1")
	return c
}

// noSearch replaces NotFound, the answer of a process without the role search, by
// what to do.
func noSearch(err error) error {
	if errors.Is(err, courant.NotFound) {
		return courant.Errorf(courant.NotFound, "no courant with the role search is running here; start one with `courant run`, or name one with --server")
	}
	return err
}

// show prints results for people.
func show(found *search.Found) {
	fmt.Printf("%d found", found.Total)
	if found.TotalRelaxed > 0 {
		fmt.Printf(", %d with similar words", found.TotalRelaxed)
	}
	if found.Coverage.Building {
		fmt.Print(" so far; the index is still being built")
	}
	if found.Coverage.Share < 1 {
		fmt.Printf("; overloaded: %.0f %% of them ranked", 100*found.Coverage.Share)
	}
	fmt.Printf(" · %.1f ms\n", found.TookMS)
	for _, h := range found.Hits {
		line := printable(h.Title)
		if h.Price != "" {
			line += " · " + h.Price
		}
		if h.Offer != "" && !h.Available {
			line += " · not in stock"
		}
		fmt.Printf("\n%s\n  %s · %s\n", line, printable(h.URL), named(h.Source))
	}
}
