"""First-order trees over linked tables."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from hornbeam import RelationalBagging, RelationalData, RelationalTreeClassifier, RelationalTreeRegressor
from hornbeam.datasets import make_bongard, make_trains

from .tables import SHOP_KEYS, SHOP_REFERENCES, shop, splits
from .values import Case, Values, answers_of, checksum, of_relational_tree, of_trees, scores

SETTINGS = """load(key).
predict(machine(+machine,-class)).
classes([fix,ok,sendback]).
typed_language(yes).
type(not_replaceable(comp)).
type(worn(machine,comp)).
rmode(not_replaceable(+X)).
rmode(worn(+Key,+-X)).
"""
FACTS = """machine(1,sendback). worn(1,gear). worn(1,engine).
machine(2,ok). machine(3,fix). worn(3,gear). machine(4,sendback). worn(4,engine).
machine(5,fix). worn(5,gear). machine(6,ok).
not_replaceable(engine).
"""


_CUSTOMERS = 120


def shop_data(target: str = "customers.churn", *, seed: int = 21) -> Any:
    return RelationalData.from_frames(shop(_CUSTOMERS, seed=seed), SHOP_KEYS, SHOP_REFERENCES, target=target)


def cases() -> dict[str, Case]:
    tree, numbers = RelationalTreeClassifier, RelationalTreeRegressor
    found: dict[str, Case] = {
        "shop": partial(_shop, tree()),
        "shop, entropy, safe": partial(_shop, tree(criterion="entropy", prune="safe", min_samples_leaf=4)),
        "shop, unpruned, lookahead 2": partial(_shop, tree(prune=None, lookahead=2, max_depth=4)),
        "shop, few declarations": _few_declarations,
        "shop, folds": partial(_shop, tree(), folds=4),
        "shop, folds, serial": partial(_shop, tree(algorithm="serial", prune=None), folds=3),
        "shop, variance": partial(_shop, numbers(), target="customers.spent"),
        "shop, variance, folds": partial(_shop, numbers(ftest=0.2), target="customers.spent", folds=3),
        "shop, bags": partial(_bags, prune="error_based"),
        "shop, bags of numbers, serial": partial(_bags, target="customers.spent", algorithm="serial"),
        "bongard": partial(_made, make_bongard, 150, theory="complex", seed=7),
        "trains": partial(_made, make_trains, 150, rule=3, seed=2),
        "trains, folds": partial(_made, make_trains, 120, rule=1, seed=3, folds=3),
        "settings of ACE": _ace,
    }
    return {f"linked, {name}": case for name, case in found.items()}


def _shop(model: Any, *, target: str = "customers.churn", folds: int = 0) -> Values:
    cv = splits(_CUSTOMERS, folds, 1) if folds else None
    return _grown(model.set_params(cv=cv), shop_data(target), shop_data(target, seed=22))


def _grown(model: Any, data: Any, others: Any) -> Values:
    model.fit(data)
    values = of_relational_tree(model.tree_) | answers_of(model, others)
    values["texts"] = checksum([model.to_text(), model.to_text("ace"), model.to_sql(), model.to_prolog()])
    if model.cv is not None:
        values["folds"] = of_trees(model.forest_.tree(i + 1) for i in range(len(model.cv)))
        values["scores"] = scores(model.cv_results_["test_score"])
    return values


def _few_declarations() -> Values:
    data = shop_data()
    text = str(data.default_bias())
    few = "\n".join(line for line in text.splitlines() if "count_" not in line)
    values = _grown(RelationalTreeClassifier(few, min_samples_leaf=1), data, shop_data(seed=22))
    return values | {"bias": checksum(text.splitlines())}


def _bags(*, target: str = "customers.churn", algorithm: str = "auto", prune: str | None = None) -> Values:
    model = RelationalBagging(
        n_estimators=4, oob_score=True, random_state=3, algorithm=algorithm, prune=prune
    )
    model.fit(shop_data(target))
    answers = (
        answers_of(model, shop_data(target, seed=22)) if target.endswith("churn") else _told(model, target)
    )
    return {"trees": of_trees(model.trees_), "outside": scores(model.oob_score_)} | answers


def _told(model: Any, target: str) -> Values:
    """Of numbers: shares are not defined."""
    return {"predict": checksum(model.predict(shop_data(target, seed=22)))}


def _made(make: Any, examples: int, *, folds: int = 0, **given: Any) -> Values:
    made = make(examples, **given)
    others = make(examples, start=examples, **given)
    given_as = [
        RelationalData.from_frames(some.tables, some.keys, some.references, target=some.target)
        for some in (made, others)
    ]
    return _grown(
        RelationalTreeClassifier(max_depth=4, cv=splits(examples, folds, 1) if folds else None), *given_as
    )


def _ace() -> Values:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mach.s").write_text(SETTINGS)
        (Path(folder) / "mach.kb").write_text(FACTS)
        data = RelationalData.from_ace(str(Path(folder) / "mach.s"))
        model = RelationalTreeClassifier(data.bias, min_samples_leaf=1, prune=None)
        return _grown(model, data, data)
