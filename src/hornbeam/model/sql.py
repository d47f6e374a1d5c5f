"""The tree as SQL: a CASE expression, or a query, that gives for every row of a table what predict gives.

A path of the tree becomes consecutive WHENs of one CASE: at each node the branch with the least nesting
stands in a THEN, the other goes on below. Hence the expression is as long as the tree, a row is asked no more
than in the tree, and CASEs nest no deeper than the binary logarithm of the leaves, however deep the tree is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hornbeam import arguments
from hornbeam.errors import UsageError
from hornbeam.model.dialects import Dialect, dialect_named
from hornbeam.model.labels import Label
from hornbeam.model.walk import Test
from hornbeam.table.schema import list_names

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree

OUTPUTS = ("prediction", "probability", "leaf", "all")
LEAF_COLUMN = "hornbeam_leaf"

Table = str | Sequence[str]
Writer = Callable[[int], str]


def to_sql(
    tree: Tree,
    dialect: str,
    output: str,
    of: Label | None,
    table: Table | None,
    columns: Mapping[str, str] | None,
) -> str:
    """See Tree.to_sql."""
    speaker = dialect_named(dialect)
    if not isinstance(output, str) or output not in OUTPUTS:
        raise UsageError(f"output {str(output)!r} is unknown; choose {', '.join(OUTPUTS)}")
    columns = arguments.mapping("columns", columns, "{'age': 'AGE_YEARS'}")
    check_columns(tree, columns)
    if output == "all":
        if table is None:
            raise UsageError("output 'all' is a whole query: name the table it reads, table='people'")
        if of is not None:
            raise UsageError(f"of={of!r}: output 'all' has a column for each; leave it out")
        return every_column(tree, speaker, from_table(speaker, table), columns)
    name, write = answer(tree, speaker, output, of)
    expression = Case(tree, speaker, columns, write).text()
    if table is None:
        return expression
    return f"SELECT *, {expression} AS {speaker.identifier(name)}\nFROM {from_table(speaker, table)}"


def check_columns(tree: Tree, columns: Mapping[str, str]) -> None:
    unknown = [name for name in columns if name not in tree.schema.names]
    if unknown:
        raise UsageError(
            f"columns: {unknown[0]!r} is no attribute of the tree; it has {list_names(tree.schema.names)}"
        )


def from_table(dialect: Dialect, table: Table) -> str:
    """A name, or the parts of a qualified one."""
    parts = arguments.texts("table", table, ": the name of the table, or the parts of a qualified one")
    return ".".join(map(dialect.identifier, parts))


def answer(tree: Tree, dialect: Dialect, output: str, of: Label | None) -> tuple[str, Writer]:
    """The name of an answer's column, and the literal of each leaf."""
    if output == "leaf":
        if of is not None:
            raise UsageError(f"of={of!r}: a leaf is of nothing; leave it out")
        return "leaf", str
    if tree.classes is None:
        return target_answer(tree, dialect, output, of)
    labels = tree.classes
    if output == "prediction":
        if of is not None:
            raise UsageError(f"of={of!r}: a row has one class; leave it out, or ask output='probability'")
        return output, lambda leaf: dialect.label(labels[tree.leaf_class[leaf]])
    # True is 1 for Python, but never a label beside it.
    codes = [code for code, label in enumerate(labels) if type(label) is type(of) and label == of]
    if not codes:
        given = "output 'probability' needs" if of is None else f"of={of!r}: no class; give"
        raise UsageError(f"{given} of=, one of {list_names([str(label) for label in labels])}")
    shares = tree.probabilities(range(tree.n_nodes))[:, codes[0]].tolist()
    return f"probability:{of}", lambda leaf: dialect.real(shares[leaf])


def target_answer(tree: Tree, dialect: Dialect, output: str, of: Label | None) -> tuple[str, Writer]:
    targets = tree.targets or ()
    if output == "probability":
        raise UsageError("output 'probability': the tree predicts numbers and has no classes")
    if of is None and len(targets) > 1:
        raise UsageError(f"several targets: give of=, one of {list_names(targets)}, or ask output='all'")
    if of is not None and of not in targets:
        raise UsageError(f"of={of!r}: no target; give one of {list_names(targets)}")
    place = 0 if of is None else targets.index(str(of))
    name = output if len(targets) == 1 else f"prediction:{targets[place]}"
    return name, lambda leaf: dialect.real(float(tree.means[leaf, place]) + 0.0)


def every_column(tree: Tree, dialect: Dialect, table: str, columns: Mapping[str, str]) -> str:
    """A query: the columns of the table, the leaf, and what it says, looked up in a list of the leaves."""
    if tree.classes is not None:
        answers = [answer(tree, dialect, "prediction", None)]
        answers += [answer(tree, dialect, "probability", label) for label in tree.classes]
    else:
        answers = [answer(tree, dialect, "prediction", target) for target in tree.targets or ()]
    names = [dialect.identifier(name) for name, _ in answers]
    leaves = [node for node in range(tree.n_nodes) if tree.is_leaf(node)]
    values = ",\n".join(
        f"  ({', '.join([str(leaf), *(write(leaf) for _, write in answers)])})" for leaf in leaves
    )
    listed, chosen = ", ".join(names), ", ".join(f"hornbeam_answers.{name}" for name in names)
    return (
        f"WITH hornbeam_answers({LEAF_COLUMN}, {listed}) AS (VALUES\n{values}\n),\n"
        f"hornbeam_rows AS (\n  SELECT *, {Case(tree, dialect, columns, str).text(2)} AS {LEAF_COLUMN}\n"
        f"  FROM {table}\n)\n"
        f"SELECT hornbeam_rows.*, {chosen}\n"
        f"FROM hornbeam_rows JOIN hornbeam_answers USING ({LEAF_COLUMN})"
    )


class CaseWriter:
    """The CASE expression of a tree in one dialect: `children` are those of each node, which come after it,
    and `write` gives the literal of a leaf. Subclasses say by `condition` what leads to a child."""

    inner = 2
    """How far an inner CASE is indented."""

    def __init__(self, dialect: Dialect, children: Sequence[Sequence[int]], write: Writer) -> None:
        self.dialect, self.children = dialect, children
        self.answers = common_answers(children, write)
        self.heavy = heavy_children(children, self.answers)

    def condition(self, node: int, child: int) -> str:
        """True for the rows of a node that go to its child k, and not true for the others."""
        raise NotImplementedError

    def text(self, indent: int = 0) -> str:
        return "\n".join(self._lines(0, indent, self.dialect.nesting)).lstrip()

    def _lines(self, node: int, indent: int, levels: int) -> list[str]:
        """A subtree as the lines of a CASE that may nest so many levels."""
        space, answer = " " * indent, self.answers[node]
        if answer is not None:
            return [f"{space}{answer}"]
        lines = [f"{space}CASE"]
        for conditions, goal in self._steps(node, levels):
            opening = f"WHEN {joined(conditions)} THEN" if conditions else "ELSE"
            inner = self._lines(goal, indent + self.inner, levels - 1)
            lines += [f"{space}  {opening} {inner[0].lstrip()}", *inner[1:]]
        return [*lines, f"{space}END"]

    def _steps(self, node: int, levels: int) -> Iterator[tuple[list[str], int]]:
        """The WHENs of a subtree, the last one without condition: each leads to a leaf or to a CASE within.

        Where no further level may nest, the WHENs of the inner CASE stand here, under its condition too.
        """
        while self.answers[node] is None:
            children, heavy = self.children[node], self.heavy[node]
            for k, child in enumerate(children):
                if k == heavy:
                    continue
                condition = self.condition(node, k)
                if levels > 1 or self.answers[child] is not None:
                    yield [condition], child
                else:
                    yield from (([condition, *more], goal) for more, goal in self._steps(child, levels))
            node = children[heavy]
        yield [], node


class Case(CaseWriter):
    """The CASE expression of a tree; `columns` says what attributes are called in the table, if otherwise."""

    def __init__(self, tree: Tree, dialect: Dialect, columns: Mapping[str, str], write: Writer) -> None:
        super().__init__(dialect, [tree.children(node) for node in range(tree.n_nodes)], write)
        self.tree, self.columns = tree, columns

    def condition(self, node: int, child: int) -> str:
        test = self.tree.tests[node]
        attribute = self.tree.schema.attributes[test.attribute]
        column = self.dialect.identifier(self.columns.get(attribute.name, attribute.name))
        if not test.is_numeric:
            return self._category(test, child, column)
        left, right = self.dialect.bound(attribute, test.bound, column)
        nan = None if attribute.is_integer else self.dialect.is_nan(column)
        missing = f" OR {column} IS NULL" if child == test.default else ""
        if child == 0:
            return f"{left} <= {right}{missing}{f' OR {nan}' if missing and nan else ''}"
        # A NaN is above every bound by itself.
        return f"{left} > {right}{missing}{f' AND NOT {nan}' if nan and not missing else ''}"

    def _category(self, test: Test, child: int, column: str) -> str:
        attribute = self.tree.schema.attributes[test.attribute]
        default = child == test.default
        codes = list(test.branches[child])
        if default:  # whatever no other branch takes
            codes = [code for k, branch in enumerate(test.branches) if k != child for code in branch]
        found = [self.dialect.category(attribute, attribute.labels[code]) for code in sorted(codes)]
        literals = [literal for literals in found for literal in literals]
        if not literals:
            return "TRUE" if default else "FALSE"
        subject = self.dialect.subject(attribute, column)
        if len(literals) == 1:
            shown = f"{subject} {'<>' if default else '='} {literals[0]}"
        else:
            shown = f"{subject} {'NOT IN' if default else 'IN'} ({', '.join(literals)})"
        return f"{shown} OR {column} IS NULL" if default else shown


def joined(conditions: list[str]) -> str:
    if len(conditions) == 1:
        return conditions[0]
    return " AND ".join(f"({condition})" for condition in conditions)


def common_answers(children: Sequence[Sequence[int]], write: Writer) -> list[str | None]:
    """The answer that all leaves below a node give, for each node; None where they differ."""
    answers: list[str | None] = [None] * len(children)
    for node in reversed(range(len(children))):  # children come after their node
        if not children[node]:
            answers[node] = write(node)
            continue
        first, *others = (answers[child] for child in children[node])
        answers[node] = first if all(answer == first for answer in others) else None
    return answers


def heavy_children(children: Sequence[Sequence[int]], answers: list[str | None]) -> list[int]:
    """The child (0-based) that nests deepest, the last of equals, for each node without a common answer."""
    levels, heavy = [0] * len(children), [0] * len(children)
    for node in reversed(range(len(children))):
        if answers[node] is not None:
            continue
        below = [levels[child] for child in children[node]]
        deepest = max(range(len(below)), key=lambda k: (below[k], k))
        heavy[node] = deepest
        beside = max(depth for k, depth in enumerate(below) if k != deepest)
        levels[node] = max(1, below[deepest], beside + 1)
    return heavy
