#!/usr/bin/env python3
"""Writes offers and queries in the simple format that all peers read.

Words, categories, vendors and params are one token each, so that all peers index and
search the same tokens. A numeric range becomes the list of the values that occur in it.
"""

import argparse, bisect, collections, glob, gzip, json, re

STOP = set("buy price cheap online купить цена недорого онлайн for and the in для и в на".split())


def tokens(text):
    return re.findall(r"[^\W_]+", (text or "").lower().replace("ё", "е"))


def number(text):
    try:
        return float(str(text).replace(",", "."))
    except ValueError:
        return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--catalogs", required=True, help="glob pattern of the files of mkshop catalog -format jsonl -gz")
    p.add_argument("--categories", required=True, help="its categories.json")
    p.add_argument("--queries", required=True)
    p.add_argument("--synonyms", default="", help="synonym groups, one per line")
    p.add_argument("--out", required=True)
    args = p.parse_args()
    parents = {}
    for c in json.load(open(args.categories)):
        parents[str(c["id"])] = str(c["parent"]) if c.get("parent") else ""
    values = collections.defaultdict(set)
    with open(f"{args.out}/offers.jsonl", "w") as out:
        for path in sorted(glob.glob(args.catalogs)):
            for line in gzip.open(path, "rt"):
                out.write(json.dumps(offer(json.loads(line), parents, values), ensure_ascii=False) + "\n")
    sorted_values = {name: sorted(v) for name, v in values.items()}
    groups = {}
    for line in open(args.synonyms) if args.synonyms else []:
        if line.strip() and not line.startswith(("#", "stop:")):
            group = [tokens(w)[0] for w in line.split(",") if tokens(w)]
            for w in group:
                groups[w] = group
    with open(f"{args.out}/queries.jsonl", "w") as out:
        for line in open(args.queries):
            out.write(json.dumps(query(json.loads(line), groups, sorted_values), ensure_ascii=False) + "\n")


def offer(o, parents, values):
    cats, c = [], str(o.get("categoryId", ""))
    while c and c in parents:
        cats.append(c)
        c = parents[c]
    params = []
    regions = []
    for q in o.get("params") or []:
        name, value = q["name"].strip().lower(), str(q["value"]).strip().lower()
        if name == "regions":
            for part in value.split(","):
                a, _, b = part.partition("-")
                regions += range(int(a), int(b or a) + 1)
            continue
        params.append(f"{name}={value}")
        if (n := number(value)) is not None:
            values[name].add((n, value))
    text = " ".join(filter(None, [o.get("name"), o.get("typePrefix"), o.get("vendor"), o.get("model")]))
    return {"id": f"{o['shop']:04d}/{o['id']}", "words": " ".join(dict.fromkeys(tokens(text))), "cats": cats, "vendor": (o.get("vendor") or "").strip(),
            "price": int(round((number(o.get("price")) or 0) * 100)), "available": bool(o.get("available")), "regions": regions, "params": params}


def query(q, groups, values):
    f = q.get("filters") or {}
    words = [w for w in dict.fromkeys(tokens(q.get("text"))) if w not in STOP]
    params = []
    for name, wanted in (f.get("param") or {}).items():
        name, any_of = name.strip().lower(), []
        for v in wanted:
            if ".." not in v:
                any_of.append(f"{name}={v.strip().lower()}")
                continue
            lo, _, hi = v.partition("..")
            lo, hi = number(lo) if lo else float("-inf"), number(hi) if hi else float("inf")
            known = values.get(name, [])
            for n, text in known[bisect.bisect_left(known, (lo, "")):]:
                if n > hi:
                    break
                any_of.append(f"{name}={text}")
        params.append(any_of)
    return {"id": q["id"], "class": q["class"], "words": [groups.get(w, [w]) for w in words], "category": str(q.get("category") or ""),
            "min": int(round(f.get("price_min", 0) * 100)), "max": int(round(f.get("price_max", 0) * 100)), "vendors": f.get("vendor") or [],
            "params": params, "available": bool(f.get("available")), "region": int(f.get("region") or 0)}


if __name__ == "__main__":
    main()
