package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant/internal/app"
)

func (f *flags) run() *cobra.Command {
	var listen, zone string
	var sample bool
	c := &cobra.Command{
		Use: "run [ROLE…]", Short: "Run the platform, or some of its roles",
		Example: "  courant run\n  courant run --sample\n  courant run robot parse --config courant.toml\n  courant run index search --zone a --config courant.toml",
		RunE: func(cmd *cobra.Command, roles []string) error {
			c, err := f.load()
			if err != nil {
				return err
			}
			if listen != "" {
				c.HTTP.Listen = listen
			}
			if err := c.Check(roles); err != nil {
				return usageError{err}
			}
			hangup := make(chan os.Signal, 1)
			signal.Notify(hangup, syscall.SIGHUP) // otherwise it would end the process
			defer signal.Stop(hangup)
			return app.Run(cmd.Context(), c, app.Options{Roles: roles, Data: f.data, Sample: sample, Zone: zone, Out: os.Stdout})
		},
	}
	c.Flags().StringVar(&listen, "listen", "", "address to serve pages and the API on (default 127.0.0.1:8080)")
	c.Flags().StringVar(&zone, "zone", "", "zone of this process")
	c.Flags().BoolVar(&sample, "sample", false, "collect a small built-in web, to try Courant out")
	return c
}

func (f *flags) roles() *cobra.Command {
	return &cobra.Command{
		Use: "roles", Short: "List the roles and what each does", Example: "  courant roles", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return f.table(roleRows()) },
	}
}

func roleRows() [][]string {
	rows := [][]string{{"role", "does"}}
	for _, r := range app.Roles() {
		rows = append(rows, []string{r.Name, r.Does})
	}
	return rows
}

func (f *flags) showConfig() *cobra.Command {
	return &cobra.Command{
		Use: "config", Short: "Show the effective configuration and what each key means",
		Long:    "Show the effective configuration, as a file that --config reads. With --json it is one object with the same keys. The exit status is 1 if a file named in the configuration cannot be used.",
		Example: "  courant config\n  courant config --config courant.toml", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			c, err := f.load()
			if err != nil {
				return err
			}
			for _, s := range c.Renamed() {
				fmt.Fprintln(os.Stderr, "courant:", s)
			}
			if err := c.CheckFiles(); err != nil {
				return err
			}
			if f.json {
				object, err := c.Object()
				if err != nil {
					return err
				}
				return writeJSON(os.Stdout, object)
			}
			text, err := c.Text()
			if err != nil {
				return err
			}
			_, err = os.Stdout.WriteString(text)
			return err
		},
	}
}

func (f *flags) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version", Example: "  courant version", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if f.json {
				return writeJSON(os.Stdout, struct {
					Version string `json:"version"`
				}{app.Version()})
			}
			_, err := os.Stdout.WriteString("courant " + app.Version() + "\n")
			return err
		},
	}
}
