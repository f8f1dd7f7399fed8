package websub

import (
	"strings"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
)

const (
	columns = `id, source, hub, topic, callback, secret, previous, state, asked, verified, until, attempts`

	// One step through an index for each hub.
	dueHubs = `WITH RECURSIVE h(hub) AS (SELECT MIN(hub) FROM websub
		UNION ALL SELECT (SELECT MIN(hub) FROM websub WHERE hub > h.hub) FROM h WHERE h.hub IS NOT NULL)
		SELECT hub FROM h WHERE hub IS NOT NULL AND EXISTS (SELECT 1 FROM websub w WHERE w.hub = h.hub AND w.due <= $1) LIMIT 1000`
	dueRow = `SELECT ` + columns + `, COALESCE((SELECT hubs FROM readings r WHERE r.source = websub.source), '') FROM websub
		WHERE hub = $1 AND due <= $2 ORDER BY due LIMIT 1 /*skip*/`
	whatIsDue  = `SELECT COALESCE((SELECT MIN(due) FROM websub), 0), (SELECT COUNT(*) FROM websub WHERE owed > 0)`
	byID       = `SELECT ` + columns + `, '' FROM websub WHERE id = $1`
	lockRow    = `SELECT ` + columns + `, '' FROM websub WHERE id = $1 /*lock*/`
	waitsUntil = `SELECT COALESCE(MAX(allowed), 0) FROM hosts WHERE origin IN ($1, $2)` // the robot's back-off from a host or from its whole domain
	countState = `SELECT state, COUNT(*) FROM websub GROUP BY state`

	noteAsk = `UPDATE websub SET hub = $2, callback = $3, secret = $4, previous = $5, state = $6, asked = $7, attempts = $8, due = $9
		WHERE id = $1`
	noteProblem = `UPDATE websub SET problem = $3, due = CASE WHEN due < $4 THEN $4 ELSE due END
		WHERE id = $1 AND asked = $2 AND verified < asked`
	notAsked   = `UPDATE websub SET problem = $2, due = $3 WHERE id = $1`
	noteVerify = `UPDATE websub SET state = 'active', verified = $2, until = $3, due = $4, attempts = 0, problem = '' WHERE id = $1`
	noteDenied = `UPDATE websub SET state = 'denied', until = 0, due = $2, problem = $3 WHERE id = $1`
	notePing   = `UPDATE websub SET pinged = $2 WHERE id = $1`
	delivered  = `SELECT COALESCE(delivered, '') FROM websub WHERE id = $1`
	noteBody   = `UPDATE websub SET pinged = $2, delivered = $3 WHERE id = $1`
	noteOwed   = `UPDATE websub SET pinged = $2, owed = $2 WHERE id = $1`
	dropRow    = `DELETE FROM websub WHERE id = $1`

	// The hubs that feeds name, and the subscriptions. Sources come and go and their
	// hubs change, so both sides are compared. SQLite joins in the order written.
	named = `SELECT a.source, a.url, r.url, r.hubs, r.self FROM readings r CROSS JOIN answers a CROSS JOIN sources s
		WHERE r.hubs <> '' AND a.source = r.source AND s.id = r.source AND s.kind = 'feed'
		AND NOT EXISTS (SELECT 1 FROM websub w WHERE w.source = r.source AND w.state <> 'leaving')`
	namedBy    = named + ` AND r.source = $1`
	subscribed = `SELECT w.id, w.source, w.hub, w.topic, w.asked, COALESCE(a.url, ''), COALESCE(r.url, ''), COALESCE(r.hubs, ''), COALESCE(r.self, '')
		FROM websub w LEFT JOIN answers a ON a.source = w.source LEFT JOIN readings r ON r.source = w.source WHERE w.state <> 'leaving'`
	subscribedBy = subscribed + ` AND w.source = $1`
	putRow       = `INSERT INTO websub (id, source, hub, topic, secret, state, due) VALUES ($1, $2, $3, $4, $5, 'wanted', $6) ON CONFLICT DO NOTHING`
	leaveHub     = `UPDATE websub SET state = 'leaving', attempts = 0, due = $2 WHERE id = $1 AND state <> 'leaving'`

	readPoll = `SELECT a.origin, a.partition, a.as_of, a.asked > a.answered OR p.source IS NOT NULL, r.body, p.body, COALESCE(NULLIF(r.url, ''), a.url),
			CASE WHEN a.confirmed > r.as_of THEN a.etag ELSE r.etag END, CASE WHEN a.confirmed > r.as_of THEN a.modified ELSE r.modified END, r.hubs, r.self
		FROM answers a JOIN sources s ON s.id = a.source JOIN readings r ON r.source = a.source LEFT JOIN pending p ON p.source = a.source
		WHERE a.source = $1 AND s.kind = 'feed'`
	// Succeeds if nothing was polled or delivered since as of $2.
	takeAsOf = `UPDATE answers SET as_of = $3 WHERE source = $1 AND as_of = $2 AND asked <= answered
		AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.source = answers.source)`

	settleOwed = `UPDATE websub SET owed = 0 WHERE owed > 0
		AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.source = websub.source AND a.as_of <= websub.owed)`
	// $1 is the time now, $2 the minimum interval after the last poll or delivery.
	bringOwed = `UPDATE polls SET due = (SELECT CASE WHEN a.as_of + $2 > $1 THEN a.as_of + $2 ELSE $1 END FROM answers a WHERE a.source = polls.source)
		WHERE source IN (SELECT a.source FROM websub w JOIN answers a ON a.source = w.source WHERE w.owed > 0 AND a.asked <= a.answered
			AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.source = a.source))
		AND due > $1 AND due > (SELECT a.as_of + $2 FROM answers a WHERE a.source = polls.source)`
)

// subscription is a row of websub.
type subscription struct {
	id, hub, topic, callback string
	source                   int64
	secret, previous         string
	state                    string
	asked, verified, until   time.Time
	attempts                 int
	hubs                     []string // that the feed names now
}

func (s *subscription) scan(rows interface{ Scan(...any) error }) error {
	var asked, verified, until int64
	var hubs string
	err := rows.Scan(&s.id, &s.source, &s.hub, &s.topic, &s.callback, &s.secret, &s.previous, &s.state, &asked, &verified, &until, &s.attempts, &hubs)
	s.asked, s.verified, s.until = store.Time(asked), store.Time(verified), store.Time(until)
	s.hubs = strings.Fields(hubs)
	return err
}
