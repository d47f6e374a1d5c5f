"""Why an example is predicted as it is: the path in words, the rows that were found, and what was not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from hornbeam.errors import UsageError
from hornbeam.model.text import one_line
from hornbeam.relational.database import MISSING, Coded, witness
from hornbeam.relational.logic import KEY, Constant, Query, plain_value, variables_of
from hornbeam.relational.prolog import value_text
from hornbeam.relational.text import value_text as leaf_text
from hornbeam.relational.tree import RelationalTree
from hornbeam.relational.words import test_words
from hornbeam.table.storage import format_code, parse_type


@dataclass(frozen=True)
class Witness:
    """A row that a literal was satisfied by: the relation, and the value of each column (None: missing)."""

    relation: str
    row: int
    values: dict[str, Any]


NOTE: Final = (
    "An answer of no is not about a row that was found before it: whatever was found before the no stays as "
    "loosely bound as it was, and a later test asks whether any rows fit, not whether those shown above do."
)


@dataclass(frozen=True)
class Step:
    """A test on the path: whether it holds, and the rows of the first solution of all that holds so far."""

    node: int
    test: str
    holds: bool
    rows: tuple[Witness, ...]
    """A row for each literal of the test where it holds, else for as many of its literals as can be met."""
    unmet: str | None = None
    """The first part of a test that fails which cannot be met together with what is before it."""


@dataclass(frozen=True)
class Explanation:
    """The way of one example through a tree."""

    key: Any
    prediction: Any
    leaf: int
    steps: tuple[Step, ...]
    outcome: str
    """What the leaf holds: its prediction, and the shares of the classes."""
    size: float
    note: str | None = None

    def to_text(self) -> str:
        """A few lines for each test, then the leaf."""
        lines = [f"{one_line(str(self.key))}: {one_line(str(self.prediction))}"]
        for number, step in enumerate(self.steps, 1):
            lines.append(f"{number}. {step.test}? {'yes' if step.holds else 'no'}")
            lines += [f"     {row_text(row)}" for row in step.rows]
            if step.unmet is not None:
                found = "and no choice of such rows has: " if step.rows else "not found: "
                lines.append(f"     {found}{step.unmet}")
        lines.append(f"=> {self.outcome}  n={self.size:g}")
        if self.note is not None:
            lines.append(f"Note: {self.note}")
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.to_text()

    def to_record(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        steps = [
            {**asdict(step), "rows": [{"relation": of.relation, "values": of.values} for of in step.rows]}
            for step in self.steps
        ]
        outcome = {"leaf": self.leaf, "outcome": self.outcome, "examples": self.size, "note": self.note}
        return {"key": self.key, "prediction": self.prediction, "steps": steps, **outcome}


def row_text(row: Witness) -> str:
    """`orders: id = 7, status = 'late'`; missing values are left out."""
    known = [
        f"{one_line(column)} = {value_text(Constant(value))}"
        for column, value in row.values.items()
        if value is not None
    ]
    return f"{one_line(row.relation)}: {', '.join(known)}"


def explain(tree: RelationalTree, coded: Coded, key: Any) -> Explanation:
    """The way of the example with this key."""
    example = place_of(coded, key)
    steps = list(_Explainer(tree, coded, example).steps())
    last = tree.nodes[steps[-1].node] if steps else None
    leaf = 0 if last is None else last.yes if steps[-1].holds else last.no
    return Explanation(
        key=plain_value(coded.examples.keys[example]),
        prediction=tree.answer(leaf),
        leaf=leaf,
        steps=tuple(steps),
        outcome=leaf_text(tree, leaf),
        size=tree.size(leaf),
        note=NOTE if _needs_note(tree, steps) else None,
    )


def place_of(coded: Coded, key: Any) -> int:
    """The place of an example, by its key."""
    found = np.flatnonzero(coded.examples.keys == key) if np.ndim(key) == 0 else None
    if found is None or len(found) == 0:
        some = ", ".join(repr(k) for k in coded.examples.keys[:5].tolist())
        raise UsageError(
            f"no example has the key {key!r}; keys are {some}{', ...' if coded.examples.n > 5 else ''}"
        )
    return int(found[0])


class _Explainer:
    """Walks one example through a tree, and finds the rows that answer its tests."""

    def __init__(self, tree: RelationalTree, coded: Coded, example: int) -> None:
        self._tree, self._coded, self._example = tree, coded, example

    def steps(self) -> Iterator[Step]:
        """Each test that the example meets."""
        number = 0
        while not self._tree.nodes[number].is_leaf:
            node, before = self._tree.nodes[number], self._tree.queries[number]
            rows = self._rows(before, node.test)
            words = test_words(self._tree.signature, before, node.test)
            if rows is not None:
                yield Step(number, words, True, rows)
            else:
                yield self._refusal(number, before, words)
            number = node.no if rows is None else node.yes

    def _refusal(self, node: int, before: Query, words: str) -> Step:
        """How far a test can be met, and the literal at which that ends."""
        asked = self._tree.nodes[node].test
        for met in reversed(range(len(asked))):
            if self._rows(before, asked[:met]) is None:
                continue
            # A comparison that no row passes is best told together with the row that it asks about.
            start = met
            while start > 0 and asked[start].compares:
                start -= 1
            unmet = test_words(self._tree.signature, before + asked[:start], asked[start : met + 1])
            return Step(node, words, False, self._rows(before, asked[:start]) or (), unmet)
        return Step(node, words, False, (), words)

    def _rows(self, before: Query, test: Query) -> tuple[Witness, ...] | None:
        """The rows of a test in the first solution of it and all before it; None: there is no solution."""
        query = before + test
        if not query:
            return ()
        rows = witness(self._coded, query, self._example)
        if rows is None:
            return None
        pairs = list(zip(query, rows, strict=True))[len(before) :]
        return tuple(self._witness(literal.predicate, row) for literal, row in pairs if row is not None)

    def _witness(self, name: str, row: int) -> Witness:
        relation = self._coded.relations[name]
        columns = zip(relation.columns, relation.types, relation.data, strict=True)
        return Witness(
            name, row, {column: self._value(kind, int(codes[row])) for column, kind, codes in columns}
        )

    def _value(self, kind: str, code: int) -> Any:
        """A value as people know it: dates and times are written out."""
        if code == MISSING:
            return None
        domain = self._coded.domains[kind]
        value = plain_value(domain.values[code])
        if domain.storage in ("", "boolean"):
            return value
        return format_code(parse_type(domain.storage), int(value))


def _needs_note(tree: RelationalTree, steps: list[Step]) -> bool:
    """Whether a test after a no asks about something that was found before it."""
    refused = False
    for step in steps:
        known = set(variables_of(tree.queries[step.node])) - {KEY}
        if refused and known & set(variables_of(tree.nodes[step.node].test)):
            return True
        refused = refused or not step.holds
    return False
