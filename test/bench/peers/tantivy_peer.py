#!/usr/bin/env python3
"""Measures Tantivy (PyPI: tantivy) on the output of export.py: one segment, one query thread."""

import argparse, json, os, resource, time

import tantivy


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", required=True)
    p.add_argument("--index", required=True)
    p.add_argument("--out", required=True)
    args = p.parse_args()
    b = tantivy.SchemaBuilder()
    b.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    b.add_text_field("words", tokenizer_name="whitespace")
    for name in ("cats", "vendor", "params"):
        b.add_text_field(name, tokenizer_name="raw", index_option="basic")
    b.add_integer_field("price", indexed=True, fast=True)
    b.add_integer_field("regions", indexed=True)
    b.add_boolean_field("available", indexed=True)
    schema = b.build()
    os.makedirs(args.index, exist_ok=True)
    index = tantivy.Index(schema, path=args.index)
    began = time.process_time()
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for line in open(args.data + "/offers.jsonl"):
        o = json.loads(line)
        d = tantivy.Document(id=o["id"], words=o["words"], cats=o["cats"], vendor=o["vendor"], params=o["params"], regions=o["regions"])
        d.add_integer("price", o["price"])
        d.add_boolean("available", o["available"])
        writer.add_document(d)
    writer.commit()
    writer.wait_merging_threads()
    print(json.dumps({"indexed": time.process_time() - began}), flush=True)
    index.reload()
    searcher = index.searcher()
    Q, Occur = tantivy.Query, tantivy.Occur

    def term(field, value):
        return Q.term_query(schema, field, value, "basic")

    def any_of(parts):
        return parts[0] if len(parts) == 1 else Q.boolean_query([(Occur.Should, q) for q in parts])

    def build(q):
        must = [(Occur.Must, any_of([Q.term_query(schema, "words", w) for w in group])) for group in q["words"]]
        filters = []
        if q["category"]:
            filters.append(term("cats", q["category"]))
        if q["vendors"]:
            filters.append(any_of([term("vendor", v) for v in q["vendors"]]))
        for values in q["params"]:
            filters.append(any_of([term("params", v) for v in values]) if values else Q.empty_query())
        if q["min"] or q["max"]:
            filters.append(Q.range_query(schema, "price", tantivy.FieldType.Integer, max(q["min"], 1), q["max"] or 2**60))
        if q["available"]:
            filters.append(term("available", True))
        if q["region"]:
            filters.append(term("regions", q["region"]))
        return Q.boolean_query(must + [(Occur.Must, Q.const_score_query(f, 0.0)) for f in filters])

    queries = [json.loads(line) for line in open(args.data + "/queries.jsonl")]
    with open(args.out, "w") as out:
        for turn in range(2):  # the first warms the caches
            for q in queries:
                query = build(q)
                began = time.process_time()
                r = searcher.search(query, 48, count=True)
                hits = r.hits
                took = time.process_time() - began
                if turn == 1:
                    out.write(json.dumps({"id": q["id"], "total": r.count, "ms": took * 1000,
                                          "offers": [searcher.doc(a)["id"][0] for _, a in hits]}) + "\n")
    size = sum(os.path.getsize(os.path.join(args.index, f)) for f in os.listdir(args.index))
    print(json.dumps({"disk": size, "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "version": tantivy.__version__}))


if __name__ == "__main__":
    main()
