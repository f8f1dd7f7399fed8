package gate

const (
	readToken   = `SELECT name FROM tokens WHERE hash = $1`
	countTokens = `SELECT COUNT(*) FROM tokens`
	putToken    = `INSERT INTO tokens (hash, name, added) VALUES ($1, $2, $3)`
)
