#!/usr/bin/env python3
"""Prints the CPU time per query by class, and the share of totals equal to the first file's."""

import argparse, collections, json, os


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("results", nargs="+")
    p.add_argument("--queries", required=True)
    args = p.parse_args()
    classes, filtered = {}, {}
    for line in open(args.queries):
        q = json.loads(line)
        classes[q["id"]] = q["class"]
    names = [f for f in args.results if os.path.basename(f) not in ("queries.jsonl", "offers.jsonl")]
    print(f"{'':22}{'class':12}{'queries':>8}{'mean ms':>9}{'p50 ms':>8}{'p99 ms':>8}{'totals':>9}")
    first = None
    for f in names:
        by, rows = collections.defaultdict(list), {}
        for line in open(f):
            r = json.loads(line)
            rows[r["id"]] = r
            by[classes[r["id"]]].append(r["ms"])
        first = first or rows
        for c, ms in sorted(by.items()):
            ms.sort()
            same = sum(rows[i]["total"] == first[i]["total"] for i in rows if classes[i] == c and i in first)
            print(f"{os.path.basename(f)[:-6]:22}{c:12}{len(ms):8}{sum(ms) / len(ms):9.2f}{ms[len(ms) // 2]:8.2f}{ms[len(ms) * 99 // 100]:8.2f}{same / len(ms):9.1%}")


if __name__ == "__main__":
    main()
