package index

const (
	readChanges = `SELECT p.change, p.id, p.address, COALESCE(s.name, ''), p.withdrawn, p.title, p.language, p.published, p.stored, p.twin, b.document
	FROM pages p LEFT JOIN bodies b ON b.page = p.id LEFT JOIN sources s ON s.id = p.source
	WHERE p.change > $1 ORDER BY p.change LIMIT $2`

	changeBounds = `SELECT COALESCE((SELECT number FROM counts WHERE name = 'forgotten'), 0), COALESCE(MAX(n), 0)
		FROM (SELECT MAX(change) AS n FROM pages UNION ALL SELECT number FROM counts) AS given`
)
