#!/usr/bin/env python3
"""Trains a ranking model for Courant's search with CatBoost, from impressions and
clicks, and writes it as JSON for index.model.

    python3 training/train.py --shown shown.jsonl --clicks clicks.jsonl --out model.json

shown.jsonl is the output of collect.py: {"id", "offers", "features"} per line.
clicks.jsonl has a line for each visit: {"id", "shown", "clicked", "ordered"}, as
mkshop clicks and the search log write it; "clicked" and "ordered" are names of offers
or their positions in "shown".

Lower positions are seen less. How much less (the position bias) is estimated from the
clicks by position, for which the order must not depend on quality (see collect.py);
labels and weights are corrected by inverse propensity. The model predicts the log-odds
of a click. Queries whose id hashes to 0 modulo --hold are held out; the report at the
end is about them.
"""
import argparse
import json
import math
import random
import zlib
from collections import defaultdict

import catboost
import numpy


def lines(path):
    with open(path) as f:
        for line in f:
            yield json.loads(line)


def places(names, shown):
    """Positions of clicked offers, whether given by name or by position."""
    at = {n: i for i, n in enumerate(shown)}
    return [n if isinstance(n, int) else at[n] for n in names or []]


def judged_pages(n, seed):
    """Synthetic rows for pages, which have no clicks yet, labelled by a formula: the
    words in the title count most, then the age, then pictures and length."""
    r = random.Random(seed)
    for _ in range(n):
        words = r.randint(1, 5)
        have = words if r.random() < 0.7 else r.randint(0, words)
        f = {"is_offer": 0, "words": words, "exact": have / words, "title_match": r.randint(0, have) / words, "age_days": r.lognormvariate(3, 2),
             "pictures": r.choice([0, 0, 1, 1, 2, 5]), "length": int(r.lognormvariate(7.5, 1)), "available": 0, "bargain": 0, "discount": 0,
             "group_size": 1, "category_share": r.random()}
        f["words_of_title"] = min(255, 10 + f["length"] // 6)
        f["cover"] = words / f["words_of_title"]
        z = (-3.5 + 2.2 * f["title_match"] + f["exact"] + 1.2 * math.exp(-f["age_days"] / 7) + 0.6 * math.exp(-f["age_days"] / 180)
             + 0.2 * (f["pictures"] > 0) + 0.3 * min(math.log10(max(f["length"], 1) / 300), 1))
        yield f, 1 / (1 + math.exp(-z))


def slim(path):
    """Removes from the model file what Courant does not read."""
    with open(path) as f:
        m = json.load(f)
    out = {"features_info": {"float_features": m["features_info"]["float_features"]}, "scale_and_bias": m["scale_and_bias"],
           "oblivious_trees": [{"leaf_values": [float(f"{v:.7g}") for v in t["leaf_values"]],
                                "splits": [{k: s[k] for k in ("border", "float_feature_index", "split_index", "split_type")} for s in t["splits"]]}
                               for t in m["oblivious_trees"]]}
    with open(path, "w") as f:
        json.dump(out, f, separators=(",", ":"))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--shown", required=True)
    a.add_argument("--clicks", required=True)
    a.add_argument("--out", required=True)
    a.add_argument("--trees", type=int, default=400)
    a.add_argument("--depth", type=int, default=6)
    a.add_argument("--rate", type=float, default=0.06)
    a.add_argument("--borders", type=int, default=64)
    a.add_argument("--hold", type=int, default=6, help="hold out one query in HOLD")
    a.add_argument("--order-weight", type=float, default=3, help="weight of an order, in additional clicks")
    a.add_argument("--pages", type=int, default=40000, help="number of synthetic rows for pages, labelled by a formula")
    a.add_argument("--seed", type=int, default=1)
    a = a.parse_args()

    visits, gains, by_place = defaultdict(int), defaultdict(float), numpy.zeros(1000)
    seen = numpy.zeros(1000)
    for v in lines(a.clicks):
        shown = v["shown"]
        visits[v["id"]] += 1
        seen[: len(shown)] += 1
        clicked = places(v.get("clicked"), shown)
        for i in clicked:
            by_place[i] += 1
            gains[v["id"], shown[i]] += 1
        for i in places(v.get("ordered"), shown):
            gains[v["id"], shown[i]] += a.order_weight
    look = by_place / numpy.maximum(seen, 1)
    look = numpy.maximum(look / look[0], 0.02)

    names, rows, labels, weights, held = None, [], [], [], []
    for s in lines(a.shown):
        n = visits[s["id"]]
        if n == 0:
            continue
        hold = zlib.crc32(s["id"].encode()) % a.hold == 0
        for place, (offer, f) in enumerate(zip(s["offers"], s["features"])):
            if names is None:
                names = set()
            names.update(f)
            rows.append(f)
            # clicks per view at this position, weighted by the estimated views
            looked = n * look[place]
            labels.append(min(gains[s["id"], offer] / looked, 1.0))
            weights.append(looked)
            held.append(hold)
    for f in rows:
        f.pop("age_days", None)  # all offers of one import have the same age
    for f, p in judged_pages(a.pages, a.seed):
        names.update(f)
        rows.append(f)
        labels.append(p)
        weights.append(sum(weights[:1000]) / 1000)
        held.append(False)
    names = sorted(names)
    x = numpy.full((len(rows), len(names)), numpy.nan, dtype=numpy.float32)
    for i, f in enumerate(rows):
        for j, n in enumerate(names):
            if n in f:
                x[i, j] = f[n]
    y, w, held = numpy.array(labels), numpy.array(weights), numpy.array(held)
    model = catboost.CatBoost({"iterations": a.trees, "depth": a.depth, "learning_rate": a.rate, "border_count": a.borders,
                               "loss_function": "CrossEntropy", "random_seed": a.seed, "verbose": 100, "thread_count": 2})
    pool = catboost.Pool(x[~held], y[~held], weight=w[~held], feature_names=names)
    model.fit(pool)
    model.save_model(a.out, format="json")
    slim(a.out)
    p = 1 / (1 + numpy.exp(-model.predict(x[held], prediction_type="RawFormulaVal")))
    print(f"{len(y)} rows, {sum(visits.values())} visits, {int(by_place.sum())} clicks; {held.sum()} rows held out")
    base = numpy.average(y[~held], weights=w[~held])
    def loss(q):
        return -numpy.average(y[held] * numpy.log(q) + (1 - y[held]) * numpy.log(1 - q), weights=w[held])
    print(f"held out: cross-entropy {loss(p):.5f}, of the constant mean {loss(numpy.full(held.sum(), base)):.5f}")
    for n, v in sorted(zip(names, model.get_feature_importance()), key=lambda z: -z[1]):
        print(f"  {v:5.1f}  {n}")


if __name__ == "__main__":
    main()
