"""The tree as rules: one for each leaf, conditions merged by attribute, each rule readable on its own.

Behind a rule is the region of its leaf: what the value of each attribute may be for a row to arrive there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from hornbeam.model.labels import Label
from hornbeam.model.text import Style, one_line, real_text, share_text, shortened
from hornbeam.model.walk import Test
from hornbeam.table import Attribute

if TYPE_CHECKING:
    from hornbeam.model.tree import Tree

Bound = float | int | str


@dataclass(frozen=True, slots=True)
class NumericCondition:
    """above < value <= at_most; None where there is no bound.

    Bounds are exact: floats, integers, and for decimals, dates and times the text of `Attribute.format`.
    """

    attribute: str
    above: Bound | None
    at_most: Bound | None
    known: bool
    """Whether any known value meets it; False where only missing values arrive."""
    missing: bool
    """Whether missing values meet it."""

    def text(self, style: Style) -> str:
        name = one_line(self.attribute)
        if not self.known:
            return f"{name} is missing" if self.missing else f"no value of {name}"
        low, high = (None if b is None else bound_text(b, style) for b in (self.above, self.at_most))
        if low is not None and high is not None:
            shown = f"{low} < {name} <= {high}"
        elif low is None and high is None:
            return f"{name} is known"
        else:
            shown = f"{name} > {low}" if high is None else f"{name} <= {high}"
        return f"{shown} or missing" if self.missing and style.missing else shown

    def to_record(self) -> dict[str, Any]:
        return {
            "attribute": self.attribute,
            "above": finite(self.above),
            "at_most": finite(self.at_most),
            "known": self.known,
            "missing": self.missing,
        }


@dataclass(frozen=True, slots=True)
class NominalCondition:
    """The label is one of `labels`; if `excluded`, it is none of them."""

    attribute: str
    labels: tuple[str, ...]
    excluded: bool
    missing: bool
    """Whether missing values, and labels that were never seen in training, meet it."""

    def text(self, style: Style) -> str:
        name, labels = one_line(self.attribute), [one_line(label) for label in self.labels]
        if not labels:
            return f"{name} is unseen or missing" if self.missing else f"no value of {name}"
        if len(labels) == 1:
            shown = f"{name} {'!=' if self.excluded else '=='} {labels[0]}"
        else:
            shown = f"{name} {'not in' if self.excluded else 'in'} {{{shortened(labels, style.max_labels)}}}"
        if not (self.missing and style.missing):
            return shown
        return f"{shown} or missing" if self.excluded else f"{shown}, unseen or missing"

    def to_record(self) -> dict[str, Any]:
        kind = "not_in" if self.excluded else "in"
        return {"attribute": self.attribute, kind: list(self.labels), "missing": self.missing}


Condition = NumericCondition | NominalCondition


@dataclass(frozen=True, slots=True)
class Rule:
    """What leads to one leaf and what it says; a rule without conditions holds for every row."""

    leaf: int
    """The number of the leaf among the nodes."""
    conditions: tuple[Condition, ...]
    prediction: Label | tuple[float, ...]
    """The class; of a regression the means of the targets."""
    rows: int
    weight: float
    coverage: float
    """Share of the training weight that arrives here."""
    share: float | None
    """Classification: the share of the predicted class, as in predict_proba."""
    counts: tuple[tuple[Label, float], ...]
    """Classification: the weight of each class, without zeros."""
    spread: float | None
    """Regression of one target: its standard deviation."""

    def to_text(self, **style: Any) -> str:
        """`if ... and ... then ...`, a line each. Options: see hornbeam.model.text.Style."""
        return rule_text(self, Style(**{"missing": True, "max_labels": 12} | style))

    def __str__(self) -> str:
        return self.to_text()

    def to_record(self) -> dict[str, Any]:
        """Plain dicts, lists, texts and numbers; an infinite bound as text."""
        plain: dict[str, Any] = {
            "leaf": self.leaf,
            "conditions": [condition.to_record() for condition in self.conditions],
            "prediction": list(self.prediction) if isinstance(self.prediction, tuple) else self.prediction,
            "rows": self.rows,
            "weight": self.weight,
            "coverage": self.coverage,
        }
        if self.share is not None:
            return plain | {"share": self.share, "counts": [list(pair) for pair in self.counts]}
        return plain | {"spread": self.spread}


@dataclass(frozen=True, slots=True, repr=False)
class Rules(Sequence[Rule]):
    """The rules of a tree, in the order of its leaves; every row meets exactly one of them."""

    rules: tuple[Rule, ...]

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> Rules: ...
    def __getitem__(self, index: int | slice) -> Rule | Rules:
        return Rules(self.rules[index]) if isinstance(index, slice) else self.rules[index]

    def __len__(self) -> int:
        return len(self.rules)

    def __repr__(self) -> str:
        return f"<Rules: {len(self)}>"

    def to_text(self, **style: Any) -> str:
        """All rules, a blank line between them. Options: see hornbeam.model.text.Style."""
        return "\n\n".join(rule.to_text(**style) for rule in self.rules) + "\n"

    def __str__(self) -> str:
        return self.to_text()

    def to_record(self) -> list[dict[str, Any]]:
        return [rule.to_record() for rule in self.rules]

    def to_json(self) -> str:
        return json.dumps(self.to_record(), ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Interval:
    """Values of a numeric attribute, in codes where it is an integer one: above < value <= at_most."""

    above: float | int | None = None
    at_most: float | int | None = None
    missing: bool = True

    @property
    def known(self) -> bool:
        """Whether any known value lies in the interval."""
        return self.above is None or self.above < (math.inf if self.at_most is None else self.at_most)

    @property
    def is_everything(self) -> bool:
        return self.above is None and self.at_most is None and self.missing

    def branch(self, test: Test, child: int) -> Interval:
        """What is left of it along one branch of a test."""
        above, at_most, bound = self.above, self.at_most, test.bound
        if child == 0:
            at_most = bound if at_most is None else min(at_most, bound)
        else:
            above = bound if above is None else max(above, bound)
        return Interval(above, at_most, self.missing and test.default == child)

    def __contains__(self, value: float | int | None) -> bool:
        if value is None:
            return self.missing
        return (self.above is None or value > self.above) and (self.at_most is None or value <= self.at_most)


@dataclass(frozen=True, slots=True)
class Categories:
    """Codes of a nominal attribute: those in `codes`, or, the other way round, all others and the missing."""

    codes: frozenset[int] = frozenset()
    excluded: bool = True

    @property
    def is_everything(self) -> bool:
        return self.excluded and not self.codes

    def branch(self, test: Test, child: int) -> Categories:
        """What is left of it along one branch of a test; labels never seen go the way of missing values."""
        if child != test.default:
            taken = frozenset(test.branches[child])
            return Categories(taken - self.codes if self.excluded else taken & self.codes, False)
        others = {code for k, codes in enumerate(test.branches) if k != child for code in codes}
        return Categories(self.codes | others if self.excluded else self.codes - others, self.excluded)

    def __contains__(self, code: int) -> bool:
        return (code in self.codes) != self.excluded


Part = Interval | Categories
# Attribute -> what its value may be; attributes that the path does not ask are absent.
Region = dict[int, Part]


def whole(attribute: Attribute) -> Part:
    return Categories() if attribute.kind == "nominal" else Interval()


def leaf_regions(tree: Tree) -> Iterator[tuple[int, Region]]:
    """Each leaf in preorder with its region; attributes in the order in which the path first asks them."""
    tests, attributes = tree.tests, tree.schema.attributes
    waiting: list[tuple[int, Region]] = [(0, {})]
    while waiting:
        node, region = waiting.pop()
        if tree.is_leaf(node):
            yield node, region
            continue
        test = tests[node]
        part = region.get(test.attribute) or whole(attributes[test.attribute])
        for k, child in reversed(list(enumerate(tree.children(node)))):
            waiting.append((child, {**region, test.attribute: part.branch(test, k)}))


def rules_of(tree: Tree) -> Rules:
    return Rules(tuple(each_rule(tree)))


def each_rule(tree: Tree) -> Iterator[Rule]:
    attributes, total = tree.schema.attributes, float(tree.arrays["weight"][0])
    for leaf, region in leaf_regions(tree):
        conditions = tuple(
            condition_of(attributes[a], part) for a, part in region.items() if not part.is_everything
        )
        weight = float(tree.arrays["weight"][leaf])
        share: float | None = None
        counts: tuple[tuple[Label, float], ...] = ()
        spread: float | None = None
        prediction: Label | tuple[float, ...]
        if tree.classes is not None:
            code = int(tree.leaf_class[leaf])
            prediction, share = tree.classes[code], float(tree.probabilities([leaf])[0, code])
            counts = tuple((tree.classes[k], count) for k, count in tree.present(leaf))
        else:
            prediction = tuple(tree.means[leaf].tolist())
            if tree.n_targets == 1:
                spread = math.sqrt(max(0.0, float(tree.arrays["impurity"][leaf])))
        yield Rule(
            leaf=leaf,
            conditions=conditions,
            prediction=prediction,
            rows=int(tree.arrays["rows"][leaf]),
            weight=weight,
            coverage=weight / total if total else 0.0,
            share=share,
            counts=counts,
            spread=spread,
        )


def condition_of(attribute: Attribute, part: Part) -> Condition:
    if isinstance(part, Categories):
        return nominal_condition(attribute, part)
    above, at_most = (value_of(attribute, bound) for bound in bounds_of(part))
    return NumericCondition(attribute.name, above, at_most, part.known, part.missing)


def nominal_condition(attribute: Attribute, part: Categories) -> NominalCondition:
    """The condition by the labels that meet it or by those that do not, whichever list is shorter."""
    codes, excluded = part.codes, part.excluded
    if excluded and 2 * len(codes) > len(attribute.labels):
        codes, excluded = frozenset(range(len(attribute.labels))) - codes, False
    labels = tuple(attribute.labels[code] for code in sorted(codes))
    return NominalCondition(attribute.name, labels, excluded, part.excluded)


def bounds_of(span: Interval) -> tuple[float | int | None, float | int | None]:
    """The bounds of an interval; none where no known value lies between them, for then they say nothing."""
    if not span.known:
        return None, None
    return span.above, None if span.at_most == math.inf else span.at_most


def value_of(attribute: Attribute, bound: float | int | None) -> Bound | None:
    if bound is None or not attribute.is_integer:
        return bound
    plain = attribute.storage.family in ("integer", "unsigned")
    return attribute.decode(int(bound)) if plain else attribute.format(bound)


def bound_text(bound: Bound, style: Style) -> str:
    return real_text(bound, style) if isinstance(bound, float) else str(bound)


def finite(bound: Bound | None) -> Bound | None:
    return str(bound) if isinstance(bound, float) and math.isinf(bound) else bound


def rule_text(rule: Rule, style: Style) -> str:
    """A line for each condition, so that "or missing" belongs to its own."""
    shown = "\nand  ".join(condition.text(style) for condition in rule.conditions)
    return f"if   {shown or 'any row'}\nthen {answer_text(rule, style)}"


def answer_text(rule: Rule, style: Style) -> str:
    """`setosa  (50 of 50 rows, 100%; covers 33.3%)`."""
    covers = f"covers {share_text(rule.coverage)}"
    size = f"{rule.rows} {'row' if rule.rows == 1 else 'rows'}"
    if rule.weight != rule.rows:
        size += f", weight {real_text(rule.weight, style)}"
    if rule.share is None:
        assert isinstance(rule.prediction, tuple)
        means = ", ".join(real_text(mean, style) for mean in rule.prediction)
        spread = "" if rule.spread is None else f" ± {real_text(rule.spread, style)}"
        return f"{means}{spread}  ({size}; {covers})"
    return f"{one_line(str(rule.prediction))}  ({size}, {share_text(rule.share)}; {covers})"
