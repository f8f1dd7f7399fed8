package robot

const (
	countLive  = `SELECT COUNT(*) FROM leases WHERE name LIKE $1 AND until >= $2`
	renewParts = `UPDATE leases SET until = $4 WHERE owner = $1 AND name LIKE $2 AND until >= $3 RETURNING name, epoch`
	takenParts = `SELECT name FROM leases WHERE name LIKE $1 AND until >= $2`
	freePart   = `UPDATE leases SET until = $3, owner = '' WHERE name = $1 AND owner = $2`

	wantedPolls = `SELECT a.source, a.origin, a.partition, a.asked, a.redirect_url FROM answers a WHERE a.asked > a.answered
		AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.source = a.source)`
	// The partitions that have work: one step through an index for each.
	wantedParts = `WITH RECURSIVE p(n) AS (SELECT MIN(partition) FROM fetches WHERE answered = 0
		UNION ALL SELECT (SELECT MIN(partition) FROM fetches WHERE answered = 0 AND partition > p.n) FROM p WHERE p.n IS NOT NULL)
		SELECT n FROM p WHERE n IS NOT NULL`
	wantedOfPart = `SELECT hash, origin, priority, wanted FROM (SELECT hash, origin, priority, wanted, due,
			ROW_NUMBER() OVER (PARTITION BY origin ORDER BY priority, wanted) AS n
			FROM fetches WHERE partition = $1 AND answered = 0 AND due <= $2) AS w WHERE n <= $3`
	wantedOfHost = `SELECT hash, origin, priority, wanted FROM fetches WHERE partition = $1 AND origin = $2 AND answered = 0 AND due <= $3
		ORDER BY priority, wanted LIMIT $4`

	readHost = `SELECT origin, robots, robots_status, robots_until, allowed, failures, refusals, latency, pace FROM hosts WHERE origin IN ($1, $2)`
	keepHost = `INSERT INTO hosts (origin, partition, robots, robots_status, robots_until, allowed, failures, refusals, latency)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (origin) DO UPDATE SET robots = excluded.robots, robots_status = excluded.robots_status,
			robots_until = excluded.robots_until, allowed = excluded.allowed, failures = excluded.failures,
			refusals = excluded.refusals, latency = excluded.latency`
	blockHost = `INSERT INTO hosts (origin, partition, allowed, failures, refusals, reason, latency, pace) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (origin) DO UPDATE SET allowed = excluded.allowed, failures = excluded.failures, refusals = excluded.refusals,
			reason = excluded.reason, latency = excluded.latency, pace = excluded.pace`

	// The validators are those of the last parsed body, or newer ones from a 304, unless
	// the server refuses them.
	readPoll = `SELECT a.url, CASE WHEN r.etag = '' AND r.modified = '' OR a.refused >= r.as_of THEN '' WHEN a.confirmed > r.as_of THEN a.etag ELSE r.etag END,
			CASE WHEN r.etag = '' AND r.modified = '' OR a.refused >= r.as_of THEN '' WHEN a.confirmed > r.as_of THEN a.modified ELSE r.modified END,
			r.as_of, r.body, r.raw, r.pushed, a.asked, a.failures, a.redirect_url, a.redirect_hops, a.moved_url, a.moved_since,
			a.last_body_at, a.distrust_until, s.kind, s.url, s.robots
		FROM answers a JOIN readings r ON r.source = a.source JOIN sources s ON s.id = a.source
		WHERE a.source = $1 AND a.asked > a.answered AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.source = a.source)`
	answerPoll = `UPDATE answers SET answered = $2, checked = $3, status = $4, problem = $5,
		failures = CASE WHEN $5 = '' THEN 0 ELSE failures + 1 END, redirect_url = '', redirect_hops = 0, fresh_for = $9, gone_since = $10,
		last_body_at = CASE WHEN $4 = 200 THEN $3 ELSE last_body_at END
		WHERE source = $1 AND answered < $2
			AND EXISTS (SELECT 1 FROM leases WHERE name = $6 AND owner = $7 AND epoch = $8)` // the same check as Tx.Holds
	confirmValidators = `UPDATE answers SET confirmed = $2, etag = $3, modified = $4 WHERE source = $1`
	refuseValidators  = `UPDATE answers SET refused = $2 WHERE source = $1`
	bringBody         = `UPDATE answers SET answered = $2, checked = $3, status = $4, problem = '', failures = 0, redirect_url = '',
		redirect_hops = 0, fresh_for = $5, gone_since = 0, last_body_at = $3 WHERE source = $1 AND answered < $2`
	leadPoll     = `UPDATE answers SET redirect_url = $3, redirect_hops = $4 WHERE source = $1 AND asked = $2 AND answered < $2`
	noteDistrust = `UPDATE answers SET distrust_until = $2 WHERE source = $1`
	noteMoved    = `UPDATE answers SET moved_url = $2, moved_seen = $3, moved_since = $4 WHERE source = $1`
	seenMoved    = `SELECT moved_seen FROM answers WHERE source = $1 AND moved_url = $2`
	askAt        = `UPDATE answers SET url = $2, origin = $3, partition = $4 WHERE source = $1`
	settle       = `UPDATE sources SET url = $2, host = $3 WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM sources WHERE url = $2)`

	readFetch   = `SELECT url, kind, attempts, redirect_url, redirect_hops FROM fetches WHERE hash = $1 AND answered = 0`
	answerFetch = `UPDATE fetches SET answered = $2, status = $3, blob = $4, type = $5, problem = $6, attempts = attempts + 1
		WHERE hash = $1 AND answered = 0`
	retryFetch = `UPDATE fetches SET due = $2, status = $3, problem = $4, attempts = attempts + 1
		WHERE hash = $1 AND answered = 0`
	leadFetch = `UPDATE fetches SET redirect_url = $2, redirect_hops = $3, origin = $4, partition = $5 WHERE hash = $1 AND answered = 0`

	bodiesInUse = `SELECT blob FROM pending WHERE blob <> ''
		UNION ALL SELECT blob FROM fetches WHERE answered > 0 AND blob <> ''`
)
