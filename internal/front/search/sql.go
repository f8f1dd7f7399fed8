package search

import "github.com/courant-platform/courant/internal/table"

const (
	addExposed = `INSERT INTO exposures (experiment, arm, day, queries) VALUES ($1, $2, $3, $4)
		ON CONFLICT (experiment, arm, day) DO UPDATE SET queries = exposures.queries + excluded.queries`
	putClicks = `INSERT INTO clicks (query, at, experiment, arm, person, asked, shown, clicked, ordered, clicks, orders)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (query) DO UPDATE SET clicked = excluded.clicked, ordered = excluded.ordered, clicks = excluded.clicks, orders = excluded.orders`
	readClicked = `SELECT clicked, ordered FROM clicks WHERE query = $1 /*lock*/`
	sumExposed  = `SELECT experiment, arm, CAST(SUM(queries) AS BIGINT) FROM exposures GROUP BY experiment, arm`
	sumClicks   = `SELECT experiment, arm, SUM(clicks), SUM(clicks * clicks), SUM(orders), SUM(orders * orders) FROM clicks
		WHERE experiment <> '' GROUP BY experiment, arm`

	readShown = `SELECT p.picture, ` + table.Publisher + ` FROM pages p LEFT JOIN sources s ON s.id = p.source LEFT JOIN readings r ON r.source = s.id WHERE p.id = $1`
)
