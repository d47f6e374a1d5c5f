"""How files of models and of trees that are kept are written, and what they are asked."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

import hornbeam as hb
from hornbeam import MaintainedTree, RelationalData

from .fits import others_of, table_of
from .linked import shop_data
from .session_files import prepare
from .tables import ATTRIBUTES, attributes, people
from .texts import say
from .values import Values, answers_of, checksum, of_model, of_relational_tree, of_tree, of_trees


def saved(make: Callable[[], Any]) -> Callable[[Path], None]:
    return lambda place: hb.save(make(), place)


def fit(model: Any, target: str = "class", data: str = "gaps") -> Any:
    table = table_of(data)
    names = target.split()
    return model.fit(attributes(table), table[target] if len(names) == 1 else table.select(names))


def fit_linked(model: Any, target: str = "customers.churn") -> Any:
    return model.fit(shop_data(target))


def fit_source(model: Any, **how: Any) -> Any:
    rows = people(600, seed=2, gaps=0.1).select(["id", *ATTRIBUTES, "class"])
    return model.fit_source(hb.source(rows), target="class", key="id", **how)


def asked(place: Path) -> Values:
    """A model of one tree or of several over one table."""
    model = hb.load(place)
    values: Values = {"estimator": type(model).__name__, "parameters": _told(model)}
    if hasattr(model, "trees_"):
        return values | {"trees": of_trees(model.trees_)} | answers_of(model, _others(model))
    values |= of_model(model, _others(model))
    values["apply"] = checksum(model.apply(_others(model)))
    if hasattr(model, "pruned"):
        values["pruned otherwise"] = of_tree(model.pruned(prune="cost_complexity", ccp_alpha=0.02).tree_)
    return values


def _others(model: Any) -> pa.Table:
    names = list(model.feature_names_in_)
    data = next((data for data in ("typed", "codes") if names[0] in others_of(data).column_names), "gaps")
    return others_of(data)


def _told(model: Any) -> dict[str, str]:
    return {name: str(value) for name, value in model.get_params(deep=False).items() if name != "bias"}


def searched_on(place: Path) -> Values:
    """A search that goes on."""
    values = asked(place)
    model = hb.load(place)
    *_, last = model.improve(iterations=3)
    return values | {
        "on": of_tree(model.tree_),
        "status": last.status,
        "work": last.work,
        "bound": last.bound,
    }


def asked_in_folder(place: Path) -> Values:
    """A model of the folder of tables that sessions find, whose columns have other names."""
    model = hb.load(place)
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        data = RelationalData.from_csv_folder(Path(folder) / "shop", target="customers.churn")
    return of_relational_tree(model.tree_) | answers_of(model, data) | {"parameters": _told(model)}


def asked_linked(place: Path) -> Values:
    model = hb.load(place)
    values: Values = {"estimator": type(model).__name__, "parameters": _told(model)}
    target = "customers.spent" if "Regressor" in type(model).__name__ else "customers.churn"
    data = shop_data(target, seed=22)
    if hasattr(model, "trees_"):
        return values | {"trees": of_trees(model.trees_)} | answers_of(model, data)
    texts = [
        model.to_text(),
        model.to_text("ace"),
        model.to_sql(),
        model.to_prolog(),
        str(model.explain(5, data)),
    ]
    return values | of_relational_tree(model.tree_) | answers_of(model, data) | {"texts": checksum(texts)}


def commanded(*lines: str) -> Callable[[Path], None]:
    """What `-o file` of the last line writes, where the files of the sessions are."""

    def write(place: Path) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            prepare(Path(folder))
            for line in lines:
                done = say(line)
                assert done.exit_code == 0, done.output
            place.write_bytes(Path("file").read_bytes())

    return write


# --- trees that are kept -------------------------------------------------------------------------------


def keep(targets: str, weight: str | None = None, **parameters: Any) -> Callable[[Path], None]:
    """A tree that has seen batches, with and without an id, and that forgot a key."""

    def write(place: Path) -> None:
        rows, names = _rows(targets, weight), targets.split()
        source = hb.source(rows.slice(0, 150), weight=weight)
        target = names[0] if len(names) == 1 else names
        with MaintainedTree.create(
            place, source, target=target, key="id", memory_limit="64MB", **parameters
        ) as kept:
            kept.insert(rows.slice(150, 50), id="monday")
            kept.apply(inserted=rows.slice(200, 10), deleted=rows.slice(20, 15))
            kept.forget([3, 60])

    return write


def _rows(targets: str, weight: str | None) -> pa.Table:
    return people(260, seed=41, gaps=0.05).select(
        ["id", *ATTRIBUTES, *targets.split(), *filter(None, (weight,))]
    )


def goes_on(targets: str, weight: str | None, place: Path) -> Values:
    """As it was left, proved by a rebuild; then more batches, and opened again."""
    rows = _rows(targets, weight)
    with MaintainedTree.open(place) as kept:
        values = of_tree(kept.tree) | answers_of(kept.estimator(), others_of("gaps"))
        values["rows"], values["folds"] = kept.stats["rows"], _folds(kept)
        values["changes"] = checksum([changes.to_text() for changes in kept.changes()])
        proof = kept.verify()
        values["verified"] = {name: proof[name] for name in ("equal", "intact", "sound") if name in proof}
        values["repeated"] = kept.insert(rows.slice(0, 5), id="monday").repeated
        after = [kept.insert(rows.slice(210, 50), id="tuesday"), kept.delete(rows.slice(70, 30))]
        values["after"] = [changes.digest_after[:16] for changes in after]
        values["nodes"] = [dict(changes.counts) for changes in after]
        values["forgotten"] = kept.forget([205])["digest_after"][:16]
    with MaintainedTree.open(place, read_only=True) as kept:
        return values | {"at last": kept.tree.digest[:16], "folds at last": _folds(kept)}


def _folds(kept: MaintainedTree) -> list[str]:
    return of_trees(kept.forest().tree(i + 1) for i in range(kept.folds)) if kept.folds else []


def _many(rows: int, begin: int = 0) -> pa.Table:
    """Rows of few values: so many that the file has counts too, and yet is small."""
    numbers = range(begin, begin + rows)
    a, b = [(n * n + n // 7) % 10 for n in numbers], [(n // 3) % 5 for n in numbers]
    labels = [(x > 4) ^ (y == 2) ^ (n % 11 == 0) for n, x, y in zip(numbers, a, b, strict=True)]
    return pa.table({"a": pa.array(a, pa.int8()), "b": pa.array(b, pa.int8()), "class": labels})


def keep_counted(place: Path) -> None:
    with MaintainedTree.create(place, hb.source(_many(20_000)), target="class", max_depth=3) as kept:
        kept.insert(_many(500, 20_000))


def counted(place: Path) -> Values:
    with MaintainedTree.open(place) as kept:
        values = of_tree(kept.tree) | {"rows": kept.stats["rows"]}
        values["after"] = [
            kept.insert(_many(300, 20_500)).digest_after[:16],
            kept.delete(_many(200, 100)).digest_after[:16],
        ]
        proof = kept.verify()
        return values | {"verified": [proof["equal"], proof["intact"]]}
