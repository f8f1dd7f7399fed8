package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"

	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
)

// NewLog returns the logger of a configuration.
func NewLog(c Log, out *os.File) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: oneLine}
	if c.JSON {
		return slog.New(calm{slog.NewJSONHandler(out, o)})
	}
	return slog.New(calm{slog.NewTextHandler(out, o)})
}

// oneLine writes errors that were joined, whose text has several lines, in one line.
func oneLine(_ []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok && strings.Contains(err.Error(), "\n") {
		return slog.String(a.Key, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return a
}

// calm drops what roles log because the database or the bus does not answer, unless the
// level is debug: store and bus log the beginning and the end of an outage, and each role
// would add a line a second.
type calm struct{ slog.Handler }

func (q calm) Handle(ctx context.Context, r slog.Record) error {
	away := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		away = ok && (errors.Is(err, store.ErrAway) || errors.Is(err, bus.Away))
		return !away
	})
	if away && !q.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

// WithAttrs returns a handler with attributes.
func (q calm) WithAttrs(attrs []slog.Attr) slog.Handler { return calm{q.Handler.WithAttrs(attrs)} }

// WithGroup returns the handler of a group.
func (q calm) WithGroup(name string) slog.Handler { return calm{q.Handler.WithGroup(name)} }
