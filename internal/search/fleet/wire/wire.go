// Package wire converts queries and answers to and from protobuf messages. The other Go
// files are generated from search.proto by `make proto`.
package wire

import (
	"time"

	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

// FromAsk is the message of a query.
func FromAsk(a *index.Ask) *Ask {
	q := &a.Query
	out := &Ask{Reason: string(a.Reason), Program: a.Program, Client: a.Client, Shards: numbers[int32](a.Shards), Query: &Query{
		Exact: q.Exact, Near: q.Near, Category: q.Category, Source: q.Source, Language: q.Language, Vendors: q.Vendors,
		PriceMin: q.PriceMin, PriceMax: q.PriceMax, Available: q.Available, Region: int32(q.Region), Kind: int32(q.Kind), Sort: int32(q.Sort),
		Top: int32(q.Top), Grouped: q.Grouped, Share: q.Share, Explain: q.Explain,
		Person: &Person{Segment: int32(q.Person.Segment), Budget: q.Person.Budget, Thrift: q.Person.Thrift, Haste: q.Person.Haste}}}
	out.Query.Words = fromWords(q.Words)
	for _, f := range q.Params {
		to := &Filter{Name: f.Name}
		for _, v := range f.Values {
			to.Values = append(to.Values, &Value{Text: v.Text, Range: v.Range, Lo: v.Lo, Hi: v.Hi})
		}
		out.Query.Params = append(out.Query.Params, to)
	}
	return out
}

// Into is the query of the message.
func (x *Ask) Into() *index.Ask {
	q := x.GetQuery()
	p := q.GetPerson()
	a := &index.Ask{Reason: degrade.Reason(x.GetReason()), Program: x.GetProgram(), Client: x.GetClient(), Shards: numbers[int](x.GetShards()), Query: shard.Query{
		Exact: q.GetExact(), Near: q.GetNear(), Category: q.GetCategory(), Source: q.GetSource(), Language: q.GetLanguage(), Vendors: q.GetVendors(),
		PriceMin: q.GetPriceMin(), PriceMax: q.GetPriceMax(), Available: q.GetAvailable(), Region: int(q.GetRegion()), Kind: shard.Kind(q.GetKind()),
		Sort: shard.Sort(q.GetSort()), Top: int(q.GetTop()), Grouped: q.GetGrouped(), Share: q.GetShare(), Explain: q.GetExplain(),
		Person: shard.Person{Segment: int(p.GetSegment()), Budget: p.GetBudget(), Thrift: p.GetThrift(), Haste: p.GetHaste()}}}
	a.Query.Words = intoWords(q.GetWords())
	for _, f := range q.GetParams() {
		to := shard.Filter{Name: f.GetName()}
		for _, v := range f.GetValues() {
			to.Values = append(to.Values, shard.Value{Text: v.GetText(), Range: v.GetRange(), Lo: v.GetLo(), Hi: v.GetHi()})
		}
		a.Query.Params = append(a.Query.Params, to)
	}
	return a
}

// FromPart is the message of an answer.
func FromPart(p *index.Part, load degrade.Report) *Part {
	out := &Part{Total: int64(p.Total), Relaxed: int64(p.Relaxed), Share: p.Share, CpuNs: int64(p.CPU), Load: FromLoad(load), Facets: &Facets{}}
	for i := range p.Hits {
		out.Hits = append(out.Hits, fromHit(&p.Hits[i]))
	}
	for value, n := range p.Facets.Vendors {
		out.Facets.Vendors = append(out.Facets.Vendors, &Count{Value: value, Count: int64(n)})
	}
	for value, n := range p.Facets.Categories {
		out.Facets.Categories = append(out.Facets.Categories, &Count{Value: value, Count: int64(n), Name: p.Facets.Names[value]})
	}
	out.Facets.Prices = numbers[int64](p.Facets.Prices[:])
	for _, c := range p.Conflicts {
		out.Conflicts = append(out.Conflicts, &Conflict{Id: c.ID, Name: c.Name, Other: c.Other})
	}
	for _, r := range p.Shards {
		out.Shards = append(out.Shards, &Report{Shard: int32(r.Shard), Matched: int64(r.Matched), Considered: int64(r.Considered), Scored: int64(r.Scored),
			ShareAsked: r.ShareAsked, ShareUsed: r.ShareUsed, Reason: string(r.Reason)})
	}
	return out
}

// Into is the answer of the message.
func (x *Part) Into() index.Part {
	p := index.Part{Total: int(x.GetTotal()), Relaxed: int(x.GetRelaxed()), Share: x.GetShare(), CPU: time.Duration(x.GetCpuNs())}
	for _, h := range x.GetHits() {
		p.Hits = append(p.Hits, h.into())
	}
	f := shard.Facets{Vendors: map[string]int{}, Categories: map[string]int{}, Names: map[string]string{}}
	for _, c := range x.GetFacets().GetVendors() {
		f.Vendors[c.GetValue()] = int(c.GetCount())
	}
	for _, c := range x.GetFacets().GetCategories() {
		f.Categories[c.GetValue()], f.Names[c.GetValue()] = int(c.GetCount()), c.GetName()
	}
	copy(f.Prices[:], numbers[int](x.GetFacets().GetPrices()))
	p.Facets = f
	for _, c := range x.GetConflicts() {
		p.Conflicts = append(p.Conflicts, shard.Conflict{ID: c.GetId(), Name: c.GetName(), Other: c.GetOther()})
	}
	for _, r := range x.GetShards() {
		p.Shards = append(p.Shards, index.Report{Shard: int(r.GetShard()), Matched: int(r.GetMatched()), Considered: int(r.GetConsidered()),
			Scored: int(r.GetScored()), ShareAsked: r.GetShareAsked(), ShareUsed: r.GetShareUsed(), Reason: degrade.Reason(r.GetReason())})
	}
	return p
}

func fromHit(h *shard.Hit) *Hit {
	out := &Hit{Id: h.ID, Score: h.Score, Relaxed: h.Relaxed, Source: h.Source, Offer: h.Offer, Url: h.URL, Title: h.Title, Vendor: h.Vendor,
		Price: h.Price, Old: h.Old, Currency: h.Currency, Available: h.Available, Group: h.Group, Features: h.Features}
	if !h.Published.IsZero() {
		out.Published = h.Published.Unix()
	}
	return out
}

func (x *Hit) into() shard.Hit {
	h := shard.Hit{ID: x.GetId(), Score: x.GetScore(), Relaxed: x.GetRelaxed(), Source: x.GetSource(), Offer: x.GetOffer(), URL: x.GetUrl(),
		Title: x.GetTitle(), Vendor: x.GetVendor(), Price: x.GetPrice(), Old: x.GetOld(), Currency: x.GetCurrency(), Available: x.GetAvailable(),
		Group: x.GetGroup(), Features: x.GetFeatures()}
	if x.GetPublished() != 0 {
		h.Published = time.Unix(x.GetPublished(), 0).UTC()
	}
	return h
}

// FromStatus is the message of an index's state.
func FromStatus(s index.Status, docs int) *StateReply {
	return &StateReply{Engine: s.Engine, Held: numbers[int32](s.Held), Ready: s.Ready, Version: s.Version, Load: FromLoad(s.Report), Docs: int64(docs)}
}

// Status is the state of the message.
func (x *StateReply) Status() index.Status {
	return index.Status{Engine: x.GetEngine(), Held: numbers[int](x.GetHeld()), Ready: x.GetReady(), Version: x.GetVersion(), Report: x.GetLoad().Into()}
}

// FromLoad is the message of a replica's load.
func FromLoad(r degrade.Report) *Load {
	return &Load{Share: r.Share, InFlight: int32(r.InFlight), Waiting: int32(r.Waiting), WaitNs: int64(r.Wait)}
}

// Into is the load of the message.
func (x *Load) Into() degrade.Report {
	return degrade.Report{Share: x.GetShare(), InFlight: int(x.GetInFlight()), Waiting: int(x.GetWaiting()), Wait: time.Duration(x.GetWaitNs())}
}

func numbers[To, From int | int32 | int64](from []From) (to []To) {
	for _, n := range from {
		to = append(to, To(n))
	}
	return to
}

func fromWords(words []shard.Word) (out []*Word) {
	for _, w := range words {
		out = append(out, &Word{Text: w.Text, Synonyms: w.Synonyms})
	}
	return out
}

func intoWords(words []*Word) (out []shard.Word) {
	for _, w := range words {
		out = append(out, shard.Word{Text: w.GetText(), Synonyms: w.GetSynonyms()})
	}
	return out
}

// FromBegin is the message of a text to complete.
func FromBegin(b *index.Begin) *Begin {
	return &Begin{Before: fromWords(b.Before), Word: b.Word, Most: int32(b.Most), Shards: numbers[int32](b.Shards)}
}

// Into is the text of the message.
func (x *Begin) Into() *index.Begin {
	return &index.Begin{Before: intoWords(x.GetBefore()), Word: x.GetWord(), Most: int(x.GetMost()), Shards: numbers[int](x.GetShards())}
}

// FromSuggestions is the message of suggestions.
func FromSuggestions(all []shard.Suggestion) *Suggestions {
	out := &Suggestions{}
	for _, s := range all {
		out.Suggestions = append(out.Suggestions, &Suggestion{Word: s.Word, Count: int64(s.Count)})
	}
	return out
}

// Into is the suggestions of the message.
func (x *Suggestions) Into() (all []shard.Suggestion) {
	for _, s := range x.GetSuggestions() {
		all = append(all, shard.Suggestion{Word: s.GetWord(), Count: int(s.GetCount())})
	}
	return all
}
