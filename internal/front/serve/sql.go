package serve

const (
	readPage     = `SELECT id, revision, address, withdrawn FROM pages WHERE url = $1`
	readBody     = `SELECT html FROM bodies WHERE page = $1`
	countSources = `SELECT COUNT(*) FROM sources`
	countWaiting = `SELECT COUNT(*) FROM documents`
	newestPages  = `SELECT p.address, p.title, COALESCE(NULLIF(s.title, ''), p.host), p.picture, p.published, p.stored
		FROM pages p LEFT JOIN sources s ON s.id = p.source WHERE NOT p.withdrawn ORDER BY p.id DESC LIMIT $1`
)
