package api

import (
	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	readToken   = `SELECT 1 FROM tokens WHERE hash = $1`
	countTokens = `SELECT COUNT(*) FROM tokens`
	putToken    = `INSERT INTO tokens (hash, name, added) VALUES ($1, $2, $3)`

	readPage = `SELECT p.id, p.address, COALESCE(s.name, ''), p.title, p.language, p.published, p.updated, p.fetched, p.stored,
			p.revision, p.hash, p.withdrawn, p.twin
		FROM pages p LEFT JOIN sources s ON s.id = p.source WHERE p.url = $1`
	readSourcesOf = `SELECT s.name FROM items i JOIN sources s ON s.id = i.source WHERE i.url = $1 AND NOT i.withdrawn AND NOT i.offer
		UNION SELECT s.name FROM pages p JOIN sources s ON s.id = p.source WHERE p.url = $1 ORDER BY 1`
	readTwins = `SELECT address FROM pages WHERE twin = $1 AND twin <> 0 AND id <> $2 AND NOT withdrawn
		UNION ALL SELECT address FROM pages WHERE id = $1 AND id <> $2 AND NOT withdrawn LIMIT 100`
	readBody  = `SELECT document FROM bodies WHERE page = $1`
	readImage = `SELECT content, type, width, height, variants FROM media WHERE hash = $1 AND state = 1`

	listed = `SELECT p.id, p.address, COALESCE(s.name, ''), p.title, p.language, p.published, p.stored, p.revision
		FROM pages p LEFT JOIN sources s ON s.id = p.source WHERE `
	listRest     = ` AND p.id < $2 AND p.stored >= $3 AND ($4 = '' OR p.language = $4) AND NOT p.withdrawn ORDER BY p.id DESC LIMIT $5`
	listAll      = listed + `$1 = ''` + listRest
	listBySource = listed + `p.source = (SELECT id FROM sources WHERE name = $1)` + listRest
	listByHost   = listed + `p.host = $1` + listRest

	readChanges = `SELECT p.change, p.id, p.address, COALESCE(s.name, ''), p.title, p.language, p.published, p.stored, p.revision, p.hash, p.withdrawn
		FROM pages p LEFT JOIN sources s ON s.id = p.source WHERE p.change > $1 ORDER BY p.change LIMIT $2`
	changeBounds = `SELECT COALESCE((SELECT number FROM counts WHERE name = 'forgotten'), 0), COALESCE(MAX(n), 0)
		FROM (SELECT MAX(change) AS n FROM pages UNION ALL SELECT number FROM counts WHERE name IN ('changes', 'forgotten')) AS given`

	pageState   = `SELECT withdrawn, id FROM pages WHERE url = $1`
	readEvents  = `SELECT e.trace FROM events e JOIN pages p ON p.id = e.page WHERE p.url = $1 ORDER BY e.at`
	readWaiting = `SELECT state, missing, trace FROM documents WHERE url = $1`

	sourceColumns = `SELECT id, name, kind, url, title, trusted, robots, absence, added FROM sources WHERE `
	sourceByURL   = sourceColumns + `url = $1`
	sourceByName  = sourceColumns + `name = $1`
	putSource     = `INSERT INTO sources (id, name, kind, url, host, title, trusted, robots, absence, added) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	putPoll       = `INSERT INTO polls (source, url, origin, part, due, every) VALUES ($1, $2, $3, $4, $5, $6)`

	stateColumns = `SELECT s.id, s.name, s.kind, s.url, s.title, s.trusted, s.robots, s.absence, s.added, p.url, p.gone, p.why, p.due, p.spacing, p.checked, p.changed,
			p.status, p.failures, p.problem, p.items, p.reading, p.etag, p.modified, p.report, p.answered > 0 AND p.pending <= p.parsed,
			p.asked > p.answered, p.pending > p.parsed, p.part, p.led, p.moved, p.pending_url
		FROM sources s JOIN polls p ON p.source = s.id `
	listSources = stateColumns + `ORDER BY s.name`
	sourceState = stateColumns + `WHERE s.id = $1`
	hubState    = `SELECT hub, topic, state, until, pinged, problem FROM websub WHERE source = $1 AND state <> 'leaving'`
	countPages  = `SELECT COUNT(*) FROM pages WHERE source = $1 AND NOT withdrawn`

	readProgress = `SELECT reading, answered > 0 AND pending <= parsed, items FROM polls WHERE source = $1`
	countReady   = `SELECT (SELECT COUNT(*) FROM batches WHERE source = $1) + (SELECT COUNT(*) FROM documents WHERE source = $1 AND state = 2)`
	countWaiting = `SELECT (SELECT COUNT(*) FROM batches WHERE source = $1) + (SELECT COUNT(*) FROM documents WHERE source = $1)`

	// The download of an import takes the place of one that has not been read.
	lastDownload = `SELECT asked, parsed, pending, body FROM polls WHERE source = $1 /*lock*/`
	pendImport   = `UPDATE polls SET asked = $2, answered = $2, checked = $3, status = 200, problem = '', failures = 0, pending = $2,
		pending_blob = $4, pending_url = url, pending_type = $5, pending_etag = '', pending_changed = '', pending_body = $6,
		pending_raw = NULL WHERE source = $1`

	hostColumns  = `SELECT origin, robots, robots_status, robots_until, allowed, failures, refusals, reason, latency, pace FROM hosts WHERE `
	readHost     = hostColumns + `origin = $1`
	waitingHosts = hostColumns + `allowed > $1 AND reason <> '' ORDER BY allowed DESC LIMIT 1000`
	// Hosts whose sources are not asked now, for the list of all sources.
	restingHosts = `SELECT origin, CASE WHEN allowed > $1 THEN robots END, robots_status, robots_until, allowed, failures, refusals, reason, latency, pace
		FROM hosts WHERE allowed > $1 OR robots_status = 503 AND robots_until > $1`
	// Origins of a host on any port.
	originsOfHost = `SELECT origin FROM hosts WHERE origin = $1 OR origin LIKE $2 ESCAPE '!'
		UNION SELECT origin FROM polls WHERE origin = $1 OR origin LIKE $2 ESCAPE '!'
		UNION SELECT origin FROM fetches WHERE part = $3 AND answered = 0 AND (origin = $1 OR origin LIKE $2 ESCAPE '!') ORDER BY 1 LIMIT 100`
	robotParts = `SELECT name FROM leases WHERE name LIKE 'robot/%' AND until >= $1`
	readRobot  = `SELECT owner FROM leases WHERE name = $1 AND until >= $2`
	readQueue  = `SELECT kind, priority, COUNT(*), MIN(wanted) FROM fetches WHERE part = $2 AND origin = $1 AND answered = 0 GROUP BY kind, priority
		UNION ALL SELECT 'poll', 0, COUNT(*), MIN(asked) FROM polls WHERE origin = $1 AND asked > answered AND pending <= parsed HAVING COUNT(*) > 0
		ORDER BY 2, 1`
	sourcesOfHost = `SELECT COALESCE(s.name, ''), p.url, p.checked, p.status, p.failures, p.problem, p.due
		FROM polls p LEFT JOIN sources s ON s.id = p.source WHERE p.origin = $1 ORDER BY p.checked DESC LIMIT 100`

	downloadsAfter = `SELECT d.number, d.kind, COALESCE(s.name, ''), d.url, d.type, d.etag, d.modified, d.fetched
		FROM downloads d LEFT JOIN sources s ON s.id = d.source
		WHERE d.number > $1 AND ',' || $2 || ',' LIKE '%,' || d.kind || ',%' ORDER BY d.number LIMIT $3`
	bodyOfDownload = `SELECT blob, type FROM downloads WHERE number = $1`

	subscriptionColumns = `SELECT name, kinds, position, added, seen, lost, (SELECT COUNT(*) FROM downloads d
		WHERE (d.number > position OR d.number = 0) AND ',' || kinds || ',' LIKE '%,' || d.kind || ',%') FROM subscriptions `
	readSubscription  = subscriptionColumns + `WHERE name = $1`
	listSubscriptions = subscriptionColumns + `ORDER BY name`
	putSubscription   = `INSERT INTO subscriptions (name, kinds, position, added, seen) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (name) DO UPDATE SET kinds = excluded.kinds, seen = excluded.seen`
	seenSubscription = `UPDATE subscriptions SET seen = $2 WHERE name = $1`
	ackSubscription  = `UPDATE subscriptions SET position = $2, seen = $3, lost = CASE WHEN lost > $4 THEN lost - $4 ELSE 0 END
		WHERE name = $1 AND position <= $2`
	dropSubscription = `DELETE FROM subscriptions WHERE name = $1`

	failedOfHost = `SELECT url, attempts, status, problem, due FROM fetches
		WHERE part = $2 AND origin = $1 AND answered = 0 AND attempts > 0 ORDER BY priority, wanted LIMIT 20`

	askSource = `UPDATE polls SET due = $2, gone = 0 WHERE source = $1 AND every >= 0`

	dropPoll   = `DELETE FROM polls WHERE source = $1`
	dropItems  = `DELETE FROM items WHERE source = $1`
	dropSource = `DELETE FROM sources WHERE id = $1`
)

func readSource(q store.Reader, query string, arg any) (s courant.Source, err error) {
	var added int64
	err = q.Row(query, arg).Scan(&s.ID, &s.Name, &s.Kind, &s.URL, &s.Title, &s.Trusted, &s.Robots, &s.Absence, &added)
	s.Added = store.Time(added)
	return s, err
}
