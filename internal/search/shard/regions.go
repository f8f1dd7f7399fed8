package shard

import (
	"strconv"
	"strings"
)

// MostRegions is one more than the highest number of a region.
const MostRegions = 1 << 16

// Regions are where an offer is sold: ranges of numbers, both ends included. An offer
// without any is not found by a filter by region.
type Regions [][2]uint16

// ParseRegions parses "5-21,80-86". It skips what it cannot read; ok is false then.
func ParseRegions(text string) (r Regions, ok bool) {
	ok = true
	for part := range strings.SplitSeq(text, ",") {
		from, to, is := strings.Cut(strings.TrimSpace(part), "-")
		if !is {
			to = from
		}
		a, err := strconv.ParseUint(strings.TrimSpace(from), 10, 16)
		b, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 16)
		if err != nil || err2 != nil || b < a {
			ok = false
			continue
		}
		r = append(r, [2]uint16{uint16(a), uint16(b)})
	}
	return r, ok
}

// Has reports whether a region is among them.
func (r Regions) Has(region int) bool {
	for _, part := range r {
		if int(part[0]) <= region && region <= int(part[1]) {
			return true
		}
	}
	return false
}

// String is the form that ParseRegions reads.
func (r Regions) String() string {
	var b strings.Builder
	for i, part := range r {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(part[0])))
		b.WriteByte('-')
		b.WriteString(strconv.Itoa(int(part[1])))
	}
	return b.String()
}
