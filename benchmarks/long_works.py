"""Work that takes long, of every kind: what benchmarks.interrupt interrupts."""

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneOut

import hornbeam
from hornbeam import (
    AnytimeTreeClassifier,
    LookaheadTreeClassifier,
    RelationalBagging,
    RelationalData,
    RelationalTreeClassifier,
)
from hornbeam.datasets import make_bongard
from hornbeam.growth import ClassTarget, Pruning, prune_tree
from hornbeam.model import Tree
from hornbeam.table import from_data

MANY, SOME, KEYS = 5_000_000, 1_000_000, 100_000


@dataclass(frozen=True)
class Work:
    """What is interrupted, and what its answer is: that is worked out afterwards, in peace."""

    run: Callable[[], Any]
    answer: Callable[[Any], str]


def draw(rows: int, columns: int, classes: int = 2) -> tuple[Any, Any]:
    """Numbers of many different values, and classes by a rule with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    score = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=rows)
    return X, np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)


def keys(rows: int, classes: int) -> tuple[Any, Any]:
    """A column of KEYS categories that say something about the class."""
    import pandas as pd

    rng = np.random.default_rng(0)
    codes = rng.integers(0, KEYS, rows)
    labels = pd.Index([f"key {i:06d}" for i in range(KEYS)], dtype="str")
    X = pd.DataFrame({"key": pd.Categorical.from_codes(codes, labels)})
    return X, (codes * 7919 % KEYS * classes // KEYS + (rng.random(rows) < 0.2)) % classes


def fit(X: Any, y: Any, weights: Any = None, **parameters: Any) -> Work:
    maker = hornbeam.TreeRegressor if "criterion" not in parameters else hornbeam.TreeClassifier
    given = {"min_samples_leaf": 20, **parameters}
    return Work(lambda: maker(**given).fit(X, y, weights), lambda model: model.tree_.digest)


def classify(criterion: str, rows: int, columns: int, classes: int, **parameters: Any) -> Work:
    X, y = draw(rows, columns, classes)
    return fit(X, y, criterion=criterion, **parameters)


def weigh(criterion: str, rows: int, **parameters: Any) -> Work:
    """Rows whose weights have no common unit."""
    X, y = draw(rows, 4, 5)
    return fit(X, y, np.random.default_rng(1).random(rows), criterion=criterion, **parameters)


def regress(targets: int, n_jobs: int = 1) -> Work:
    X, _ = draw(SOME, 4)
    y = np.column_stack([X[:, 0] * X[:, 1], X[:, 1] + X[:, 2], X[:, 3] ** 2])[:, :targets]
    return fit(X, y + np.random.default_rng(1).normal(size=y.shape), n_jobs=n_jobs)


def tell_keys_apart(nominal: str, classes: int) -> Work:
    X, y = keys(SOME, classes)
    # A value test takes one key off: a full tree would be a chain of thousands of them.
    depth = 20 if nominal == "value" else None
    return fit(X, y, criterion="gini", nominal=nominal, max_depth=depth)


def regress_keys() -> Work:
    X, y = keys(SOME, 1000)
    return fit(X, np.column_stack([y, y % 31]).astype(np.float64), nominal="subset")


def encode(kind: str) -> Work:
    """Tables of one kind of column; growth ends at the root."""
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, MANY)
    columns: dict[str, Callable[[], Any]] = {
        "floats": lambda: rng.normal(size=(MANY, 6)),
        "floats of few values": lambda: rng.integers(0, 300, (MANY, 6)).astype(np.float64),
        "integers": lambda: pd.DataFrame({f"i{k}": rng.integers(-(2**62), 2**62, MANY) for k in range(6)}),
        "strings": lambda: pd.DataFrame({"s": pd.array(texts(), dtype="str")}),
        "strings as objects": lambda: pd.DataFrame({"s": np.array(texts(), dtype=object)}, dtype=object),
    }

    def texts() -> list[str]:
        return [f"key {i}" for i in rng.integers(0, KEYS, MANY).tolist()]

    X = columns[kind]()
    names = ["s"] if "strings" in kind else "from_dtype"
    return fit(X, y, criterion="gini", max_depth=1, nominal_features=names)


def name_classes() -> Work:
    """Class labels as text."""
    X, codes = draw(MANY, 2, 26)
    return fit(X, np.array([f"class {k:02d}" for k in range(26)])[codes], criterion="gini", max_depth=1)


def predict(n_jobs: int) -> Work:
    X, y = draw(MANY, 4, 5)
    model = hornbeam.TreeClassifier(n_jobs=n_jobs).fit(X[:50_000], y[:50_000])
    return Work(lambda: model.predict(X), lambda labels: hashlib.sha256(labels.tobytes()).hexdigest())


def grow_large() -> tuple[Any, Any, Any]:
    """A tree of hundreds of thousands of nodes, and its rows: labels that no column explains."""
    X, _ = draw(SOME, 4)
    y = np.random.default_rng(1).integers(0, 3, SOME)
    return hornbeam.TreeClassifier().fit(X, y), X, y


def prune(way: str) -> Work:
    """The rows are drawn anew for pruning by validation."""
    model, X, y = grow_large()
    if way == "reduced_error":
        y = np.random.default_rng(2).integers(0, 3, SOME)
    pruning = Pruning(way, ccp_alpha=1e-6 if way == "cost_complexity" else 0.0).checked("classification")
    table, target = from_data(X), ClassTarget(y.astype(np.int32), model.classes_)
    return Work(
        lambda: prune_tree(model.tree_, pruning, table, target, criterion="gini"), lambda tree: tree.digest
    )


def keep(way: str) -> Work:
    """Digest, file, text and judge of a large tree; it has to forget what it remembers of itself."""
    model, _, _ = grow_large()
    tree, folder = model.tree_, tempfile.TemporaryDirectory()
    path = Path(folder.name, "large.hornbeam")
    hornbeam.save(model, path)

    def fresh() -> Tree:
        return Tree.trusted(tree.schema, tree.arrays, classes=tree.classes)

    def save() -> str:
        model.tree_ = fresh()
        hornbeam.save(model, path)
        return folder.name  # it lives as long as the work

    return {
        "digest": Work(lambda: fresh().digest, str),
        "verify": Work(lambda: Tree(tree.schema, tree.arrays, classes=tree.classes), lambda t: t.digest),
        "save": Work(save, lambda _: hornbeam.load(path).tree_.digest),
        "load": Work(lambda: (folder, hornbeam.load(path)), lambda found: found[1].tree_.digest),
        "text": Work(lambda: fresh().to_text(), lambda text: hashlib.sha256(text.encode()).hexdigest()),
        "json": Work(lambda: fresh().to_json(), lambda text: hashlib.sha256(text.encode()).hexdigest()),
    }[way]


def look_ahead() -> Work:
    """Millions of cuts are listed and ordered; one of them parts the classes, so that it ends there."""
    X = np.random.default_rng(0).normal(size=(200_000, 20))
    y = X[:, 0] > 0.0
    return Work(
        lambda: LookaheadTreeClassifier(r=1, random_state=0).fit(X, y), lambda model: model.tree_.digest
    )


def improve(objective: str, rows: int = 20_000, **parameters: Any) -> Work:
    """A search keeps its tree where it is interrupted; that counts as heard."""
    X, y = draw(rows, 20)
    given = {"max_time": None, "max_iter": 1, "random_state": 0, **parameters}

    def run() -> AnytimeTreeClassifier:
        model = AnytimeTreeClassifier(objective=objective, **given).fit(X, y)
        if model.status_ == "stopped":
            raise KeyboardInterrupt
        return model

    return Work(run, lambda model: model.tree_.digest)


def pictures(rows: int) -> RelationalData:
    made = make_bongard(rows, theory="complex", seed=7, noise=0.1)
    return RelationalData.from_frames(made.tables, made.keys, made.references, target=made.target)


def grow_first_order(rows: int, **parameters: Any) -> Work:
    """Linked tables are coded, then grown from with all folds."""
    data = pictures(rows)
    return Work(
        lambda: RelationalTreeClassifier(**parameters).fit(data), lambda model: model.forest_.trees[-1].digest
    )


def bag_first_order() -> Work:
    data = pictures(20_000)
    bagging = RelationalBagging(n_estimators=50, min_samples_leaf=20, random_state=0, n_jobs=2)
    return Work(lambda: bagging.fit(data), lambda model: model.trees_[-1].digest)


def ask_first_order() -> Work:
    """Other pictures than those that were learned from: they are coded first."""
    model, data = RelationalTreeClassifier(min_samples_leaf=5).fit(pictures(2_000)), pictures(200_000)
    return Work(
        lambda: model.predict(data), lambda labels: hashlib.sha256("".join(labels).encode()).hexdigest()
    )


def join_in_vain(wide: int = 12, steps: int = 6) -> Work:
    """Layers of things, each linked to all of the next, and a question for one step more than there is."""
    pairs = np.array([(i, wide + j) for i in range(wide) for j in range(wide)])
    links = np.concatenate([pairs + layer * wide for layer in range(steps)])
    frames = {
        "example": {"id": [0, 1, 2, 3], "odd": list("nyny")},
        "link": {
            "example": np.repeat(np.arange(4), len(links)),
            "one": np.tile(links[:, 0], 4),
            "other": np.tile(links[:, 1], 4),
        },
    }
    data = RelationalData.from_frames(
        frames,
        {"example": "id"},
        {"link": {"example": "example"}},
        target="example.odd",
        types={"link.one": "thing", "link.other": "thing"},
    )
    way = ", ".join(f"link(Key, X{i}, -X{i + 1})" for i in range(1, steps + 1))
    bias = f"key(example). type(link(example, thing, thing)). rmode((link(+Key, -X0, -X1), {way}))."
    return Work(
        lambda: RelationalTreeClassifier(bias, budget=None, min_samples_leaf=1).fit(data),
        lambda model: model.tree_.digest,
    )


WORKS: dict[str, Callable[[], Work]] = {
    "gini, 2 classes, 5M x 4": lambda: classify("gini", MANY, 4, 2),
    "gini, 26 classes, 5M x 2": lambda: classify("gini", MANY, 2, 26),
    "gini, 26 classes, 5M x 2, 2 threads": lambda: classify("gini", MANY, 2, 26, n_jobs=2),
    "entropy, 5 classes, 1M x 4": lambda: classify("entropy", SOME, 4, 5),
    "entropy, 5 classes, 1M x 4, 2 threads": lambda: classify("entropy", SOME, 4, 5, n_jobs=2),
    "gain ratio, 5 classes, 200k x 4": lambda: classify("gain_ratio", 200_000, 4, 5),
    "correlation, 5 classes, 1M x 4": lambda: classify("correlation", SOME, 4, 5),
    "C4.5, 5 classes, 1M x 4": lambda: classify("c45", SOME, 4, 5, min_objs=2),
    "C4.5, 5 classes, 1M x 4, 2 threads": lambda: classify("c45", SOME, 4, 5, min_objs=2, n_jobs=2),
    "variance, 1 target, 1M x 4": lambda: regress(1),
    "variance, 3 targets, 1M x 4": lambda: regress(3),
    "variance, 3 targets, 1M x 4, 2 threads": lambda: regress(3, n_jobs=2),
    "weighted gini, 5 classes, 1M x 4": lambda: weigh("gini", SOME),
    "weighted entropy, 5 classes, 1M x 4": lambda: weigh("entropy", SOME),
    "weighted C4.5, 5 classes, 10k x 4": lambda: weigh("c45", 10_000, min_objs=2),
    "100k categories, subset, 2 classes": lambda: tell_keys_apart("subset", 2),
    "100k categories, subset, 10 classes": lambda: tell_keys_apart("subset", 10),
    "100k categories, subset, 2 targets": regress_keys,
    "100k categories, value, 2 classes": lambda: tell_keys_apart("value", 2),
    "100k categories, multiway, 2 classes": lambda: tell_keys_apart("multiway", 2),
    "look ahead, every cut of 200k x 20": look_ahead,
    "improve the errors of 20k x 20": lambda: improve("error"),
    "improve the size of 20k x 20, 2 threads": lambda: improve("size", n_jobs=2),
    "improve with a referee, 5k x 20": lambda: improve("error", 5_000, referee="cv"),
    "first-order tree and 10 folds, 50k pictures": lambda: grow_first_order(
        50_000, cv=10, min_samples_leaf=20
    ),
    "first-order trees that leave one out of 600": lambda: grow_first_order(600, cv=LeaveOneOut()),
    "first-order trees of 50 bags, 2 threads": bag_first_order,
    "first-order test without a budget": join_in_vain,
    "first-order predict, 200k pictures": ask_first_order,
    "table of 5M x 6 floats": lambda: encode("floats"),
    "table of 5M x 6 floats of few values": lambda: encode("floats of few values"),
    "table of 5M x 6 integers": lambda: encode("integers"),
    "table of 5M strings": lambda: encode("strings"),
    "table of 5M strings as objects": lambda: encode("strings as objects"),
    "5M class labels as text": name_classes,
    "predict 5M x 4": lambda: predict(1),
    "predict 5M x 4, 2 threads": lambda: predict(2),
    "error-based pruning, 1M rows": lambda: prune("error_based"),
    "reduced-error pruning, 1M rows": lambda: prune("reduced_error"),
    "cost-complexity pruning of a large tree": lambda: prune("cost_complexity"),
    "digest of a large tree": lambda: keep("digest"),
    "verify a large tree": lambda: keep("verify"),
    "save a large tree": lambda: keep("save"),
    "load a large tree": lambda: keep("load"),
    "text of a large tree": lambda: keep("text"),
    "JSON of a large tree": lambda: keep("json"),
}

# Here most of the time is one call of the standard library's JSON, which hears no signal: no floor.
BORROWED = frozenset({"save a large tree", "load a large tree", "JSON of a large tree"})
