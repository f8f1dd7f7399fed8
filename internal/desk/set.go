package desk

import (
	"context"
	"reflect"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/store"
)

// Settings are new values for the settings of a source; nil leaves one as it is. The
// fields mean what those of NewSource do.
type Settings struct {
	Kind         *courant.SourceKind `json:"kind,omitempty"`
	Title        *string             `json:"title,omitempty"`
	Trusted      *bool               `json:"trusted,omitempty"`
	IgnoreRobots *bool               `json:"ignore_robots,omitempty"`
	Every        *setting.Duration   `json:"every,omitempty"`
	Absence      *courant.Absence    `json:"absence,omitempty"`
	Site         *string             `json:"site,omitempty"`
	Folder       *[]string           `json:"folder,omitempty"`
}

// state is a source with its fixed polling interval, which is 0 for an adapted one.
type state struct {
	courant.Source
	Every setting.Duration `json:"every,omitempty"`
}

// Set changes the settings of a source, by name or address, and returns the source. A
// new kind or interval makes it due now; with a new kind, the next download is read as
// if it were the first.
func (d *Desk) Set(ctx context.Context, who courant.Visitor, name string, to Settings) (s courant.Source, err error) {
	if err := who.MayOperate(); err != nil {
		return s, err
	}
	err = d.Store.Write(ctx, func(tx *store.Tx) error {
		before, err := readState(tx.Reader, name)
		if err != nil {
			return err
		}
		after, err := before.with(to)
		if s = after.Source; err != nil || reflect.DeepEqual(before, after) {
			return err
		}
		if _, err := tx.Exec(setSource, s.ID, s.Kind, s.Title, s.Trusted, s.Robots, s.Absence, s.Site, courant.FolderText(s.Folder),
			time.Duration(after.Every).Milliseconds()); err != nil {
			return err
		}
		if err := apply(tx, before, after); err != nil {
			return err
		}
		return note(tx, who, "source.set", s.Name, Change{Before: shown(before.Source, before.Every), After: shown(s, after.Every)})
	})
	return s, err
}

func readState(q store.Reader, name string) (st state, err error) {
	if st.Source, err = Find(q, name); err != nil {
		return st, err
	}
	var every int64
	err = q.Row(fixedInterval, st.ID).Scan(&every)
	st.Every = setting.Duration(time.Duration(every) * time.Millisecond)
	return st, err
}

// with returns the state after a change, or why it cannot be.
func (st state) with(to Settings) (state, error) {
	file := st.Kind == courant.KindFile
	if file && (to.Kind != nil || to.Every != nil || to.IgnoreRobots != nil) {
		return st, courant.Errorf(courant.Invalid, "%s was imported from a file: it is not polled, so only title, trusted, absence, site and folder can be set", st.Name)
	}
	set(&st.Kind, to.Kind)
	set(&st.Title, to.Title)
	st.Title = oneLine(st.Title)
	set(&st.Trusted, to.Trusted)
	set(&st.Every, to.Every)
	set(&st.Absence, to.Absence)
	set(&st.Folder, to.Folder)
	if to.IgnoreRobots != nil {
		st.Robots = !*to.IgnoreRobots
	}
	if to.Site != nil {
		if st.Site = oneLine(*to.Site); st.Site != "" && link.Host(st.Site) == "" {
			return st, courant.Errorf(courant.Invalid, "%s: site must be an address that begins with http:// or https://, not %q", st.Name, st.Site)
		}
	}
	checked := st.Source
	if file {
		checked.Kind = courant.KindFeed
	}
	if why := badSettings(checked, st.Every); why != nil {
		return st, courant.Errorf(courant.Invalid, "%s: %w", st.Name, why)
	}
	return st, nil
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// apply makes the rows that others write follow a change.
func apply(tx *store.Tx, before, after state) error {
	if after.Kind != before.Kind { // what was read says nothing any more, nor do its validators
		for _, query := range []string{dropReading, putReading} {
			if _, err := tx.Exec(query, after.ID); err != nil {
				return err
			}
		}
	}
	if after.Kind == before.Kind && after.Every == before.Every {
		return nil
	}
	_, err := tx.Exec(dueNow, after.ID, tx.Now().UnixMilli())
	return err
}
