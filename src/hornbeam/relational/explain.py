"""Why an example is predicted as it is: the path in words, the rows that were found, and what was not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hornbeam.errors import UsageError
from hornbeam.model.text import one_line
from hornbeam.relational.engine import witness
from hornbeam.relational.logic import Constant, Query, plain_value, variables_of
from hornbeam.relational.prolog import literal_text, value_text
from hornbeam.relational.records import MISSING, Coded
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


class Facts:
    """What one example sees."""

    def __init__(self, coded: Coded, example: int, key_type: str | None) -> None:
        self.coded, self.example, self.key_type = coded, example, key_type

    def solve(self, query: Query) -> tuple[Witness, ...] | None:
        """The first solution in the order of the rows: a row for each literal that asks a relation."""
        if not query:
            return ()
        rows = witness(self.coded, query, self.example, key_type=self.key_type)
        if rows is None:
            return None
        pairs = zip(query, rows, strict=True)
        return tuple(self._witness(literal.predicate, row) for literal, row in pairs if row is not None)

    def _witness(self, name: str, row: int) -> Witness:
        relation = self.coded.relations[name]
        values = (
            self._value(kind, int(codes[row]))
            for kind, codes in zip(relation.types, relation.data, strict=True)
        )
        return Witness(name, row, dict(zip(relation.columns, values, strict=True)))

    def _value(self, kind: str, code: int) -> Any:
        """A value as people know it: dates and times are written out."""
        if code == MISSING:
            return None
        domain = self.coded.domains[kind]
        value = plain_value(domain.values[code])
        if domain.storage in ("", "boolean"):
            return value
        return format_code(parse_type(domain.storage), int(value))


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
    """Of yes: a row for each literal of this test. Of no: rows for as many of its literals as can be met."""
    unmet: str | None = None
    """Of no: the first part of the test that cannot be met together with what is before it."""


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
            {
                "node": step.node,
                "test": step.test,
                "holds": step.holds,
                "rows": [{"relation": row.relation, "values": row.values} for row in step.rows],
                "unmet": step.unmet,
            }
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
    facts = Facts(coded, place_of(coded, key), None if tree.signature is None else tree.signature.key_type)
    queries, steps, node = tree.queries, [], 0
    while not tree.nodes[node].is_leaf:
        held, before = tree.nodes[node], queries[node]
        solution = facts.solve(before + held.test)
        test = test_words(tree.signature, before, held.test)
        if solution is not None:
            steps.append(Step(node, test, True, _rows(solution, before)))
        else:
            steps.append(_refusal(tree, facts, node, before, test))
        node = held.no if solution is None else held.yes
    return Explanation(
        key=facts_key(coded, facts.example),
        prediction=tree.answer(node),
        leaf=node,
        steps=tuple(steps),
        outcome=leaf_text(tree, node),
        size=tree.size(node),
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


def facts_key(coded: Coded, example: int) -> Any:
    key = coded.examples.keys[example]
    return key.item() if hasattr(key, "item") else key


def _rows(solution: tuple[Witness, ...], before: Query) -> tuple[Witness, ...]:
    """The rows of the test's own literals."""
    return solution[sum(not literal.compares for literal in before) :]


def _refusal(tree: RelationalTree, facts: Facts, node: int, before: Query, test: str) -> Step:
    """How far a test can be met, and the literal at which that ends."""
    asked = tree.nodes[node].test
    for met in reversed(range(len(asked))):
        solution = facts.solve(before + asked[:met])
        if solution is None:
            continue
        # A comparison that no row passes is best told together with the row that it asks about.
        start = met
        while start > 0 and asked[start].compares:
            start -= 1
        shown = solution if start == met else facts.solve(before + asked[:start])
        assert shown is not None
        rest = asked[start : met + 1]
        if tree.signature is None or not tree.signature.named:
            unmet = ", ".join(map(literal_text, rest))
        else:
            unmet = test_words(tree.signature, before + asked[:start], rest)
        return Step(node, test, False, _rows(shown, before), unmet)
    return Step(node, test, False, (), test)


def _needs_note(tree: RelationalTree, steps: list[Step]) -> bool:
    """Whether a test after a no asks about something that was found before it."""
    refused = False
    for step in steps:
        if refused and _asks_back(tree, step.node):
            return True
        refused = refused or not step.holds
    return False


def _asks_back(tree: RelationalTree, node: int) -> bool:
    known = set(variables_of(tree.queries[node]))
    return any(v.number > 0 and v in known for v in variables_of(tree.nodes[node].test))
