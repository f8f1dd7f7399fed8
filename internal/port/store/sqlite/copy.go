package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// Copy writes a consistent copy of the database file to a new file. The database may be in
// use by another process. The copy has no free pages, and no log beside it.
func Copy(ctx context.Context, from, to string) error {
	db, err := open(Config{Path: from}, "deferred", 1)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	if err != nil {
		err = fmt.Errorf("copy %s: %w", from, kind(err))
	}
	return errors.Join(err, db.Close())
}

// Check returns what is wrong with the structures of a database file, one line for each
// fault; none if it is whole. The database may be in use by another process.
func Check(ctx context.Context, path string) (faults []string, err error) {
	db, err := open(Config{Path: path}, "deferred", 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "PRAGMA integrity_check(100)")
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", path, kind(err))
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return faults, err
		}
		if line != "ok" {
			faults = append(faults, line)
		}
	}
	return faults, rows.Err()
}
