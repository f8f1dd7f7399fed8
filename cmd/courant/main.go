// Command courant collects what sites publish, makes light pages of it and
// serves them. `courant --help` lists what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant/internal/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(execute(ctx, os.Args[1:]))
}

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a command that was written wrongly.
type usageError struct{ error }

func execute(ctx context.Context, args []string) int {
	root := command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, context.Canceled) && ctx.Err() != nil: // stopped before it had begun
		return exitDone
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "if any flags in the group"):
		fmt.Fprintln(os.Stderr, "courant:", oneLine(err))
		return exitUsage
	}
	fmt.Fprintln(os.Stderr, "courant:", oneLine(err))
	return exitFailed
}

// oneLine keeps an error to one line.
func oneLine(err error) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", " ")), " ")
}

func command() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use: "courant", Short: "Light pages of what sites publish", Version: app.Version(),
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetVersionTemplate("courant {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	p := root.PersistentFlags()
	p.StringVar(&f.config, "config", os.Getenv("COURANT_CONFIG"), "configuration file, TOML")
	p.StringVar(&f.data, "data", envOr("COURANT_DATA", "./data"), "data folder")
	p.StringVar(&f.server, "server", os.Getenv("COURANT_SERVER"), "a running courant, http://…")
	p.StringVar(&f.token, "token", os.Getenv("COURANT_TOKEN"), "token for --server")
	p.BoolVar(&f.json, "json", false, "print JSON, an object a line; nothing where there is nothing")
	root.AddCommand(f.run(), f.parse(), f.fetch(), f.source(), f.host(), f.importFiles(), f.page(), f.story(), f.search(), f.zone(), f.plan(), f.roles(), f.showConfig(), f.version())
	return root
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// flags are those that all commands have.
type flags struct {
	config, data, server, token string
	json                        bool
}

// load reads the configuration; a mistake in it is wrong usage.
func (f *flags) load() (app.Config, error) {
	c, err := app.Load(f.config, os.Environ())
	if err != nil {
		return c, usageError{err}
	}
	return c, nil
}

// connect finds the courant to speak to.
func (f *flags) connect(ctx context.Context) (*app.Remote, error) {
	c, err := f.load()
	if err != nil {
		return nil, err
	}
	return app.Connect(ctx, f.server, f.token, f.data, c)
}

// connectToAdd is connect for what may be the first command of all: a data
// folder that is not there yet is made.
func (f *flags) connectToAdd(ctx context.Context) (*app.Remote, error) {
	if f.server == "" {
		if err := os.MkdirAll(f.data, 0o700); err != nil {
			return nil, err
		}
	}
	return f.connect(ctx)
}

// exactly is cobra's check of arguments as wrong usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if err := check(c, given); err != nil {
			return usageError{fmt.Errorf("%w; write: %s", err, c.UseLine())}
		}
		return nil
	}
}
