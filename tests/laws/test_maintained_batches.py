"""Random sequences of batches on a file, as users give them: after each the tree is that of `fit`.

Rows come, go, are corrected, come twice, are given again under the same id, are not there, or all go.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree, TreeClassifier, TreeRegressor
from hornbeam.errors import DataError
from tests.depth import seeds

STEPS = 12
PARAMETERS: list[dict[str, Any]] = [
    {"max_depth": 4},
    {"min_samples_leaf": 3, "criterion": "entropy", "nominal": "value"},
    {"max_depth": 3, "min_impurity_decrease": 0.01, "criterion": "gain_ratio"},
]


def drawn(rng: np.random.Generator, rows: int, numbers: bool) -> pd.DataFrame:
    """Rows with ties, missing cells and rare labels; now and then no row has a class or label."""
    frame = pd.DataFrame({"key": rng.integers(0, 40, rows), "a": rng.normal(size=rows).round(1)})
    frame["b"] = rng.integers(-5, 5, rows)
    frame["label"] = rng.choice(["x", "y", "z", "rare"], rows, p=[0.5, 0.3, 0.17, 0.03])
    said = (frame["a"] > 0.2).astype(int) + (frame["b"] > 1) + (frame["label"] == "x")
    said = np.where(rng.random(rows) < 0.2, rng.integers(0, 4, rows), said)
    frame["said"] = said * 1.5 + frame["a"] if numbers else [f"class {s}" for s in said]
    frame.loc[rng.random(rows) < 0.05, "a"] = None
    frame.loc[rng.random(rows) < 0.05, "label"] = None
    return frame


class Followed:
    """A file, and the rows that it should have."""

    def __init__(self, path: Path, seed: int) -> None:
        self.rng, self.path, self.numbers = np.random.default_rng(seed), path, seed % 3 == 2
        parameters = PARAMETERS[seed % len(PARAMETERS)]
        if self.numbers:
            parameters = {"max_depth": 4, "min_samples_leaf": 1 + seed % 2}
        self.model = (TreeRegressor if self.numbers else TreeClassifier)(**parameters)
        self.rows, self.ids = drawn(self.rng, int(self.rng.integers(1, 120)), self.numbers), 0
        self.tree = MaintainedTree.create(
            path,
            hb.source(self.rows),
            target="said",
            key="key",
            cv=3 if seed % 4 == 1 else None,
            **parameters,
        )

    def check(self) -> None:
        """The rows are those, and the tree is theirs."""
        assert self.tree.stats["rows"] == len(self.rows)
        if not len(self.rows):
            assert self.tree.stats["digest"] is None
            return
        model = self.model.fit(self.rows.drop(columns=["key", "said"]), self.rows["said"])
        assert self.tree.tree.digest == model.tree_.digest

    def some(self, most: int = 30) -> pd.DataFrame:
        """Rows that are present, each once."""
        size = int(self.rng.integers(0, min(most, len(self.rows)) + 1))
        return self.rows.iloc[self.rng.choice(len(self.rows), size, replace=False)]

    def without(self, gone: pd.DataFrame) -> pd.DataFrame:
        return self.rows.drop(index=gone.index).reset_index(drop=True)

    # ---- steps ----

    def insert(self) -> None:
        more = drawn(self.rng, int(self.rng.choice([1, 7, 60])), self.numbers)
        self.tree.insert(more)
        self.rows = pd.concat([self.rows, more], ignore_index=True)

    def insert_again(self) -> None:
        """Rows that are there already, so that they are there twice."""
        more = self.some()
        self.tree.insert(more)
        self.rows = pd.concat([self.rows, more], ignore_index=True)

    def delete(self) -> None:
        gone = self.some()
        self.tree.delete(gone)
        self.rows = self.without(gone)

    def correct(self) -> None:
        """Rows whose cells change."""
        before = self.some()
        after = before.assign(b=before["b"] + 1, label="x")
        self.tree.apply(deleted=before, inserted=after)
        self.rows = pd.concat([self.without(before), after], ignore_index=True)

    def sync(self) -> None:
        more = drawn(self.rng, 20, self.numbers)
        rows = pd.concat([self.without(self.some()), more, more.head(3)], ignore_index=True)
        changes = self.tree.sync(hb.source(rows))
        assert changes.rows == len(rows)
        self.rows = rows

    def forget(self) -> None:
        if not len(self.rows):
            return
        keys = list(set(self.some(3)["key"].tolist()) | {int(self.rows["key"].iloc[0])})
        certificate = self.tree.forget(keys)
        assert certificate["equal"]
        self.rows = self.rows[~self.rows["key"].isin(keys)].reset_index(drop=True)

    def repeat(self) -> None:
        """A batch, and others under its id."""
        self.ids += 1
        more = drawn(self.rng, 5, self.numbers)
        assert not self.tree.insert(more, id=str(self.ids)).repeated
        self.rows = pd.concat([self.rows, more], ignore_index=True)
        assert self.tree.insert(more, id=str(self.ids)).repeated
        assert self.tree.delete(self.some(), id=str(self.ids)).repeated

    def refuse(self) -> None:
        """A row too often, after others that are there."""
        rows = self.rows if len(self.rows) else drawn(self.rng, 1, self.numbers)
        last = rows.iloc[[-1]]
        times = int((self.rows.astype(str) == last.astype(str).iloc[0]).all(axis=1).sum())
        with pytest.raises(DataError, match=r"no such row to delete: .*; nothing was changed$"):
            self.tree.delete(pd.concat([self.some(), *[last] * (times + 1)]))

    def nothing(self) -> None:
        self.tree.apply(inserted=self.rows.iloc[:0], deleted=None)

    def delete_everything(self) -> None:
        self.tree.delete(self.tree.source() if len(self.rows) else None)
        self.rows = self.rows.iloc[:0]

    def open_again(self) -> None:
        self.tree.close()
        self.tree = MaintainedTree.open(self.path)


WAYS: list[tuple[Callable[[Followed], None], float]] = [
    (Followed.insert, 3.0),
    (Followed.insert_again, 2.0),
    (Followed.delete, 3.0),
    (Followed.correct, 3.0),
    (Followed.sync, 2.0),
    (Followed.forget, 2.0),
    (Followed.repeat, 1.0),
    (Followed.refuse, 1.0),
    (Followed.nothing, 1.0),
    (Followed.delete_everything, 1.0),
    (Followed.open_again, 1.0),
]


@pytest.mark.parametrize("seed", seeds(0, 8, 100))
def test_after_every_batch_the_tree_is_that_of_fit(seed: int, tmp_path: Path) -> None:
    followed = Followed(tmp_path / "t.tree", seed)
    followed.check()
    odds = np.array([odds for _, odds in WAYS])
    for way in followed.rng.choice(len(WAYS), STEPS, p=odds / odds.sum()):
        WAYS[way][0](followed)
        followed.check()
    proof = followed.tree.verify()
    assert (proof["equal"], proof["intact"]) == (True, True)
    followed.tree.close()
