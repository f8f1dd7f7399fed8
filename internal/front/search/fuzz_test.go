package search

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

// FuzzQuery asks a small index whatever comes as parameters.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"text=kettle&category=1", "param=Color:red|blue;Size:2..&price_min=1e3", "sort=price&k=1&page=2&group=true&explain=1", "match=exact&region=5&share=0.5",
		"text=%F0%9F%98%80%E6%89%8B%E6%9C%BA&profile=segment:3;budget:nan", "vendor=A,B,,&kind=pages&available=1"} {
		f.Add(seed)
	}
	c := Defaults()
	x := &index.Index{Config: index.Defaults(), Metrics: obs.New()}
	x.Config.Shards = 2
	s := &Search{Config: c, Index: x.Config, Backend: x, Metrics: obs.New()}
	if err := errors.Join(x.Open(), s.Open()); err != nil {
		f.Fatal(err)
	}
	var docs []shard.Doc
	for i, title := range []string{"Kettle red", "чайник", "手机壳", "Kettles & pans", ""} {
		d := shard.Doc{ID: int64(i + 1), Offer: strings.Repeat("x", i), Title: title, Words: title, Category: []string{"1", "11"}, CategoryNames: []string{"a", "b"}, Vendor: "A",
			Price: int64(i) * 1000, Params: []shard.Param{{Name: "Color", Value: "red"}, {Name: "Size", Value: "2"}}}
		docs = append(docs, d)
	}
	x.Put(docs, nil, 1)
	f.Fuzz(func(t *testing.T, query string) {
		v, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		q, err := s.request(v)
		if err != nil {
			return
		}
		r, err := s.Find(t.Context(), &q)
		if err != nil {
			t.Fatal(err)
		}
		if r.Total+r.Relaxed > 5 || len(r.Hits) > q.Top || len(r.Hits) > r.Total+r.Relaxed {
			t.Fatalf("%s: %d and %d matched, %d hits of %d", query, r.Total, r.Relaxed, len(r.Hits), q.Top)
		}
		s.found(&q, &r)
	})
}

// FuzzSnippet cuts texts for whatever is asked for.
func FuzzSnippet(f *testing.F) {
	f.Add("The harbour master keeps a diary of the harbour.", "harbour")
	f.Add(strings.Repeat("Ничего. ", 100)+"Чайник", "чайник")
	f.Add("手机壳\xff x", "手机")
	s := &Search{}
	f.Fuzz(func(t *testing.T, text, words string) {
		asks := asksFor(s.wordsOf(words))
		all := ""
		for _, p := range snippet(text, asks) {
			all += p.Text
		}
		if len(all) > snippetSize+10 || utf8.ValidString(text) && !utf8.ValidString(all) {
			t.Fatalf("%q: %q", text, all)
		}
		whole := ""
		for _, p := range pieces(text, spans(text, asks)) {
			whole += p.Text
		}
		if whole != text {
			t.Fatalf("%q became %q", text, whole)
		}
	})
}
