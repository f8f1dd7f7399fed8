package table

import "github.com/courant-platform/courant"

// Publisher is an SQL expression for the name of who published the page p, whose source
// is s with the reading r, if there is one: the title that the operator gave the source,
// that of the feed for pages of its own host, the page's host, or the source's name.
const Publisher = `COALESCE(NULLIF(s.title, ''), CASE WHEN p.host IN (s.host, '` + courant.ImportHost + `') THEN NULLIF(r.title, '') END,
	NULLIF(p.host, '` + courant.ImportHost + `'), s.name, '')`
