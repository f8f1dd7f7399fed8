package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
)

// settingFlags are the settings of a source as options of a command.
type settingFlags struct {
	desk.NewSource
	folder string
}

func (n *settingFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&n.Title, "title", "", "title shown to readers (default: the feed's own)")
	flags.StringVar((*string)(&n.Kind), "kind", "feed", "feed or catalog")
	flags.Var(&duration{&n.Every}, "every", "fixed polling interval, such as 5m; 0 adapts it to the source")
	flags.StringVar((*string)(&n.Absence), "absence", "", `of a catalogue: "kept" keeps offers that disappear from it; otherwise they are withdrawn`)
	flags.BoolVar(&n.IgnoreRobots, "ignore-robots", false, "ignore robots.txt for the source's address; needs the publisher's permission")
	flags.BoolVar(&n.Trusted, "trusted", false, "the source may publish pages of any host")
	flags.StringVar(&n.Site, "site", "", "address of the site (default: the feed's own)")
	flags.StringVar(&n.folder, "folder", "", "folder for lists of sources, such as News/Science")
}

// folders are the names of the folders in the option, the outermost first.
func (n *settingFlags) folders() []string {
	names := []string{} // not null in JSON: an empty option removes the folder
	for name := range strings.SplitSeq(n.folder, "/") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// given returns the settings whose options were given.
func (n *settingFlags) given(c *cobra.Command) (to desk.Settings) {
	folders := n.folders()
	for name, set := range map[string]func(){
		"title": func() { to.Title = &n.Title }, "kind": func() { to.Kind = &n.Kind }, "every": func() { to.Every = &n.Every },
		"absence": func() { to.Absence = &n.Absence }, "ignore-robots": func() { to.IgnoreRobots = &n.IgnoreRobots },
		"trusted": func() { to.Trusted = &n.Trusted }, "site": func() { to.Site = &n.Site }, "folder": func() { to.Folder = &folders },
	} {
		if c.Flags().Changed(name) {
			set()
		}
	}
	return to
}

func (f *flags) sourceSet() *cobra.Command {
	var n settingFlags
	c := &cobra.Command{
		Use: "set NAME|URL", Short: "Change settings of a source", Args: args(cobra.ExactArgs(1)),
		Long:    "Change settings of a source: those whose options are given. Pages that are made from now on follow them; what is on pages already stays.",
		Example: "  courant source set example.org-feed --title \"Example news\" --every 5m\n  courant source set example.org-feed --every 0 --trusted=false",
		RunE: func(cmd *cobra.Command, names []string) error {
			to := n.given(cmd)
			if to == (desk.Settings{}) {
				return usageError{fmt.Errorf("nothing is to be changed; give an option such as --title, --every, --kind, --trusted or --folder")}
			}
			r, err := f.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer r.Close()
			var s courant.Source
			if err := r.Do(cmd.Context(), http.MethodPatch, "/api/v1/sources/"+url.PathEscape(names[0]), to, &s); err != nil {
				return err
			}
			if f.json {
				return writeJSON(os.Stdout, s)
			}
			fmt.Printf("changed %s; see: courant source show %s\n", named(s.Name), named(s.Name))
			return nil
		},
	}
	n.register(c)
	return c
}
