"""How the tree answers to a change of the table (docs/law.md, "What follows"): laws of whatever grows trees.

`test_metamorphic.py` holds the package to them, `test_oracle_metamorphic.py` the oracle.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.laws.random_cases import random_cases
from tests.oracle.canonical import Form, label_value
from tests.oracle.grow import grow
from tests.oracle.table import Classes, Column, Label, Targets, Value
from tests.strategies import Case

FEWER = settings(max_examples=max(40, settings.default.max_examples // 5))  # type: ignore[union-attr]

ANY = st.one_of(strategies.cases(), random_cases, random_cases)
Grower = Callable[[Case], Form]
Law = Callable[[Grower], None]
LAWS: dict[str, Law] = {}


def law(check: Law) -> Law:
    LAWS[check.__name__] = check
    return check


def edit(form: Form, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Form:
    return [{**node, **change(node)} for node in form]


def map_values(column: Column, change: Callable[[Any], Value]) -> Column:
    return replace(column, values=tuple(None if v is None else change(v) for v in column.values))


def map_targets(case: Case, change: Callable[[float], float]) -> Case:
    assert isinstance(case.target, Targets)
    return replace(case, target=Targets(tuple(tuple(change(y) for y in row) for row in case.target.rows)))


def labels_of(case: Case) -> Classes:
    assert isinstance(case.target, Classes)
    return case.target


def only_tests(form: Form) -> list[Any]:
    """Tests, shapes and default branches, without what nodes hold."""
    return [{k: v for k, v in node.items() if k not in ("counts", "mean", "weight")} for node in form]


def without_thresholds(form: Form, name: str) -> Form:
    def change(node: dict[str, Any]) -> dict[str, Any]:
        hides = "test" in node and node["test"][:2] == ["numeric", name]
        return {"test": ["numeric", name]} if hides else {}

    return edit(form, change)


@law
@FEWER
@given(ANY, st.integers(0, 2**32 - 1))
def the_order_of_rows_does_not_matter(grower: Grower, case: Case, seed: int) -> None:
    order = list(range(case.n))
    random.Random(seed).shuffle(order)
    assert grower(case.rows(order)) == grower(case)


@law
@FEWER
@given(ANY, st.data())
def a_column_without_candidates_does_not_matter(grower: Grower, case: Case, data: st.DataObject) -> None:
    constants: list[tuple[str, Value]] = [("float", 1.5), ("integer", 3), ("nominal", "a")]
    kind, value = data.draw(st.sampled_from(constants))
    gaps = data.draw(st.sampled_from(["none", "some", "all"]))
    is_gap = [gaps == "all" or (gaps == "some" and row % 2 == 0) for row in range(case.n)]
    column = Column("constant", kind, tuple(None if gap else value for gap in is_gap))
    place = data.draw(st.integers(0, len(case.columns)))
    wider = case.with_columns([*case.columns[:place], column, *case.columns[place:]])
    assert grower(wider) == grower(case)


@law
@FEWER
@given(ANY, st.data())
def a_copy_of_a_column_behind_the_others_does_not_matter(
    grower: Grower, case: Case, data: st.DataObject
) -> None:
    copy = replace(data.draw(st.sampled_from(case.columns)), name="copy")
    assert grower(case.with_columns([*case.columns, copy])) == grower(case)


@law
@FEWER
@given(ANY)
def categories_renamed_in_the_same_order_only_change_their_names(grower: Grower, case: Case) -> None:
    every = sorted(
        {str(v) for c in case.columns if c.kind == "nominal" for v in c.values if v is not None},
        key=str.encode,
    )
    new_name = {label: f"m{i:03d}" for i, label in enumerate(every)}
    columns = [map_values(c, new_name.__getitem__) if c.kind == "nominal" else c for c in case.columns]

    def change(node: dict[str, Any]) -> dict[str, Any]:
        if "test" not in node or node["test"][0] == "numeric":
            return {}
        kind, name, pairs = node["test"]
        return {"test": [kind, name, [[new_name[label], child] for label, child in pairs]]}

    assert grower(case.with_columns(columns)) == edit(grower(case), change)


def rename_classes(form: Form, new_name: dict[Label, Label], order: list[Label]) -> Form:
    """Counts under their new names, in the new order."""
    written = {label_value(old): new for old, new in new_name.items()}

    def change(node: dict[str, Any]) -> dict[str, Any]:
        pairs = [(written[label], count) for label, count in node["counts"]]
        pairs.sort(key=lambda pair: order.index(pair[0]))
        return {"counts": [[label_value(label), count] for label, count in pairs]}

    return edit(form, change)


@law
@FEWER
@given(strategies.classification())
def classes_renamed_in_the_same_order_only_change_their_names(grower: Grower, case: Case) -> None:
    target = labels_of(case)
    new_name: dict[Label, Label] = {label: f"class {i:02d}" for i, label in enumerate(target.order)}
    renamed = replace(case, target=Classes(tuple(new_name[label] for label in target.labels)))
    assert grower(renamed) == rename_classes(grower(case), new_name, list(new_name.values()))


@law
@FEWER
@given(strategies.classification(criteria=["gini"], most=12))
def gini_does_not_see_the_order_of_classes(grower: Grower, case: Case) -> None:
    target = labels_of(case)
    new_name: dict[Label, Label] = {label: -i for i, label in enumerate(target.order)}
    renamed = replace(case, target=Classes(tuple(new_name[label] for label in target.labels)))
    assert grower(renamed) == rename_classes(grower(case), new_name, sorted(new_name.values()))


@law
@FEWER
@given(ANY, st.data())
def an_increasing_map_of_a_column_changes_its_thresholds_only(
    grower: Grower, case: Case, data: st.DataObject
) -> None:
    numeric = [i for i, column in enumerate(case.columns) if column.kind != "nominal"]
    assume(numeric)
    i = data.draw(st.sampled_from(numeric))
    column = case.columns[i]
    present = sorted({value for value in map(column.at, range(case.n)) if value is not None})
    steps = data.draw(st.lists(st.integers(1, 1000), min_size=len(present), max_size=len(present)))
    image: dict[Any, Value] = {}
    for value, step in zip(present, steps, strict=True):
        before = max((int(v) for v in image.values()), default=-500)
        image[value] = float(before + step) if column.kind == "float" else before + step
    mapped = case.with_columns([map_values(c, image.__getitem__) if c is column else c for c in case.columns])
    name = column.name
    assert without_thresholds(grower(mapped), name) == without_thresholds(grower(case), name)


@law
@FEWER
@given(ANY, st.data(), st.integers(-(2**40), 2**40))
def thresholds_of_integers_move_with_the_values(
    grower: Grower, case: Case, data: st.DataObject, shift: int
) -> None:
    column = Column("whole", "integer", data.draw(strategies.cells(case.n, range(-20, 20))))
    moved = map_values(column, lambda value: int(value) + shift)

    def change(node: dict[str, Any]) -> dict[str, Any]:
        if "test" not in node or node["test"][1] != "whole":
            return {}
        kind, name, threshold = node["test"]
        return {"test": [kind, name, threshold + shift]}

    wider = edit(grower(case.with_columns([column, *case.columns])), change)
    assert grower(case.with_columns([moved, *case.columns])) == wider


@law
@FEWER
@given(ANY, st.data())
def thresholds_of_floats_scale_with_the_values(grower: Grower, case: Case, data: st.DataObject) -> None:
    pool = [i / 8 for i in range(-20, 20)]
    column = Column("real", "float", data.draw(strategies.cells(case.n, pool)))
    scaled = map_values(column, lambda value: 4.0 * value)

    def change(node: dict[str, Any]) -> dict[str, Any]:
        if "test" not in node or node["test"][1] != "real":
            return {}
        kind, name, threshold = node["test"]
        return {"test": [kind, name, (4.0 * float.fromhex(threshold)).hex()]}

    wider = edit(grower(case.with_columns([column, *case.columns])), change)
    assert grower(case.with_columns([scaled, *case.columns])) == wider


def doubled_counts(form: Form) -> Form:
    def change(node: dict[str, Any]) -> dict[str, Any]:
        if "weight" in node:
            return {"weight": 2 * node["weight"]}
        return {"counts": [[label, 2 * count] for label, count in node["counts"]]}

    return edit(form, change)


@law
@FEWER
@given(
    st.one_of(strategies.classification(criteria=["gini"]), strategies.regression(wild=False)),
    st.sampled_from([None, 2]),
    st.sampled_from([1, 4]),
)
def every_row_twice_only_doubles_the_counts(
    grower: Grower, case: Case, max_depth: int | None, min_leaf: int
) -> None:
    once = case.having(max_depth=max_depth, min_samples_split=2, min_samples_leaf=min_leaf)
    twice = once.rows([*range(case.n), *range(case.n)]).having(
        min_samples_leaf=1 if min_leaf == 1 else 2 * min_leaf
    )
    assert grower(twice) == doubled_counts(grower(once))


@law
@FEWER
@given(strategies.regression(wild=False))
def targets_times_a_power_of_two_only_scale_the_means(grower: Grower, case: Case) -> None:
    case = case.having(min_impurity_decrease=0.0)

    def change(node: dict[str, Any]) -> dict[str, Any]:
        return {"mean": [(8.0 * float.fromhex(mean)).hex() for mean in node["mean"]]}

    assert grower(map_targets(case, lambda y: 8.0 * y)) == edit(grower(case), change)


@law
@FEWER
@given(strategies.regression(most=12, wild=False), st.integers(-4, 4))
def an_offset_of_the_targets_does_not_change_the_tests(grower: Grower, case: Case, n: int) -> None:
    shift = n * 2.0**46  # its doubles have a spacing below 1/8
    small = map_targets(case, lambda y: round(y) % 17 / 8)
    assert only_tests(grower(map_targets(small, lambda y: y + shift))) == only_tests(grower(small))


def cut(form: Form, depth: int) -> Form:
    """The tree with every node at this depth made a leaf."""
    result, waiting = [], [0]
    for node in form:
        at = waiting.pop()
        waiting.extend([at + 1] * node.get("children", 0))
        if at <= depth:
            keep = {k: v for k, v in node.items() if k in ("counts", "mean", "weight")}
            result.append(keep if at == depth else node)
    return result


@law
@FEWER
@given(ANY, st.integers(1, 3))
def max_depth_cuts_the_full_tree_off(grower: Grower, case: Case, depth: int) -> None:
    assert grower(case.having(max_depth=depth)) == cut(grower(case.having(max_depth=None)), depth)


def subtree(form: Form, root: int) -> Form:
    open_nodes, end = 1, root
    while open_nodes:
        open_nodes += form[end].get("children", 0) - 1
        end += 1
    return form[root:end]


@law
@FEWER
@given(ANY, st.data(), st.sampled_from([1, 2, 5]))
def a_subtree_is_the_tree_of_its_rows(grower: Grower, case: Case, data: st.DataObject, min_leaf: int) -> None:
    sizes = {"min_samples_split": 2, "min_samples_leaf": min_leaf}
    case = case.having(max_depth=None, min_impurity_decrease=0.0, **sizes)
    nodes = grow(case.columns, case.target, case.parameters)
    inner = [i for i, node in enumerate(nodes) if node.choice is not None]
    assume(len(inner) > 1)
    root = data.draw(st.sampled_from(inner[1:]))
    assert grower(case.rows(nodes[root].rows)) == subtree(grower(case), root)
