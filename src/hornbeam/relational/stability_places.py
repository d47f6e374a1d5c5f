"""Trees of all sets walked together: the places where they part, and how many different tests a level has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hornbeam.growth.arms import Bifurcation
from hornbeam.relational.logic import ABOVE, AT_MOST, Anything, Literal, Query

if TYPE_CHECKING:
    from hornbeam.relational.stability import RelationalStability


@dataclass(frozen=True)
class Places:
    """Where trees part, level by level; and f(i)."""

    bifurcations: tuple[Bifurcation, ...]
    tests: tuple[int, ...]
    """The different tests on each level on which any tree asks."""
    f: tuple[float, ...]


@dataclass(frozen=True)
class _Place:
    """Trees that came the same way, each with its node; what was found, and the way in words."""

    members: dict[int, int]
    query: Query
    path: tuple[str, ...]


def walk_places(stability: RelationalStability) -> Places:
    """Level by level, trees that ask the same go on together; their thresholds may differ."""
    level = [_Place(dict.fromkeys(range(len(stability.trees)), 0), (), ())]
    parted: list[Bifurcation] = []
    tests: list[int] = []
    f: list[float] = []
    depth = 0
    while level:
        asked, different, below = 0, 0, []
        for place in level:
            groups = _groups(stability, place)
            if len(groups) > 1:
                parted.append(_bifurcation(stability, place, list(groups.values()), depth))
            for shape, members in groups.items():
                if shape:
                    asked, different = asked + len(members), different + 1
                    below += _branches(stability, place, members)
        if asked:
            tests.append(different)
            f.append(different * len(stability.trees) / asked)
        level, depth = below, depth + 1
    return Places(tuple(parted), tuple(tests), tuple(f))


def _groups(stability: RelationalStability, place: _Place) -> dict[Query, dict[int, int]]:
    groups: dict[Query, dict[int, int]] = {}
    for i, at in place.members.items():
        groups.setdefault(shape_of(stability.trees[i].nodes[at].test), {})[i] = at
    return groups


def _branches(stability: RelationalStability, place: _Place, members: dict[int, int]) -> list[_Place]:
    first, at = next(iter(members.items()))
    test = stability.trees[first].nodes[at].test
    words = stability.words(place.query, test)
    nodes = {i: stability.trees[i].nodes[where] for i, where in members.items()}
    return [
        _Place({i: node.yes for i, node in nodes.items()}, place.query + test, (*place.path, words)),
        _Place({i: node.no for i, node in nodes.items()}, place.query, (*place.path, f"not ({words})")),
    ]


def _bifurcation(
    stability: RelationalStability, place: _Place, groups: list[dict[int, int]], depth: int
) -> Bifurcation:
    """The arm of the tree of all examples first, then by the number of folds."""
    groups.sort(key=lambda members: (0 not in members, -len(members), min(members)))
    first, at = next(iter(groups[0].items()))
    return Bifurcation(
        path=", ".join(place.path),
        depth=depth,
        node=place.members.get(0),
        rows=int(stability.trees[first].size(at)),
        arms=tuple(stability.arm(members, place.query) for members in groups),
    )


def shape_of(test: Query) -> Query:
    """A test with its thresholds left open."""
    return tuple(_open(literal) for literal in test)


def _open(literal: Literal) -> Literal:
    if literal.predicate not in (AT_MOST, ABOVE):
        return literal
    return Literal(literal.predicate, (literal.terms[0], Anything()))
