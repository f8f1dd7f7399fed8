#!/usr/bin/env python3
"""Trains a ranking model for Courant's search by CatBoost, from what was shown and
what was clicked, and writes it as JSON for search.model.

    python3 training/train.py --shown shown.jsonl --clicks clicks.jsonl --out model.json

shown.jsonl is collect.py's: {"id", "offers", "features"} a line. clicks.jsonl has a
line for each visit: {"id", "shown", "clicked", "ordered"}, as mkshop clicks writes
and as the search logs them; "clicked" and "ordered" are names of offers or their
places in "shown".

A place further down is looked at less. How much less is read off the visits
themselves (clicks by place; the order must say nothing of quality for that, see
collect.py), and each document is weighed by what it lost by its place. The model
predicts the logarithm of the odds of a click. Queries whose id hashes to 0 of --hold
are held out; the report at the end is about them.
"""
import argparse
import json
import zlib
from collections import defaultdict

import catboost
import numpy


def lines(path):
    with open(path) as f:
        for line in f:
            yield json.loads(line)


def places(names, shown):
    """Places of clicked offers, whether they are given by name or by place."""
    at = {n: i for i, n in enumerate(shown)}
    return [n if isinstance(n, int) else at[n] for n in names or []]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--shown", required=True)
    a.add_argument("--clicks", required=True)
    a.add_argument("--out", required=True)
    a.add_argument("--trees", type=int, default=400)
    a.add_argument("--depth", type=int, default=6)
    a.add_argument("--rate", type=float, default=0.06)
    a.add_argument("--borders", type=int, default=64)
    a.add_argument("--hold", type=int, default=6, help="one query in so many is held out")
    a.add_argument("--order-weight", type=float, default=3, help="an order counts as so many clicks more")
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
            # the share of those who looked that clicked, with the weight of those who looked
            looked = n * look[place]
            labels.append(min(gains[s["id"], offer] / looked, 1.0))
            weights.append(looked)
            held.append(hold)
    names = sorted(names - {"age_days"})  # of one import all are of one age
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
    p = 1 / (1 + numpy.exp(-model.predict(x[held], prediction_type="RawFormulaVal")))
    print(f"{len(y)} rows, {sum(visits.values())} visits, {int(by_place.sum())} clicks; {held.sum()} rows held out")
    base = numpy.average(y[~held], weights=w[~held])
    def loss(q):
        return -numpy.average(y[held] * numpy.log(q) + (1 - y[held]) * numpy.log(1 - q), weights=w[held])
    print(f"held out: cross entropy {loss(p):.5f}, of the mean {loss(numpy.full(held.sum(), base)):.5f}")
    for n, v in sorted(zip(names, model.get_feature_importance()), key=lambda z: -z[1]):
        print(f"  {v:5.1f}  {n}")


if __name__ == "__main__":
    main()
