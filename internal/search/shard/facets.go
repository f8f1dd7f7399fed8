package shard

// Facets count the matching documents by value.
type Facets struct {
	Vendors    map[string]int
	Categories map[string]int    // by id of the last node
	Names      map[string]string // of those categories
	Prices     [len(PriceBounds)]int
}

// PriceBounds are the lower bounds of the price ranges, in hundredths; each range ends
// before the next one.
var PriceBounds = [...]int64{0, 500_00, 1000_00, 2000_00, 5000_00, 10000_00, 20000_00, 50000_00, 100000_00}

// facets counts the documents of a set.
func (x *index) facets(in set, s *space) Facets {
	s.vendors, s.nodes = zeros(s.vendors, x.vendors.len()), zeros(s.nodes, len(x.categories.nodes))
	f := Facets{Vendors: map[string]int{}, Categories: map[string]int{}, Names: map[string]string{}}
	in.each(func(d uint32) {
		s.vendors[x.vendor[d]]++
		s.nodes[x.category[d]]++
		if p := x.price[d]; p > 0 {
			f.Prices[priceRange(p)]++
		}
	})
	for id, n := range s.vendors {
		if n > 0 && id > 0 {
			f.Vendors[x.vendors.name(uint32(id))] += int(n)
		}
	}
	for id, n := range s.nodes {
		if n > 0 && id > 0 {
			c := &x.categories.nodes[id]
			f.Categories[last(c.ids)] += int(n)
			f.Names[last(c.ids)] = last(c.names)
		}
	}
	return f
}

func priceRange(p int64) int {
	at := 0
	for at+1 < len(PriceBounds) && p >= PriceBounds[at+1] {
		at++
	}
	return at
}

// zeros is a slice of n zeros, in the memory of s if that is large enough.
func zeros(s []uint32, n int) []uint32 {
	if cap(s) < n {
		s = make([]uint32, n+n/4)
	}
	s = s[:n]
	clear(s)
	return s
}

// Add adds another shard's counts.
func (f *Facets) Add(other Facets) {
	if f.Vendors == nil {
		f.Vendors, f.Categories, f.Names = map[string]int{}, map[string]int{}, map[string]string{}
	}
	for name, n := range other.Vendors {
		f.Vendors[name] += n
	}
	for id, n := range other.Categories {
		f.Categories[id] += n
		f.Names[id] = other.Names[id]
	}
	for i, n := range other.Prices {
		f.Prices[i] += n
	}
}
