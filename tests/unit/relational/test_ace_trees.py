"""The published trees from the files of ACE: settings, facts and rules read, coded, grown and pruned here."""

from pathlib import Path

import pytest

from hornbeam import RelationalData, RelationalTreeClassifier
from hornbeam.relational.ace.facts import Knowledge, read_facts
from hornbeam.relational.ace.terms import show_value
from hornbeam.relational.ace.tokens import read_source
from tests.unit.relational.ace_files import (
    BONGARD,
    MACHINES,
    MUTAGENESIS,
    MUTAGENESIS_BACKGROUND,
    facts_of,
    write,
)


def fit(data: RelationalData, **parameters: object) -> RelationalTreeClassifier:
    return RelationalTreeClassifier(data.bias, **{**data.parameters, **parameters}).fit(data)


def leaves(model: RelationalTreeClassifier) -> list[int]:
    return [int(sum(node.counts)) for node in model.tree_.nodes if node.is_leaf]


def test_machines(tmp_path: Path) -> None:
    data = RelationalData.from_ace(write(tmp_path, MACHINES), facts=facts_of("machines"))
    model = fit(data)
    assert leaves(model) == [6, 6, 3]
    assert model.tree_.nodes[0].test[0].predicate == "worn"
    assert model.score(data) == 1.0


def test_machines_of_both_formats_give_one_tree(tmp_path: Path) -> None:
    path = facts_of("machines")
    known = Knowledge()
    read_facts(read_source(path), known, models=False)
    models, shared = [], []
    for key, action in known.rows["machine", 2]:
        worn = "".join(f" worn({show_value(part)})." for owner, part in known.rows["worn", 2] if owner == key)
        models.append(f"begin(model({key})). {action}.{worn} end(model({key})).")
    for name in ("replaceable", "not_replaceable"):
        shared += [f"{name}({part})." for (part,) in known.rows[name, 1]]
    settings = (
        MACHINES.replace("load(key).", "load(models).")
        .replace("predict(machine(+machine,-action)).", "")
        .replace("worn(machine,comp)", "worn(comp)")
        .replace("worn(+Key,+-X)", "worn(+-X)")
    )
    by_model = RelationalData.from_ace(write(tmp_path, settings, "\n".join(models), "\n".join(shared)))
    (tmp_path / "key").mkdir()
    by_key = RelationalData.from_ace(write(tmp_path / "key", MACHINES), facts=path)
    assert fit(by_model).tree_.nodes == fit(by_key).tree_.nodes


def test_bongard(tmp_path: Path) -> None:
    model = fit(RelationalData.from_ace(write(tmp_path, BONGARD), facts=facts_of("bongard")))
    assert leaves(model) == [82, 28, 34, 36, 79, 12, 34, 87]


@pytest.mark.parametrize(("prune", "tests"), [(None, 24), ("error_based", 8)])
def test_mutagenesis(tmp_path: Path, prune: str | None, tests: int) -> None:
    path = write(tmp_path, MUTAGENESIS, background=MUTAGENESIS_BACKGROUND)
    data = RelationalData.from_ace(path, facts=facts_of("mutagenesis"))
    model = fit(data, prune=prune)
    assert sum(not node.is_leaf for node in model.tree_.nodes) == tests
    if prune is not None:
        assert round(model.score(data) * 230) == 180
