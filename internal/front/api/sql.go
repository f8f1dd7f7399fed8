package api

const (
	readPage = `SELECT p.id, p.address, COALESCE(s.name, ''), p.title, p.language, p.published, p.updated, p.fetched, p.stored,
			p.revision, p.hash, p.withdrawn, p.duplicate_of
		FROM pages p LEFT JOIN sources s ON s.id = p.source WHERE p.url = $1`
	readSourcesOf = `SELECT s.name FROM items i JOIN sources s ON s.id = i.source WHERE i.url = $1 AND NOT i.withdrawn AND NOT i.offer
		UNION SELECT s.name FROM pages p JOIN sources s ON s.id = p.source WHERE p.url = $1 ORDER BY 1 LIMIT 1000`
	readDuplicates = `SELECT address FROM pages WHERE duplicate_of = $1 AND duplicate_of <> 0 AND id <> $2 AND NOT withdrawn
		UNION ALL SELECT address FROM pages WHERE id = $1 AND id <> $2 AND NOT withdrawn LIMIT 100`

	// The lists of pages. Each reads an index in the order of the list. A list with filters
	// that its index does not have reads it down to a floor: the last of the rows that one
	// request reads.
	listed = `SELECT p.id, p.address, COALESCE(s.name, ''), p.title, p.language, p.published, p.stored, p.revision
		FROM pages p LEFT JOIN sources s ON s.id = p.source WHERE NOT p.withdrawn AND `
	listAll        = listed + `p.id < $1 ORDER BY p.id DESC LIMIT $2`
	listByLanguage = listed + `p.language = $1 AND p.id < $2 ORDER BY p.id DESC LIMIT $3`
	listByStored   = listed + `(p.stored, p.id) < ($1, $2) AND (p.stored, p.id) >= ($3, $4) AND ($5 = '' OR p.language = $5)
		ORDER BY p.stored DESC, p.id DESC LIMIT $6`
	listRest     = ` AND p.id < $2 AND p.id >= $3 AND p.stored >= $4 AND ($5 = '' OR p.language = $5) AND ($6 = '' OR p.host = $6) ORDER BY p.id DESC LIMIT $7`
	listBySource = listed + `p.source = (SELECT id FROM sources WHERE name = $1)` + listRest
	listByHost   = listed + `p.host = $1` + listRest

	floorOfSource = `SELECT id FROM pages WHERE NOT withdrawn AND source = (SELECT id FROM sources WHERE name = $1) AND id < $2 ORDER BY id DESC LIMIT 1 OFFSET $3`
	floorOfHost   = `SELECT id FROM pages WHERE NOT withdrawn AND host = $1 AND id < $2 ORDER BY id DESC LIMIT 1 OFFSET $3`
	floorOfStored = `SELECT stored, id FROM pages WHERE NOT withdrawn AND (stored, id) < ($1, $2) AND stored >= $3 ORDER BY stored DESC, id DESC LIMIT 1 OFFSET $4`

	listPictures = `SELECT hash, url, content, width, type, variants FROM media WHERE state = 1 AND hash > $1 ORDER BY hash LIMIT $2`

	pageState   = `SELECT withdrawn, id FROM pages WHERE url = $1`
	readEvents  = `SELECT e.trace FROM events e JOIN pages p ON p.id = e.page WHERE p.url = $1 ORDER BY e.at`
	readWaiting = `SELECT state, missing, trace FROM documents WHERE url = $1`

	stateColumns = `SELECT s.id, s.name, s.kind, s.url, s.title, s.trusted, s.robots, s.absence, s.site, s.folder, s.fixed_interval, r.title, r.home, s.added, a.url, a.gone_since, COALESCE(p.reason, ''),
			COALESCE(p.due, 0), COALESCE(p.poll_interval, 0), a.checked, r.fetched, COALESCE(w.fetched, 0), r.changed, a.status, a.failures, a.problem, r.items, r.progress,
			CASE WHEN r.etag = '' AND r.modified = '' OR a.refused >= r.as_of THEN '' WHEN a.confirmed > r.as_of THEN a.etag ELSE r.etag END,
			CASE WHEN r.etag = '' AND r.modified = '' OR a.refused >= r.as_of THEN '' WHEN a.confirmed > r.as_of THEN a.modified ELSE r.modified END,
			r.report, (a.answered > 0 OR r.as_of > 0) AND w.source IS NULL, a.asked > a.answered, w.source IS NOT NULL, a.partition, a.redirect_url, a.moved_url,
			COALESCE(w.url, r.url)
		FROM sources s JOIN answers a ON a.source = s.id JOIN readings r ON r.source = s.id LEFT JOIN polls p ON p.source = s.id
			LEFT JOIN pending w ON w.source = s.id `
	listSources = stateColumns + `WHERE s.name > $1 ORDER BY s.name LIMIT $2`
	sourceState = stateColumns + `WHERE s.id = $1`
	hubState    = `SELECT hub, topic, state, until, pinged, problem FROM websub WHERE source = $1 AND state <> 'leaving'`
	countPages  = `SELECT COUNT(*) FROM (SELECT 1 FROM pages WHERE source = $1 AND NOT withdrawn LIMIT $2) AS part`

	readProgress = `SELECT r.progress, (a.answered > 0 OR r.as_of > 0) AND NOT EXISTS (SELECT 1 FROM pending w WHERE w.source = r.source), r.items
		FROM readings r JOIN answers a ON a.source = r.source WHERE r.source = $1`
	countWaiting = `SELECT (SELECT COUNT(*) FROM batches WHERE source = $1)
		+ (SELECT COUNT(*) FROM (SELECT 1 FROM documents WHERE source = $1 LIMIT $2) AS part)`

	countPictures = `SELECT COUNT(*) FROM (SELECT DISTINCT document FROM waits WHERE source = $1 LIMIT $2) AS part`

	hostColumns  = `SELECT origin, robots, robots_status, robots_until, allowed, failures, refusals, reason, latency, pace FROM hosts WHERE `
	readHost     = hostColumns + `origin = $1`
	waitingHosts = hostColumns + `allowed > $1 AND reason <> '' ORDER BY allowed DESC LIMIT 1000`
	// Origins of a host on any port: $1 alone, and those from $2, before $3.
	originsOfHost = `SELECT origin FROM hosts WHERE origin /*bytes*/ = $1 OR origin /*bytes*/ >= $2 AND origin /*bytes*/ < $3
		UNION SELECT origin FROM answers WHERE origin /*bytes*/ = $1 OR origin /*bytes*/ >= $2 AND origin /*bytes*/ < $3
		UNION SELECT origin FROM fetches WHERE partition = $4 AND answered = 0 AND (origin /*bytes*/ = $1 OR origin /*bytes*/ >= $2 AND origin /*bytes*/ < $3)
		ORDER BY 1 LIMIT 100`
	readRobot = `SELECT owner FROM leases WHERE name = $1 AND until >= $2`
	readQueue = `SELECT kind, priority, COUNT(*), MIN(wanted)
			FROM (SELECT kind, priority, wanted FROM fetches WHERE partition = $2 AND origin = $1 AND answered = 0 LIMIT 10000) AS part GROUP BY kind, priority
		UNION ALL SELECT 'poll', 0, COUNT(*), MIN(asked) FROM (SELECT source, asked, answered FROM answers WHERE origin /*bytes*/ = $1 LIMIT 10000) AS a WHERE asked > answered
			AND NOT EXISTS (SELECT 1 FROM pending w WHERE w.source = a.source) HAVING COUNT(*) > 0
		ORDER BY 2, 1`
	sourcesOfHost = `SELECT COALESCE(s.name, ''), a.url, a.checked, a.status, a.failures, a.problem, COALESCE(p.due, 0)
		FROM (SELECT source, url, checked, status, failures, problem FROM answers WHERE origin /*bytes*/ = $1 LIMIT 1000) AS a
		LEFT JOIN sources s ON s.id = a.source LEFT JOIN polls p ON p.source = a.source ORDER BY a.checked DESC LIMIT 100`

	downloadsAfter = `SELECT d.number, d.kind, COALESCE(s.name, ''), d.url, d.type, d.etag, d.modified, d.fetched
		FROM downloads d LEFT JOIN sources s ON s.id = d.source
		WHERE d.number > $1 AND ',' || $2 || ',' LIKE '%,' || d.kind || ',%' ORDER BY d.number LIMIT $3`
	bodyOfDownload = `SELECT blob, type FROM downloads WHERE number = $1`

	subscriptionColumns = `SELECT name, kinds, position, added, seen, lost, (SELECT COUNT(*) FROM downloads d
		WHERE (d.number > position OR d.number = 0) AND ',' || kinds || ',' LIKE '%,' || d.kind || ',%') FROM subscriptions `
	readSubscription  = subscriptionColumns + `WHERE name = $1`
	listSubscriptions = subscriptionColumns + `ORDER BY name`
	seenSubscription  = `UPDATE subscriptions SET seen = $2 WHERE name = $1`
	ackSubscription   = `UPDATE subscriptions SET position = $2, seen = $3, lost = CASE WHEN lost > $4 THEN lost - $4 ELSE 0 END
		WHERE name = $1 AND position <= $2`

	failedOfHost = `SELECT url, attempts, status, problem, due FROM fetches
		WHERE partition = $2 AND origin = $1 AND answered = 0 AND attempts > 0 ORDER BY priority, wanted LIMIT 20`
)
