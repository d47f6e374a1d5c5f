"""The tree as JSON (docs/model-file.md): every number exact, and read with suspicion."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hornbeam.errors import DataError
from hornbeam.model.arrays import DTYPES, KIND_NAMES, NUMERIC, Array
from hornbeam.model.competitors import DTYPES as COMPETITOR_DTYPES
from hornbeam.model.costs import Costs
from hornbeam.table import Schema

if TYPE_CHECKING:
    from hornbeam.model.competitors import Competitors
    from hornbeam.model.text import StoredTests
    from hornbeam.model.tree import Tree

KIND_CODES: Final = {name: code for code, name in enumerate(KIND_NAMES)}
INFINITIES: Final = {"inf": float("inf"), "-inf": float("-inf")}
RECORD_KEYS: Final = {"schema", "classes", "targets", "nodes"}
COST_KEYS: Final = {"class_weight", "cost_matrix"}  # both or none of them
# The lists of "nodes". Both kinds of threshold share one list; counts and means exclude each other.
COMMON: Final = tuple(
    name for name in DTYPES if name not in ("threshold_integer", "mean") and "count" not in name
)
COUNTS: Final = ("count_start", "count_class", "count")
COMPETITORS: Final = tuple(name for name in COMPETITOR_DTYPES if name != "threshold_integer")


def to_json(tree: Tree) -> str:
    return json.dumps(to_record(tree), separators=(",", ":"), allow_nan=False)


def to_record(tree: Tree) -> dict[str, Any]:
    """Plain dicts, lists, texts and numbers."""
    nodes: dict[str, Any] = {"n_nodes": tree.n_nodes}
    for name in COMMON + (COUNTS if tree.n_classes else ("mean",)):
        nodes[name] = tree.arrays[name].tolist()
    nodes["kind"] = [KIND_NAMES[code] for code in nodes["kind"]]
    nodes["threshold"] = thresholds(tree)
    for name in ("weight", "count"):
        if name in nodes:
            nodes[name] = shortest(tree.arrays[name])
    record: dict[str, Any] = {
        "schema": tree.schema.to_json(),
        "classes": None if tree.classes is None else list(tree.classes),
        "targets": None if tree.targets is None else list(tree.targets),
        "nodes": nodes,
    }
    if tree.costs is not None:
        matrix = tree.costs.matrix
        record["class_weight"] = list(tree.costs.weights)
        record["cost_matrix"] = None if matrix is None else [list(row) for row in matrix]
    if tree.kept_competitors is not None:
        record["competitors"] = competitors_record(tree.kept_competitors)
    return record


def shortest(values: Array) -> list[Any]:
    """Sums of weights are mostly integers: written as such they are shorter, easier to read and as exact."""
    whole = np.all(values == np.floor(values)) and np.all(values < 2**53)
    result: list[Any] = (values.astype(np.int64) if whole else values).tolist()
    return result


def threshold(tests: StoredTests, i: int) -> float | int | None:
    """The exact threshold of a numeric test; None of others."""
    if tests.arrays["kind"][i] != NUMERIC:
        return None
    attribute = tests.schema.attributes[tests.arrays["attribute"][i]]
    if attribute.is_integer:
        return int(attribute.decode(int(tests.arrays["threshold_integer"][i])))
    return float(tests.arrays["threshold"][i])


def thresholds(tests: StoredTests) -> list[float | int | str | None]:
    """A number for each numeric test, exact; an infinite one as text; null elsewhere."""
    result: list[float | int | str | None] = [None] * len(tests.arrays["kind"])
    real, whole = tests.arrays["threshold"].tolist(), tests.arrays["threshold_integer"].tolist()
    attribute = tests.arrays["attribute"].tolist()
    attributes = tests.schema.attributes
    integer = [attribute.is_integer for attribute in attributes]
    for i in np.flatnonzero(tests.arrays["kind"] == NUMERIC).tolist():
        if integer[attribute[i]]:
            result[i] = attributes[attribute[i]].decode(whole[i])
        else:
            result[i] = shown_real(real[i])
    return result


def shown_real(x: float) -> float | str:
    """A number as JSON can hold it: an infinite one as text."""
    return x if abs(x) != float("inf") else str(x)


def competitors_record(kept: Competitors) -> dict[str, Any]:
    lists: dict[str, Any] = {name: kept.arrays[name].tolist() for name in COMPETITORS}
    lists["kind"] = [KIND_NAMES[code] for code in lists["kind"]]
    lists["threshold"] = thresholds(kept)
    lists["quality"] = [shown_real(x) for x in lists["quality"]]
    return lists


def read_competitors(lists: object, schema: Schema) -> dict[str, Array]:
    if not isinstance(lists, dict) or set(lists) != set(COMPETITORS):
        raise DataError(
            f"tree: 'competitors' is not an object with exactly the keys {', '.join(sorted(COMPETITORS))}"
        )
    arrays = {
        name: read_array(lists[name], name, COMPETITOR_DTYPES[name])
        for name in set(COMPETITORS) - {"kind", "threshold", "quality"}
    }
    if not isinstance(lists["kind"], list) or not isinstance(lists["quality"], list):
        raise DataError("tree: 'kind' or 'quality' of the competitors is not a list")
    arrays["kind"] = read_kinds(lists["kind"])
    arrays["quality"] = np.array([read_real(x, i) for i, x in enumerate(lists["quality"])], dtype=np.float64)
    arrays["threshold"], arrays["threshold_integer"] = read_thresholds(lists["threshold"], arrays, schema)
    return arrays


def from_json(source: str) -> Tree:
    return from_record(parse(source, "tree"))


def parse(source: str, what: str) -> Any:
    """JSON without its traps: no key twice, no NaN, no depth that exhausts the stack."""
    if not isinstance(source, (str, bytes, bytearray)):
        raise DataError(f"{what}: a text of JSON is needed, and this is a {type(source).__name__}")
    try:
        return json.loads(source, object_pairs_hook=unique_keys, parse_constant=refuse_constant)
    except DataError:
        raise
    except RecursionError:
        raise DataError(f"{what}: the JSON is nested too deeply") from None
    except ValueError as error:
        raise DataError(f"{what}: not valid JSON: {one_line(error)}") from None


def one_line(error: Exception) -> str:
    shown = " ".join(str(error).split())
    return shown if len(shown) <= 200 else shown[:197] + "..."


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise DataError("the JSON has an object with the same key twice")
    return result


def refuse_constant(name: str) -> float:
    raise DataError(f"the JSON has {name}, which is no number")


def from_record(record: object) -> Tree:
    """The tree of `to_record`, verified; DataError in one line for anything else."""
    from hornbeam.model.tree import Tree  # the tree offers this form, so it cannot be imported before it

    if not isinstance(record, dict) or set(record) - COST_KEYS - {"competitors"} != RECORD_KEYS:
        raise DataError(f"tree: not an object with exactly the keys {', '.join(sorted(RECORD_KEYS))}")
    if len(set(record) & COST_KEYS) == 1:
        raise DataError(f"tree: of the keys {' and '.join(sorted(COST_KEYS))} one is absent")
    schema = Schema.from_json(record["schema"])
    classes, targets, nodes = record["classes"], record["targets"], record["nodes"]
    for name, given in (("classes", classes), ("targets", targets)):
        if given is not None and not isinstance(given, list):
            raise DataError(f"tree: {name!r} is not a list")
    wanted = {"n_nodes", *COMMON, *(COUNTS if targets is None else ("mean",))}
    if not isinstance(nodes, dict) or set(nodes) != wanted:
        raise DataError(f"tree: 'nodes' is not an object with exactly the keys {', '.join(sorted(wanted))}")
    costs = None
    if "class_weight" in record:
        costs = Costs.checked(record["class_weight"], record["cost_matrix"], len(classes or ()))
    kept = read_competitors(record["competitors"], schema) if "competitors" in record else None
    arrays = read_nodes(nodes, schema)
    return Tree(schema, arrays, classes=classes, targets=targets, costs=costs, competitors=kept)


def read_nodes(nodes: dict[str, Any], schema: Schema) -> dict[str, Array]:
    n = nodes["n_nodes"]
    if type(n) is not int or type(nodes["kind"]) is not list or len(nodes["kind"]) != n:
        raise DataError("tree: 'n_nodes' is not the length of 'kind'")
    arrays = {name: np.empty(0, dtype) for name, dtype in DTYPES.items()}
    for name in nodes.keys() - {"n_nodes", "kind", "threshold"}:
        arrays[name] = read_array(nodes[name], name)
    arrays["kind"] = read_kinds(nodes["kind"])
    arrays["threshold"], arrays["threshold_integer"] = read_thresholds(nodes["threshold"], arrays, schema)
    return arrays


def read_array(values: object, name: str, of: type[np.generic] | None = None) -> Array:
    """A list of numbers of one type: NumPy alone would also take texts, truths and fractions."""
    dtype = np.dtype(of or DTYPES[name])
    allowed = {int, float} if dtype.kind == "f" else {int}
    if not isinstance(values, list) or not set(map(type, values)) <= allowed:
        raise DataError(f"tree: {name!r} is not a list of {'numbers' if dtype.kind == 'f' else 'integers'}")
    try:
        return np.array(values, dtype=dtype)
    except (OverflowError, ValueError):
        raise DataError(f"tree: {name!r} has a number that does not fit {dtype}") from None


def read_kinds(values: list[object]) -> Array:
    try:
        return np.array([KIND_CODES[value] for value in values], dtype=np.uint8)  # type: ignore[index]
    except (KeyError, TypeError):
        raise DataError(f"tree: a kind of node is none of {', '.join(KIND_NAMES)}") from None


def read_thresholds(values: object, arrays: dict[str, Array], schema: Schema) -> tuple[Array, Array]:
    n = len(arrays["kind"])
    if not isinstance(values, list) or len(values) != n or len(arrays["attribute"]) != n:
        raise DataError("tree: 'threshold' or 'attribute' is not a list with an entry for each node")
    real, whole = [0.0] * n, [0] * n
    numeric = (arrays["kind"] == NUMERIC).tolist()
    for node, (value, attribute) in enumerate(zip(values, arrays["attribute"].tolist(), strict=True)):
        if not numeric[node]:
            if value is not None:
                raise DataError(f"tree: node {node} has a threshold but no numeric test")
            continue
        if not 0 <= attribute < len(schema.attributes):
            raise DataError(f"tree: node {node} asks attribute {attribute} of {len(schema.attributes)}")
        if not schema.attributes[attribute].is_integer:
            real[node] = read_real(value, node)
        elif type(value) is int:
            whole[node] = schema.attributes[attribute].encode(value)
        else:
            raise DataError(f"tree: node {node}: the threshold of an integer attribute is not an integer")
    return np.array(real, dtype=np.float64), np.array(whole, dtype=np.int64)


def read_real(value: object, node: int) -> float:
    if type(value) is float and abs(value) != float("inf"):
        return value
    if type(value) is str and value in INFINITIES:
        return INFINITIES[value]
    raise DataError(f'tree: node {node}: the threshold is neither a float nor "inf" or "-inf"')
