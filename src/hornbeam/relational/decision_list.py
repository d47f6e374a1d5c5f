"""The tree as a list of rules: the first that applies decides, and each says only what must be found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hornbeam.relational.logic import Query
from hornbeam.relational.text import value_text
from hornbeam.relational.tree import RelationalTree
from hornbeam.relational.walk import queries_of
from hornbeam.relational.words import test_words


@dataclass(frozen=True)
class Rule:
    """A leaf: what must be found, where no rule before it applied, and what is said then."""

    leaf: int
    query: Query
    prediction: Any
    size: float
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class DecisionList:
    """Rules in the order in which they are asked."""

    rules: tuple[Rule, ...]

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, place: int) -> Rule:
        return self.rules[place]

    def to_text(self) -> str:
        """A line for each rule."""
        return "\n".join(map(str, self.rules)) + "\n"


def decision_list(tree: RelationalTree) -> DecisionList:
    """A rule for each leaf. The tests of no branches are not in it: the rules before it have seen to them."""
    queries = queries_of(tree)
    rules: list[Rule] = []
    for leaf in tree.leaves:
        query = queries[leaf]
        asked = test_words(tree.signature, (), query) if query else ""
        opening = "else " if rules else ""
        condition = f"{opening}if {asked}:" if asked else f"{opening.strip() or 'always'}:"
        size = tree.size(leaf)
        text = f"{condition} {value_text(tree, leaf)}  n={size:g}"
        rules.append(Rule(leaf, query, tree.answer(leaf), size, text))
    return DecisionList(tuple(rules))
