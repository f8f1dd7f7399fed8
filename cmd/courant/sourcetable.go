package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
)

// listing is which sources `source list` shows, and in which order.
type listing struct {
	failing, reverse    bool
	kind, folder, match string
	sort                string
}

func (f *flags) sourceList() *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use: "list", Short: "List sources", Args: args(cobra.NoArgs),
		Example: "  courant source list\n  courant source list --failing --sort failures --reverse\n  courant source list --match example.org",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, ok := orders[l.sort]; !ok {
				return usageError{fmt.Errorf("--sort must be one of %s, not %q", strings.Join(orderNames, ", "), l.sort)}
			}
			if l.kind != "" && !slices.Contains([]string{"feed", "catalog", "file"}, l.kind) {
				return usageError{fmt.Errorf("--kind must be feed, catalog or file, not %q", l.kind)}
			}
			all, err := f.allSources(cmd)
			if err != nil {
				return err
			}
			return f.showSources(l.of(all), len(all))
		},
	}
	c.Flags().BoolVar(&l.failing, "failing", false, "only sources that are failing, unreadable or gone")
	c.Flags().StringVar(&l.kind, "kind", "", "only sources of this kind: feed, catalog or file")
	c.Flags().StringVar(&l.folder, "folder", "", "only sources in this folder, such as News/Science")
	c.Flags().StringVar(&l.match, "match", "", "only sources with this text in their name, title, folder or address")
	c.Flags().StringVar(&l.sort, "sort", "name", "order: "+strings.Join(orderNames, ", "))
	c.Flags().BoolVar(&l.reverse, "reverse", false, "the other way round")
	return c
}

var orderNames = []string{"name", "state", "items", "checked", "changed", "next", "failures", "folder", "url", "added"}

// orders compare two sources; equal ones stay in the order of their names.
var orders = map[string]func(a, b *api.SourceState) int{
	"name":     func(a, b *api.SourceState) int { return cmp.Compare(a.Name, b.Name) },
	"state":    func(a, b *api.SourceState) int { return cmp.Compare(health(*a), health(*b)) },
	"items":    func(a, b *api.SourceState) int { return cmp.Compare(a.Items, b.Items) },
	"checked":  func(a, b *api.SourceState) int { return a.Checked.Compare(b.Checked.Time) },
	"changed":  func(a, b *api.SourceState) int { return a.Changed.Compare(b.Changed.Time) },
	"next":     func(a, b *api.SourceState) int { return cmp.Compare(listedNext(*a), listedNext(*b)) },
	"failures": func(a, b *api.SourceState) int { return cmp.Compare(a.Failures, b.Failures) },
	"folder":   func(a, b *api.SourceState) int { return slices.Compare(a.Folder, b.Folder) },
	"url":      func(a, b *api.SourceState) int { return cmp.Compare(a.URL, b.URL) },
	"added":    func(a, b *api.SourceState) int { return a.Added.Compare(b.Added) },
}

// of returns the sources to show, in their order.
func (l listing) of(all []api.SourceState) []api.SourceState {
	kept := slices.DeleteFunc(slices.Clone(all), func(s api.SourceState) bool { return !l.shows(s) })
	slices.SortStableFunc(kept, func(a, b api.SourceState) int { return orders[l.sort](&a, &b) })
	if l.reverse {
		slices.Reverse(kept)
	}
	return kept
}

func (l listing) shows(s api.SourceState) bool {
	folder := strings.Join(s.Folder, "/")
	if l.failing && !isFailing(s) || l.kind != "" && string(s.Kind) != l.kind || l.folder != "" && folder != l.folder && !strings.HasPrefix(folder, l.folder+"/") {
		return false
	}
	for _, text := range []string{s.Name, s.Title, s.Feed.Title, folder, s.URL} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(l.match)) {
			return true
		}
	}
	return false
}

// isFailing reports whether a source brings nothing, or may soon.
func isFailing(s api.SourceState) bool {
	return !s.Gone.IsZero() || s.Failures > 0 || s.Problem != "" || reportOf(s).Error != ""
}

// showSources prints sources as a table; total is how many there are with those that
// are not shown.
func (f *flags) showSources(shown []api.SourceState, total int) error {
	if f.json {
		for _, s := range shown {
			if err := writeJSON(os.Stdout, s); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case total == 0:
		fmt.Println("There are no sources yet. Add one with: courant source add https://example.org/feed.xml")
		return nil
	case len(shown) == 0:
		fmt.Printf("None of the %s is of this kind.\n", count(total, "source"))
		return nil
	}
	rows := [][]string{{"name", "state", "items", "checked", "next", "url", "waits"}}
	for _, s := range shown {
		rows = append(rows, []string{named(s.Name), health(s), strconv.Itoa(s.Items), short(s.Checked), listedNext(s), printable(s.URL), listedWait(s)})
	}
	if err := f.table(rows); err != nil || len(shown) == total {
		return err
	}
	fmt.Printf("%d of %s\n", len(shown), count(total, "source"))
	return nil
}

// health is the state of a source in a word or two.
func health(s api.SourceState) string {
	switch {
	case s.Checked.IsZero():
		return "new"
	case !s.Gone.IsZero():
		return "gone"
	case s.Failures > 0:
		return fmt.Sprintf("failing (%d)", s.Failures)
	case reportOf(s).Error != "":
		return "unreadable"
	}
	return "ok"
}

// listedNext is when a source is polled next.
func listedNext(s api.SourceState) string {
	switch {
	case !s.Gone.IsZero() || s.Kind == courant.KindFile:
		return "never"
	case s.Wait == nil:
		return short(s.Due)
	case s.Wait.Next.IsZero():
		return "soon"
	}
	return short(s.Wait.Next)
}

// listedWait is why the next poll is later than due.
func listedWait(s api.SourceState) string {
	if s.Wait == nil {
		return ""
	}
	return printable(s.Wait.Reason)
}

func short(t courant.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
