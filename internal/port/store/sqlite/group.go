package sqlite

import (
	"errors"
	"fmt"
)

// groupSize bounds how many transactions share a commit.
const groupSize = 100

// commit runs transactions one after the other and commits them together: while
// one group syncs, the next one gathers. Each transaction has a savepoint of its
// own, so that one's failure is its own.
func commit(s *statements, batch []*job) {
	if err := group(s, batch); err != nil {
		for _, j := range batch {
			j.err = errors.Join(j.err, err)
		}
	}
}

// group's error is everybody's.
func group(s *statements, batch []*job) error {
	ctx := batch[0].ctx
	if err := s.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return kind(err)
	}
	for _, j := range batch {
		if err := part(s, j); err != nil {
			return errors.Join(err, s.exec(ctx, "ROLLBACK"))
		}
	}
	if err := s.exec(ctx, "COMMIT"); err != nil {
		s.exec(ctx, "ROLLBACK") // fails where SQLite has rolled back itself
		return kind(err)
	}
	return nil
}

// part runs one job inside the group's transaction. Its own failure is undone
// and is its own; an error here ends the whole group.
func part(s *statements, j *job) error {
	if !j.write {
		j.call(s)
		return nil
	}
	if err := s.exec(j.ctx, "SAVEPOINT part"); err != nil {
		return kind(err)
	}
	j.call(s)
	if j.err == nil && j.panic == nil {
		return kind(s.exec(j.ctx, "RELEASE part"))
	}
	if err := s.exec(j.ctx, "ROLLBACK TO part"); err != nil {
		// a full disk ends the transaction as a whole
		return fmt.Errorf("group: %w", kind(errors.Join(j.err, err)))
	}
	return kind(s.exec(j.ctx, "RELEASE part"))
}

// snapshot runs reads one after the other over one state of the database. After
// each commit a connection's next snapshot costs it its page cache: those who
// wait for a connection share one.
func snapshot(s *statements, batch []*job) {
	ctx := batch[0].ctx
	if err := s.exec(ctx, "BEGIN"); err != nil {
		for _, j := range batch {
			j.err = kind(err)
		}
		return
	}
	for _, j := range batch {
		j.call(s)
	}
	if err := s.exec(ctx, "ROLLBACK"); err != nil {
		batch[0].err = errors.Join(batch[0].err, kind(err))
	}
}
