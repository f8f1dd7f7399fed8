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
		Use: "host [NAME]", Short: "Show how the robot fares with a host, or all hosts that it leaves alone for now",
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
				fmt.Println("No host is left alone.")
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
		robot = "no robot runs"
	}
	fmt.Printf("  robot     %s\n", robot)
	if h.Latency != "0s" {
		fmt.Printf("  latency   %s\n", h.Latency)
	}
	if h.Pace != "0s" {
		fmt.Printf("  pace      a request in %s, as its limits have taught\n", h.Pace)
	}
	if h.CrawlDelay != "0s" {
		fmt.Printf("  pace      a request in %s, as its robots.txt asks (Crawl-delay)\n", h.CrawlDelay)
	}
	if h.Next.IsZero() {
		fmt.Println("  next      may be asked now")
	} else {
		fmt.Printf("  next      not before %s: %s%s\n", short(h.Next), printable(h.Reason), setbacks(h))
	}
	if d := h.Domain; d != nil {
		fmt.Printf("  domain    %s before %s: %s\n", nobodyOf(d.Name), short(d.Next), printable(d.Reason))
	}
	for _, q := range h.Queue {
		fmt.Printf("  queue     %d × %s, the oldest since %s\n", q.Count, q.Kind, short(q.Oldest))
	}
	for _, s := range h.Sources {
		fmt.Printf("  source    %s %s\n", named(s.Name), lastAnswer(s))
	}
	for _, a := range h.Again {
		fmt.Printf("  again     %s at %s, after %d attempts: %s\n", printable(a.URL), short(a.Due), a.Attempts, printable(a.Problem))
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

// setbacks counts what has gone wrong in a row.
func setbacks(h api.Host) string {
	switch {
	case h.Refusals > 0:
		return fmt.Sprintf(" (%s, %s)", count(h.Failures, "failure"), count(h.Refusals, "refusal"))
	case h.Failures > 0:
		return fmt.Sprintf(" (%s)", count(h.Failures, "failure"))
	}
	return ""
}

// nobodyOf is all that waits with a domain, or with an IP address.
func nobodyOf(domain string) string {
	if _, err := netip.ParseAddr(domain); err == nil {
		return "no port of " + domain
	}
	return "no host of " + domain
}

// lastAnswer is how a source answered last.
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
		return "nothing is forbidden"
	case http.StatusServiceUnavailable:
		return "cannot be had, so that nothing is allowed"
	}
	return "not asked for yet"
}
