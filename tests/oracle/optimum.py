"""The fewest leaves of any tree made of the tests of each node, by trying them all."""

from __future__ import annotations

from tests.oracle.lookahead import Rows, Search


def optimum(search: Search, rows: Rows) -> int:
    """For tables of a few rows and attributes only: nothing is cut off."""
    known: dict[Rows, int] = {}

    def fewest(part: Rows) -> int:
        if part not in known:
            place = search.at(part)
            known[part] = (
                1
                if place.is_finished
                else min(sum(map(fewest, search.parts(choice, part))) for choice in place.tests)
            )
        return known[part]

    return fewest(rows)
