"""The published trees as SQL and Prolog: run on all their facts, they say what predict says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hornbeam import RelationalData, RelationalTreeClassifier
from hornbeam.relational.ace.terms import atom
from hornbeam.relational.database import MISSING, Coded
from hornbeam.relational.prolog import constant_term
from hornbeam.relational.tree import merge_leaves
from tests.databases import PLAIN
from tests.unit.relational.ace_files import (
    BONGARD,
    MACHINES,
    MUTAGENESIS,
    MUTAGENESIS_BACKGROUND,
    facts_of,
    write,
)

PROBLEMS = {
    "machines": (MACHINES, ""),
    "bongard": (BONGARD, ""),
    "mutagenesis": (MUTAGENESIS, MUTAGENESIS_BACKGROUND),
}


@pytest.fixture(scope="module", params=list(PROBLEMS))
def published(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(data, the unpruned tree's estimator)"""
    settings, background = PROBLEMS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    path = write(folder, settings, background=background) if background else write(folder, settings)
    data = RelationalData.from_ace(path, facts=facts_of(request.param))
    parameters = {**data.parameters, "prune": None}
    return data, RelationalTreeClassifier(data.bias, **parameters).fit(data)


def rows_of(coded: Coded, name: str) -> list[tuple[Any, ...]]:
    relation = coded.relations[name]
    columns = []
    for kind, codes in zip(relation.types, relation.data, strict=True):
        values = coded.domains[kind].values.tolist()
        columns.append([None if code == MISSING else values[code] for code in codes.tolist()])
    return list(zip(*columns, strict=True))


def test_sql(published: Any) -> None:
    data, model = published
    coded = data.coded(model.bias_)
    connection = duckdb.connect()
    kind = "BIGINT" if coded.domains[model.bias_.key_type].kind == "numeric" else "VARCHAR"
    connection.execute(f"CREATE TABLE examples (key {kind})")
    connection.executemany(
        "INSERT INTO examples VALUES (?)", [(key,) for key in coded.examples.keys.tolist()]
    )
    for name, relation in coded.relations.items():
        types = ["DOUBLE" if coded.domains[t].kind == "numeric" else "VARCHAR" for t in relation.types]
        columns = ", ".join(f'"{c}" {t}' for c, t in zip(relation.columns, types, strict=True))
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        rows = json.dumps([dict(zip(relation.columns, row, strict=True)) for row in rows_of(coded, name)])
        shape = ", ".join(f'"{c}": "{t}"' for c, t in zip(relation.columns, types, strict=True))
        connection.execute(
            f"INSERT INTO \"{name}\" SELECT unnest(from_json(?, '[{{{shape}}}]'), recursive := true)", [rows]
        )
    said = dict(connection.execute(model.to_sql()).fetchall())
    assert [said[key] for key in coded.examples.keys.tolist()] == model.predict(data).tolist()


@pytest.mark.skipif(shutil.which("swipl") is None, reason="swipl is not installed")
def test_prolog(published: Any, tmp_path: Path) -> None:
    data, model = published
    coded = data.coded(model.bias_)
    lines = []
    for name in coded.relations:
        lines += [f"{atom(name)}({','.join(map(constant_term, row))})." for row in rows_of(coded, name)]
    keys = coded.examples.keys.tolist()
    lines += [f"example({constant_term(key)})." for key in keys]
    lines += [model.to_prolog(), f":- forall(example(K), ({atom(model.target_)}(K, B), writeq(B), nl))."]
    (tmp_path / "tree.pl").write_text("\n".join(lines), encoding="utf-8")
    asked = ["swipl", "-q", "-f", str(tmp_path / "tree.pl"), "-t", "halt"]
    result = subprocess.run(asked, capture_output=True, text=True, timeout=120, env=PLAIN)
    assert "Warning" not in result.stderr
    assert result.stdout.splitlines() == model.predict(data).tolist()


def test_explanations_end_where_predictions_do(published: Any) -> None:
    data, model = published
    said, leaves = model.predict(data).tolist(), model.apply(data).tolist()
    for place, key in list(enumerate(data.coded(model.bias_).examples.keys.tolist()))[::9]:
        told = model.explain(key)
        assert (told.prediction, told.leaf) == (said[place], leaves[place])


def test_estimates_are_the_published_ones(published: Any) -> None:
    data, model = published
    tree = model.tree_
    merged = merge_leaves(tree)
    pruned = RelationalTreeClassifier(data.bias, **data.parameters).fit(data).tree_
    found = tree.complexity[0], merged.complexity, pruned.complexity[0]
    assert found in (
        (2, (2, 2), 2),
        (7, (7, 7), 7),
        (24, (12, 13), 8),
    )
    expected = {2: 3.58571211334849, 7: 10.8626697437967, 12: 71.4705074516556}[merged.complexity[0]]
    assert merged.expected_errors() == pytest.approx(expected, abs=5e-13)
    if pruned.complexity[0] == 8:
        assert pruned.expected_errors() == pytest.approx(66.6546112633088, abs=5e-13)
