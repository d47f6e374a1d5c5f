"""Folds of a maintained tree become empty, take all rows, or have none that weighs anything: whatever a batch
leaves, every tree is that of `fit` on the rows outside its fold, all of it can be verified and forgotten, and
the estimate says what the folds with rows say.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree, TreeClassifier, TreeRegressor
from hornbeam.errors import DataError
from hornbeam.table.sources import fold_of
from tests.depth import seeds

KEYS, STEPS = 4, 6


class Folded:
    """A file with few keys in many folds, and the rows that it should have."""

    def __init__(self, path: Path, seed: int) -> None:
        self.rng, self.path = np.random.default_rng(seed), path
        self.numbers, self.weighted, self.folds = seed % 3 == 2, seed % 2 == 1, 2 + seed % 4
        parameters: dict[str, Any] = {"max_depth": 3, "min_samples_leaf": 1 + seed % 2}
        self.model = (TreeRegressor if self.numbers else TreeClassifier)(**parameters)
        self.rows = self.drawn(int(self.rng.integers(1, 30)))
        self.rows.loc[0, "w"] = 1.0  # some row weighs something
        self.tree = MaintainedTree.create(
            path,
            self.source(self.rows),
            target="said",
            key="key",
            cv=self.folds,
            policy="stable" if seed % 5 == 4 else "exact",
            **parameters,
        )

    def source(self, rows: pd.DataFrame) -> hb.Source:
        return hb.source(rows, weight="w") if self.weighted else hb.source(rows.drop(columns="w"))

    def drawn(self, n: int) -> pd.DataFrame:
        """Rows of few keys; those of a key tend to one class, and to weigh nothing together."""
        keys = self.rng.choice(self.rng.permutation(KEYS)[: int(self.rng.integers(1, KEYS + 1))], n)
        frame = pd.DataFrame({"key": keys, "a": self.rng.normal(size=n).round(1)})
        frame["b"] = self.rng.choice(["x", "y", "z"], n)
        said = np.where(self.rng.random(n) < 0.6, keys % 3, self.rng.integers(0, 3, n))
        frame["said"] = said + frame["a"] if self.numbers else [f"class {s}" for s in said]
        frame["w"] = self.rng.choice([0.5, 1.0, 3.0], n) * (keys % 2 if self.rng.random() < 0.5 else 1.0)
        return frame

    # ---- steps ----

    def insert(self) -> None:
        more = self.drawn(int(self.rng.choice([1, 3, 20])))
        self.tree.insert(self.source(more))
        self.rows = pd.concat([self.rows, more], ignore_index=True)

    def drop(self, gone: pd.Series) -> None:
        if gone.any():
            self.tree.delete(self.source(self.rows[gone]))
            self.rows = self.rows[~gone].reset_index(drop=True)

    def delete_a_class_of_a_key(self) -> None:
        if len(self.rows):
            one = self.rows.iloc[self.rng.integers(len(self.rows))]
            self.drop((self.rows["key"] == one["key"]) & (self.rows["said"] == one["said"]))

    def delete_a_fold(self) -> None:
        folds = fold_of(self.rows["key"].to_numpy(), self.folds)
        self.drop(pd.Series(folds == self.rng.integers(self.folds)))

    def forget(self) -> None:
        if len(self.rows):
            key = int(self.rng.choice(self.rows["key"].unique()))
            certificate = self.tree.forget([key])
            self.rows = self.rows[self.rows["key"] != key].reset_index(drop=True)
            assert certificate["equal"]
            assert certificate["digest_after"] == certificate["digest_rebuilt"]

    def open_again(self) -> None:
        self.tree.close()
        self.tree = MaintainedTree.open(self.path)

    # ---- what holds after each ----

    def fitted(self, rows: pd.DataFrame) -> TreeClassifier | TreeRegressor | None:
        weights = rows["w"] if self.weighted else None
        if not len(rows) or (weights is not None and not weights.any()):
            return None
        return self.model.fit(rows[["a", "b"]], rows["said"], weights)

    def check(self) -> None:
        folds = fold_of(self.rows["key"].to_numpy(), self.folds)
        expected, scores = [self.fitted(self.rows) and self.model.tree_.digest], []
        for i in range(self.folds):
            model = self.fitted(self.rows[folds != i])
            expected.append(model and model.tree_.digest)
            judges = self.rows[(folds == i) & ((self.rows["w"] > 0) | (not self.weighted))]
            few = len(judges) < (2 if self.numbers else 1)
            known = model is not None and not few
            scores.append(model.score(judges[["a", "b"]], judges["said"]) if known else math.nan)
        proof = self.tree.verify()
        assert proof["rebuilt"] == expected[0]
        assert proof["intact"]
        assert proof.get("sound", True)
        if "sound" not in proof:
            assert proof["equal"]
            assert self.tree.stats["digest"] == expected[0]
            self.check_folds(expected, scores)

    def check_folds(self, expected: list[str | None], scores: list[float]) -> None:
        if None in expected:
            with pytest.raises(DataError, match="there is no tree"):
                self.tree.forest()
        else:
            assert [self.tree.forest().tree(i).digest for i in range(1 + self.folds)] == expected
        known = [score for score in scores if not math.isnan(score)]
        if not known:
            with pytest.raises(DataError, match="no fold can be judged"):
                self.tree.estimate()
            return
        found = self.tree.estimate()
        assert np.array_equal(found.scores, scores, equal_nan=True)
        assert found.mean == pytest.approx(np.mean(known))
        assert found.spread == pytest.approx(np.std(known))
        assert (found.folds, found.judged) == (self.folds, len(known))


WAYS = [Folded.insert, Folded.delete_a_class_of_a_key, Folded.delete_a_fold, Folded.forget, Folded.open_again]


@pytest.mark.parametrize("seed", seeds(0, 8, 200))
def test_whatever_folds_are_left_the_trees_are_those_of_fit(seed: int, tmp_path: Path) -> None:
    folded = Folded(tmp_path / "t.tree", seed)
    folded.check()
    for way in folded.rng.choice(len(WAYS), STEPS):
        WAYS[way](folded)
        folded.check()
    while len(folded.rows):  # everybody can be forgotten, to the last
        folded.forget()
        folded.check()
    folded.insert()
    folded.check()
    folded.tree.close()
