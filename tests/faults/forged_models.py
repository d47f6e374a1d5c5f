"""A program: files of every estimator that can be saved are forged, loaded and used within a memory limit.

It prints what became of them as JSON. Arguments: a folder to write to, mutants of each model, the first seed.
"""

from __future__ import annotations

import copy
import json
import resource
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hornbeam
from hornbeam.errors import HornbeamError
from hornbeam.model import Tree, read_document
from tests.faults.test_model_files import document, forge
from tests.relational_shop import KEYS, REFERENCES, shop, shop_frames

Path_ = tuple[str | int, ...]
Shape = tuple[str, ...]

ROOM = 256 << 20
"""What the address space may grow by: a file of some kilobytes that needs more asks for it by a lie."""
MOST = 1000
"""The longest line."""
EXTREMES: list[Any] = [
    *(-1, 0, 1, 2**31 - 1, 2**40, 2**62, 2**63 - 1, 2**63, 10**10, 10**30, 10**400),
    *(True, None, -0.5, 1e308, float("inf"), "two\nlines", [], [[]], {}),
]
ONCE: list[tuple[Shape, Any]] = [
    (("nodes", "rows", "*"), 200_000_000),
    (("nodes", "rows", "*"), 10**10),
    (("nodes", "rows", "*"), 2**62),
    (("columns", "*", "*"), 10**400),
    (("class_weight", "*"), 10**400),
    (("cost_matrix", "*", "*"), 10**400),
    (("search", "work"), 10**400),
    (("search", "elapsed"), float("inf")),
    (("profile", "*", "*"), float("inf")),
    (("variable",), 2**31 - 1),
    (("variable",), 2**40),
    (("nodes", "*", "counts", "*"), 10**400),
    (("nodes", "*", "counts", "*"), -1),
    (("parameters", "n_jobs"), 30_000),
]
"""What was no line at all, or one about gigabytes."""


def rows(n: int = 60) -> tuple[pd.DataFrame, Any]:
    """A column of each kind, some cells missing, and classes that some of them tell."""
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "real": draw.normal(size=n).round(2),
            "whole": pd.array(draw.integers(0, 9, n), dtype="Int64"),
            "label": draw.choice(["a", "b", "c", "d"], n),
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(draw.integers(0, 99, n), "D"),
        }
    )
    frame.loc[::7, "real"] = np.nan
    frame.loc[::11, "whole"] = pd.NA
    told = (frame["label"] == "a") | (frame["real"].fillna(0.0) > 0.5)
    return frame, np.where(told ^ (draw.random(n) < 0.1), "no", "yes")


def fitted() -> Iterator[tuple[str, Any, Any]]:
    """Name, fitted estimator, and what it answers for."""
    X, y = rows()
    numbers = np.column_stack([X["real"].fillna(0.0), np.arange(len(X))])
    grown: dict[str, Any] = {
        "TreeClassifier": hornbeam.TreeClassifier(
            competitors=2,
            class_weight={"no": 2.0},
            cost_matrix=[[0, 1], [3, 0]],
            prune="cost_complexity",
            ccp_alpha=0.01,
        ),
        "TreeClassifier, quest": hornbeam.TreeClassifier(criterion="quest"),
        "C45Classifier": hornbeam.C45Classifier(),
        "CrossValidatedC45": hornbeam.CrossValidatedC45(cv=2, repeats=1, random_state=0),
        "LookaheadTreeClassifier": hornbeam.LookaheadTreeClassifier(r=1, random_state=0),
        "AnytimeTreeClassifier, error": hornbeam.AnytimeTreeClassifier(
            max_iter=3, referee="cv", random_state=0
        ),
        "AnytimeTreeClassifier, size": hornbeam.AnytimeTreeClassifier(
            objective="size", max_iter=3, prune="error_based", random_state=0
        ),
        "BaggedTreesClassifier": hornbeam.BaggedTreesClassifier(n_estimators=2, random_state=0),
    }
    for name, model in grown.items():
        yield name, model.fit(X, y), X
    yield "TreeRegressor", hornbeam.TreeRegressor(max_depth=4).fit(X, numbers), X
    yield "BaggedTreesRegressor", hornbeam.BaggedTreesRegressor(n_estimators=2).fit(X, numbers), X
    source = hornbeam.source(X.assign(y=y))
    dealt = hornbeam.BaggedTreesClassifier(n_estimators=2, random_state=0).fit_source(source, target="y")
    yield "BaggedTreesClassifier, source", dealt, X
    linked = shop(30)
    yield "RelationalTreeClassifier", hornbeam.RelationalTreeClassifier(prune=None).fit(linked), linked
    yield "RelationalBagging", hornbeam.RelationalBagging(n_estimators=2, random_state=0).fit(linked), linked
    ages = hornbeam.RelationalData.from_frames(shop_frames(30), KEYS, REFERENCES, target="customers.age")
    yield "RelationalTreeRegressor", hornbeam.RelationalTreeRegressor(ftest=None).fit(ages), ages


def use(model: Any, data: Any, place: Path) -> None:
    """What a loaded model is asked, and that it can be kept again."""
    model.predict(data)
    if isinstance(model, hornbeam.AnytimeTreeClassifier):
        for _ in model.improve(seconds=0.02, iterations=1):
            pass
        model.course_.to_svg()
    if hasattr(model, "tree_"):
        tree = model.tree_
        for asked in (tree.to_text, tree.to_svg, tree.rules):
            asked()
        tree.to_sql(output="leaf")
        assert type(tree).from_json(tree.to_json()).digest == tree.digest
    if isinstance(getattr(model, "tree_", None), Tree) and tree.classes is not None:
        assert np.allclose(model.predict_proba(data).sum(axis=1), 1.0)
    hornbeam.save(model, place)


def shapes(record: Any, path: Path_ = (), shape: Shape = ()) -> Iterator[tuple[Shape, Path_]]:
    """The places of a nest, and what they are called whatever their number in a list is."""
    yield shape, path
    if isinstance(record, dict):
        for key, value in record.items():
            yield from shapes(value, (*path, key), (*shape, key))
    elif isinstance(record, list):
        for i, value in enumerate(record):
            yield from shapes(value, (*path, i), (*shape, "*"))


def forged(payload: dict[str, Any], many: int, first_seed: int) -> Iterator[tuple[str, Any]]:
    """What was done, and the payload after it: what was a fault once; then an accident, or some place of some
    shape with an extreme."""
    places: dict[Shape, list[Path_]] = {}
    for shape, path in shapes(payload):
        if path and path[0] != "notes":
            places.setdefault(shape, []).append(path)
    for ending, extreme in ONCE:
        for shape in places:
            if shape[-len(ending) :] == ending:
                for path in dict.fromkeys((places[shape][0], places[shape][-1])):
                    yield changed(payload, path, extreme)
    for seed in range(first_seed, first_seed + many):
        draw = np.random.default_rng(seed)
        if seed % 4 == 0:
            record = copy.deepcopy(payload)
            forge(draw, record)
            yield f"accident {seed}", record
            continue
        of_shape = list(places.values())[int(draw.integers(len(places)))]
        path = of_shape[int(draw.integers(len(of_shape)))]
        yield changed(payload, path, EXTREMES[int(draw.integers(len(EXTREMES)))])


def changed(payload: dict[str, Any], path: Path_, value: Any) -> tuple[str, Any]:
    """The payload with another value at a place."""
    record = inner = copy.deepcopy(payload)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return f"{list(path)} = {value!r:.40}", record


def written(record: Any) -> bytes:
    """As a document with the right checksum; an infinite number is one that JSON can write."""
    return document(json.dumps(record).replace("Infinity", "1e999").encode("ascii"))


def outcome(path: Path, data: Any) -> tuple[str, str]:
    """taken or refused, and with which line; or a fault, and which."""
    try:
        use(hornbeam.load(path), data, path.with_name("again"))
    except HornbeamError as error:
        line = str(error)
        if "\n" in line or len(line) > MOST or "memory" in line:
            return "fault", f"{type(error).__name__}: {len(line)} characters: {line[:300]}"
        return "refused", line
    except BaseException as error:
        return "fault", f"{type(error).__name__}: {str(error)[:200]}"
    return "taken", ""


def main(folder: Path, many: int, first_seed: int) -> None:
    warnings.simplefilter("ignore")
    saved = []
    for name, model, data in fitted():
        hornbeam.save(model, folder / "saved")
        saved.append((name, read_document(folder / "saved"), data))
        use(hornbeam.load(folder / "saved"), data, folder / "again")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    report: dict[str, Any] = {}
    for name, payload, data in saved:
        found: dict[str, list[str]] = {"taken": [], "refused": [], "fault": []}
        for done, record in forged(payload, many, first_seed):
            (folder / "forged").write_bytes(written(record))
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            end, line = outcome(folder / "forged", data)
            grew = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            if grew > ROOM >> 11:  # half of the room, in kilobytes
                end, line = "fault", f"{grew >> 10} MB more: {line}"
            found[end].append(f"{done}: {line}")
        report[name] = found | {"estimator": payload["estimator"]}
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
