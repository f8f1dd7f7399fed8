package fleet

const (
	readNodes = `SELECT name, zone, address FROM nodes`
	readOff   = `SELECT name FROM zones WHERE off`
	putNode   = `INSERT INTO nodes (name, zone, address, seen) VALUES ($1, $2, $3, $4)
		ON CONFLICT (name) DO UPDATE SET zone = excluded.zone, address = excluded.address, seen = excluded.seen`
	dropNodes = `DELETE FROM nodes WHERE name <> $1 AND (address = $2 OR seen < $3)` // of a process that had the address before, or that no longer renews its row
	dropNode  = `DELETE FROM nodes WHERE name = $1`
)
