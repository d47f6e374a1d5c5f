"""Figure 14: a tree that tells what the speedup depends on, grown by Hornbeam for both speedups at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hornbeam import TreeRegressor
from hornbeam.model import Tree
from hornbeam_experiments.records import Cell, Sheet
from hornbeam_experiments.sets import Loaded

DEPTH = 3
NAMES = ("Rows", "Nominal", "Numeric", "Classes", "TreeSize")


@dataclass(frozen=True, eq=False)
class Influences:
    """The tree, and the points that it was grown from."""

    tree: Tree
    points: Sheet


def influences(sets: Sequence[Loaded], sizes: Sheet) -> Influences:
    """From the speedups of figure 13: a point for each set and share of its rows."""
    known = {loaded.title: loaded for loaded in sets}
    points: dict[tuple[Cell, Cell], dict[str, Cell]] = {}
    for record in sizes.records():
        loaded = known[str(record["set"])]
        point = points.setdefault(
            (record["set"], record["share"]),
            {
                "set": record["set"],
                "Rows": record["rows"],
                "Nominal": loaded.nominal,
                "Numeric": loaded.numeric,
                # A numeric target has no classes; nothing is asked about what is missing.
                "Classes": loaded.classes,
                "TreeSize": record["tree size"],
                "OS": None,
                "CV": None,
            },
        )
        if record["algorithm"] in ("OS", "CV"):
            point[str(record["algorithm"])] = record["speedup"]
    sheet = Sheet.of("figure-14", list(points.values()))
    columns = {name: [record[name] for record in sheet.records()] for name in (*NAMES, "OS", "CV")}
    attributes = pa.table({name: pa.array(columns[name], pa.float64()) for name in NAMES})
    targets = np.array([columns["OS"], columns["CV"]], dtype=np.float64).T
    least = max(2, len(points) // 12)
    names = pa.table({"OS": targets[:, 0], "CV": targets[:, 1]})
    grown = TreeRegressor(max_depth=DEPTH, min_samples_leaf=least).fit(attributes, names)
    return Influences(grown.tree_, sheet)
