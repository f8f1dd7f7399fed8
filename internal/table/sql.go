package table

const (
	putPending = `INSERT INTO pending (source, as_of, fetched, blob, url, type, etag, modified, body, raw, pushed, hubs, self)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (source) DO UPDATE SET as_of = excluded.as_of, fetched = excluded.fetched, blob = excluded.blob, url = excluded.url,
			type = excluded.type, etag = excluded.etag, modified = excluded.modified, body = excluded.body, raw = excluded.raw, pushed = excluded.pushed,
			hubs = excluded.hubs, self = excluded.self WHERE pending.as_of < excluded.as_of`

	// Without a subscriber nothing is logged.
	putDownload = `INSERT INTO downloads (blob, file, kind, source, url, type, etag, modified, fetched)
		SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS TEXT), CAST($8 AS TEXT), CAST($9 AS BIGINT)
		WHERE EXISTS (SELECT 1 FROM subscriptions) ON CONFLICT (blob) DO NOTHING`
	// Numbers all committed downloads, in the order in which they came.
	numberDownloads = `UPDATE downloads SET number = $1 + fresh.n
		FROM (SELECT blob, ROW_NUMBER() OVER (ORDER BY fetched, blob) AS n FROM downloads WHERE number = 0) AS fresh WHERE downloads.blob = fresh.blob`
	dropDownloads = `DELETE FROM downloads WHERE file = $1 RETURNING kind, number`
	loseDownload  = `UPDATE subscriptions SET lost = lost + 1 WHERE position < $1 AND ',' || kinds || ',' LIKE '%,' || $2 || ',%'`

	holdCount = `INSERT INTO counts (name, number) VALUES ($1, 0) ON CONFLICT (name) DO UPDATE SET number = counts.number RETURNING number`
	putCount  = `INSERT INTO counts (name, number) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET number = excluded.number
		WHERE counts.number < excluded.number`

	changeBounds = `SELECT COALESCE((SELECT number FROM counts WHERE name = 'forgotten'), 0), COALESCE(MAX(n), 0)
		FROM (SELECT MAX(change) AS n FROM pages UNION ALL SELECT number FROM counts WHERE name IN ('changes', 'forgotten')) AS given`
	changeColumns = `SELECT p.change, p.id, p.address, COALESCE(s.name, ''), p.title, p.language, p.published, p.stored, p.revision, p.hash, p.withdrawn,
		p.duplicate_of`
	changesAfter      = changeColumns + ` FROM pages p LEFT JOIN sources s ON s.id = p.source WHERE p.change > $1 ORDER BY p.change LIMIT $2`
	changesWithBodies = changeColumns + `, b.document FROM pages p LEFT JOIN bodies b ON b.page = p.id LEFT JOIN sources s ON s.id = p.source
		WHERE p.change > $1 ORDER BY p.change LIMIT $2`

	readBody = `SELECT document FROM bodies WHERE page = $1`

	widthOfPicture = `SELECT width FROM media WHERE content = $1 AND state = 1 LIMIT 1`
	readPicture    = `SELECT content, type, size, width, height, variants FROM media WHERE hash = $1 AND state = 1`

	requeue = `INSERT INTO documents (url, address, source, rank, as_of, state, missing, due, fetched, content, trace)
		SELECT p.url, p.address, p.source, p.rank, p.as_of, CAST($4 AS INTEGER), CAST($5 AS INTEGER), CAST($6 AS BIGINT),
			p.fetched, b.document, CAST($7 AS TEXT)
		FROM pages p JOIN bodies b ON b.page = p.id WHERE p.url = $1 AND p.source = $2 AND p.as_of = $3 AND NOT p.withdrawn
		ON CONFLICT (url, source) DO NOTHING`
)
