package serve

const (
	readPage     = `SELECT id, revision, address, withdrawn FROM pages WHERE url = $1`
	readBody     = `SELECT html FROM bodies WHERE url = $1`
	countSources = `SELECT COUNT(*) FROM sources`
	countWaiting = `SELECT COUNT(*) FROM documents`
	newestPages  = `SELECT address, title, host, picture, published, stored FROM pages WHERE NOT withdrawn ORDER BY id DESC LIMIT $1`
)
