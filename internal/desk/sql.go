package desk

import (
	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	sourceColumns = `SELECT id, name, kind, url, title, trusted, robots, absence, site, folder, added FROM sources WHERE `
	sourceByURL   = sourceColumns + `url = $1`
	sourceByName  = sourceColumns + `name = $1`
	fixedInterval = `SELECT fixed_interval FROM sources WHERE id = $1`
	putSource     = `INSERT INTO sources (id, name, kind, url, host, title, trusted, robots, absence, site, folder, fixed_interval, added)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
	setSource  = `UPDATE sources SET kind = $2, title = $3, trusted = $4, robots = $5, absence = $6, site = $7, folder = $8, fixed_interval = $9 WHERE id = $1`
	putPoll    = `INSERT INTO polls (source, due) VALUES ($1, $2)`
	putAnswer  = `INSERT INTO answers (source, url, origin, partition) VALUES ($1, $2, $3, $4)`
	putReading = `INSERT INTO readings (source) VALUES ($1)`

	dropPoll    = `DELETE FROM polls WHERE source = $1`
	dropAnswer  = `DELETE FROM answers WHERE source = $1`
	dropPending = `DELETE FROM pending WHERE source = $1`
	dropReading = `DELETE FROM readings WHERE source = $1`
	dropSource  = `DELETE FROM sources WHERE id = $1`

	putRemoval  = `INSERT INTO removals (source) VALUES ($1)`
	nextRemoval = `SELECT source FROM removals ORDER BY source LIMIT 1`
	dropItems   = `DELETE FROM items WHERE source = $1 AND key IN (SELECT key FROM items WHERE source = $1 ORDER BY key LIMIT $2)`
	dropRemoval = `DELETE FROM removals WHERE source = $1`

	dueNow     = `UPDATE polls SET due = $2 WHERE source = $1`
	notGone    = `UPDATE answers SET gone_since = 0 WHERE source = $1`
	newestBody = `SELECT r.body FROM readings r WHERE r.source = $1 AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.source = r.source)`
	takeAsOf   = `UPDATE answers SET as_of = CASE WHEN as_of < $2 THEN $2 ELSE as_of + 1 END WHERE source = $1 RETURNING as_of`

	putSubscription = `INSERT INTO subscriptions (name, kinds, position, added, seen) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (name) DO UPDATE SET kinds = excluded.kinds, seen = excluded.seen`
	readKinds        = `SELECT kinds FROM subscriptions WHERE name = $1`
	dropSubscription = `DELETE FROM subscriptions WHERE name = $1`

	readZone = `SELECT off FROM zones WHERE name = $1`
	putZone  = `INSERT INTO zones (name, off, switched) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET off = excluded.off, switched = excluded.switched`

	putAudit  = `INSERT INTO audit (id, at, account, action, subject, change) VALUES ($1, $2, $3, $4, $5, $6)`
	readAudit = `SELECT id, at, account, action, subject, change FROM audit ORDER BY at DESC, id DESC LIMIT $1`
)

func readSource(q store.Reader, query string, arg any) (s courant.Source, err error) {
	var added int64
	var folder string
	err = q.Row(query, arg).Scan(&s.ID, &s.Name, &s.Kind, &s.URL, &s.Title, &s.Trusted, &s.Robots, &s.Absence, &s.Site, &folder, &added)
	s.Added, s.Folder = store.Time(added), courant.FoldersOf(folder)
	return s, err
}
