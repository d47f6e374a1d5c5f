"""Random linked tables: owners, NULL, counts, times and codes as a plain walk from row to row finds them."""

from __future__ import annotations

import warnings
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hornbeam.relational.data import RelationalData
from tests.unit.relational.test_data import rows_of

NAMES = ("t", "u", "v", "w")
Frames = dict[str, dict[str, list[Any]]]
Links = dict[str, dict[str, str]]


@st.composite
def databases(draw: st.DrawFn) -> tuple[Frames, Links, bool]:
    """Table t holds the examples; later tables refer to earlier ones by up to two columns, or to none."""
    frames: Frames = {}
    links: Links = {}
    text_keys = draw(st.booleans())
    timed = draw(st.booleans())
    for name in NAMES[: draw(st.integers(1, 4))]:
        n = draw(st.integers(1 if name == "t" else 0, 5))
        keys = draw(st.permutations(range(10)))[:n]
        frame: dict[str, list[Any]] = {"id": [f"{name}{key}" if text_keys else key for key in keys]}
        for i in range(draw(st.integers(0, 2))) if frames else ():
            to = draw(st.sampled_from(sorted(frames)))
            choices = st.sampled_from([None, *frames[to]["id"]])
            frame[f"r{i}"] = [draw(choices) for _ in range(n)]
            links.setdefault(name, {})[f"r{i}"] = to
        frame["x"] = [draw(st.sampled_from([None, 1.5, 0.25, 7.0])) for _ in range(n)]
        frame["s"] = [draw(st.sampled_from([None, "a", "B", "é"])) for _ in range(n)]
        frame["when"] = [draw(st.integers(0, 3)) for _ in range(n)]
        frames[name] = frame
    return frames, links, timed


class Plain:
    """The same, row by row."""

    def __init__(self, frames: Frames, links: Links, timed: bool) -> None:
        self.frames, self.links, self.timed = frames, links, timed
        self.hops: dict[str, int] = {"t": 0}
        self.torn: set[str] = set()
        while True:
            found = {
                name: min(self.hops[to] for to in links.get(name, {}).values() if to in self.hops) + 1
                for name in frames
                if name not in {*self.hops, *self.torn}
                and any(to in self.hops for to in links.get(name, {}).values())
            }
            near = {name for name in found if found[name] == min(found.values())}
            if not near:
                return
            for name in near:
                self.hops[name] = found[name]
            for name in near:
                if any(len(set(self.ways(name, row))) > 1 for row in range(len(frames[name]["id"]))):
                    self.torn.add(name)
            for name in near & self.torn:
                del self.hops[name]

    def ways(self, name: str, row: int) -> list[Any]:
        """The examples that the references of a row lead to by the fewest hops."""
        near = min(self.hops[to] for to in self.links[name].values() if to in self.hops)
        return [
            None
            if self.frames[name][column][row] is None
            else self.owner(to, self.frames[to]["id"].index(self.frames[name][column][row]))
            for column, to in self.links[name].items()
            if self.hops.get(to) == near
        ]

    def owner(self, name: str, row: int) -> Any:
        """The key of the example of a row; None where it has none or comes too late."""
        if name == "t":
            return self.frames["t"]["id"][row]
        owner = self.ways(name, row)[0]
        if owner is None or not self.timed:
            return owner
        example = self.frames["t"]["id"].index(owner)
        return owner if self.frames[name]["when"][row] < self.frames["t"]["when"][example] else None

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        columns = [column for column in self.frames[name] if (name, column) != ("t", "s")]
        found = []
        for row in range(len(self.frames[name]["id"])):
            values = tuple(self.frames[name][column][row] for column in columns)
            if name not in self.hops:
                found.append((None, *values))
            elif (owner := self.owner(name, row)) is not None:
                found.append((owner, *values))
        return found


@given(databases())
def test_rows_have_the_owners_that_a_plain_walk_finds(database: tuple[Frames, Links, bool]) -> None:
    frames, links, timed = database
    plain = Plain(frames, links, timed)
    times = {name: "when" for name in frames if name == "t" or name in plain.hops} if timed else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = RelationalData.from_frames(
            frames, {name: "id" for name in frames}, links, target="t.s", time_columns=times
        )
        coded = data.coded(task="classification")
    for name in frames:
        assert rows_of(coded, name) == plain.rows(name), name
    for relation in coded.relations.values():
        if relation.counts is not None:
            child, column = relation.counts
            parent = links[child][column]
            position = list(frames[child]).index(column) + 1
            for owner, key, count in rows_of(coded, relation.name):
                assert count == sum(row[position] == key for row in plain.rows(child))
                assert parent == "t" or owner is not None
    for domain in coded.domains.values():
        values = domain.values.tolist()
        assert values == sorted(set(values))
