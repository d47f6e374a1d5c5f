"""The native lookahead is the oracle's: sizes of sampled trees, totals, trees, bounds and proofs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.agreement import agree
from tests.laws.lookahead_cases import many_valued_cases, parity, searched, small_cases
from tests.laws.reading import FormAndNumbers, form_and_numbers, form_of, oracles_form_and_numbers
from tests.laws.test_core_identity import native_column
from tests.oracle.canonical import Form, canonical_form
from tests.oracle.optimum import optimum
from tests.oracle.table import Classes, Column
from tests.real_data import RealSet
from tests.strategies import Case

if importlib.util.find_spec("hornbeam._core") is None:
    pytest.skip("hornbeam._core is not there: build the package", allow_module_level=True)

from hornbeam import TreeClassifier, _core
from hornbeam.model import Tree
from hornbeam.table import from_data

MODES = ["value", "multiway", "subset"]
KEYS = st.integers(0, 2**64 - 1)
FEW = settings(max_examples=max(12, settings.default.max_examples // 2))  # type: ignore[union-attr]
SMALL = st.one_of(small_cases(), small_cases(20, 9), many_valued_cases())
CASES = st.one_of(
    small_cases(),
    small_cases(30, 9),
    many_valued_cases(),
    strategies.classification(["entropy"], most=12, plain=True),
)


def codes_of(target: Classes) -> npt.NDArray[np.uint16]:
    return np.array([target.order.index(label) for label in target.labels], dtype=np.uint16)


def native(case: Case, **how: Any) -> _core.Lookahead:
    assert isinstance(case.target, Classes)
    columns = [native_column(column)[0] for column in case.columns]
    encoded = _core.encode(columns, case.n)
    classes = codes_of(case.target)
    return _core.Lookahead(encoded, classes, len(case.target.order), nominal=case.parameters.nominal, **how)


def rows_of(case: Case) -> npt.NDArray[np.int32]:
    return np.arange(case.n, dtype=np.int32)


def read(case: Case, sketch: dict[str, Any]) -> SimpleNamespace:
    """A sketch as the record that the functions of `reading` take."""
    assert isinstance(case.target, Classes)
    schema = SimpleNamespace(attributes=[native_column(column)[1] for column in case.columns])
    arrays = _core.flat(sketch, len(case.target.order))
    return SimpleNamespace(**arrays, schema=schema, classes=case.target.order)


def assert_same(a: dict[str, Any], b: dict[str, Any]) -> None:
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name


# --- against the oracle ---


@pytest.mark.agreed
@FEW
@given(CASES, KEYS)
def test_a_sampled_tree_has_the_oracles_size(case: Case, key: int) -> None:
    lookahead, keys = native(case), [k % 2**64 for k in range(key, key + 5)]

    def expected() -> list[int]:
        search = searched(case)
        return [search.sid3(tuple(range(case.n)), k) for k in keys]

    agree((case, key), [lookahead.size(rows_of(case), k) for k in keys], expected)


@pytest.mark.agreed
@FEW
@given(CASES, KEYS, st.booleans())
def test_without_endings_a_sampled_tree_has_the_oracles_size(case: Case, key: int, fast: bool) -> None:
    size = native(case, endings=False, fast=fast).size(rows_of(case), key)
    agree((case, key), size, lambda: searched(case, endings=False).sid3(tuple(range(case.n)), key))


@pytest.mark.agreed
@FEW
@given(SMALL, KEYS, st.sampled_from([1, 2, 3]))
def test_a_node_sees_the_totals_that_the_oracle_sees(case: Case, key: int, r: int) -> None:
    seen = {
        test["number"]: (
            test["total"],
            test["attribute"],
            test["gain"],
            test["default_child"],
            test["branches"],
        )
        for test in native(case).totals(rows_of(case), key, r)
    }

    def expected() -> dict[int, tuple[Any, ...]]:
        search, rows = searched(case), tuple(range(case.n))
        place = search.at(rows)
        if place.is_finished:
            return {}
        totals = search.totals(rows, key, r)
        choices = {number: place.tests[number] for number in totals}
        return {
            number: (totals[number], c.candidate.attribute, c.gain, c.default, len(c.branches))
            for number, c in choices.items()
        }

    agree((case, key, r), seen, expected)


@pytest.mark.agreed
@FEW
@given(SMALL, KEYS, st.sampled_from([0, 0, 1, 2]))
def test_a_tree_is_the_oracles(case: Case, key: int, r: int) -> None:
    def expected() -> FormAndNumbers:
        nodes = searched(case).lsid3(tuple(range(case.n)), key, r).preorder()
        return oracles_form_and_numbers(case, nodes)

    tree = read(case, native(case).build(rows_of(case), key, r))
    agree((case, key, r), form_and_numbers(tree), expected)


@pytest.mark.agreed
@FEW
@given(CASES, KEYS, st.sampled_from([1, 2]), st.sampled_from([0.1, 0.5, 1.5, None]), st.sampled_from([1, 3]))
def test_a_tree_of_drawn_cuts_is_the_oracles(
    case: Case, key: int, r: int, fraction: float | None, draws: int
) -> None:
    how: dict[str, Any] = {"draws": draws} if fraction is None else {"sample_fraction": fraction}

    def expected() -> Form:
        nodes = searched(case, **how).lsid3(tuple(range(case.n)), key, r).preorder()
        return canonical_form(nodes, case.columns, case.target)

    tree = read(case, native(case).build(rows_of(case), key, r, **how))
    agree((case, key, r, how), form_of(tree), expected)


@pytest.mark.parametrize("key", range(3))
def test_many_draws_of_cuts_see_what_all_cuts_show(key: int) -> None:
    """A cut that is drawn q times has the smallest of q samples: many draws come to the least total."""
    random = np.random.default_rng(key)
    values = random.permutation(24).astype(float), random.permutation(24).astype(float)
    columns = tuple(Column(f"x{i}", "float", tuple(column.tolist())) for i, column in enumerate(values))
    classes = Classes(tuple(((values[0] > 11) ^ (values[1] > 11)).astype(int).tolist()))
    case = Case(columns, classes, strategies.Parameters("entropy", "value"))

    def least(r: int, **how: Any) -> int:
        seen: list[dict[str, Any]] = native(case).totals(rows_of(case), key, r, **how)
        return min(test["total"] for test in seen)

    assert least(1, sample_fraction=40.0) == least(200)


@pytest.mark.agreed
@FEW
@given(CASES)
def test_the_bound_is_the_oracles(case: Case) -> None:
    found = native(case).bound(rows_of(case))
    agree(case, found, lambda: searched(case).bound(tuple(range(case.n))))


# --- what does not change a tree ---


@FEW
@given(CASES, KEYS, st.sampled_from([1, 2]), st.data())
def test_no_switch_and_no_thread_changes_a_tree(case: Case, key: int, r: int, data: st.DataObject) -> None:
    rows = rows_of(case)
    endings = data.draw(st.booleans())
    plain = native(case, endings=endings, aborts=False, fast=False, kernels="plain").build(rows, key, r)
    how = {
        "aborts": data.draw(st.booleans()),
        "fast": data.draw(st.booleans()),
        "threads": data.draw(st.sampled_from([1, 2, 3])),
        "kernels": data.draw(st.sampled_from(_core.kernels())),
    }
    assert_same(plain, native(case, endings=endings, **how).build(rows, key, r))


def mixed_case(n: int, seed: int, nominal: str) -> Case:
    """More rows than the oracle likes: numbers of many and few values, categories, gaps, three classes."""
    rng = np.random.default_rng(seed)
    gaps = rng.random(n) < 0.05
    wide = [None if gap else float(x) for gap, x in zip(gaps, rng.normal(size=n), strict=True)]
    few = [float(x) for x in rng.integers(0, 4, n)]
    many = [f"c{x}" for x in rng.integers(0, 30, n)]
    bits = [[str(x) for x in rng.integers(0, 2, n)] for _ in range(4)]
    columns = [
        Column("wide", "float", tuple(wide)),
        Column("few", "float", tuple(few)),
        Column("many", "nominal", tuple(many)),
        *(Column(f"b{i}", "nominal", tuple(column)) for i, column in enumerate(bits)),
    ]
    noise = rng.random(n) < 0.1
    codes = [2 if z else (a != b) for z, a, b in zip(noise, bits[0], bits[1], strict=True)]
    return Case(tuple(columns), Classes(tuple(map(int, codes))), strategies.Parameters("entropy", nominal))


@pytest.mark.parametrize("nominal", MODES)
@pytest.mark.parametrize("n", [64, 65, 200])
def test_switches_and_threads_agree_on_many_rows(n: int, nominal: str) -> None:
    case = mixed_case(n, n, nominal)
    rows = rows_of(case)
    plain = native(case, aborts=False, fast=False, kernels="plain").build(rows, 7, 1, draws=2)
    for kernels in _core.kernels():
        for threads in (1, 2, 3):
            assert_same(plain, native(case, kernels=kernels, threads=threads).build(rows, 7, 1, draws=2))


@pytest.mark.agreed
@pytest.mark.parametrize("nominal", MODES)
def test_more_than_64_rows_give_the_oracles_sizes(nominal: str) -> None:
    case = mixed_case(80, 3, nominal)
    sizes = [native(case, fast=fast).size(rows_of(case), 3) for fast in (True, False)]
    agree(case, sizes, lambda: [searched(case).sid3(tuple(range(case.n)), 3)] * 2)


# --- ID3, and known answers ---


@pytest.mark.parametrize("nominal", MODES)
@pytest.mark.parametrize("name", ["monks1_train", "tictactoe", "glass", "credit_approval", "led7", "car"])
def test_without_lookahead_a_tree_is_that_of_the_classifier(
    real_set: Callable[[str], RealSet], name: str, nominal: str
) -> None:
    real = real_set(name)
    model = TreeClassifier(criterion="entropy", nominal=nominal).fit(real.table, real.target)
    table = from_data(real.table)
    labels, codes = np.unique(real.target.to_numpy(str), return_inverse=True)
    encoded = _core.encode(table.native(), table.n_rows)
    lookahead = _core.Lookahead(encoded, codes.astype(np.uint16), len(labels), nominal=nominal)
    sketch = lookahead.build(np.arange(table.n_rows, dtype=np.int32), 0, 0)
    tree = Tree(table.schema, _core.flat(sketch, len(labels)), classes=labels.tolist())
    assert tree.digest == model.tree_.digest


def parity_case(relevant: int, irrelevant: int) -> Case:
    columns, target = parity(relevant, irrelevant)
    return Case(tuple(columns), target, strategies.Parameters("entropy", "value"))


def test_parity_is_learnt_by_looking_ahead_and_not_without() -> None:
    case = parity_case(4, 3)
    lookahead, rows = native(case), rows_of(case)
    assert lookahead.build(rows, 1, 0)["leaves"][0] == 128
    assert lookahead.build(rows, 1, 1)["leaves"][0] == 16


def test_a_sketch_keeps_its_rows_leaf_after_leaf() -> None:
    case = mixed_case(200, 5, "value")
    chosen = np.flatnonzero(np.arange(200) % 3 != 0).astype(np.int32)
    sketch = native(case).build(chosen, 3, 1, draws=1)
    assert sorted(sketch["order"].tolist()) == chosen.tolist()
    kind, start, rows, span = (sketch[name] for name in ("kind", "start", "rows", "span"))
    ends = [(int(start[i]), int(start[i] + rows[i])) for i in np.flatnonzero(kind == 0)]
    assert [begin for begin, _ in ends] == [0, *(end for _, end in ends[:-1])]
    assert sketch["leaves"][0] == len(ends)
    assert span[0] == len(kind)
    assert sketch["count"].sum() == rows.sum()


def test_the_subtree_of_a_sketch_is_the_tree_of_its_rows() -> None:
    case = mixed_case(120, 6, "value")
    lookahead = native(case)
    sketch = lookahead.build(rows_of(case), 0, 0)
    for node in range(0, len(sketch["kind"]), 7):
        begin, span = sketch["start"][node], sketch["span"][node]
        rows = np.sort(sketch["order"][begin : begin + sketch["rows"][node]])
        alone = lookahead.build(rows, 0, 0)
        for name in ("kind", "attribute", "threshold", "n_children", "rows", "gain", "usable", "tests"):
            assert alone[name].tolist() == sketch[name][node : node + span].tolist(), name


# --- the end of the time, and bad input ---


def test_a_build_without_time_gives_nothing() -> None:
    case = mixed_case(200, 8, "value")
    assert native(case).build(rows_of(case), 0, 5, seconds=0.0) is None
    assert native(case).build(rows_of(case), 0, 0, seconds=60.0) is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"r": -1}, "r is below 0"),
        ({"draws": 0}, "draws is below 1"),
        ({"sample_fraction": 0.0}, "sample_fraction is not above 0"),
        ({"sample_fraction": 0.5, "draws": 1}, "exclude each other"),
        ({"rows": np.array([0, 200], dtype=np.int32)}, "a row is not one of the table's"),
        ({"rows": np.array([], dtype=np.int32)}, "there are no rows"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(change: dict[str, Any], said: str) -> None:
    case = mixed_case(50, 9, "value")
    given = {"rows": rows_of(case), "key": 0, "r": 1, **change}
    with pytest.raises(ValueError, match=said):
        native(case).build(**given)


def test_a_sketch_whose_arrays_do_not_fit_is_refused() -> None:
    case = mixed_case(50, 9, "value")
    sketch = native(case).build(rows_of(case), 0, 0)
    for name in ("n_children", "count", "branch_code", "gain"):
        with pytest.raises(ValueError, match="do not fit"):
            _core.flat({**sketch, name: sketch[name][:-1]}, 3)


@FEW
@given(small_cases())
def test_no_tree_is_smaller_than_the_bound(case: Case) -> None:
    search, rows = searched(case), tuple(range(case.n))
    assert native(case).bound(rows_of(case)) <= optimum(search, rows)


# --- the prover ---


def provable(case: Case) -> bool:
    """Nothing missing, and two branches for every test of every part."""
    columns = [column for column in case.columns if len(set(column.values) - {None}) > 1]
    if any(None in column.values for column in columns):
        return False
    most = {"value": case.n, "multiway": 2, "subset": 8}[case.parameters.nominal]
    return all(len(set(column.values)) <= most for column in columns if column.kind == "nominal")


@FEW
@given(small_cases())
def test_a_proof_ends_with_the_fewest_leaves_and_a_tree_of_so_many(case: Case) -> None:
    search, rows = searched(case), tuple(range(case.n))
    fewest = optimum(search, rows)
    proof = native(case).prove(rows_of(case))
    if search.at(rows).is_finished or provable(case):
        assert (proof["lower"], proof["upper"]) == (fewest, fewest)
        assert proof["sketch"]["leaves"][0] == fewest
        arrays = vars(read(case, proof["sketch"]))
        assert int((arrays["kind"] == 0).sum()) == fewest
    else:
        assert proof["lower"] <= fewest
        assert proof["upper"] is None


@FEW
@given(small_cases(), st.integers(-1, 2))
def test_a_proof_does_not_look_for_a_tree_that_is_known(case: Case, more: int) -> None:
    fewest = optimum(searched(case), tuple(range(case.n)))
    upper = max(1, fewest + more)
    proof = native(case).prove(rows_of(case), upper=upper)
    assert proof["lower"] <= min(fewest, upper) if more >= 0 else proof["lower"] <= upper
    if provable(case) and more > 0:
        assert proof["upper"] == fewest
        assert proof["sketch"]["leaves"][0] == fewest
    elif provable(case):
        assert (proof["lower"], proof["upper"], proof["sketch"]) == (upper, upper, None)


def test_the_fewest_leaves_of_a_parity_are_proved() -> None:
    case = parity_case(5, 2)
    proof = native(case).prove(rows_of(case))
    assert (proof["lower"], proof["upper"]) == (32, 32)


def test_33_leaves_are_the_fewest_for_the_second_of_monks_problems(
    real_set: Callable[[str], RealSet],
) -> None:
    real = real_set("monks2_train")
    table = from_data(real.table)
    labels, codes = np.unique(real.target.to_numpy(str), return_inverse=True)
    encoded = _core.encode(table.native(), table.n_rows)
    lookahead = _core.Lookahead(encoded, codes.astype(np.uint16), len(labels))
    proof = lookahead.prove(np.arange(table.n_rows, dtype=np.int32))
    assert (proof["lower"], proof["upper"]) == (33, 33)


@pytest.mark.parametrize("limit", [{"seconds": 0.0}, {"most_nodes": 100}])
def test_a_proof_that_is_cut_short_keeps_what_it_knows(limit: dict[str, Any]) -> None:
    case = parity_case(6, 3)
    proof = native(case).prove(rows_of(case), upper=70, **limit)
    assert 1 <= proof["lower"] <= 64
    assert (proof["upper"], proof["sketch"]) == (70, None)
