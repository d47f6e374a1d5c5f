"""Ten folds and the tree of all rows as each contestant gets them, and what must be true of the trees."""

import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import model_selection

from benchmarks.answers import POINT, accuracy, confirm, take
from benchmarks.peers import Hornbeam, Peer, ScikitLearn
from benchmarks.tables import Case
from hornbeam.growth import ClassTarget, Engine, Forest, Parameters, TrainingSets, grow_sets, grow_tree
from hornbeam.model_selection import cross_validate
from hornbeam.table import Table, from_data

FOLDS = 10
ALGORITHMS = ("serial", "overlapping", "folds", "auto")


@contextmanager
def quietly() -> Iterator[None]:
    """Both sides warn of classes with fewer rows than folds, once a call."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        yield


@dataclass(frozen=True)
class Work:
    """One table to cross-validate: the same ten folds for everybody."""

    case: Case
    min_leaf: int = 10
    max_depth: int | None = None

    @property
    def name(self) -> str:
        return f"{self.case.name} depth {self.max_depth}" if self.max_depth else self.case.name

    @property
    def numeric(self) -> bool:
        return isinstance(self.case.table, np.ndarray)

    @cached_property
    def splitter(self) -> Any:
        return model_selection.StratifiedKFold(FOLDS, shuffle=True, random_state=0)

    @cached_property
    def folds(self) -> npt.NDArray[np.int64]:
        """The fold of each row."""
        numbers = np.empty(len(self.case.codes), dtype=np.int64)
        with quietly():
            for fold, (_, test) in enumerate(self.splitter.split(self.case.codes, self.case.codes)):
                numbers[test] = fold
        return numbers

    @cached_property
    def table(self) -> Table:
        return from_data(self.case.table)

    @cached_property
    def target(self) -> ClassTarget:
        return ClassTarget(self.case.codes.astype(np.int32), np.unique(self.case.codes))

    @cached_property
    def parameters(self) -> Parameters:
        given = Parameters(min_samples_leaf=self.min_leaf, max_depth=self.max_depth)
        return given.checked("classification")

    @cached_property
    def sets(self) -> TrainingSets:
        """All rows, then each fold's."""
        kept = (self.folds != fold for fold in range(FOLDS))
        return TrainingSets.of_rows(len(self.folds), kept, all_rows_first=True)

    def grow(self, algorithm: str) -> Forest:
        """The growth alone: eleven trees over a table that is read already."""
        return grow_sets(
            self.table, self.target, self.parameters, self.sets, engine=Engine(algorithm=algorithm)
        )

    def grow_one(self) -> Forest:
        """The tree of all rows alone."""
        alone = TrainingSets(self.sets.n_rows, self.sets.sets[:1])
        return grow_sets(self.table, self.target, self.parameters, alone)


def cross_validation_of(peer: Peer, work: Work) -> Callable[[], float]:
    """The tree of all rows and ten folds by the best way of that peer, which gives the mean accuracy."""
    case, form = work.case, peer.prepare(work.case.table)

    def ours() -> float:
        assert isinstance(peer, Hornbeam)
        with quietly():
            estimator = peer.estimator(work.min_leaf)
            found = cross_validate(estimator, form, case.codes, cv=work.splitter)
            assert found.estimator_.tree_.n_nodes > 0  # the tree of all rows is part of the work
        return float(found["test_score"].mean())

    def scikit_learn() -> float:
        assert isinstance(peer, ScikitLearn)
        with quietly():
            estimator = peer.estimator(form, work.min_leaf)
            found = model_selection.cross_validate(estimator, form, case.codes, cv=work.splitter)
            estimator.fit(form, case.codes)
        return float(found["test_score"].mean())

    def eleven_fits() -> float:
        peer.fit(form, case.codes, work.min_leaf)
        right = []
        for fold in range(FOLDS):
            learn, rest = np.flatnonzero(work.folds != fold), np.flatnonzero(work.folds == fold)
            model = peer.fit(take(form, learn), case.codes[learn], work.min_leaf)
            right.append(accuracy(peer.predict(model, take(form, rest)), case.codes[rest]))
        return float(np.mean(right))

    if isinstance(peer, Hornbeam):
        return ours
    return scikit_learn if isinstance(peer, ScikitLearn) else eleven_fits


def confirm_trees(work: Work) -> None:
    """Every algorithm's tree of every set is the one that its rows grow alone, digest for digest."""
    alone = [
        grow_tree(work.table.take(rows.rows), work.target.take(rows.rows), work.parameters).digest
        for rows in work.sets
    ]
    for algorithm in ALGORITHMS:
        grown = [tree.digest for tree in work.grow(algorithm).trees()]
        wrong = [i for i, (one, other) in enumerate(zip(grown, alone, strict=True)) if one != other]
        confirm(not wrong, f"{work.name}, {algorithm}: the trees of sets {wrong} are not those of lone fits")


def confirm_scores(work: Work, ours: float, theirs: float) -> None:
    """On the same folds our accuracy is scikit-learn's, within a point; three where it sees text one-hot."""
    slack = POINT if work.numeric else 3 * POINT
    confirm(
        ours >= theirs - slack,
        f"{work.name}: mean accuracy of folds {ours:.4f}, scikit-learn has {theirs:.4f}",
    )


def run_rpart(script: str, work: Work, runs: int) -> tuple[Sequence[float], float]:
    """rpart's own cross-validation on the same folds, in its process: CPU seconds of runs, and accuracy."""
    rows, columns = work.case.table.shape
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.asfortranarray(work.case.table).ravel(order="F").tofile(folder / "table.bin")
        (folder / "labels.txt").write_text("\n".join(work.case.texts.tolist()) + "\n")
        (folder / "folds.txt").write_text("\n".join(str(fold + 1) for fold in work.folds) + "\n")
        sizes = [str(number) for number in (rows, columns, work.min_leaf, work.max_depth or 30, runs)]
        program = Path(__file__).resolve().parent / "rpart_folds.R"
        done = subprocess.run([script, program, folder, *sizes], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    return told["seconds"], float(told["accuracy"])
