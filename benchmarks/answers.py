"""What must be true of a tree before its speed is worth printing."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers import Peer
from benchmarks.tables import Case

POINT = 0.01


class WrongAnswerError(AssertionError):
    """A tree that is fast and wrong: no ratio is printed after it."""


def confirm(fact: bool, what: str) -> None:
    if not fact:
        raise WrongAnswerError(what)


def accuracy(answer: Any, labels: Any) -> float:
    return float(np.mean(np.asarray(answer).astype(str) == np.asarray(labels).astype(str)))


def confirm_training_answer(case: Case, min_leaf: int, ours: float, theirs: float) -> None:
    """An exact greedy tree explains its training rows as well as scikit-learn's does."""
    confirm(
        ours >= theirs - POINT,
        f"{case.name}, min leaf {min_leaf}: training accuracy {ours:.4f}, scikit-learn has {theirs:.4f}",
    )


def take(form: Any, rows: Any) -> Any:
    if isinstance(form, dict):
        return {name: column[rows] for name, column in form.items()}
    return form[rows] if isinstance(form, np.ndarray) else form.iloc[rows]


def confirm_held_out_answer(case: Case, min_leaf: int, peers: Sequence[Peer], slack: float) -> None:
    """Both learn two thirds of the rows; on the rest they differ by no more than `slack` and chance."""
    order = np.random.default_rng(1).permutation(len(case.codes))
    learn, rest = order[: 2 * len(order) // 3], order[2 * len(order) // 3 :]
    scores = []
    for peer in peers[:2]:
        form = peer.prepare(case.table)
        model = peer.fit(take(form, learn), case.codes[learn], min_leaf)
        scores.append(accuracy(peer.predict(model, take(form, rest)), case.codes[rest]))
    chance = 2 * math.sqrt(scores[1] * (1 - scores[1]) / len(rest))
    confirm(
        scores[0] >= scores[1] - slack - chance,
        f"{case.name}, min leaf {min_leaf}: held-out accuracy {scores[0]:.4f}, "
        f"{peers[1].name} has {scores[1]:.4f}",
    )


def confirm_same_answers(case: Case, by_code: Any, by_text: Any) -> None:
    """The labels' type must not change the tree: equal predictions, row by row."""
    text_of = dict(zip(case.codes.tolist(), case.texts.tolist(), strict=True))
    translated = np.array([text_of[code] for code in np.asarray(by_code).tolist()], dtype=object)
    confirm(bool(np.all(translated == np.asarray(by_text))), f"{case.name}: string labels gave another tree")
