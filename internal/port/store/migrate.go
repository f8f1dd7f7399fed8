package store

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/courant-platform/courant"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Dialect adapts the common SQL text to a database. Its fields replace these comments:
// /*lock*/ and /*skip*/, row locks, of which the second skips locked rows (/*lock p*/ and
// /*skip p*/ lock only the rows of table p of a join); /*clustered*/, a table stored in
// the tree of its primary key; BIGINT /*rowid*/, the type of a key that is the row ID;
// /*bytes*/ after a text column, comparison by bytes in any locale.
type Dialect struct {
	Name                  goose.Dialect
	Lock, Skip, Clustered string
	Rowid                 string // type of a key that is the row ID; BIGINT unless set
	Bytes                 string // collation by bytes; "" if that is the usual one
}

// Text returns the query in this dialect.
func (d Dialect) Text(query string) string {
	if !strings.Contains(query, "/*") {
		return query
	}
	return strings.NewReplacer("/*lock*/", d.Lock, "/*skip*/", d.Skip, "/*lock p*/", strings.Replace(d.Lock, "UPDATE", "UPDATE OF p", 1), "/*skip p*/", strings.Replace(d.Skip, "UPDATE", "UPDATE OF p", 1), "/*clustered*/", d.Clustered, "/*bytes*/", d.Bytes, "BIGINT /*rowid*/", cmp.Or(d.Rowid, "BIGINT")).Replace(query)
}

// Migrate applies the missing migrations, each in its own transaction. It returns
// courant.Conflict for a database of a newer program or of one before 0.2.
func (d Dialect) Migrate(ctx context.Context, db *sql.DB, options ...goose.ProviderOption) error {
	steps, err := d.steps()
	if err != nil {
		return err
	}
	options = append(options, goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true), goose.WithDisableVersioning(false))
	p, err := goose.NewProvider(d.Name, db, nil, options...)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	has, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if newest := steps[len(steps)-1].Version; has > newest {
		return courant.Errorf(courant.Conflict,
			"database schema version %d is newer than this program supports (up to %d): run a newer courant or restore an older backup", has, newest)
	}
	if first := steps[0].Version; has > 0 && has < first {
		return courant.Errorf(courant.Conflict, "an earlier version wrote the database, and this one cannot read its tables: export the sources with the earlier version "+
			"(courant source export), start with an empty data folder or database, and import them (courant source import)")
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// steps returns the files of migrations/; the first five characters of a file's name are
// its version.
func (d Dialect) steps() ([]*goose.Migration, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []*goose.Migration
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		version, err := strconv.ParseInt(strings.TrimPrefix(name, "migrations/")[:5], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", name, err)
		}
		up := &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, d.Text(string(text)))
			return err
		}}
		steps = append(steps, goose.NewGoMigration(version, up, nil))
	}
	return steps, nil
}
