"""Data and a bias as files of ACE: settings and facts in the key format, which `load_ace` reads back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hornbeam.arguments import file_path
from hornbeam.errors import UsageError
from hornbeam.files import write_files
from hornbeam.relational.ace.settings import CRITERIA, PRUNINGS
from hornbeam.relational.ace.terms import show_value
from hornbeam.relational.bias import Bias, Pattern, Placemarker, Sign
from hornbeam.relational.database import Coded, Codes, Relation
from hornbeam.relational.declarations import DeclarationWriter, call, place_text
from hornbeam.relational.logic import COMPARISONS, EQUALS

EXPORTED = ("criterion", "min_samples_leaf", "prune", "confidence", "max_depth")
_COUNTS = {
    "min_samples_leaf": "minimal_cases",
    "confidence": "confidence_level",
    "max_depth": "tilde_maxdepth",
}


def export_ace(place: str | os.PathLike[str], coded: Coded, bias: Bias, parameters: dict[str, Any]) -> None:
    """Write `app.s` and, beside it, `app.kb`. Prolog has no NULL, so relations that hold one are refused."""
    settings = Path(file_path("settings", place))
    target = _free_name("target", bias)
    lines = {
        settings: _settings(coded, bias, target, parameters),
        settings.with_suffix(".kb"): _facts(coded, bias, target),
    }
    write_files({file: ("\n".join(some) + "\n").encode("utf-8") for file, some in lines.items()})


def _free_name(name: str, bias: Bias) -> str:
    while name in bias.types:
        name += "_"
    return name


def _without_key(relation: Relation[Codes]) -> bool:
    """Whether rows have owners that no column names: facts need one that does."""
    return relation.owner is not None and relation.key != 0


def _settings(coded: Coded, bias: Bias, target: str, parameters: dict[str, Any]) -> Iterator[str]:
    yield f"load(key).\npredict({call(target, ['+Key', '-Class'])})."
    if coded.examples.task == "classification":
        yield f"classes([{','.join(show_value(label) for label in coded.examples.classes)}])."
    else:
        yield "tilde_mode(regress)."
    yield "typed_language(yes)."
    yield f"type({call(target, [show_value(bias.key_type), 'class'])})."
    yield from _AceWriter(coded, bias.key_type).declarations(bias)
    yield from _parameters(parameters)


def _parameters(parameters: dict[str, Any]) -> Iterator[str]:
    for name, ours in (("heuristic", CRITERIA), ("pruning", PRUNINGS)):
        given = parameters.get("criterion" if name == "heuristic" else "prune", "unsaid")
        theirs = next((word for word, value in ours.items() if value == given), None)
        if theirs is not None:
            yield f"{name}({theirs})."
    for name, setting in _COUNTS.items():
        if parameters.get(name) is not None:
            yield f"{setting}({parameters[name]})."


class _AceWriter(DeclarationWriter):
    """ACE's own words for comparisons and thresholds, and a key for relations that have none."""

    def __init__(self, coded: Coded, key_type: str) -> None:
        self._keyless = {name for name, relation in coded.relations.items() if _without_key(relation)}
        self._key_type = key_type

    def types_of(self, name: str, types: tuple[str, ...]) -> tuple[str, ...]:
        return (self._key_type, *types) if name in self._keyless else types

    def conjunction(
        self, patterns: Sequence[Pattern], names: set[str], before: tuple[Pattern, ...] = ()
    ) -> str:
        """A threshold is a constant that ACE generates for the variable it is compared with."""
        text = super().conjunction(patterns, names)
        variable = next((pattern.places[0].name for pattern in patterns if pattern.is_open), "")
        if variable == "":
            return text
        rows = [p for p in (*before, *patterns) if p.predicate not in COMPARISONS]
        row = next((p for p in rows if any(place.name == variable for place in p.places)), None)
        if variable is None or row is None:
            raise UsageError("to_ace: a mode asks for thresholds of a variable that it does not bind itself")
        places = [variable if place.name == variable else "_" for place in row.places]
        if row.predicate in self._keyless:
            places.insert(0, "_")
        return f"#(Threshold: threshold({call(row.predicate, places)}, [{variable}], Threshold), {text})"

    def pattern(self, pattern: Pattern, names: set[str], key: Sign = Sign.OLD) -> str:
        places = [place_text(place, names) for place in pattern.places]
        if pattern.predicate in COMPARISONS:
            right = "Threshold" if pattern.is_open else places[1]
            if pattern.predicate == EQUALS:
                return f"equals({places[0]}, {right})"
            return f"{places[0]} {'=<' if pattern.predicate == '<=' else pattern.predicate} {right}"
        if pattern.predicate in self._keyless:
            places.insert(0, place_text(Placemarker(key), names))
        return call(pattern.predicate, places)


def _facts(coded: Coded, bias: Bias, target: str) -> Iterator[str]:
    examples = coded.examples
    keys = [show_value(key) for key in examples.keys.tolist()]
    if examples.target is None:
        raise UsageError("to_ace: the examples have no labels; ACE learns from labelled ones")
    for key, label in zip(keys, examples.target.tolist(), strict=True):
        known = label >= 0 if examples.task == "classification" else label == label
        if known:
            value = examples.classes[label] if examples.task == "classification" else label
            yield f"{call(target, [key, show_value(value)])}."
    for name in bias.types:
        relation = coded.relations[name]
        columns = [_texts(coded, relation, i) for i in range(len(relation.columns))]
        if _without_key(relation):
            assert relation.owner is not None
            columns.insert(0, [keys[e] for e in relation.owner.tolist()])
        for row in zip(*columns, strict=True):
            yield f"{call(name, row)}."


def _texts(coded: Coded, relation: Relation[Codes], column: int) -> list[str]:
    codes = relation.data[column]
    if (codes < 0).any():
        raise UsageError(
            f"to_ace: {relation.name}.{relation.columns[column]} holds NULL, which facts cannot; exclude the "
            "column, or fill it in"
        )
    values = [show_value(value) for value in coded.domains[relation.types[column]].values.tolist()]
    return [values[code] for code in codes.tolist()]
