"""Files that 24aa657 wrote: a model of every estimator and every command, and trees that are kept.

They are written once and never again: what reads them later has to answer as it did.
`python -m tests.golden files` writes those that are missing, with what they answer, and no others.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hornbeam import (
    AnytimeTreeClassifier,
    BaggedTreesClassifier,
    BaggedTreesRegressor,
    C45Classifier,
    CrossValidatedC45,
    LookaheadTreeClassifier,
    RelationalBagging,
    RelationalTreeClassifier,
    RelationalTreeRegressor,
    TreeClassifier,
    TreeRegressor,
)
from hornbeam.model_selection import TreeSearchCV

from .fits import COSTS
from .values import Values, written_as_json
from .written import (
    asked,
    asked_in_folder,
    asked_linked,
    commanded,
    counted,
    fit,
    fit_linked,
    fit_source,
    goes_on,
    keep,
    keep_counted,
    saved,
    searched_on,
)

PLACE = Path(__file__).with_name("files")
EXPECTED = PLACE / "expected.json"


@dataclass(frozen=True)
class File:
    """How a file was written, and what it answers."""

    write: Callable[[Path], None]
    answer: Callable[[Path], Values]

    def content(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            self.write(Path(folder) / "file")
            return (Path(folder) / "file").read_bytes()


def stored(name: str, content: bytes) -> None:
    """Large ones are compressed, the same way each time."""
    (PLACE / name).write_bytes(gzip.compress(content, 9, mtime=0) if name.endswith(".gz") else content)


@contextlib.contextmanager
def copied(name: str) -> Any:
    """A copy that may be written to."""
    content = (PLACE / name).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / name.removesuffix(".gz")
        place.write_bytes(gzip.decompress(content) if name.endswith(".gz") else content)
        yield place


def read() -> dict[str, Values]:
    found: dict[str, Values] = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    return found


def answer(name: str) -> Values:
    """What the committed file answers now."""
    with copied(name) as place:
        return FILES[name].answer(place)


def write_missing() -> list[str]:
    """Write the files that are not there yet, and what they answer; their names."""
    expected = read()
    missing = [name for name in FILES if name not in expected or not (PLACE / name).exists()]
    for name in missing:
        stored(name, FILES[name].content())
        expected[name] = answer(name)
    EXPECTED.write_text(written_as_json(expected))
    return missing


def _files() -> dict[str, File]:
    tree, numbers = TreeClassifier, TreeRegressor
    begun: dict[str, Any] = {"referee": None, "max_time": None, "random_state": 5}
    models: dict[str, Callable[[], Any]] = {
        "TreeClassifier": lambda: fit(tree(min_samples_leaf=4)),
        "TreeClassifier-pruned": lambda: fit(
            tree(prune="error_based", criterion="gain_ratio", nominal="value")
        ),
        "TreeClassifier-costs": lambda: fit(tree(class_weight="balanced", cost_matrix=COSTS, max_depth=4)),
        "TreeClassifier-competitors": lambda: fit(tree(competitors=3, nominal="multiway", max_depth=3)),
        "TreeClassifier-types": lambda: fit(tree(min_samples_leaf=4), data="typed"),
        "TreeClassifier-codes": lambda: fit(tree(nominal="value", max_depth=6), data="codes"),
        "TreeClassifier-quest": lambda: fit(tree(criterion="quest", max_depth=4, ccp_alpha=0.02)),
        "TreeClassifier-source": lambda: fit_source(tree(max_depth=4), algorithm="boat"),
        "C45Classifier": lambda: fit(C45Classifier()),
        "TreeRegressor": lambda: fit(numbers(min_samples_leaf=8), "amount"),
        "TreeRegressor-two": lambda: fit(numbers(max_depth=4, ccp_alpha=1.0), "amount change"),
        "TreeSearchCV": lambda: fit(TreeSearchCV(tree(), {"max_depth": [2, 4]}, cv=3)),
        "CrossValidatedC45": lambda: fit(CrossValidatedC45(min_objs=[2, 8], cv=3, repeats=1, random_state=0)),
        "LookaheadTreeClassifier": lambda: fit(
            LookaheadTreeClassifier(r=1, random_state=2, prune="error_based"), data="searched"
        ),
        "BaggedTreesClassifier": lambda: fit(
            BaggedTreesClassifier(n_estimators=3, max_depth=3, prune="error_based", random_state=1)
        ),
        "BaggedTreesRegressor": lambda: fit(
            BaggedTreesRegressor(n_estimators=3, max_depth=3, random_state=1), "amount"
        ),
        "BaggedTreesClassifier-source": lambda: fit_source(
            BaggedTreesClassifier(n_estimators=3, max_depth=3, random_state=1)
        ),
    }
    searched = {
        "AnytimeTreeClassifier": lambda: fit(AnytimeTreeClassifier(max_iter=3, **begun), data="searched"),
        "AnytimeTreeClassifier-size": lambda: fit(
            AnytimeTreeClassifier(objective="size", max_iter=3, prune="error_based", **begun), data="searched"
        ),
    }
    linked = {
        "RelationalTreeClassifier": lambda: fit_linked(RelationalTreeClassifier()),
        "RelationalTreeRegressor": lambda: fit_linked(RelationalTreeRegressor(), "customers.spent"),
        "RelationalBagging": lambda: fit_linked(
            RelationalBagging(n_estimators=3, max_depth=3, random_state=1)
        ),
    }
    commands = {
        "fit": ("fit data.csv --target class --prune error_based -o file",),
        "tune": ("tune data.csv --target class -o file",),
        "bag": ("bag data.csv --target class -n 3 --max-depth 3 -o file",),
        "export": (
            "maintain create k keyed.parquet --target class --key id --max-depth 3",
            "maintain export k file",
        ),
    }
    kept: dict[str, tuple[Any, ...]] = {
        "classes": ("class", None, {"max_depth": 4, "nominal": "value"}),
        "folds": ("class", None, {"cv": 3, "max_depth": 3, "criterion": "entropy"}),
        "stable": ("class", None, {"policy": "stable", "max_depth": 3}),
        "numbers": ("amount change", "weight", {"max_depth": 3, "ccp_alpha": 0.5}),
    }
    found = {name: File(saved(make), asked) for name, make in models.items()}
    found |= {name: File(saved(make), searched_on) for name, make in searched.items()}
    found |= {name: File(saved(make), asked_linked) for name, make in linked.items()}
    found |= {f"command-{name}": File(commanded(*lines), asked) for name, lines in commands.items()}
    improved = "improve data.csv --target class --iterations 2 -o file"
    found["command-improve"] = File(commanded(improved), searched_on)
    relational = "relational fit shop --target customers.churn --max-depth 4 -o file"
    found["command-relational"] = File(commanded(relational), asked_in_folder)
    files = {f"{name}.hornbeam": file for name, file in found.items()}
    for name, (targets, weight, how) in kept.items():
        files[f"maintained-{name}.tree.gz"] = File(
            keep(targets, weight, **how), partial(goes_on, targets, weight)
        )
    return files | {"maintained-counts.tree.gz": File(keep_counted, counted)}


FILES = _files()
