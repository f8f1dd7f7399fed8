package store

const (
	putOutbox  = `INSERT INTO outbox (seq, messages) VALUES ($1, $2)`
	oldOutbox  = `SELECT seq, messages FROM outbox WHERE seq < $1 ORDER BY seq LIMIT 500`
	dropOutbox = `DELETE FROM outbox WHERE seq = $1`
	probeRoom  = `INSERT INTO outbox (seq, messages) VALUES (0, $1)`
	probeDone  = `DELETE FROM outbox WHERE seq = 0`

	takeLease = `INSERT INTO leases (name, owner, until, epoch) VALUES ($1, $2, $3, 1)
		ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
			epoch = leases.epoch + CASE WHEN leases.owner = excluded.owner THEN 0 ELSE 1 END
		WHERE leases.owner = excluded.owner OR leases.until < $4
		RETURNING epoch`
	holdLease  = `SELECT 1 FROM leases WHERE name = $1 AND owner = $2 AND epoch = $3`
	freeLeases = `UPDATE leases SET until = 0 WHERE owner = $1`
	wipeLeases = `UPDATE leases SET until = 0`

	putDownload = `INSERT INTO downloads (blob, file, number, kind, source, url, type, etag, modified, fetched)
		SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), 0, CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS TEXT), CAST($8 AS TEXT), CAST($9 AS BIGINT)
		WHERE EXISTS (SELECT 1 FROM subscriptions) ON CONFLICT (blob) DO NOTHING`

	holdDownloads = `INSERT INTO counts (name, number) VALUES ('downloads', 0) ON CONFLICT (name) DO UPDATE SET number = counts.number RETURNING number`
	// All that have committed are numbered at once, in the order in which they came.
	numberDownloads = `UPDATE downloads SET number = $1 + fresh.n
		FROM (SELECT blob, ROW_NUMBER() OVER (ORDER BY fetched, blob) AS n FROM downloads WHERE number = 0) AS fresh WHERE downloads.blob = fresh.blob`
	countDownloads = `UPDATE counts SET number = $1 WHERE name = 'downloads'`
	dropDownloads  = `DELETE FROM downloads WHERE file = $1 RETURNING kind, number`
	loseDownload   = `UPDATE subscriptions SET lost = lost + 1 WHERE position < $1 AND ',' || kinds || ',' LIKE '%,' || $2 || ',%'`

	putSecret  = `INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`
	readSecret = `SELECT value FROM secrets WHERE name = $1`
)
