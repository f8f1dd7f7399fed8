package shard

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/courant-platform/courant/internal/search/words"
)

// Config is what an index needs before its first document.
type Config struct {
	Signals []string // params of offers that are features of the ranking, such as Rating
	Model   *Model
	Now     func() time.Time
	Made    string // identifies the configuration; a snapshot of another one is refused
}

// index holds the documents in columns. Those below sorted lie in the order of category
// and prior; newer ones follow in the order in which they came.
type index struct {
	Config
	sorted uint32
	at     map[int64]uint32 // by page

	id        []int64
	same      []uint64
	record    []uint32 // where its texts begin in texts
	texts     []byte
	source    []uint32
	vendor    []uint32
	category  []uint32
	region    []uint32
	group     []uint64
	language  []uint32
	currency  []uint32
	published []int64 // seconds
	price     []int64
	old       []int64
	places    []uint16  // of prices in their categories; see placeKey
	prior     []float32 // the model's score without a query
	rank      []uint16  // place by prior within the category, scaled to 16 bits: 0 is the best
	length    []uint8   // number of words of the text by which it is found
	own       []float32 // signals, pictures and length of each document
	bins      []byte    // stored rows of the model, one block of documents after another

	alive, available, offers set
	dead                     int

	sources, vendors, languages dict
	regions                     regionSets
	categories                  categories
	stats                       []stat // by category
	groups                      map[uint64]groupStat
	words                       vocabulary
	params                      params
}

// regionSets numbers the sets of regions of offers.
type regionSets struct {
	dict
	sets []Regions
}

func (r *regionSets) number(set Regions) uint32 {
	id := r.id(set.String())
	for len(r.sets) <= int(id) {
		r.sets = append(r.sets, nil)
	}
	r.sets[id] = set
	return id
}

func newIndex(c Config) *index {
	return &index{Config: c, at: map[int64]uint32{}, groups: map[uint64]groupStat{}}
}

// ownNumbers is how many numbers own has for each document.
func (x *index) ownNumbers() int { return len(x.Signals) + 2 }

// size is the number of documents, including dead ones.
func (x *index) size() int { return len(x.id) }

// put adds a document or a new version of one.
func (x *index) put(d *Doc) {
	same := d.same()
	if doc, ok := x.at[d.ID]; ok {
		if x.same[doc] == same {
			x.change(doc, d)
			return
		}
		x.kill(doc)
	}
	doc := x.push(d, same)
	x.at[d.ID] = doc
	x.index(doc, d)
	x.setBins(doc)
	x.setRank(doc)
}

// drop removes a document, if it is there.
func (x *index) drop(page int64) {
	if doc, ok := x.at[page]; ok {
		delete(x.at, page)
		x.kill(doc)
	}
}

func (x *index) kill(doc uint32) {
	x.alive.drop(doc)
	x.dead++
	x.categories.nodes[x.category[doc]].docs--
}

// change updates a document in place.
func (x *index) change(doc uint32, d *Doc) {
	x.price[doc], x.old[doc], x.published[doc] = d.Price, d.OldPrice, d.Published.Unix()
	x.available.put(doc, d.Available)
	copy(x.own[int(doc)*x.ownNumbers():], x.numbers(d))
	x.setBins(doc)
}

func (x *index) numbers(d *Doc) []float32 {
	n := make([]float32, 0, x.ownNumbers())
	for i := range x.Signals {
		v := float32(math.NaN())
		if i < len(d.Signals) {
			v = d.Signals[i]
		}
		n = append(n, v)
	}
	return append(n, float32(d.Pictures), float32(d.Length))
}

// push appends a document's columns.
func (x *index) push(d *Doc, same uint64) uint32 {
	doc := uint32(len(x.id))
	x.id = append(x.id, d.ID)
	x.same = append(x.same, same)
	x.record = append(x.record, uint32(len(x.texts)))
	x.texts = d.record(x.texts)
	x.source = append(x.source, x.sources.id(d.Source))
	x.vendor = append(x.vendor, x.vendors.id(d.Vendor))
	category := x.categories.node(d.Category, d.CategoryNames)
	x.categories.nodes[category].docs++
	x.category = append(x.category, category)
	x.region = append(x.region, x.regions.number(d.Regions))
	x.group = append(x.group, GroupKey(d))
	x.language = append(x.language, x.languages.id(d.Language))
	x.currency = append(x.currency, x.languages.id(d.Currency)) // there are few of both, so that they share a dictionary
	x.published = append(x.published, d.Published.Unix())
	x.price, x.old = append(x.price, d.Price), append(x.old, d.OldPrice)
	x.prior, x.rank, x.length, x.places = append(x.prior, 0), append(x.rank, 0), append(x.length, 0), append(x.places, 0)
	x.own = append(x.own, x.numbers(d)...)
	for _, s := range []*set{&x.alive, &x.available, &x.offers} {
		s.grow(len(x.id))
	}
	x.alive.add(doc)
	x.available.put(doc, d.Available)
	x.offers.put(doc, d.Offer != "")
	return doc
}

// index adds the words and properties of a new document.
func (x *index) index(doc uint32, d *Doc) {
	words.Each(d.Words, func(w []byte) bool {
		x.words.add(w, doc)
		if x.length[doc] < math.MaxUint8 {
			x.length[doc]++
		}
		return true
	})
	for _, p := range d.Params {
		x.params.add(p, doc)
	}
}

// GroupKey identifies the model that an offer belongs to, or the article that a page is a
// near-duplicate of; 0 for none. Shops use the same group ids, so that vendor and
// category must agree too.
func GroupKey(d *Doc) uint64 {
	if d.Group == "" {
		return 0
	}
	if d.Offer == "" {
		return max(fnv(fnvStart, "page "+d.Group), 1)
	}
	h := uint64(fnvStart)
	for _, t := range []string{d.Group, strings.ToLower(d.Vendor), last(d.Category)} {
		h = fnv(h, t) * fnvPrime
	}
	return max(h, 1)
}

// textsOf are offer id, address and title of a document.
func (x *index) textsOf(doc uint32) (offer, url, title string) {
	offer, url, title = x.textsAt(x.record[doc])
	return strings.Clone(offer), strings.Clone(url), strings.Clone(title)
}

// textsAt are the texts that begin at a place, without copying them.
func (x *index) textsAt(begin uint32) (offer, url, title string) {
	rest := unsafe.String(unsafe.SliceData(x.texts[begin:]), len(x.texts)-int(begin))
	offer, rest, _ = strings.Cut(rest, "\x00")
	url, rest, _ = strings.Cut(rest, "\x00")
	title, _, _ = strings.Cut(rest, "\x00")
	return offer, url, title
}

// params are the properties of offers.
type params struct {
	postings
	numbers map[string][]number // numeric values by name
}

type number struct {
	value float64
	id    uint32
}

// add adds a property. Names and values are compared in lower case.
func (p *params) add(q Param, doc uint32) {
	name, value := strings.ToLower(strings.TrimSpace(q.Name)), strings.ToLower(strings.TrimSpace(q.Value))
	if name == "" || value == "" {
		return
	}
	key := name + "\x00" + value
	known := p.find(key)
	id := p.id(key)
	if known == 0 {
		p.number(name, value, id)
	}
	p.postings.add(id, doc)
}

// number adds a new value if it is a number.
func (p *params) number(name, value string, id uint32) {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return
	}
	if p.numbers == nil {
		p.numbers = map[string][]number{}
	}
	p.numbers[name] = append(p.numbers[name], number{v, id})
}
