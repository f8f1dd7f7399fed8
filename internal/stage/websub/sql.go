package websub

import (
	"strings"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
)

const (
	columns = `id, source, hub, topic, callback, secret, previous, state, asked, verified, until, attempts`

	dueHubs = `SELECT DISTINCT hub FROM websub WHERE due <= $1 LIMIT 1000`
	dueRow  = `SELECT ` + columns + `, COALESCE((SELECT hubs FROM polls WHERE polls.source = websub.source), '') FROM websub
		WHERE hub = $1 AND due <= $2 ORDER BY due LIMIT 1 /*skip*/`
	whatIsDue  = `SELECT COALESCE((SELECT MIN(due) FROM websub), 0), (SELECT COUNT(*) FROM websub WHERE owed > 0)`
	byID       = `SELECT ` + columns + `, '' FROM websub WHERE id = $1`
	lockRow    = `SELECT ` + columns + `, '' FROM websub WHERE id = $1 /*lock*/`
	waitsUntil = `SELECT COALESCE(MAX(allowed), 0) FROM hosts WHERE origin IN ($1, $2)` // robot's, of a host and of all hosts of its domain
	countState = `SELECT state, COUNT(*) FROM websub GROUP BY state`

	noteAsk = `UPDATE websub SET hub = $2, callback = $3, secret = $4, previous = $5, state = $6, asked = $7, attempts = $8, due = $9
		WHERE id = $1`
	noteProblem = `UPDATE websub SET problem = $3, due = CASE WHEN due < $4 THEN $4 ELSE due END
		WHERE id = $1 AND asked = $2 AND verified < asked`
	notAsked   = `UPDATE websub SET problem = $2, due = $3 WHERE id = $1`
	noteVerify = `UPDATE websub SET state = 'active', verified = $2, until = $3, due = $4, attempts = 0, problem = '' WHERE id = $1`
	noteDenied = `UPDATE websub SET state = 'denied', until = 0, due = $2, problem = $3 WHERE id = $1`
	notePing   = `UPDATE websub SET pinged = $2 WHERE id = $1`
	noteOwed   = `UPDATE websub SET pinged = $2, owed = $2 WHERE id = $1`
	dropRow    = `DELETE FROM websub WHERE id = $1`

	// What feeds name and what is subscribed to. A source is added and removed by
	// people, and its hubs change: both sides are compared.
	named = `SELECT p.source, p.url, p.pending_url, p.hubs, p.self FROM polls p JOIN sources s ON s.id = p.source
		WHERE p.hubs <> '' AND s.kind = 'feed' AND p.every >= 0
		AND NOT EXISTS (SELECT 1 FROM websub w WHERE w.source = p.source AND w.state <> 'leaving')`
	namedBy    = named + ` AND p.source = $1`
	subscribed = `SELECT w.id, w.source, w.hub, w.topic, w.asked, COALESCE(p.url, ''), COALESCE(p.pending_url, ''), COALESCE(p.hubs, ''), COALESCE(p.self, '')
		FROM websub w LEFT JOIN polls p ON p.source = w.source WHERE w.state <> 'leaving'`
	subscribedBy = subscribed + ` AND w.source = $1`
	putRow       = `INSERT INTO websub (id, source, hub, topic, secret, state, due) VALUES ($1, $2, $3, $4, $5, 'wanted', $6) ON CONFLICT DO NOTHING`
	leaveHub     = `UPDATE websub SET state = 'leaving', attempts = 0, due = $2 WHERE id = $1 AND state <> 'leaving'`

	readPoll = `SELECT p.origin, p.part, p.asked, p.asked > p.answered OR p.pending > p.parsed, p.body, CASE WHEN p.pending > p.parsed THEN p.pending_body END
		FROM polls p JOIN sources s ON s.id = p.source WHERE p.source = $1 AND s.kind = 'feed'`
	// The validators stay those of what was polled last: the body has none of its
	// own, which robot knows by the empty pending_raw. What failed at the source's server has not been put right by a hub.
	pendPing = `UPDATE polls SET asked = $3, answered = $3, checked = $4, pending = $3, pending_blob = $5,
		pending_url = CASE WHEN pending_url = '' THEN url ELSE pending_url END, pending_type = $6, pending_etag = etag,
		pending_changed = modified, pending_body = $7, pending_raw = '', pending_hubs = hubs, pending_self = self
		WHERE source = $1 AND asked = $2 AND asked <= answered AND pending <= parsed`

	settleOwed = `UPDATE websub SET owed = 0 WHERE owed > 0
		AND NOT EXISTS (SELECT 1 FROM polls WHERE polls.source = websub.source AND polls.asked <= websub.owed)`
	bringOwed = `UPDATE polls SET due = CASE WHEN asked + $2 > $1 THEN asked + $2 ELSE $1 END
		WHERE source IN (SELECT source FROM websub WHERE owed > 0) AND asked <= answered AND pending <= parsed
		AND due > $1 AND due > asked + $2`
)

// subscription is a row of websub as the hub is dealt with.
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
