"""A search as plain JSON, to go on with another day: its rows, where it stands, and how it came there."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hornbeam.anytime.budget import Clock
from hornbeam.anytime.improve import Improvement
from hornbeam.anytime.incumbent import Incumbent
from hornbeam.anytime.lookahead import Lookahead
from hornbeam.anytime.objectives import BOUNDS, OBJECTIVES, ExpectedError, TreeSize
from hornbeam.anytime.prover import MOST_ATTEMPTS
from hornbeam.anytime.sketch import Sketch
from hornbeam.anytime.states import CLAIMED, PROVED, WHY, Claim, SearchState
from hornbeam.errors import DataError
from hornbeam.growth import ClassTarget
from hornbeam.growth.parameters import NOMINAL
from hornbeam.model import Tree
from hornbeam.model.arrays import is_finite, rows_of
from hornbeam.table import Attribute, Column, Table

_INFINITE: Final = {"inf": math.inf, "-inf": -math.inf}
_MOST: Final = 2**40  # samples: more than anybody waits for
_COUNTS: Final = (
    "iterations",
    "work",
    "folds_wrong",
    "floor",
    "proofs",
    "proof_work",
    "elapsed",
    "cpu",
)
_KEYS: Final = {
    "objective": str,
    "bound": str,
    "granularity": float,
    "nominal": str,
    "seed": int,
    "iterations": int,
    "work": int,
    "last_r": list,
    "made_r": list,
    "referee": bool,
    "folds_wrong": int,
    "floor": int,
    "proofs": int,
    "proof_work": int,
    "status": str,
    "elapsed": float,
    "cpu": float,
    "profile": list,
    "columns": list,
    "codes": list,
}


def to_record(search: Improvement) -> dict[str, Any]:
    """All that a search needs besides its tree."""
    lookahead, now = search.lookahead, search.now
    elapsed, cpu = search.clock.now
    pairs = zip(lookahead.table.columns, lookahead.table.schema.attributes, strict=True)
    return {
        "objective": search.objective.name,
        "bound": search.objective.bound if isinstance(search.objective, TreeSize) else "",
        "granularity": search.granularity,
        "nominal": lookahead.nominal,
        "seed": search.seed,
        "iterations": now.iterations,
        "work": now.work,
        "last_r": now.last_r.tolist(),
        "made_r": now.made_r.tolist(),
        "referee": search.has_referee,
        "folds_wrong": now.folds_wrong or 0,
        "floor": now.floor or 0 if search.claim is None else search.claim.floor,
        "proofs": now.proofs,
        "proof_work": now.proof_work,
        "status": search.status,
        "elapsed": elapsed,
        "cpu": cpu,
        "profile": [list(state) for state in _profile_of(search)],
        "columns": [_plain(column, attribute) for column, attribute in pairs],
        "codes": lookahead.target.codes.tolist(),
    }


def _profile_of(search: Improvement) -> list[SearchState]:
    """The profile of a search. A search from a file that has not shown its bounds again has those of the
    file."""
    if search.claim is None:
        return search.profile
    return [*search.claim.profile, *search.profile[len(search.claim.profile) :]]


def _plain(column: Column, attribute: Attribute) -> list[Any]:
    """The cells of a column; null where one is missing, an infinite number as text."""
    if column.kind == "nominal":
        return [code if code >= 0 else None for code in column.values.tolist()]
    if column.kind == "float":
        return [_shown(value) for value in column.values.tolist()]
    decoded = [attribute.decode(code) for code in column.values.tolist()]
    if column.missing is None:
        return decoded
    return [None if gone else value for value, gone in zip(decoded, column.missing.tolist(), strict=True)]


def _shown(value: float) -> float | str | None:
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def from_record(record: object, tree: Tree, threads: int = 1) -> Improvement:
    """The search of a record and its tree; DataError in one line where they do not belong together."""
    if not isinstance(record, dict) or set(record) != set(_KEYS):
        raise DataError(f"search: not an object with exactly the keys {', '.join(_KEYS)}")
    for name, kind in _KEYS.items():
        if type(record[name]) is not kind:
            raise DataError(f"search: {name!r} is not of type {kind.__name__}")
    _check_settings(record)
    codes = _whole(record["codes"], "codes", len(tree.classes or ()))
    table = _read_table(record["columns"], tree, len(codes))
    target = ClassTarget(codes.astype(np.int32), np.array(tree.classes, dtype=object))
    lookahead = Lookahead(table, target, nominal=record["nominal"], threads=threads)
    sketch = lookahead.sketch(tree, lookahead.all_rows)
    _check_rows(sketch, lookahead)
    last_r, made_r = (_whole(record[name], name, _MOST) for name in ("last_r", "made_r"))
    if {len(last_r), len(made_r)} != {sketch.n_nodes}:
        raise DataError(f"search: 'last_r' or 'made_r' has no entry for each of {sketch.n_nodes} nodes")
    objective = TreeSize(record["bound"]) if record["bound"] else ExpectedError()
    now = Incumbent.of(sketch, objective.values(sketch))
    search = Improvement(
        lookahead,
        objective,
        replace(
            now,
            last_r=last_r,
            made_r=made_r,
            iterations=record["iterations"],
            work=record["work"],
            folds_wrong=record["folds_wrong"] if record["referee"] else None,
            proofs=record["proofs"],
            proof_work=record["proof_work"],
        ),
        granularity=record["granularity"],
        seed=record["seed"],
        referee=record["referee"],
        clock=Clock(record["elapsed"], record["cpu"]),
    )
    search.status, search.profile = record["status"], _read_profile(record["profile"])
    _take_claims(search, record["floor"])
    return search


def _take_claims(search: Improvement, floor: int) -> None:
    """What the file says of bounds is kept aside, to be shown again before the search goes on."""
    if floor > search.now.sketch.n_leaves:
        raise DataError("search: its tree has fewer leaves than its bound allows")
    if search.status == PROVED:
        search.status = CLAIMED
    if search.now.proofs and not _may_have_tried(search):
        raise DataError("search: it counts attempts at a proof that cannot have been made")
    claim = Claim(floor, tuple(search.profile))
    if isinstance(search.objective, TreeSize):
        search.claim = claim
    search.profile = claim.believed(search.state.bound)


def _may_have_tried(search: Improvement) -> bool:
    if search.prover is None or search.now.proofs > MOST_ATTEMPTS:
        return False
    return search.prover.takes(search.now, search.chooser.effort(search.now, 0))


def _check_settings(record: dict[str, Any]) -> None:
    bounds = BOUNDS if record["objective"] == "size" else ("",)
    if record["objective"] not in OBJECTIVES or record["bound"] not in bounds:
        raise DataError("search: its objective, or the bound of it, is unknown")
    if record["nominal"] not in NOMINAL:
        raise DataError("search: the tests of its nominal attributes are unknown")
    if not 0.0 <= record["granularity"] <= 1.0 or record["status"] not in WHY:
        raise DataError("search: its granularity or status is none")
    if record["seed"] < 0 or not all(record[name] >= 0 and is_finite(record[name]) for name in _COUNTS):
        raise DataError("search: a count or a time is negative, or too large to be one")


def _read_profile(rows: list[Any]) -> list[SearchState]:
    states = [
        SearchState(*row) for row in rows if isinstance(row, list) and len(row) == len(SearchState._fields)
    ]
    if len(states) < len(rows) or not all(map(_is_state, states)):
        raise DataError("search: its profile is not a list of states")
    return states


def _is_state(state: SearchState) -> bool:
    counts, numbers = (state.iteration, state.work, state.leaves), (state.cv_error, state.bound)
    return (
        all(type(value) is int and is_finite(value) for value in counts)
        and all(map(is_finite, (state.elapsed, state.cpu, state.expected_error)))
        and all(value is None or is_finite(value) for value in numbers)
        and type(state.improved) is bool
        and isinstance(state.status, str)
        and state.status in WHY
    )


def _check_rows(sketch: Sketch, lookahead: Lookahead) -> None:
    """Refuse rows that do not reach the nodes in the numbers that the tree has."""
    n_rows, at_leaves = lookahead.table.n_rows, sketch["rows"][sketch.is_leaf]
    # Added up as Python's integers, and before anything is made as long: a file may say any number.
    if sum(at_leaves.tolist()) != n_rows or int(sketch["rows"][0]) != n_rows:
        raise DataError(f"search: {n_rows} rows for a tree of {int(sketch['rows'][0])}, or of other leaves")
    begins = np.append(sketch["start"], n_rows)
    if (begins[np.arange(sketch.n_nodes) + sketch["span"]] - begins[:-1] != sketch["rows"]).any():
        raise DataError("search: a node of its tree has not as many rows as its leaves")
    reached = lookahead.leaves(sketch, sketch.order)
    ends = np.repeat(np.flatnonzero(sketch.is_leaf), at_leaves)
    if (reached != ends).any() or not _counts_are_those(sketch, lookahead.target.codes[sketch.order]):
        raise DataError("search: its rows do not reach the leaves that its tree counts them in")


def _counts_are_those(sketch: Sketch, codes: npt.NDArray[np.int32]) -> bool:
    """Whether the counts of every node are those of its rows, whose classes stand leaf after leaf. What is
    sorted are classes and places, as one number: a table of nodes by classes may be much larger than both.
    """
    wide = len(codes) + 1
    sorted_ = np.sort(codes.astype(np.int64) * wide + np.arange(len(codes)))
    owner, position = rows_of(sketch["count_start"], np.arange(sketch.n_nodes))
    first = sketch["count_class"][position].astype(np.int64) * wide + sketch["start"][owner]
    found = np.searchsorted(sorted_, first + sketch["rows"][owner]) - np.searchsorted(sorted_, first)
    total = np.bincount(owner, weights=found, minlength=sketch.n_nodes)
    return bool((found == sketch["count"][position]).all() and (total == sketch["rows"]).all())


def _read_table(columns: list[Any], tree: Tree, n_rows: int) -> Table:
    attributes = tree.schema.attributes
    if n_rows == 0 or len(columns) != len(attributes):
        raise DataError(f"search: {len(columns)} columns of {n_rows} rows for {len(attributes)} attributes")
    for cells, attribute in zip(columns, attributes, strict=True):
        if not isinstance(cells, list) or len(cells) != n_rows:
            raise DataError(f"search: column {attribute.name!r} is not a list of {n_rows} cells")
    read = tuple(_read_column(cells, attribute) for cells, attribute in zip(columns, attributes, strict=True))
    return Table(tree.schema, read, n_rows)


def _read_column(cells: list[Any], attribute: Attribute) -> Column:
    gone = np.array([cell is None for cell in cells], dtype=np.uint8)
    if attribute.kind == "numeric" and not attribute.is_integer:
        return Column("float", np.array([_real(cell, attribute) for cell in cells], dtype=np.float64))
    whole = [0 if cell is None else cell for cell in cells]
    if not all(type(cell) is int for cell in whole):
        raise DataError(f"search: column {attribute.name!r} has cells that are no whole numbers")
    if attribute.kind == "nominal":
        if not all(0 <= cell < max(1, len(attribute.labels)) for cell in whole):
            raise DataError(f"search: column {attribute.name!r} has codes of no label")
        return Column("nominal", np.where(gone, -1, np.array(whole)).astype(np.int32))
    values = np.array([attribute.encode(cell) for cell in whole], dtype=np.int64)
    return Column("integer", values, gone if gone.any() else None)


def _real(cell: Any, attribute: Attribute) -> float:
    if cell is None:
        return math.nan
    if is_finite(cell):
        return float(cell)
    if isinstance(cell, str) and cell in _INFINITE:
        return _INFINITE[cell]
    raise DataError(f"search: column {attribute.name!r} has a cell that is no number")


def _whole(values: list[Any], name: str, below: int) -> npt.NDArray[np.int64]:
    if not all(type(value) is int and 0 <= value < below for value in values):
        raise DataError(f"search: {name!r} has entries that are no whole numbers from 0 to below {below}")
    return np.array(values, dtype=np.int64)
