"""Tests in words: what an example has, of which kind, and how that is linked to what was found before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hornbeam.model.text import one_line
from hornbeam.relational.logic import KEY, Anything, Constant, Literal, Query, Term, Variable, variable_name
from hornbeam.relational.prolog import literal_text, stored_text
from hornbeam.relational.signature import Predicate, Signature


def test_words(signature: Signature | None, before: Query, test: Query) -> str:
    """The test of a node below a query: `has an order with status = 'late' and, for that order, an item`.

    Two rows of one table on a path are numbered, `order #2`; nothing says that they are different rows.
    """
    if signature is None or not signature.named:
        return ", ".join(map(literal_text, test))
    path = _PathWords(signature)
    path.phrases(before)
    return joined(path.phrases(test))


def joined(phrases: list[str]) -> str:
    text = phrases[0]
    for phrase in phrases[1:]:
        text += f" and, {phrase}" if phrase.startswith("for ") else f" and {phrase}"
    return text


@dataclass(frozen=True)
class _Mention:
    """A row that was spoken of: what it is called, and the how manieth of its kind it is on the path."""

    noun: str
    number: int


class _PathWords:
    """The rows and values that the words of a path introduced, so that later words can refer to them."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        named = [p for p in signature.predicates.values() if p.identity is not None and p.counts is None]
        self.row_types = {p.types[p.identity] for p in named if p.identity is not None}
        self.rows: Counter[str] = Counter()
        self.names: dict[Variable, _Mention] = {}
        self.kinds: dict[Variable, str] = {}
        self.values: dict[Variable, tuple[str, _Mention | None]] = {}
        """Variables that are no row's own name: their column, and the row; None is the example's own."""

    def phrases(self, query: Query) -> list[str]:
        phrases: list[str] = []
        taken: set[int] = set()
        query = one_literal_a_row(query, self.signature)
        for i, literal in enumerate(query):
            if i in taken:
                continue
            if literal.compares:
                phrases.append(f"{self._reference(literal.terms[0])} {self._asked(literal)}")
                continue
            own = [k for k in range(i + 1, len(query)) if self._is_about(query[k], literal)]
            taken.update(own)
            phrases.append(self._literal(literal, [query[k] for k in own]))
        asked = [phrase for phrase in phrases if phrase]
        return asked or [f"is in {one_line(literal.predicate)}" for literal in query[:1]]

    def _is_about(self, comparison: Literal, literal: Literal) -> bool:
        """Whether it asks about a value that the literal introduces, and about nothing later."""
        first, second = comparison.terms[0], comparison.terms[-1]
        if not comparison.compares or first not in literal.terms or self._is_known(first):
            return False
        return isinstance(second, Constant) or self._is_known(second)

    def _is_known(self, term: Term) -> bool:
        return term == KEY or term in self.names or term in self.values

    def _asked(self, comparison: Literal) -> str:
        left, right = comparison.terms
        kind = self.kinds.get(left, "") if isinstance(left, Variable) else ""
        return f"{comparison.predicate} {self._term(right, kind)}"

    def _term(self, term: Term, kind: str) -> str:
        if isinstance(term, Constant):
            return stored_text(term, self.signature.storages.get(kind, ""))
        return self._reference(term)

    def _reference(self, term: Term) -> str:
        """How something that was introduced before is spoken of."""
        if term == KEY:
            return "the example"
        if isinstance(term, Variable) and term in self.names:
            return self._row(self.names[term])
        if isinstance(term, Variable) and term in self.values:
            column, row = self.values[term]
            return f"its {column}" if row is None else f"the {column} of {self._row(row)}"
        return variable_name(term) if isinstance(term, Variable) else "anything"

    def _row(self, row: _Mention) -> str:
        return f"that {row.noun}" if self.rows[row.noun] == 1 else f"{row.noun} #{row.number}"

    def _literal(self, literal: Literal, comparisons: list[Literal]) -> str:
        predicate = self.signature.predicate_of(literal)
        if predicate is None:
            return ", ".join(map(literal_text, (literal, *comparisons)))
        place = predicate.identity
        name = None if place is None else literal.terms[place]
        if place is not None and place == predicate.key:  # the example's own row
            conditions = self._conditions(predicate, literal, comparisons, {place}, None)
            return listed(conditions)  # that an example has its own row need not be said
        if isinstance(name, Variable) and self._is_known(name):
            row = self.names.get(name)
            subject = self._reference(name)
            if row is None:
                row = self._counted(singular(predicate.name))
            conditions = self._conditions(predicate, literal, comparisons, {place, predicate.key}, row)
            return f"{subject} has {listed(conditions) or f'a row in {one_line(predicate.name)}'}"
        return self._new_row(predicate, literal, comparisons, name)

    def _new_row(
        self, predicate: Predicate, literal: Literal, comparisons: list[Literal], name: Term | None
    ) -> str:
        """A row that was not spoken of before, by what it is linked, and what is asked of it."""
        noun, shown = singular(predicate.name), {predicate.identity, predicate.key}
        links = [i for i in self._links(predicate, literal) if i not in shown]
        opening = "there is" if predicate.key is None and not predicate.routes else "has"
        if links:
            opening = f"for {self._reference(literal.terms[links[0]])},"
            shown.add(links[0])
        row = self._counted(noun)
        if isinstance(name, Variable):
            self.names[name] = row
        conditions = self._conditions(predicate, literal, comparisons, shown, row)
        if isinstance(name, Constant) and predicate.identity is not None:
            place = predicate.identity
            conditions.insert(
                0, f"{one_line(predicate.columns[place])} = {self._term(name, predicate.types[place])}"
            )
        number = f" #{row.number}" if row.number > 1 else ""
        return f"{opening} {article(noun)}{number}" + (f" with {listed(conditions)}" if conditions else "")

    def _links(self, predicate: Predicate, literal: Literal) -> list[int]:
        """Columns that alone could hold the name of a known row: `for that order, an item`, and what a known
        row refers to: `for its account, a payment`."""
        return [
            i
            for i, term in enumerate(literal.terms)
            if isinstance(term, Variable)
            and (term in self.names or (term in self.values and predicate.types[i] in self.row_types))
            and predicate.types.count(predicate.types[i]) == 1
        ]

    def _counted(self, noun: str) -> _Mention:
        self.rows[noun] += 1
        return _Mention(noun, self.rows[noun])

    def _conditions(
        self,
        predicate: Predicate,
        literal: Literal,
        comparisons: list[Literal],
        shown: set[int | None],
        row: _Mention | None,
    ) -> list[str]:
        """What is asked of the columns of a row, those aside that are shown already."""
        conditions = []
        for i, term in enumerate(literal.terms):
            if i in shown or isinstance(term, Anything):
                continue
            column = column_words(predicate, i)
            if isinstance(term, Constant) or self._is_known(term):
                conditions.append(f"{column} = {self._term(term, predicate.types[i])}")
                continue
            self.kinds[term] = predicate.types[i]
            conditions += [f"{column} {self._asked(c)}" for c in comparisons if c.terms[0] == term]
            self.values[term] = (column, row)
        return conditions


def one_literal_a_row(query: Query, signature: Signature) -> Query:
    """The query with literals of one row made one, where what they ask can stand in one."""
    result: list[Literal] = []
    for literal in query:
        predicate = signature.predicate_of(literal)
        place = None if predicate is None else predicate.identity
        same = (k for k, other in enumerate(result) if place is not None and _fits(other, literal, place))
        k = next(same, None)
        if k is None:
            result.append(literal)
        else:
            terms = (b if isinstance(a, Anything) else a for a, b in _pairs(result[k], literal))
            result[k] = Literal(literal.predicate, tuple(terms))
    return tuple(result)


def _fits(one: Literal, other: Literal, place: int) -> bool:
    """Whether two literals are about one row, which has its name at this place, and ask nothing at odds."""
    if one.predicate != other.predicate or not isinstance(other.terms[place], Variable):
        return False
    if one.terms[place] != other.terms[place]:
        return False
    return all(a == b or Anything() in (a, b) for a, b in _pairs(one, other))


def _pairs(one: Literal, other: Literal) -> list[tuple[Term, Term]]:
    return list(zip(one.terms, other.terms, strict=True))


def column_words(predicate: Predicate, column: int) -> str:
    if predicate.counts is not None and column != predicate.key:
        return f"number of {one_line(predicate.counts.table).replace('_', ' ')}"
    return one_line(predicate.columns[column])


def listed(conditions: list[str]) -> str:
    return " and ".join(conditions)


def singular(name: str) -> str:
    """The name of a table as that of one row: `orders` is an order, `categories` a category."""
    text = one_line(name).replace("_", " ")
    if text.endswith("ies") and len(text) > 4:
        return f"{text[:-3]}y"
    if text.endswith(("sses", "xes", "ches", "shes")):
        return text[:-2]
    if text.endswith("s") and not text.endswith(("ss", "us", "is")) and len(text) > 2:
        return text[:-1]
    return text


def article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' and noun else 'a'} {noun}"
