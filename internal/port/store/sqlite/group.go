package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// groupSize and groupTime limit how many transactions share a commit, so that none waits
// for long.
const (
	groupSize = 100
	groupTime = 5 * time.Millisecond
)

// commit runs transactions one after the other and commits them together; while one group
// syncs, the next one gathers. Each transaction has its own savepoint, so that its failure
// does not affect the others.
func commit(s *statements, batch []*job) int {
	done, err := group(s, batch)
	if err != nil {
		for _, j := range batch[:done] {
			j.err = errors.Join(j.err, err)
		}
	}
	return done
}

// group runs transactions until groupTime and commits them. Its error applies to all
// done transactions.
func group(s *statements, batch []*job) (done int, err error) {
	ctx := context.WithoutCancel(batch[0].ctx)
	start := time.Now()
	if err := s.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return len(batch), kind(err)
	}
	for done < len(batch) && (done == 0 || time.Since(start) < groupTime) {
		done++
		if err := part(s, batch[done-1]); err != nil {
			return done, errors.Join(err, s.exec(ctx, "ROLLBACK"))
		}
	}
	if err := s.exec(ctx, "COMMIT"); err != nil {
		s.exec(ctx, "ROLLBACK") // fails if SQLite has already rolled back
		return done, kind(err)
	}
	return done, nil
}

// part runs one job inside the group's transaction. If the job fails, its changes are
// rolled back and its error goes to its caller; an error of part ends the whole group.
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
		// a full disk makes SQLite roll back the whole transaction
		return fmt.Errorf("roll back to savepoint: %w", kind(errors.Join(j.err, err)))
	}
	return kind(s.exec(j.ctx, "RELEASE part"))
}
