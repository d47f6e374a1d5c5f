"""Names and values of a megabyte, or with line breaks, that a refusal echoes: still one short line."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import pickle
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbeam as hb
from hornbeam.cli import app
from hornbeam.errors import LONGEST, HornbeamError, one_line
from hornbeam.model import write_document
from hornbeam.table import Schema, from_data, read_path
from tests.unit.cli.test_command import run

GIANTS = {
    "one word": "k" * 200_000,
    "words": "k " * 50_000,
    "lines": "line\n" * 20_000,
    "short lines": "a\rb\u2028c\x85d\x0be",
    "controls": "\x1b(B\x00\x07" * 20_000,
    "surrogates": "\ud800" * 20_000,
}
ROWS = pa.table({"a": np.arange(6.0), "y": ["p", "q"] * 3})
SINGLE = [[1.0], [2.0], [3.0], [4.0]]


def all_errors() -> list[type[HornbeamError]]:
    """Every error of the package, from every module that can be imported."""
    for module in pkgutil.walk_packages(hb.__path__, "hornbeam."):
        importlib.import_module(module.name)
    found, new = [HornbeamError], [HornbeamError]
    while new:
        new = [kind for base in new for kind in base.__subclasses__()]
        found += new
    return found


def check(line: str) -> None:
    assert len(line) <= LONGEST
    assert line.isprintable()
    assert len(line.splitlines()) == 1


def refused(action: Callable[[], object]) -> None:
    with pytest.raises(HornbeamError) as caught:
        action()
    check(str(caught.value))


@pytest.mark.parametrize("giant", GIANTS)
def test_every_error_of_the_package_is_one_short_line_whatever_it_is_given(giant: str) -> None:
    for kind in all_errors():
        others = list(inspect.signature(kind.__init__).parameters)[2:]
        error = kind(f"{GIANTS[giant]!r} or {GIANTS[giant]}", **dict.fromkeys(others, None))  # type: ignore[arg-type]
        check(str(error))
        assert len(error.args) == 1
        check(str(copy.copy(error)) if not others else str(error))
        if not others:
            assert str(pickle.loads(pickle.dumps(error))) == str(error)


@given(st.text(st.characters(exclude_categories=[]), max_size=50), st.integers(1, 60))
def test_one_line_is_bounded_printable_and_settled(text: str, times: int) -> None:
    line = one_line(text * times)
    assert len(line) <= LONGEST
    assert line.isprintable()
    assert one_line(line) == line
    if text.isprintable() and len(text * times) <= LONGEST:
        assert line == text * times


def test_what_is_said_around_a_giant_name_stays() -> None:
    line = one_line(f"the file {'k' * 10**6!r} has no column {'c' * 10**6!r}; name another one")
    assert line.startswith("the file 'kkk")
    assert " has no column 'ccc" in line
    assert line.endswith("; name another one")


def model(edit: Callable[[dict[str, Any], str], object], name: str, folder: Path) -> None:
    tree = hb.TreeClassifier().fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1])
    hb.save(tree, folder / "m")
    payload = json.loads((folder / "m").read_bytes())["payload"]
    edit(payload, name)
    write_document(folder / "m", payload)
    hb.load(folder / "m")


KEYS: dict[str, Callable[[dict[str, Any], str], object]] = {
    "payload": lambda p, name: p.update({name: 1}),
    "estimator": lambda p, name: p.update({"estimator": name}),
    "parameter": lambda p, name: p["parameters"].update({name: 1}),
    "tree": lambda p, name: p["tree"].update({name: 1}),
    "classes": lambda p, name: p["tree"].update({"classes": [name, name]}),
    "nodes": lambda p, name: p["tree"]["nodes"].update({name: 1}),
    "kind of a node": lambda p, name: p["tree"]["nodes"]["kind"].__setitem__(0, name),
    "schema": lambda p, name: p["tree"]["schema"].update({name: 1}),
    "attribute": lambda p, name: p["tree"]["schema"]["attributes"][0].update({name: 1}),
    "type": lambda p, name: p["tree"]["schema"]["attributes"][0].update({"type": name}),
    "kind": lambda p, name: p["tree"]["schema"]["attributes"][0].update({"kind": name}),
}


@pytest.mark.parametrize("giant", GIANTS)
@pytest.mark.parametrize("key", KEYS)
def test_model_files(key: str, giant: str, tmp_path: Path) -> None:
    refused(lambda: model(KEYS[key], GIANTS[giant], tmp_path))


TABLES: dict[str, Callable[[str], object]] = {
    "names twice": lambda name: Schema.from_json(
        {"named": True, "attributes": [{"name": name, "kind": "numeric", "type": "float64"}] * 2}
    ),
    "type of a column": lambda name: from_data(pd.DataFrame({name: [b"x"]})),
    "text among numbers": lambda name: from_data(pd.DataFrame({name: [1, name]}, dtype=object)),
    "columns of a list": lambda name: from_data(SINGLE, nominal_features=[name]),
    "nominal": lambda name: from_data(SINGLE, nominal_features=name),
    "missing column": lambda name: (
        hb.TreeClassifier().fit(pd.DataFrame({name: [1.0, 2.0]}), [0, 1]).predict(pd.DataFrame({"b": [1.0]}))
    ),
    "path": lambda name: read_path(name),
    "path of a file": lambda name: read_path(f"{name}.csv"),
    "model": lambda name: hb.load(name),
    "place": lambda name: hb.save(hb.TreeClassifier().fit(SINGLE, [0, 1, 0, 1]), f"/nonexistent/{name}"),
    "source": lambda name: hb.source(name),
    "column of a source": lambda name: hb.source(ROWS, columns=[name]),
    "weight of a source": lambda name: hb.source(ROWS, weight=name),
    "query": lambda name: hb.source(":memory:", sql=name),
    "table of a database": lambda name: hb.source(":memory:", table=name),
    "target": lambda name: hb.TreeClassifier().fit_source(hb.source(ROWS), target=name),
    "algorithm": lambda name: hb.TreeClassifier().fit_source(hb.source(ROWS), target="y", algorithm=name),
    "memory": lambda name: hb.TreeClassifier().fit_source(hb.source(ROWS), target="y", memory_limit=name),
    "linked tables": lambda name: hb.RelationalData.from_frames({name: {"id": [1]}}, {name: "none"}),
    "linked target": lambda name: hb.RelationalData.from_frames({"t": {"id": [1]}}, {"t": "id"}, target=name),
    "maintained tree": lambda name: hb.MaintainedTree.open(name),
}


@pytest.mark.parametrize("giant", GIANTS)
@pytest.mark.parametrize("door", TABLES)
def test_tables_paths_and_queries(door: str, giant: str) -> None:
    if giant == "surrogates" and door in ("type of a column", "text among numbers", "missing column"):
        pytest.skip("pandas refuses them by itself")
    refused(lambda: TABLES[door](GIANTS[giant]))


ESTIMATORS: list[type[Any]] = [
    hb.TreeClassifier,
    hb.TreeRegressor,
    hb.C45Classifier,
    hb.BaggedTreesClassifier,
    hb.LookaheadTreeClassifier,
    hb.AnytimeTreeClassifier,
    hb.CrossValidatedC45,
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters(estimator: type[Any]) -> None:
    for parameter in set(estimator().get_params(deep=False)) - {"random_state"}:  # numpy's own
        with pytest.raises(HornbeamError, match=parameter) as caught:
            estimator(**{parameter: GIANTS["one word"]}).fit(SINGLE, [0, 1, 0, 1])
        check(str(caught.value))


COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "file": lambda name: ["fit", name, "--target", "y"],
    "target": lambda name: ["fit", "rows.csv", "--target", name],
    "criterion": lambda name: ["fit", "rows.csv", "--target", "y", "--criterion", name],
    "depth": lambda name: ["fit", "rows.csv", "--target", "y", "--max-depth", name],
    "weight": lambda name: ["fit", "rows.csv", "--target", "y", "--weight", name],
    "query": lambda name: ["fit", "rows.csv", "--target", "y", "--sql", name],
    "option": lambda name: ["fit", f"--{name}"],
    "command": lambda name: [name],
    "place": lambda name: ["fit", "rows.csv", "--target", "y", "-o", f"nowhere/{name}"],
    "model": lambda name: ["predict", name, "rows.csv"],
    "grid": lambda name: ["tune", "rows.csv", "--target", "y", "--param", f"max_depth={name}"],
    "parameter of a grid": lambda name: ["tune", "rows.csv", "--target", "y", "--param", f"{name}=1"],
    "scoring": lambda name: [
        "tune",
        "rows.csv",
        "--target",
        "y",
        "--param",
        "max_depth=1,2",
        "--scoring",
        name,
    ],
    "trees": lambda name: ["bag", "rows.csv", "--target", "y", "-n", name],
    "generator": lambda name: ["generate", name],
    "linked": lambda name: ["relational", "fit", name, "--target", "t.y"],
}


@pytest.mark.parametrize("giant", GIANTS)
@pytest.mark.parametrize("door", COMMANDS)
def test_commands(door: str, giant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("a,y\n1,p\n2,q\n3,p\n4,q\n")
    done = run(*COMMANDS[door](GIANTS[giant]))
    assert done.exit_code in (1, 2, 3, 4)
    assert not done.stdout
    line = done.stderr.removesuffix("\n")
    assert line.startswith("hornbeam: ")
    assert "internal error" not in line
    check(line.removeprefix("hornbeam: "))


def test_warnings_and_internal_errors_of_the_command_are_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    app._say("internal error " + GIANTS["lines"], 1)
    check(capsys.readouterr().err.removesuffix("\n").removeprefix("hornbeam: "))
