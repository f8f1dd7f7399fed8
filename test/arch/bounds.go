package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// bounded says why a table does not grow for ever although the stage retain does not
// delete from it.
var bounded = map[string]string{
	"sources":       "the operator registers and removes them",
	"polls":         "one row per source, removed with it",
	"answers":       "one row per source, removed with it",
	"readings":      "one row per source, removed with it",
	"pending":       "one row per source; parse deletes it, and desk with the source",
	"websub":        "one row per source and subscription that ends; websub deletes it when the hub has been told",
	"fetches":       "media deletes a row when it has processed the answer",
	"documents":     "pages deletes a row when it has rendered the version",
	"batches":       "pages deletes a row when its pages are live",
	"waits":         "media deletes the rows of a picture that has arrived or cannot be fetched",
	"outbox":        "the relay deletes what it has published",
	"downloads":     "robot deletes a row with its body",
	"subscriptions": "the operator registers and removes them",
	"pages":         "what Courant collects; pages deletes those that were withdrawn 90 days ago",
	"bodies":        "one row per live page; pages deletes it when the page is withdrawn",
	"minhash_bands": "five rows per page; pages deletes them when its text changes or is withdrawn",
	"counts":        "a few names",
	"secrets":       "a few names",
	"zones":         "one row per name of a zone that the operator switched",
	"nodes":         "fleet deletes the rows of processes that do not renew them",
	"tokens":        "the operator makes them",
	"retained":      "one row per table that is walked",
	"removals":      "desk deletes a row when the items of the removed source are gone",
}

// unbounded reports the tables of the migrations that have neither a bound in the stage
// retain nor a reason, and the names that have both or are of no table.
func unbounded(migrations string, retained []string, reasons map[string]string) (wrong []string) {
	tables := map[string]bool{}
	for line := range strings.Lines(migrations) {
		if m := createTable.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			tables[m[1]] = true
		}
	}
	for _, t := range slices.Sorted(maps.Keys(tables)) {
		switch ends, reason := slices.Contains(retained, t), reasons[t] != ""; {
		case ends && reason:
			wrong = append(wrong, fmt.Sprintf("table %s: retain deletes from it, and bounded says that it need not", t))
		case !ends && !reason:
			wrong = append(wrong, fmt.Sprintf("table %s grows for ever: add a rule to internal/stage/retain, or a reason to bounded", t))
		}
	}
	for _, t := range slices.Concat(retained, slices.Sorted(maps.Keys(reasons))) {
		if !tables[t] {
			wrong = append(wrong, fmt.Sprintf("%s is no table of the migrations", t))
		}
	}
	return wrong
}
