#!/usr/bin/env python3
"""Sends the queries of a log to a running Courant and writes the offers that it
shows, with their ranking features: one JSON object per line,

    {"id", "offers": ["SHOP/OFFER", ...], "features": [{name: value}, ...]}

The queries are JSON lines as mkshop writes them (id, text, category, filters,
user). Run Courant without index.model for this: then the order does not depend on
quality, and every offer has a chance to be seen.

    python3 training/collect.py --server http://127.0.0.1:8080 --queries queries.jsonl --out shown.jsonl
"""
import argparse
import json
import sys
import threading
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor


def address(server, q, k):
    f, u = q.get("filters", {}), q.get("user", {})
    v = {"text": q.get("text"), "category": q.get("category"), "price_min": f.get("price_min"), "price_max": f.get("price_max"),
         "vendor": ",".join(f.get("vendor", [])), "available": "true" if f.get("available") else None, "region": f.get("region"),
         "param": ";".join(n + ":" + "|".join(vs) for n, vs in f.get("param", {}).items()),
         "profile": ";".join(f"{n}:{u[n]}" for n in ("segment", "budget", "thrift", "haste") if n in u),
         "k": k, "explain": "true", "match": "exact"}
    return server + "/api/v1/search?" + urllib.parse.urlencode({n: x for n, x in v.items() if x not in (None, "")})


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--server", default="http://127.0.0.1:8080")
    a.add_argument("--queries", required=True)
    a.add_argument("--out", required=True)
    a.add_argument("--k", type=int, default=48)
    a.add_argument("--workers", type=int, default=2)
    a = a.parse_args()
    lock, done = threading.Lock(), 0

    def ask(line):
        nonlocal done
        q = json.loads(line)
        with urllib.request.urlopen(address(a.server, q, a.k), timeout=30) as r:
            found = json.load(r)
        hits = [h for h in found["hits"] if h.get("offer")]
        out = {"id": q["id"], "total": found["total"], "offers": [h["source"] + "/" + h["offer"] for h in hits],
               "features": [h["features"] for h in hits]}
        # Courant has the shop's source, such as shop0007; mkshop has its number
        out["offers"] = [o.removeprefix("shop") for o in out["offers"]]
        with lock:
            done += 1
            if done % 500 == 0:
                print(f"\r{done} queries", end="", file=sys.stderr, flush=True)
            print(json.dumps(out, separators=(",", ":")), file=to)

    with open(a.queries) as queries, open(a.out, "w") as to, ThreadPoolExecutor(a.workers) as pool:
        for _ in pool.map(ask, queries):
            pass
    print(f"\r{done} queries", file=sys.stderr)


if __name__ == "__main__":
    main()
