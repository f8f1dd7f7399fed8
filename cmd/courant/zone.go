package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant/internal/front/search"
	"github.com/courant-platform/courant/internal/search/fleet"
)

func (f *flags) zone() *cobra.Command {
	c := &cobra.Command{
		Use: "zone", Short: "Show the zones of the search, or switch one off or on",
		Long: "Zone shows the replicas of the index in each zone and their state. A zone that is switched off gets no more queries:\n" +
			"switch it off to rehearse its loss, or before its machines are shut down.",
		Example: "  courant zone\n  courant zone off a\n  courant zone on a", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var found search.Zones
			if err := noSearch(f.get(cmd, "/api/v1/zones", &found)); err != nil {
				return err
			}
			return f.showZones(&found)
		},
	}
	for _, to := range []struct {
		name, short string
		on          bool
	}{{"on", "Put a zone back into use", true}, {"off", "Take a zone out of use", false}} {
		c.AddCommand(&cobra.Command{Use: to.name + " NAME", Short: to.short, Example: "  courant zone " + to.name + " a", Args: args(cobra.ExactArgs(1)),
			RunE: func(cmd *cobra.Command, name []string) error {
				r, err := f.connect(cmd.Context())
				if err != nil {
					return err
				}
				var found search.Zones
				err = r.Do(cmd.Context(), "PUT", "/api/v1/zones/"+url.PathEscape(name[0]), search.ZoneSwitch{On: &to.on}, &found)
				if err := errors.Join(err, r.Close()); err != nil { // the error of an unknown zone lists the known ones
					return err
				}
				return f.showZones(&found)
			}})
	}
	return c
}

func (f *flags) showZones(found *search.Zones) error {
	if f.json {
		return writeJSON(os.Stdout, found)
	}
	rows := [][]string{{"zone", "use", "replica", "address", "state", "shards", "share", "queries"}}
	for _, z := range found.Zones {
		state := "on"
		if !z.On {
			state = "off"
		}
		if len(z.Replicas) == 0 {
			rows = append(rows, []string{z.Name, state, "none", "", "", "", "", ""})
		}
		for _, r := range z.Replicas {
			rows = append(rows, []string{z.Name, state, r.Name, r.Address, r.State, shardRanges(r), fmt.Sprintf("%.2f", r.Share), strconv.Itoa(r.InFlight + r.Waiting)})
		}
	}
	return f.table(rows)
}

// shardRanges writes the shards of a replica as ranges, such as 0-3,6.
func shardRanges(r fleet.Replica) (text string) {
	all := slices.Sorted(slices.Values(r.Shards))
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1] == all[j]+1 {
			j++
		}
		if text != "" {
			text += ","
		}
		if text += strconv.Itoa(all[i]); j > i {
			text += "-" + strconv.Itoa(all[j])
		}
		i = j + 1
	}
	return text
}
