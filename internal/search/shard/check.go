package shard

import (
	"errors"
	"fmt"
	"slices"
)

// check refuses columns that do not match. The checksum shows that a snapshot is as it was
// written, not that the code that wrote it was correct.
func (x *index) check() error {
	return errors.Join(x.checkLengths(), x.checkNumbers(), x.checkTexts(), x.checkRegions(), x.words.check(len(x.id)), x.params.check(len(x.id)))
}

func (x *index) checkLengths() error {
	n := len(x.id)
	for _, l := range []int{len(x.same), len(x.record), len(x.source), len(x.vendor), len(x.category), len(x.region), len(x.language),
		len(x.currency), len(x.group), len(x.published), len(x.price), len(x.old), len(x.prior), len(x.rank), len(x.length)} {
		if l != n {
			return fmt.Errorf("a column has %d documents, not %d", l, n)
		}
	}
	for _, s := range []set{x.alive, x.available, x.offers} {
		if len(s) != (n+63)/64 || n%64 != 0 && s[n/64]>>(n%64) != 0 {
			return fmt.Errorf("a set does not have the size for %d documents", n)
		}
	}
	if len(x.own) != n*x.ownNumbers() || len(x.categories.nodes) != x.categories.len() || int(x.sorted) > n {
		return errors.New("the signals, categories or sorted documents do not match the number of documents")
	}
	return nil
}

// checkNumbers refuses documents that refer to entries that do not exist.
func (x *index) checkNumbers() error {
	for _, c := range []struct {
		what    string
		numbers []uint32
		most    int
	}{
		{"source", x.source, x.sources.len()}, {"vendor", x.vendor, x.vendors.len()}, {"category", x.category, x.categories.len()},
		{"region", x.region, x.regions.len()}, {"language", x.language, x.languages.len()}, {"currency", x.currency, x.languages.len()},
	} {
		if len(c.numbers) > 0 && int(slices.Max(c.numbers)) >= c.most {
			return fmt.Errorf("a document has a %s that does not exist", c.what)
		}
	}
	return nil
}

// checkTexts refuses documents without the three zero bytes that end their texts.
func (x *index) checkTexts() error {
	if len(x.record) == 0 {
		return nil
	}
	ends := 0
	for at := int(slices.Max(x.record)); at < len(x.texts); at++ {
		if x.texts[at] == 0 {
			ends++
		}
	}
	if ends < 3 {
		return errors.New("the texts of a document have no end")
	}
	return nil
}

// checkRegions refuses regions that are not in the form of Regions.String.
func (x *index) checkRegions() error {
	for id := 1; id < x.regions.len(); id++ {
		if set, ok := ParseRegions(x.regions.name(uint32(id))); !ok || set.String() != x.regions.name(uint32(id)) {
			return fmt.Errorf("regions must be ranges such as 5-21, not %q", x.regions.name(uint32(id)))
		}
	}
	return nil
}
