package serve

import "github.com/courant-platform/courant/internal/table"

const (
	readPage     = `SELECT id, revision, address, withdrawn FROM pages WHERE url = $1`
	readBody     = `SELECT html FROM bodies WHERE page = $1`
	readDocument = `SELECT b.document, p.rank, COALESCE(NULLIF(s.title, ''), r.title, ''), COALESCE(s.name, '')
		FROM bodies b JOIN pages p ON p.id = b.page LEFT JOIN sources s ON s.id = p.source LEFT JOIN readings r ON r.source = s.id WHERE b.page = $1`
	countSources = `SELECT COUNT(*) FROM (SELECT 1 FROM sources LIMIT $1) AS part`
	countWaiting = `SELECT COUNT(*) FROM (SELECT 1 FROM documents LIMIT $1) AS part`
	newestPages  = `SELECT p.address, p.title, ` + table.Publisher + `, p.picture, p.published, p.stored
		FROM pages p LEFT JOIN sources s ON s.id = p.source LEFT JOIN readings r ON r.source = s.id WHERE NOT p.withdrawn ORDER BY p.id DESC LIMIT $1`
)
