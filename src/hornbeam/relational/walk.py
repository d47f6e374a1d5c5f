"""Ways through a tree: parents, the query of each node, and what of it a new test has to do with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hornbeam.relational.logic import KEY, Literal, Query, Variable

if TYPE_CHECKING:
    from hornbeam.relational.tree import RelationalTree


def variable_name(variable: Variable) -> str:
    """The key is A, B is what is predicted, and then C to Z, A1 to Z1 and so on."""
    number = variable.number if variable == KEY else variable.number + 1
    round_, letter = divmod(number, 26)
    return chr(ord("A") + letter) + (str(round_) if round_ else "")


def parents_of(tree: RelationalTree) -> list[int]:
    """For each node the one above it, -1 for the root."""
    parents = [-1] * len(tree.nodes)
    for i, node in enumerate(tree.nodes):
        if not node.is_leaf:
            parents[node.yes] = parents[node.no] = i
    return parents


def depths_of(tree: RelationalTree) -> list[int]:
    depths = [0] * len(tree.nodes)
    for i, node in enumerate(tree.nodes):
        if not node.is_leaf:
            depths[node.yes] = depths[node.no] = depths[i] + 1
    return depths


def queries_of(tree: RelationalTree) -> list[Query]:
    """For each node the tests of the yes branches above it, from the root down; its own is not among them."""
    queries: list[Query] = [()] * len(tree.nodes)
    for i, node in enumerate(tree.nodes):
        if not node.is_leaf:
            queries[node.yes], queries[node.no] = queries[i] + node.test, queries[i]
    return queries


def leaves_below(tree: RelationalTree) -> list[int]:
    """For each node the leaves of its subtree."""
    counts = [0] * len(tree.nodes)
    for i in reversed(range(len(tree.nodes))):
        node = tree.nodes[i]
        counts[i] = 1 if node.is_leaf else counts[node.yes] + counts[node.no]
    return counts


def path_to(tree: RelationalTree, node: int) -> list[tuple[int, bool]]:
    """The tests from the root to a node, and whether its way is their yes branch."""
    parents, steps = parents_of(tree), []
    while parents[node] >= 0:
        above = parents[node]
        steps.append((above, tree.nodes[above].yes == node))
        node = above
    return steps[::-1]


def own_variables(literal: Literal) -> Iterator[Variable]:
    """The variables of a literal but the key, which is bound whatever happens."""
    return (term for term in literal.terms if isinstance(term, Variable) and term != KEY)


def connected(query: Query, test: Query) -> Query:
    """The literals of a query that a test has to do with: linked to it by variables, the key not counting.

    For an example that satisfies the query, the whole of it with the test has a solution iff this part has.
    """
    reached = {variable for literal in test for variable in own_variables(literal)}
    waiting, grown = list(query), True
    while grown:
        grown = False
        for literal in list(waiting):
            variables = set(own_variables(literal))
            if variables & reached:
                reached |= variables
                waiting.remove(literal)
                grown = True
    return tuple(literal for literal in query if literal not in waiting)
