"""Single-tree learners that are given the same CPU time, and their accuracy by the end of each budget."""

import importlib.util
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks import gosdt_apart
from benchmarks.answers import accuracy, confirm
from benchmarks.anytime_sets import Sample, Task
from benchmarks.gosdt_apart import ENVIRONMENT, Pace, gosdt
from hornbeam import AnytimeTreeClassifier, C45Classifier
from hornbeam_experiments.baselines import Baseline, GATree, ID3k, SequentialSkewing, Skewing

ALPHAS = 20  # values of ccp_alpha that inner folds choose from
INNER = 5
DEEPEST = 10  # of the optimal trees

Answer = Callable[[Sample], npt.NDArray[Any]]
"""What a model says of rows."""
Learner = Callable[[Task, float], Iterator[Answer]]
"""Answers from little work to much, until so many CPU seconds are used up; the last is the one to judge."""


@contextmanager
def cpu_limit(seconds: float, stop: Callable[[], None]) -> Iterator[None]:
    """Asks to stop once the process has used so much CPU time."""
    before = signal.signal(signal.SIGPROF, lambda *_: stop())
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def anytime(objective: str) -> Learner:
    def answers(task: Task, seconds: float) -> Iterator[Answer]:
        def said(rows: Sample) -> npt.NDArray[Any]:
            if objective == "size":
                right = accuracy(model.predict(task.learn.frame), task.learn.codes)
                confirm(right == 1.0, f"fold {task.seed}: training accuracy {right:.4f} of a consistent tree")
            return np.asarray(model.predict(rows.frame))

        begin = time.process_time()
        model = AnytimeTreeClassifier(objective=objective, random_state=task.seed)
        model.partial_fit(task.learn.frame, task.learn.codes)
        states = model.improve()
        spent = time.process_time() - begin
        while True:
            begin = time.process_time()
            with cpu_limit(seconds - spent, model.stop):
                state = next(states, None)
            spent += time.process_time() - begin
            if state is None:
                return
            if state.improved:
                yield said

    return answers


def scikit_learn(criterion: str, pruned: bool) -> Learner:
    """With `pruned` the whole tree first, then that of the alpha which inner folds choose."""

    def answers(task: Task, seconds: float) -> Iterator[Answer]:
        learn = task.learn
        tree = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(learn.one_hot, learn.codes)
        yield lambda rows: tree.predict(rows.one_hot)
        if not pruned:
            return
        path = tree.cost_complexity_pruning_path(learn.one_hot, learn.codes).ccp_alphas
        alphas = np.unique(np.quantile(np.maximum(path, 0.0), np.linspace(0, 1, ALPHAS)))
        found = GridSearchCV(tree, {"ccp_alpha": alphas}, cv=INNER).fit(learn.one_hot, learn.codes)
        yield lambda rows: found.predict(rows.one_hot)

    return answers


def c45(task: Task, seconds: float) -> Iterator[Answer]:
    model = C45Classifier().fit(task.learn.frame, task.learn.codes)
    yield lambda rows: model.predict(rows.frame)


def baseline(kind: type[Baseline]) -> Learner:
    def answers(task: Task, seconds: float) -> Iterator[Answer]:
        for answer in kind().improve(task.learn.table, task.target, seconds, seed=task.seed):
            yield lambda rows, model=answer.model: model.predict_codes(rows.table)

    return answers


def deeper(grow: Callable[[Task, int, float], Any]) -> Learner:
    """Trees of least training error at depth 1, 2, 3, ...: deeper while that lowers the error. They are told
    what is left as seconds of the clock on the wall."""

    def answers(task: Task, seconds: float) -> Iterator[Answer]:
        cpu, wall, least = time.process_time(), time.perf_counter(), 1.0
        for depth in range(1, DEEPEST + 1):
            spent = Pace(time.process_time() - cpu, time.perf_counter() - wall)
            left = seconds - spent.cpu
            if left <= 0:
                return
            model = grow(task, depth, left * spent.ratio)
            if model is None:
                return
            error = float(np.mean(model.predict(task.learn.bits) != task.learn.codes))
            if error < least or depth == 1:
                yield lambda rows, model=model: model.predict(rows.bits)
            least = min(least, error)
            if least == 0.0:
                return

    return answers


def streed(task: Task, depth: int, seconds: float) -> Any:
    from pystreed import STreeDClassifier

    model = STreeDClassifier(max_depth=depth, max_num_nodes=2**depth - 1, time_limit=seconds)
    model.fit(task.learn.bits, task.learn.codes)
    return model if model.fit_result.is_feasible() else None


def dl85(task: Task, depth: int, seconds: float) -> Any:
    from pydl85 import DL85Classifier

    # It counts whole seconds, and what comes after the budget is not judged.
    model = DL85Classifier(max_depth=depth, time_limit=max(1, round(seconds)))
    model.fit(task.learn.bits, task.learn.codes)
    return model if hasattr(model, "tree_") else None


PEERS: dict[str, Learner] = {
    "scikit-learn gini": scikit_learn("gini", pruned=False),
    "scikit-learn entropy": scikit_learn("entropy", pruned=False),
    "scikit-learn gini, ccp": scikit_learn("gini", pruned=True),
    "scikit-learn entropy, ccp": scikit_learn("entropy", pruned=True),
    "C4.5": c45,
    **{kind.name: baseline(kind) for kind in (ID3k, Skewing, SequentialSkewing, GATree)},
    "STreeD": deeper(streed),
    "DL8.5": deeper(dl85),
    "GOSDT": gosdt,
}
MODULES = {"STreeD": "pystreed", "DL8.5": "pydl85"}


def at_hand() -> tuple[dict[str, Learner], list[tuple[str, str]]]:
    """The peers that are there, and those that are not, with the reason."""
    absent = [name for name, module in MODULES.items() if importlib.util.find_spec(module) is None]
    skips = [(name, f"{MODULES[name]} is not installed (the bench extra has it)") for name in absent]
    if gosdt_apart.python() is None:
        absent.append("GOSDT")
        where = f"make .venv-gosdt, or name a Python that has it by {ENVIRONMENT}"
        skips.append(("GOSDT", f"it needs a scikit-learn below 1.6: {where}"))
    return {name: learner for name, learner in PEERS.items() if name not in absent}, skips


def by_budget(learner: Learner, task: Task, budgets: Sequence[float]) -> list[float]:
    """Accuracy by the end of each budget: of the last answer until then, or of the first, however late."""
    moments, scores = [], []
    spent = 0.0
    answers = learner(task, budgets[-1])
    while spent < budgets[-1]:
        begin = time.process_time()
        answer = next(answers, None)
        spent += time.process_time() - begin + getattr(answer, "cpu", 0.0)
        if answer is None:
            break
        moments.append(spent)
        scores.append(float(np.mean(answer(task.judge) == task.judge.codes)))
    ends = np.searchsorted(moments, budgets, side="right") - 1
    return [scores[max(0, int(end))] for end in ends]
