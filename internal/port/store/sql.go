package store

const (
	putOutbox   = `INSERT INTO outbox (seq, messages) VALUES ($1, $2)`
	oldOutbox   = `SELECT seq, messages FROM outbox WHERE seq < $1 ORDER BY seq LIMIT $2`
	countOutbox = `SELECT COUNT(*), COALESCE(MIN(seq), 0) FROM (SELECT seq FROM outbox ORDER BY seq LIMIT $1) AS part`
	dropOutbox  = `DELETE FROM outbox WHERE seq = $1`
	probeRoom   = `INSERT INTO outbox (seq, messages) VALUES (0, $1)`
	probeRead   = `SELECT seq FROM outbox LIMIT 1`
	probeDone   = `DELETE FROM outbox WHERE seq = 0`

	takeLease = `INSERT INTO leases (name, owner, until, epoch) VALUES ($1, $2, $3, 1)
		ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
			epoch = leases.epoch + CASE WHEN leases.owner = excluded.owner THEN 0 ELSE 1 END
		WHERE leases.owner = excluded.owner OR leases.until < $4
		RETURNING epoch`
	holdLease  = `SELECT 1 FROM leases WHERE name = $1 AND owner = $2 AND epoch = $3`
	freeLeases = `UPDATE leases SET until = 0 WHERE owner = $1`
	wipeLeases = `UPDATE leases SET until = 0`

	putSecret  = `INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`
	readSecret = `SELECT value FROM secrets WHERE name = $1`
)
