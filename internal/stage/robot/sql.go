package robot

const (
	countLive  = `SELECT COUNT(*) FROM leases WHERE name LIKE $1 AND until >= $2`
	renewParts = `UPDATE leases SET until = $4 WHERE owner = $1 AND name LIKE $2 AND until >= $3 RETURNING name, epoch`
	takenParts = `SELECT name FROM leases WHERE name LIKE $1 AND until >= $2`
	freePart   = `UPDATE leases SET until = $3, owner = '' WHERE name = $1 AND owner = $2`

	wantedPolls   = `SELECT source, origin, part, asked FROM polls WHERE asked > answered AND pending <= parsed`
	wantedFetches = `SELECT hash, origin, part, priority, wanted FROM fetches WHERE answered = 0 AND due <= $1
		ORDER BY priority, wanted LIMIT $2`

	readHost = `SELECT robots, robots_status, robots_until, allowed, failures, latency FROM hosts WHERE origin = $1`
	keepHost = `INSERT INTO hosts (origin, part, robots, robots_status, robots_until, allowed, failures, reason, latency)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (origin) DO UPDATE SET robots = excluded.robots, robots_status = excluded.robots_status,
			robots_until = excluded.robots_until, allowed = excluded.allowed, failures = excluded.failures,
			reason = excluded.reason, latency = excluded.latency`
	blockHost = `INSERT INTO hosts (origin, part, allowed, failures, reason) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (origin) DO UPDATE SET allowed = excluded.allowed, failures = excluded.failures, reason = excluded.reason`

	readPoll = `SELECT p.url, p.etag, p.modified, p.body, p.raw, COALESCE(LENGTH(p.raw) = 0, FALSE), p.asked, COALESCE(s.kind, 'feed')
		FROM polls p LEFT JOIN sources s ON s.id = p.source
		WHERE p.source = $1 AND p.asked > p.answered AND p.pending <= p.parsed`
	answerPoll = `UPDATE polls SET answered = $2, checked = $3, status = $4, problem = $5,
		failures = CASE WHEN $5 = '' THEN 0 ELSE failures + 1 END
		WHERE source = $1 AND answered < $2
			AND EXISTS (SELECT 1 FROM leases WHERE name = $6 AND owner = $7 AND epoch = $8)` // as Tx.Holds asks
	forgetValidators = `UPDATE polls SET etag = '', modified = '' WHERE source = $1 AND etag = $2 AND modified = $3`
	pendPoll         = `UPDATE polls SET answered = $2, checked = $3, status = $4, problem = '', failures = 0, pending = $2,
		pending_blob = $5, pending_url = $6, pending_type = $7, pending_etag = $8, pending_changed = $9, pending_body = $10,
		pending_raw = $11, pending_hubs = $12, pending_self = $13
		WHERE source = $1 AND answered < $2`

	readFetch   = `SELECT url, kind, attempts FROM fetches WHERE hash = $1 AND answered = 0`
	answerFetch = `UPDATE fetches SET answered = $2, status = $3, blob = $4, type = $5, problem = $6, attempts = attempts + 1
		WHERE hash = $1 AND answered = 0`
	retryFetch = `UPDATE fetches SET due = $2, status = $3, problem = $4, attempts = attempts + 1
		WHERE hash = $1 AND answered = 0`

	bodiesInUse = `SELECT pending_blob FROM polls WHERE pending > parsed AND pending_blob <> ''
		UNION ALL SELECT blob FROM fetches WHERE answered > 0 AND blob <> ''`
)
