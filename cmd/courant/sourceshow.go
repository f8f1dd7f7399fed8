package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
)

// sourceReport is what parse reports about a download.
type sourceReport struct {
	Error    string             `json:"error"`
	Links    []courant.FeedLink `json:"links"`
	Warnings []courant.Warning  `json:"warnings"`
	More     int                `json:"more"`
}

func reportOf(s api.SourceState) (r sourceReport) {
	if len(s.Report) > 0 && json.Unmarshal(s.Report, &r) != nil {
		r.Error = string(s.Report)
	}
	return r
}

func showSource(s api.SourceState) error {
	r := reportOf(s)
	fmt.Printf("%s\n  url       %s\n  state     %s\n  pages     %d\n  items     %d in the last file\n", named(s.Name), printable(s.URL), health(s), s.Pages, s.Items)
	showNames(s)
	if s.Kind == courant.KindFile {
		fmt.Printf("  imported  %s\n  changed   %s\n  next      never polled; import a new file with: courant import FILE --source %s\n", short(s.Checked), short(s.Changed), named(s.Name))
	} else {
		fmt.Printf("  checked   %s\n  changed   %s\n  next      %s\n", checked(s), short(s.Changed), nextPoll(s))
	}
	if s.Asks != "" {
		fmt.Printf("  moved     to %s, which is polled instead; it becomes the source's address after a week\n", printable(s.Asks))
	}
	if !s.Robots {
		fmt.Println("  robots    robots.txt is ignored for its address")
	}
	showHub(s.Hub)
	if s.ETag != "" || s.Modified != "" {
		fmt.Printf("  validators %s %s\n", printable(s.ETag), printable(s.Modified))
	}
	if s.Problem != "" {
		fmt.Printf("  problem   %s\n", printable(s.Problem))
	}
	if r.Error != "" {
		fmt.Printf("  unreadable  %s\n", printable(r.Error))
	}
	for _, l := range r.Links {
		fmt.Printf("  offers    %s  %s\n", printable(l.URL), printable(l.Title))
	}
	showWarnings(r)
	return nil
}

// showNames prints what the operator and the feed call the source.
func showNames(s api.SourceState) {
	for _, line := range []struct{ name, text string }{
		{"title", s.Title}, {"feed", s.Feed.Title}, {"site", cmp.Or(s.Site, s.Feed.Home)}, {"folder", strings.Join(s.Folder, " / ")},
	} {
		if line.text != "" && !(line.name == "feed" && s.Title == s.Feed.Title) {
			fmt.Printf("  %-9s %s\n", line.name, printable(line.text))
		}
	}
	if s.Kind != courant.KindFeed {
		fmt.Printf("  kind      %s\n", s.Kind)
	}
	if s.Trusted && s.Kind != courant.KindFile {
		fmt.Println("  trusted   it may publish pages of any host")
	}
}

func showWarnings(r sourceReport) {
	var ignored []string
	for _, w := range r.Warnings {
		if w.Level == courant.LevelInfo {
			ignored = append(ignored, printable(w.Element))
			continue
		}
		fmt.Printf("  %d:%d %s: %s\n", w.Line, w.Column, w.Code, printable(w.Text))
	}
	if r.More > 0 {
		fmt.Printf("  and %s\n", count(r.More, "more warning"))
	}
	if len(ignored) > 0 {
		fmt.Printf("  ignored   %s: Courant has no use for these elements and attributes\n", strings.Join(ignored, ", "))
	}
}

func showHub(h *api.HubState) {
	if h == nil {
		return
	}
	fmt.Printf("  hub       %s, %s", printable(h.URL), h.State)
	if !h.Until.IsZero() {
		fmt.Printf(" until %s", short(h.Until))
	}
	if !h.Pinged.IsZero() {
		fmt.Printf(", last ping %s", short(h.Pinged))
	}
	fmt.Println()
	if h.Problem != "" {
		fmt.Printf("  hub error %s\n", printable(h.Problem))
	}
}

// nextPoll says when a source is polled next, and why then.
func nextPoll(s api.SourceState) string {
	switch {
	case !s.Gone.IsZero():
		return fmt.Sprintf("not polled any more: gone since %s; poll it again with: courant source ask %s", short(s.Gone), named(s.Name))
	case s.Wait == nil && s.Why == "":
		return short(s.Due)
	case s.Wait == nil:
		return fmt.Sprintf("%s, every %s: %s", short(s.Due), s.Interval, s.Why)
	}
	when := "as soon as possible"
	if !s.Wait.Next.IsZero() {
		when = short(s.Wait.Next) + " at the earliest"
	}
	if when += ": " + printable(s.Wait.Reason); s.Why == "" {
		return when
	}
	return fmt.Sprintf("%s\n  interval  every %s: %s", when, s.Interval, s.Why)
}

// checked is when a source was polled last, and what it answered.
func checked(s api.SourceState) string {
	switch {
	case s.Checked.IsZero():
		return "never"
	case s.Status == 0:
		return short(s.Checked) + ", no answer"
	}
	return fmt.Sprintf("%s, answered %d", short(s.Checked), s.Status)
}
