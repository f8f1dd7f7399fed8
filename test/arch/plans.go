package arch

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// growing are the tables that a statement must not read as a whole.
var growing = []string{"pages", "items", "documents", "media", "fetches", "events", "bodies", "answers", "polls", "readings", "sources", "waits",
	"batches", "minhash_bands", "hosts", "price_changes", "websub", "audit", "downloads", "clicks"}

// scans are the statements that may read a growing table, or an index of it, from its
// beginning: package and name, and why.
var scans = map[string]string{
	"retain.onTheirWay": "the documents that are under way, from indexes of these alone",
	// Lists that read an index in their order up to their limit.
	"serve.newestPages":      "the newest pages, up to the limit",
	"serve.countSources":     "up to the limit of what is shown",
	"serve.countWaiting":     "up to the limit of what is shown",
	"schedule.nextDue":       "the first row of an index",
	"media.waitingDocuments": "documents that wait, from an index of them alone, up to the limit",
	"desk.readAudit":         "the newest changes, up to the limit",
	// Sums, asked for by a person or once a sweep.
	"search.sumClicks":       "clicks that belong to an experiment",
	"schedule.countSources":  "a metric, once a minute",
	"schedule.wantedFetches": "pictures that are still to be fetched, from an index of them alone, up to the limit",
	"websub.countState":      "a metric; a subscription has one short row",
	// Work that is under way, from an index of it alone.
	"robot.wantedPolls": "polls that are under way",
	"websub.whatIsDue":  "pings for which a poll is owed",
	"websub.settleOwed": "pings for which a poll is owed",
	"websub.bringOwed":  "pings for which a poll is owed",
	"robot.bodiesInUse": "downloads that are still to be read, when old ones are deleted",
}

// joins are statements whose plans in PostgreSQL, while the tables are empty, begin at the
// wrong side of a join. With rows, they begin at the side that the reason names.
var joins = map[string]string{
	"schedule.lateDue": "polls that are due too late, by index",
	"schedule.healDue": "polls that are due too late, by index",
}

var tableAlias = regexp.MustCompile(`(?:FROM|JOIN|UPDATE|INTO)\s+(\w+)(?:\s+AS)?(?:\s+(\w+))?`)

// aliases maps the names by which a statement calls tables to the tables.
func aliases(text string) map[string]string {
	names := map[string]string{}
	for _, m := range tableAlias.FindAllStringSubmatch(text, -1) {
		names[m[1]] = m[1]
		if m[2] != "" {
			names[m[2]] = m[1]
		}
	}
	return names
}

var scanned = regexp.MustCompile(`^SCAN (\w+)`)

// wholeTables returns the growing tables that a plan, one step a line, reads as a whole.
func wholeTables(text string, plan []string) (tables []string) {
	names := aliases(text)
	for _, step := range plan {
		m := scanned.FindStringSubmatch(step)
		if m == nil {
			continue
		}
		table := names[m[1]]
		if slices.Contains(growing, table) && !slices.Contains(tables, table) {
			tables = append(tables, table)
		}
	}
	return tables
}

// pgStep matches a step of a plan of PostgreSQL that reads a table: the kind, the index,
// and the name of the table in the statement.
var pgStep = regexp.MustCompile(`(Seq Scan|Index Scan|Index Only Scan)(?: Backward)?(?: using (\w+))? on (\w+)(?: (\w+))?`)

// asSQLite returns the steps of a plan of PostgreSQL that read a whole table, or a whole
// index, as SQLite's plans say it. Indexes of some rows only, partial, may be read as a
// whole: while they are empty, PostgreSQL prefers them to any other.
func asSQLite(plan []string, partial map[string]bool) (steps []string) {
	for i, line := range plan {
		m := pgStep.FindStringSubmatch(line)
		if m == nil || partial[m[2]] {
			continue
		}
		details := plan[i+1:]
		if next := slices.IndexFunc(details, func(l string) bool { return strings.Contains(l, "->") }); next >= 0 {
			details = details[:next]
		}
		if m[1] == "Seq Scan" || !slices.ContainsFunc(details, func(l string) bool { return strings.Contains(l, "Index Cond:") }) {
			steps = append(steps, "SCAN "+cmp.Or(m[4], m[3]))
		}
	}
	return steps
}

// walked reports the statements whose plans read a growing table as a whole and that are
// not in scans or also. If also is nil, it reports those in scans whose plans do not.
func walked(all []statement, planOf func(statement) []string, also map[string]string) (wrong []string) {
	used := map[string]bool{}
	for _, q := range all {
		plan := planOf(q)
		tables := wholeTables(q.text, plan)
		if len(tables) == 0 {
			continue
		}
		name := unitName(dirOf(q)) + "." + q.name
		used[name] = true
		if scans[name] == "" && also[name] == "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s reads all of %s:\n\t%s", q.at, name, strings.Join(tables, ", "), strings.Join(plan, "\n\t")))
		}
	}
	for name := range scans {
		if also == nil && !used[name] {
			wrong = append(wrong, name+" reads no growing table as a whole; remove it from scans")
		}
	}
	slices.Sort(wrong)
	return wrong
}

// dirOf is the folder of a statement.
func dirOf(q statement) string {
	file, _, _ := strings.Cut(q.at, ":")
	return file[:strings.LastIndexByte(file, '/')]
}
