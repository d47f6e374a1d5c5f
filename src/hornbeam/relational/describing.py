"""What is known of linked tables, as text: rows, keys, references, and whose rows are whose."""

from __future__ import annotations

from collections.abc import Mapping

from hornbeam.relational.ownership import Placed
from hornbeam.relational.schema import Links


def describe(
    links: Links, placed: Mapping[str, Placed] | None, target: str | None, found: Mapping[str, str]
) -> str:
    """A line for each table, below it its references. `found` says where keys and references come from."""
    lines = [] if target is None else [f"target {target}"]
    width = max(len(name) for name in links.tables)
    for name, table in links.tables.items():
        key = links.keys.get(name)
        shown = "no key" if key is None else f"key {key}{_from(found, name, key)}"
        whose = "" if placed is None else f"  {_whose(placed[name], name, target)}"
        lines.append(f"{name:<{width}}  {table.n_rows:>10,} rows  {shown}{whose}")
        for column, to in links.references.get(name, {}).items():
            lines.append(f"{'':<{width}}  {column} -> {to}.{links.keys[to]}{_from(found, name, column)}")
    return "\n".join(lines)


def _from(found: Mapping[str, str], table: str, column: str) -> str:
    where = found.get(f"{table}.{column}")
    return "" if where is None else f" ({where})"


def _whose(placed: Placed, name: str, target: str | None) -> str:
    if placed.owner is None:
        linked = ", and its references lead to several examples" if placed.torn else ""
        return f"shared by all examples{linked}"
    if placed.hops == 0:
        return "the examples"
    if placed.hops < 0:
        return f"seen by some examples, {len(placed.owner):,} times"
    left = "" if placed.rows is None else f", {len(placed.rows):,} of its rows"
    return f"of one example each, {placed.hops} reference{'s' if placed.hops > 1 else ''} away{left}"
