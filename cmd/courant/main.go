// Command courant collects what sites publish, turns it into light pages and
// serves them. `courant --help` lists its commands.
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

// usageError is a mistake in how a command was called.
type usageError struct{ error }

func execute(ctx context.Context, args []string) int {
	root := command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, context.Canceled) && ctx.Err() != nil: // interrupted before it started
		return exitDone
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "if any flags in the group"):
		fmt.Fprintln(os.Stderr, "courant:", oneLine(err))
		return exitUsage
	}
	fmt.Fprintln(os.Stderr, "courant:", oneLine(err))
	return exitFailed
}

// oneLine is the text of an error on one line.
func oneLine(err error) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", " ")), " ")
}

func command() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use: "courant", Short: "Collect what sites publish and serve it as light pages", Version: app.Version(),
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetVersionTemplate("courant {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{plainFlag(err)} })
	p := root.PersistentFlags()
	p.StringVar(&f.config, "config", os.Getenv("COURANT_CONFIG"), "configuration file in TOML")
	p.StringVar(&f.data, "data", envOr("COURANT_DATA", "./data"), "data folder")
	p.StringVar(&f.server, "server", os.Getenv("COURANT_SERVER"), "URL of a running courant, such as http://127.0.0.1:8080")
	p.StringVar(&f.token, "token", os.Getenv("COURANT_TOKEN"), "token for --server")
	p.BoolVar(&f.json, "json", false, "print JSON, one object per line, and nothing for an empty result")
	root.AddCommand(f.run(), f.parse(), f.fetch(), f.source(), f.host(), f.importFiles(), f.page(), f.story(), f.search(), f.zone(), f.plan(), f.backup(), f.check(), f.restore(), f.roles(), f.showConfig(), f.version())
	return root
}

// plainFlag drops the names of Go's functions from an error in an option.
func plainFlag(err error) error {
	if text, _, number := strings.Cut(err.Error(), ": strconv."); number {
		return errors.New(text)
	}
	return err
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// flags are the options that all commands share.
type flags struct {
	config, data, server, token string
	json                        bool
}

// load reads the configuration; a mistake in it is a usage error.
func (f *flags) load() (app.Config, error) {
	c, err := app.Load(f.config, os.Environ())
	if err != nil {
		return c, usageError{err}
	}
	return c, nil
}

// connect finds the courant to talk to.
func (f *flags) connect(ctx context.Context) (*app.Remote, error) {
	c, err := f.load()
	if err != nil {
		return nil, err
	}
	return app.Connect(ctx, f.server, f.token, f.data, c)
}

// connectToAdd is connect for commands that may be the first of all: it creates
// the data folder if there is none.
func (f *flags) connectToAdd(ctx context.Context) (*app.Remote, error) {
	if f.server == "" {
		if err := os.MkdirAll(f.data, 0o700); err != nil {
			return nil, err
		}
	}
	return f.connect(ctx)
}

// args makes the errors of a cobra argument check usage errors.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if err := check(c, given); err != nil {
			return usageError{fmt.Errorf("%w; usage: %s", err, c.UseLine())}
		}
		return nil
	}
}
