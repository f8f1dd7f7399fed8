package retain

import (
	"time"

	"github.com/courant-platform/courant/internal/kit/setting"
)

// agedRule is for a table with an index on the time from which its rows are kept.
type agedRule struct {
	table   string
	age     func(Config) setting.Age
	columns int    // of the key
	find    string // keys of the rows from before $1, the oldest first, at most $2
	drop    string // deletes the row of a key
}

var agedRules = []agedRule{
	{"events", func(c Config) setting.Age { return c.Events.Or(90 * day) }, 2, oldEvents, dropEvent},
	{"audit", func(c Config) setting.Age { return c.Audit.Or(400 * day) }, 1, oldAudit, dropAudit},
	{"clicks", func(c Config) setting.Age { return c.Clicks.Or(400 * day) }, 1, oldClicks, dropClick},
	{"exposures", func(c Config) setting.Age { return c.Clicks.Or(400 * day) }, 3, oldExposures, dropExposure},
	{"items", func(c Config) setting.Age { return c.WithdrawnItems.Or(180 * day) }, 2, oldWithdrawn, dropWithdrawn},
}

// walkRule is for a table that is small, or whose rows end for other reasons than age:
// once a day it is walked in the order of its key, a batch at a time.
type walkRule struct {
	table string
	age   func(Config) setting.Age
	first any    // less than every key
	find  string // keys after $2 in their order, at most $3, each with whether its row is to be deleted if $1 is the time of deletion minus age
	lock  string // locks the row of a key before it is checked again; "" if drop checks only the row itself
	drop  string // deletes the row with the key $1 if it is still to be deleted
}

const leaseAge = 30 * day

var walkRules = []walkRule{
	{"hosts", func(c Config) setting.Age { return c.Hosts.Or(30 * day) }, "", hostsAfter, "", dropHost},
	{"leases", func(Config) setting.Age { return leaseAge }, "", leasesAfter, "", dropLease},
	{"price_changes", func(Config) setting.Age { return 0 }, []byte{}, pricesAfter, lockPrice, dropPrice},
}

// Tables returns the names of the tables from which this package deletes.
func Tables() []string {
	names := []string{"media", "unused_media"}
	for _, r := range agedRules {
		names = append(names, r.table)
	}
	for _, r := range walkRules {
		names = append(names, r.table)
	}
	return names
}

// before returns the time before which rows of an age have ended; false if they never do.
func (t *turn) before(age setting.Age) (ms int64, ends bool) {
	if age == setting.Forever {
		return 0, false
	}
	return t.now.Add(-time.Duration(age)).UnixMilli(), true
}
