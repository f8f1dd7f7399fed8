package main

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant/internal/front/api"
)

func (f *flags) host() *cobra.Command {
	return &cobra.Command{
		Use: "host [NAME]", Short: "Show a host's crawl state, or all hosts in back-off",
		Example: "  courant host\n  courant host example.org", Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, name []string) error {
			path := "/api/v1/hosts"
			if len(name) == 1 {
				path = "/api/v1/host?host=" + url.QueryEscape(name[0])
			}
			var hosts []api.Host
			if err := f.get(cmd, path, &hosts); err != nil {
				return err
			}
			switch {
			case f.json:
				for _, h := range hosts {
					if err := writeJSON(os.Stdout, h); err != nil {
						return err
					}
				}
				return nil
			case len(name) == 1:
				for _, h := range hosts {
					showHost(h)
				}
				return nil
			case len(hosts) == 0:
				fmt.Println("No host is in back-off.")
				return nil
			}
			rows := [][]string{{"host", "until", "failures", "reason"}}
			for _, h := range hosts {
				rows = append(rows, []string{printable(h.Origin), short(h.Next), fmt.Sprint(h.Failures + h.Refusals), printable(h.Reason)})
			}
			return f.table(rows)
		},
	}
}

func showHost(h api.Host) {
	fmt.Println(printable(h.Origin))
	robot := h.Robot
	if robot == "" {
		robot = "no robot is running"
	}
	fmt.Printf("  robot     %s\n", robot)
	if h.Latency != "0s" {
		fmt.Printf("  latency   %s\n", h.Latency)
	}
	if h.Pace != "0s" {
		fmt.Printf("  pace      one request per %s, learned from its rate limits\n", h.Pace)
	}
	if h.CrawlDelay != "0s" {
		fmt.Printf("  pace      one request per %s, from its robots.txt (Crawl-delay)\n", h.CrawlDelay)
	}
	if h.Next.IsZero() {
		fmt.Println("  next      now")
	} else {
		fmt.Printf("  next      not before %s: %s%s\n", short(h.Next), printable(h.Reason), setbacks(h))
	}
	if d := h.Domain; d != nil {
		fmt.Printf("  domain    %s until %s: %s\n", allOf(d.Name), short(d.Next), printable(d.Reason))
	}
	for _, q := range h.Queue {
		fmt.Printf("  queue     %d × %s, the oldest since %s\n", q.Count, q.Kind, short(q.Oldest))
	}
	for _, s := range h.Sources {
		fmt.Printf("  source    %s %s\n", named(s.Name), lastAnswer(s))
	}
	for _, a := range h.Again {
		fmt.Printf("  retry     %s at %s, after %d attempts: %s\n", printable(a.URL), short(a.Due), a.Attempts, printable(a.Problem))
	}
	fmt.Printf("  robots    %s", robotsSays(h.Robots.Status))
	if !h.Robots.Until.IsZero() {
		fmt.Printf(", until %s", short(h.Robots.Until))
	}
	fmt.Println()
	for line := range strings.Lines(h.Robots.Text) {
		fmt.Printf("    %s\n", printable(strings.TrimRight(line, "\r\n")))
	}
}

// setbacks counts consecutive failures and refusals.
func setbacks(h api.Host) string {
	switch {
	case h.Refusals > 0:
		return fmt.Sprintf(" (%s, %s)", count(h.Failures, "failure"), count(h.Refusals, "refusal"))
	case h.Failures > 0:
		return fmt.Sprintf(" (%s)", count(h.Failures, "failure"))
	}
	return ""
}

// allOf names what waits with a domain: its hosts, or the ports of an IP address.
func allOf(domain string) string {
	if _, err := netip.ParseAddr(domain); err == nil {
		return "all ports of " + domain + " wait"
	}
	return "all hosts of " + domain + " wait"
}

// lastAnswer is the last answer of a source.
func lastAnswer(s api.HostSource) string {
	switch why := printable(s.Problem); {
	case s.Checked.IsZero():
		return "has not answered yet"
	case s.Status == 0:
		return "gave no answer at " + short(s.Checked) + ": " + why
	case why != "":
		return fmt.Sprintf("answered %d at %s: %s", s.Status, short(s.Checked), why)
	}
	return fmt.Sprintf("answered %d at %s", s.Status, short(s.Checked))
}

// robotsSays is what the status of robots.txt means.
func robotsSays(status int) string {
	switch status {
	case http.StatusOK:
		return "rules"
	case http.StatusNotFound:
		return "everything is allowed"
	case http.StatusServiceUnavailable:
		return "not available, so nothing may be fetched"
	}
	return "not fetched yet"
}
