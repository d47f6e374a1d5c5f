"""What a database is asked for: a condition that all wanted rows meet, and few others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from hornbeam.boat.maintained.kept import KeptNode, KeptTree
from hornbeam.boat.maintained.update import Want
from hornbeam.boat.plan import Route

_MOST_WANTS, _MOST_LABELS = 16, 64  # of one condition: to read all is as good then


class Conditions:
    """Conditions on the columns of a store; rows that meet one are routed all the same."""

    def __init__(self, tree: KeptTree, schema: pa.Schema) -> None:
        self._tree = tree
        names = [attribute.name for attribute in tree.survey.schema.attributes]
        self._columns = [f"c{schema.get_field_index(name)}" for name in names]
        self._types = [schema.field(name).type for name in names]

    def where(self, wants: Sequence[Want]) -> str:
        """The condition for all rows that are wanted; empty: every row may be."""
        found = [" and ".join(self._of(want)) for want in wants]
        if not all(found) or len(found) > _MOST_WANTS:
            return ""
        return " or ".join(f"({one})" for one in found)

    def _of(self, want: Want) -> list[str]:
        found = self._path(want.kept)
        if want.attribute >= 0:
            column, low, high = (
                self._columns[want.attribute],
                self._number(want.attribute, want.low),
                self._number(want.attribute, want.high),
            )
            found += [f"{column} > {low}"] * (low is not None) + [f"{column} <= {high}"] * (high is not None)
        return found

    def _path(self, kept: KeptNode) -> list[str]:
        """What the tests above a node say of its rows."""
        found: list[str] = []
        while kept.parent is not None:
            route = kept.parent.route
            assert route is not None
            said = self._side(route, kept.parent.children.index(kept))
            found += [said] if said else []
            kept = kept.parent
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
