package schedule

import (
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	// $1 is the time now. The last column is the last delivery of an active subscription, else 0.
	columns = `p.source, a.origin, a.partition, a.as_of, p.due, p.poll_interval, a.asked > a.answered OR EXISTS (SELECT 1 FROM pending w WHERE w.source = p.source),
		r.changed, r.rhythm, r.ttl, a.failures, s.fixed_interval, a.fresh_for, a.gone_since, r.skip_hours, r.skip_days,
		COALESCE((SELECT MAX(pinged) FROM websub WHERE websub.source = p.source AND state = 'active' AND until > $1), 0)
		FROM polls p JOIN sources s ON s.id = p.source JOIN answers a ON a.source = p.source JOIN readings r ON r.source = p.source`

	duePolls = `SELECT ` + columns + ` WHERE p.due <= $1 ORDER BY p.due LIMIT $2 /*skip p*/`
	onePoll  = `SELECT ` + columns + ` WHERE p.source = $2 /*lock p*/`
	planPoll = `UPDATE polls SET due = $2, poll_interval = $3, reason = $4 WHERE source = $1`
	askPoll  = `UPDATE answers SET as_of = $2, asked = $2 WHERE source = $1 AND as_of < $2`
	// Sources whose due time only the adaptation sets: it is never later than the longest interval.
	adapted = `SELECT 1 FROM sources s JOIN answers a ON a.source = s.id JOIN readings r ON r.source = s.id
		WHERE s.id = polls.source AND s.fixed_interval = 0 AND a.gone_since = 0 AND r.skip_hours = 0 AND r.skip_days = 0`
	// $2 is table.Never, the due time of sources that are not polled any more.
	lateDue = `SELECT due FROM polls WHERE due > $1 AND due < $2 AND EXISTS (` + adapted + `) LIMIT 1`
	healDue = `UPDATE polls SET due = $2 WHERE due > $1 AND EXISTS (` + adapted + `)`
	nextDue = `SELECT due FROM polls ORDER BY due LIMIT 1`

	// Work that should have been taken up by now, for metrics: $1 is the time, $2 the most rows that are counted.
	overduePolls  = `SELECT COUNT(*), COALESCE(MIN(due), 0) FROM (SELECT due FROM polls WHERE due <= $1 ORDER BY due LIMIT $2) AS part`
	dueFound      = `SELECT COUNT(*), COALESCE(MIN(due), 0) FROM (SELECT due FROM documents WHERE state = 0 AND due <= $1 ORDER BY due LIMIT $2) AS part`
	dueWaiting    = `SELECT COUNT(*), COALESCE(MIN(due), 0) FROM (SELECT due FROM documents WHERE state = 1 AND due <= $1 ORDER BY due LIMIT $2) AS part`
	dueReady      = `SELECT COUNT(*), COALESCE(MIN(due), 0) FROM (SELECT due FROM documents WHERE state = 2 AND due <= $1 ORDER BY due LIMIT $2) AS part`
	dueBatches    = `SELECT COUNT(*), COALESCE(MIN(due), 0) FROM (SELECT due FROM batches WHERE due <= $1 ORDER BY due LIMIT $2) AS part`
	wantedFetches = `SELECT COUNT(*) FROM (SELECT partition FROM fetches WHERE answered = 0 LIMIT $1) AS part`
	countSources  = `SELECT COUNT(*), COALESCE(SUM(CASE WHEN gone_since = 0 AND checked = 0 THEN 1 ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN gone_since = 0 AND checked > 0 AND failures > 0 THEN 1 ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN gone_since > 0 THEN 1 ELSE 0 END), 0) FROM answers`
)

// dueSource is a source with all that its next poll depends on.
type dueSource struct {
	poll        flow.Poll // AsOf is the newest that was given, then that of the new poll
	due         time.Time
	interval    time.Duration
	outstanding bool
	gone        bool
	history     history
	skip        skip
	why         string
}

func (d *dueSource) scan(rows interface{ Scan(...any) error }) error {
	var due, interval, changed, rhythm, ttl, every, fresh, gone, pinged int64
	err := rows.Scan(&d.poll.Source, &d.poll.Origin, &d.poll.Partition, &d.poll.AsOf, &due, &interval, &d.outstanding,
		&changed, &rhythm, &ttl, &d.history.Failures, &every, &fresh, &gone, &d.skip.hours, &d.skip.days, &pinged)
	d.due, d.interval = store.Time(due), time.Duration(interval)*time.Millisecond
	d.history.Fresh, d.gone = time.Duration(fresh)*time.Millisecond, gone > 0
	d.history.Every = time.Duration(every) * time.Millisecond
	d.history.Changed = store.Time(changed)
	d.history.Rhythm = time.Duration(rhythm) * time.Millisecond
	d.history.Pinged = store.Time(pinged)
	d.history.TTL = time.Duration(ttl) * time.Millisecond
	return err
}

func dueSources(tx *store.Tx) (due []dueSource, err error) {
	err = tx.Rows(func(rows store.Rows) error {
		var d dueSource
		err := d.scan(rows)
		due = append(due, d)
		return err
	}, duePolls, tx.Now().UnixMilli(), batch)
	return due, err
}

func oneSource(tx *store.Tx, id int64) (d dueSource, err error) {
	err = d.scan(tx.Row(onePoll, tx.Now().UnixMilli(), id))
	return d, err
}
