"""What is wanted of the present rows, as conditions for the database that these rows meet and few others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hornbeam.boat.plan import Route
from hornbeam.maintained.kept import KeptNode, KeptTree

_MOST_WANTS = 16  # that are found one by one: for more, all rows are read
_MOST_LABELS = 64  # where there are more, to read all rows is as good


@dataclass(frozen=True)
class Want:
    """Rows of a kept node that are looked for: all, or those whose attribute has a key above `low` up to
    `high`."""

    kept: KeptNode
    attribute: int = -1
    low: int = 0
    high: int = 0


class Conditions:
    """Conditions on the columns of a store."""

    def __init__(self, tree: KeptTree, schema: pa.Schema) -> None:
        self._tree = tree
        names = [attribute.name for attribute in tree.survey.schema.attributes]
        self._columns = [f"c{schema.get_field_index(name)}" for name in names]
        self._types = [schema.field(name).type for name in names]

    def of(self, wants: Sequence[Want]) -> list[str]:
        """Conditions that no row meets two of and every wanted row meets one of. Each is read by itself: the
        database looks at the columns of one after the other, and at those of an `or` all at once."""
        found = [self._clauses(want) for want in wants]
        if len(found) > _MOST_WANTS or not all(found) or not all(all(clauses) for clauses in found):
            return [""]
        return [" and ".join(clauses) for clauses in found]

    def _clauses(self, want: Want) -> list[str]:
        """What the tests above say of the rows, and the keys that are wanted; "" for what cannot be said."""
        found, kept = list[str](), want.kept
        while kept.parent is not None:
            route = kept.parent.route
            assert route is not None
            found.append(self._side(route, kept.parent.children.index(kept)))
            kept = kept.parent
        if want.attribute >= 0:
            column = self._columns[want.attribute]
            for sign, key in ((">", want.low), ("<=", want.high)):
                value = self._number(want.attribute, key)
                found.append("" if value is None else f"{column} {sign} {value}")
        return found

    def _side(self, route: Route, child: int) -> str:
        column = self._columns[route["attribute"]]
        said = self._labels(route, child) if route["kind"] == "nominal" else self._cut(route, child)
        return f"({said} or {column} is null)" if said and child == route["missing"] else said

    def _cut(self, route: Route, child: int) -> str:
        value = self._number(route["attribute"], route["lo"])
        sign = ">" if child else "<="
        return "" if value is None else f"{self._columns[route['attribute']]} {sign} {value}"

    def _labels(self, route: Route, child: int) -> str:
        attribute = route["attribute"]
        labels = self._tree.survey.schema.attributes[attribute].labels
        taken = [label for label, to in zip(labels, route["child_of"], strict=False) if to == child]
        if not pa.types.is_string(self._types[attribute]) or not 0 < len(taken) <= _MOST_LABELS:
            return ""
        quoted = ", ".join("'" + label.replace("'", "''") + "'" for label in taken)
        return f"{self._columns[attribute]} in ({quoted})"

    def _number(self, attribute: int, key: int) -> str | None:
        """A number as the database writes it; None for what it may see otherwise."""
        type_ = self._types[attribute]
        value: Any = self._tree.layout.value(attribute, key)
        plain = pa.types.is_int64(type_) or (pa.types.is_float64(type_) and math.isfinite(value))
        return repr(value) if plain else None
