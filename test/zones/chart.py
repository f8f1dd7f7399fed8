#!/usr/bin/env python3
"""Draws the load and the share of each zone from what run.py wrote. Needs matplotlib."""

import argparse, json, pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"a": "#c0392b", "b": "#2471a3", "c": "#1e8449"}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--work", default="/tmp/courant-zones")
    p.add_argument("--name", default="run")
    p.add_argument("--out", default="docs")
    args = p.parse_args()
    rows = json.loads((pathlib.Path(args.work) / (args.name + "-zones.json")).read_text())
    for what, label, file in (("cpu", "load: fraction of the zone's CPU", "load"), ("share", "share of candidates ranked", "share")):
        figure, axes = plt.subplots(figsize=(8, 3))
        for zone, colour in COLOURS.items():
            points = [(r["t"], r.get(f"{what}-{zone}")) for r in rows]
            axes.plot([t for t, _ in points], [v if v is not None else float("nan") for _, v in points], color=colour, label="zone " + zone, linewidth=1.4)
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("seconds")
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right", frameon=False)
        figure.tight_layout()
        figure.savefig(pathlib.Path(args.out) / f"zone-{file}.svg")


if __name__ == "__main__":
    main()
