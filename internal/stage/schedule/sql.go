package schedule

import (
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	// $1 is the time now. A subscription counts while it lives: pinged, else 0.
	columns = `source, origin, part, due, spacing, asked, asked > answered OR pending > parsed, changed, rhythm, ttl, failures, every,
		fresh, gone, skip_hours, skip_days,
		COALESCE((SELECT MAX(pinged) FROM websub WHERE websub.source = polls.source AND state = 'active' AND until > $1), 0)`

	duePolls = `SELECT ` + columns + ` FROM polls WHERE due <= $1 ORDER BY due LIMIT $2 /*skip*/`
	onePoll  = `SELECT ` + columns + ` FROM polls WHERE source = $2 AND every >= 0 /*lock*/`
	planPoll = `UPDATE polls SET due = $2, spacing = $3, asked = $4, why = $5 WHERE source = $1`
	lastDue  = `SELECT due FROM polls WHERE every = 0 AND gone = 0 AND skip_hours = 0 AND skip_days = 0 ORDER BY due DESC LIMIT 1`
	healDue  = `UPDATE polls SET due = $2 WHERE due > $1 AND every = 0 AND gone = 0 AND skip_hours = 0 AND skip_days = 0`
	nextDue  = `SELECT due FROM polls ORDER BY due LIMIT 1`
)

// dueSource is a row of polls as this stage sees it.
type dueSource struct {
	poll        flow.Poll // AsOf is that of the last ask
	due         time.Time
	spacing     time.Duration
	outstanding bool
	gone        bool
	history     history
	skip        skip
	why         string
}

func (d *dueSource) scan(rows interface{ Scan(...any) error }) error {
	var due, spacing, changed, rhythm, ttl, every, fresh, gone, pinged int64
	err := rows.Scan(&d.poll.Source, &d.poll.Origin, &d.poll.Part, &due, &spacing, &d.poll.AsOf, &d.outstanding,
		&changed, &rhythm, &ttl, &d.history.Failures, &every, &fresh, &gone, &d.skip.hours, &d.skip.days, &pinged)
	d.due, d.spacing = store.Time(due), time.Duration(spacing)*time.Millisecond
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
