"""Trains small CatBoost models and writes the test data of internal/kit/gbdt.

    python3 -m venv venv && venv/bin/pip install catboost==1.2.10
    venv/bin/python training/fixtures.py internal/kit/gbdt/testdata

Each file <name>.json holds the model as CatBoost exports it (without training
parameters and leaf weights), some rows and CatBoost's raw predictions for them:

    {"model": {...}, "rows": [[value, ...], ...], "predictions": [number, ...]}

A value is a number, "nan", "inf" or "-inf". refused_<name>.json holds a model that
the reader must refuse. All random numbers come from fixed seeds.
"""

import json
import math
import os
import sys
import tempfile

import numpy as np
from catboost import CatBoost, Pool

ROWS = 32  # written with each model
COLOURS = ["red", "green", "blue", "ultramarine blue", "зелёный", ""]


def numbers(seed, width=5, count=600, missing=()):
    """Rows of numbers, some of them missing in the given columns."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, width)).astype(np.float32).astype(float)
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.3 * rng.normal(size=count)
    for column in missing:
        hole = rng.random(count) < 0.2
        x[hole, column] = math.nan
        y[hole] += 0.8
    return x.tolist(), y


def mixed(seed, count=900):
    """Rows with two categorical columns: strings, and integers."""
    rng = np.random.default_rng(seed)
    rows, y = [], []
    for _ in range(count):
        a, b = rng.normal(size=2).astype(np.float32).astype(float)
        colour, size = COLOURS[rng.integers(len(COLOURS))], int(rng.integers(-3, 9))
        rows.append([a, colour, b, size])
        y.append(a + (colour in ("red", "")) + (size == 7) * b - (size < 0) + 0.1 * rng.normal())
    return rows, np.array(y)


def train(rows, y, categories=(), groups=None, **params):
    pool = Pool(rows, y, cat_features=list(categories) or None, group_id=groups,
                feature_names=[f"f{i}" for i in range(len(rows[0]))])
    defaults = dict(iterations=16, depth=4, learning_rate=0.3, loss_function="RMSE", random_seed=1,
                    thread_count=1, allow_writing_files=False, verbose=False)
    model = CatBoost(defaults | params)
    model.fit(pool)
    return model, pool


def export(model, pool):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        model.save_model(path, format="json", pool=pool)
        with open(path, encoding="utf-8") as file:
            text = json.load(file)
    text.pop("model_info", None)
    for tree in text.get("oblivious_trees") or []:
        tree.pop("leaf_weights", None)
    return text


def value(x):
    return x if math.isfinite(x) else str(x)


def borders_and_beyond(model, rows):
    """Sets values on the borders, next to them and far away."""
    rows = [list(row) for row in rows]
    width = len(rows[0])
    for i, extreme in enumerate([math.inf, -math.inf, 0.0, -0.0, 3.4e38, -3.4e38, 1e-45]):
        rows[i][i % width] = extreme
    for number, (feature, borders) in enumerate(sorted(model.get_borders().items())):
        for i, border in enumerate(borders[:3]):
            row = rows[8 + (3 * number + i) % 24]
            row[feature] = float([border, np.nextafter(np.float32(border), np.float32(9)),
                                  np.nextafter(np.float32(border), np.float32(-9))][i])
    return rows


def write(folder, name, model, pool, rows):
    rows = borders_and_beyond(model, rows[:ROWS])
    raw = model.predict(Pool(rows), prediction_type="RawFormulaVal")
    fixture = {
        "model": export(model, pool),
        "rows": [[value(x) for x in row] for row in rows],
        "predictions": [float(p) for p in raw],
    }
    dump(folder, name, fixture)


def dump(folder, name, value):
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        file.write("\n")


def regressions(folder):
    for depth in range(1, 9):
        rows, y = numbers(depth)
        model, pool = train(rows, y, depth=depth, iterations=20 if depth < 6 else 6)
        write(folder, f"depth{depth}", model, pool, rows)
    rows, y = numbers(20)
    model, pool = train(rows, y * 1000, boost_from_average=True, border_count=254)
    model.set_scale_and_bias(-0.25, 17.5)
    write(folder, "scaled", model, pool, rows)
    model, pool = train(rows, y, iterations=6, depth=3)
    flatten(model, pool, trees=(0, 4))
    write(folder, "flat_trees", model, pool, rows)
    flatten(model, pool, trees=range(6))
    write(folder, "constant", model, pool, rows)


def flatten(model, pool, trees):
    """Replaces trees by trees of depth 0, which training makes where no split helps."""
    text = export(model, pool)
    for i in trees:
        text["oblivious_trees"][i] = {"leaf_values": [0.125 * (i + 1)], "leaf_weights": [1], "splits": None}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(text, file)
        file.flush()
        model.load_model(file.name, format="json")


def losses(folder):
    rows, y = numbers(30)
    model, pool = train(rows, (y > 0).astype(int), loss_function="Logloss")
    write(folder, "logloss", model, pool, rows)
    groups = [i // 12 for i in range(len(rows))]
    model, pool = train(rows, np.digitize(y, [-0.5, 0.5]), groups=groups, loss_function="YetiRank", depth=6, iterations=10)
    write(folder, "yetirank", model, pool, rows)


def missing(folder):
    for mode in ("Min", "Max"):
        rows, y = numbers(40, missing=(0, 3))
        model, pool = train(rows, y, nan_mode=mode)
        write(folder, f"nan_{mode.lower()}", model, pool, rows)
    rows, y = numbers(41)
    model, pool = train(rows, y, nan_mode="Forbidden")
    holes, _ = numbers(41, missing=(0, 1))
    write(folder, "nan_forbidden", model, pool, holes)


def refused(folder):
    """Models that the reader must refuse: it supports oblivious trees with one value per leaf over numbers."""
    rows, y = numbers(60, count=200)
    model, pool = train(rows, y, grow_policy="Lossguide", iterations=2)
    dump(folder, "refused_lossguide", export(model, pool))
    model, pool = train(rows, np.digitize(y, [-0.5, 0.5]), loss_function="MultiClass", iterations=2, depth=2)
    dump(folder, "refused_multiclass", export(model, pool))
    rows, y = mixed(50)
    model, pool = train(rows, y, categories=(1, 3), one_hot_max_size=32, depth=5)
    dump(folder, "refused_onehot", export(model, pool))
    rows, y = mixed(61, count=200)
    model, pool = train(rows, y, categories=(1, 3), one_hot_max_size=1, iterations=2, depth=2)
    text = export(model, pool)
    text.pop("ctr_data")
    dump(folder, "refused_ctr", text)


if __name__ == "__main__":
    for make in (regressions, losses, missing, refused):
        make(sys.argv[1])
