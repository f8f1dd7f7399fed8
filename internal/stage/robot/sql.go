package robot

const (
	countLive  = `SELECT COUNT(*) FROM leases WHERE name LIKE $1 AND until >= $2`
	renewParts = `UPDATE leases SET until = $4 WHERE owner = $1 AND name LIKE $2 AND until >= $3 RETURNING name, epoch`
	takenParts = `SELECT name FROM leases WHERE name LIKE $1 AND until >= $2`
	freePart   = `UPDATE leases SET until = $3, owner = '' WHERE name = $1 AND owner = $2`

	wantedPolls = `SELECT source, origin, part, asked, led FROM polls WHERE asked > answered AND pending <= parsed`
	// The parts that have work, found by as many steps through an index.
	wantedParts = `WITH RECURSIVE p(part) AS (SELECT MIN(part) FROM fetches WHERE answered = 0
		UNION ALL SELECT (SELECT MIN(part) FROM fetches WHERE answered = 0 AND part > p.part) FROM p WHERE p.part IS NOT NULL)
		SELECT part FROM p WHERE part IS NOT NULL`
	wantedOfPart = `SELECT hash, origin, priority, wanted FROM (SELECT hash, origin, priority, wanted, due,
			ROW_NUMBER() OVER (PARTITION BY origin ORDER BY priority, wanted) AS n
			FROM fetches WHERE part = $1 AND answered = 0 AND due <= $2) AS w WHERE n <= $3`
	wantedOfHost = `SELECT hash, origin, priority, wanted FROM fetches WHERE part = $1 AND origin = $2 AND answered = 0 AND due <= $3
		ORDER BY priority, wanted LIMIT $4`

	readHost = `SELECT origin, robots, robots_status, robots_until, allowed, failures, refusals, latency, pace FROM hosts WHERE origin IN ($1, $2)`
	keepHost = `INSERT INTO hosts (origin, part, robots, robots_status, robots_until, allowed, failures, refusals, latency)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (origin) DO UPDATE SET robots = excluded.robots, robots_status = excluded.robots_status,
			robots_until = excluded.robots_until, allowed = excluded.allowed, failures = excluded.failures,
			refusals = excluded.refusals, latency = excluded.latency`
	blockHost = `INSERT INTO hosts (origin, part, allowed, failures, refusals, reason, latency, pace) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (origin) DO UPDATE SET allowed = excluded.allowed, failures = excluded.failures, refusals = excluded.refusals,
			reason = excluded.reason, latency = excluded.latency, pace = excluded.pace`

	readPoll = `SELECT p.url, p.etag, p.modified, p.body, p.raw, COALESCE(LENGTH(p.raw) = 0, FALSE), p.asked, p.failures, p.led, p.led_hops, p.moved, p.moved_since, p.whole,
			p.lies, COALESCE(s.kind, 'feed'), COALESCE(s.url, p.url), COALESCE(s.robots, TRUE)
		FROM polls p LEFT JOIN sources s ON s.id = p.source WHERE p.source = $1 AND p.asked > p.answered AND p.pending <= p.parsed`
	answerPoll = `UPDATE polls SET answered = $2, checked = $3, status = $4, problem = $5,
		failures = CASE WHEN $5 = '' THEN 0 ELSE failures + 1 END, led = '', led_hops = 0, fresh = $9, gone = $10,
		etag = CASE WHEN $11 = '' THEN etag ELSE $11 END, modified = CASE WHEN $12 = '' THEN modified ELSE $12 END,
		whole = CASE WHEN $4 = 200 THEN $3 ELSE whole END
		WHERE source = $1 AND answered < $2
			AND EXISTS (SELECT 1 FROM leases WHERE name = $6 AND owner = $7 AND epoch = $8)` // as Tx.Holds asks
	forgetValidators = `UPDATE polls SET etag = '', modified = '' WHERE source = $1 AND etag = $2 AND modified = $3`
	pendPoll         = `UPDATE polls SET answered = $2, checked = $3, status = $4, problem = '', failures = 0, pending = $2,
		pending_blob = $5, pending_url = $6, pending_type = $7, pending_etag = $8, pending_changed = $9, pending_body = $10,
		pending_raw = $11, led = '', led_hops = 0, fresh = $12, gone = 0, whole = $3,
		pending_hubs = $13, pending_self = $14
		WHERE source = $1 AND answered < $2`
	leadPoll  = `UPDATE polls SET led = $3, led_hops = $4 WHERE source = $1 AND asked = $2 AND answered < $2`
	noteLies  = `UPDATE polls SET lies = $2 WHERE source = $1`
	noteMoved = `UPDATE polls SET moved = $2, moved_seen = $3, moved_since = $4 WHERE source = $1`
	seenMoved = `SELECT moved_seen FROM polls WHERE source = $1 AND moved = $2`
	askAt     = `UPDATE polls SET url = $2, origin = $3, part = $4 WHERE source = $1`
	settle    = `UPDATE sources SET url = $2, host = $3 WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM sources WHERE url = $2)`

	readFetch   = `SELECT url, kind, attempts, led, led_hops FROM fetches WHERE hash = $1 AND answered = 0`
	answerFetch = `UPDATE fetches SET answered = $2, status = $3, blob = $4, type = $5, problem = $6, attempts = attempts + 1
		WHERE hash = $1 AND answered = 0`
	retryFetch = `UPDATE fetches SET due = $2, status = $3, problem = $4, attempts = attempts + 1
		WHERE hash = $1 AND answered = 0`
	leadFetch = `UPDATE fetches SET led = $2, led_hops = $3, origin = $4, part = $5 WHERE hash = $1 AND answered = 0`

	bodiesInUse = `SELECT pending_blob FROM polls WHERE pending > parsed AND pending_blob <> ''
		UNION ALL SELECT blob FROM fetches WHERE answered > 0 AND blob <> ''`
)
