package retain

// The keys of rows that have ended before $1, the oldest first, and their deletion.
const (
	oldEvents = `SELECT page, at FROM events WHERE at < $1 ORDER BY at LIMIT $2 /*skip*/`
	dropEvent = `DELETE FROM events WHERE page = $1 AND at = $2`

	oldAudit  = `SELECT id FROM audit WHERE at < $1 ORDER BY at LIMIT $2 /*skip*/`
	dropAudit = `DELETE FROM audit WHERE id = $1`

	oldClicks = `SELECT query FROM clicks WHERE at < $1 ORDER BY at LIMIT $2 /*skip*/`
	dropClick = `DELETE FROM clicks WHERE query = $1`

	// The day is that of the time in UTC, counted from 1970.
	oldExposures = `SELECT experiment, arm, day FROM exposures WHERE day < CAST($1 AS BIGINT) / 86400000 ORDER BY day LIMIT $2 /*skip*/`
	dropExposure = `DELETE FROM exposures WHERE experiment = $1 AND arm = $2 AND day = $3`

	oldWithdrawn  = `SELECT source, key FROM items WHERE withdrawn AND as_of < $1 ORDER BY as_of LIMIT $2 /*skip*/`
	dropWithdrawn = `DELETE FROM items WHERE source = $1 AND key = $2`
)

// The keys after $2, in order, each with whether its row has ended before $1. A deletion
// checks that again, since the row may have changed.
const (
	hostsAfter = `SELECT h.origin, h.robots_until < $1 AND h.allowed < $1
			AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.origin = h.origin)
			AND NOT EXISTS (SELECT 1 FROM fetches f WHERE f.partition = h.partition AND f.origin = h.origin AND f.answered = 0)
		FROM hosts h WHERE h.origin > $2 ORDER BY h.origin LIMIT $3`
	dropHost = `DELETE FROM hosts WHERE origin = $1 AND robots_until < $2 AND allowed < $2`

	leasesAfter = `SELECT name, until < $1 FROM leases WHERE name > $2 ORDER BY name LIMIT $3`
	dropLease   = `DELETE FROM leases WHERE name = $1 AND until < $2`

	// What is due is deleted by pages.
	pricesAfter = `SELECT c.url, c.due > $1 AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.url = c.url AND NOT p.withdrawn)
		FROM price_changes c WHERE c.url > $2 ORDER BY c.url LIMIT $3`
	lockPrice = `SELECT url FROM price_changes WHERE url = $1 /*skip*/`
	dropPrice = `DELETE FROM price_changes WHERE url = $1 AND due > $2
		AND NOT EXISTS (SELECT 1 FROM pages WHERE url = $1 AND NOT withdrawn)`
)

const (
	newestEvent = `SELECT COALESCE(MAX(at), 0) FROM events`

	readDone = `SELECT done FROM retained WHERE name = $1`
	putDone  = `INSERT INTO retained (name, done) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET done = excluded.done`
)

// Pictures.
const (
	// A picture that was stored after $2 may be wanted by a document on its way.
	picturesAfter = `SELECT m.hash, m.state > 0 AND m.changed < $2, COALESCE(u.since, 0)
		FROM media m LEFT JOIN unused_media u ON u.hash = m.hash WHERE m.hash > $1 ORDER BY m.hash LIMIT $3`
	bodiesAfter  = `SELECT page, document FROM bodies WHERE page > $1 ORDER BY page LIMIT $2`
	onTheirWay   = `SELECT url, source, as_of FROM documents WHERE state = 1 UNION ALL SELECT url, source, as_of FROM documents WHERE state = 2 LIMIT $1`
	readOnItsWay = `SELECT content FROM documents WHERE url = $1 AND source = $2 AND as_of = $3`
	notNumbered  = `SELECT b.document FROM pages p JOIN bodies b ON b.page = p.id WHERE p.change = 0 ORDER BY p.id LIMIT $1`
	putUnused    = `INSERT INTO unused_media (hash, since) VALUES ($1, $2) ON CONFLICT (hash) DO UPDATE SET since = excluded.since`
	dropUnused   = `DELETE FROM unused_media WHERE hash = $1`
	lockPicture  = `SELECT hash FROM media WHERE hash = $1 /*skip*/`
	dropPicture  = `DELETE FROM media WHERE hash = $1`
	namesContent = `SELECT 1 FROM media WHERE content = $1 LIMIT 1`
)
