"""Settings files of ACE (`.s`): ACE's names, what they are called here, and which have no meaning here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeGuard

from hornbeam.relational.ace.reader import read_clauses
from hornbeam.relational.ace.terms import Atom, Compound, ListTerm, Number, Term, Var, show, values_of
from hornbeam.relational.ace.tokens import PrologText
from hornbeam.relational.logic import Value

CRITERIA = {"gain": "entropy", "gainratio": "gain_ratio"}
PRUNINGS = {"c45": "error_based", "none": None, "off": None}
NEUTRAL = frozenset(
    {
        "talking",
        "output_options",
        "write_model",
        "use_packs",
        "pack_type",
        "execute",
        "report_timings",
        "prolog_flag",
        "tilde_classify_with",
        "query_batch_size",
        "compute_stats",
        "memory_limit",
    }
)
"""Settings that change what is printed or how fast it comes, not the tree."""
_NONE_ONLY = ("discretization", "m_estimate", "sampling_strategy", "exhaustive_lookahead")
_TYPED = {"yes": True, "on": True, "no": False, "off": False}


@dataclass(eq=False)
class AceSettings:
    """What a settings file says. `predict` are the name, the key's place, the class's place and the arity.

    `unknown` are settings that have no meaning here, each with its line: they are warned of.
    """

    source: PrologText
    models: bool | None = None
    predict: tuple[str, int, int, int] | None = None
    classes: tuple[Value, ...] | None = None
    typed: bool | None = None
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    modes: list[Term] = field(default_factory=list)
    lookaheads: list[tuple[Term, Term]] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    max_lookahead: int = 1
    regression: bool = False


def read_settings(source: PrologText) -> AceSettings:
    """All settings of a file; a value that cannot be is refused with its line and column."""
    settings = AceSettings(source)
    for clause in read_clauses(source):
        term = clause.term
        if isinstance(term, Atom | Compound) and term.name in NEUTRAL:
            continue
        if not _is_read(settings, term):
            shown = f":- {show(term.args[0])[:40]}" if _is_directive(term) else show(term)[:60]
            settings.unknown.append(f"{shown} (line {source.line(clause.at)})")
    return settings


def _is_directive(term: Term) -> TypeGuard[Compound]:
    return isinstance(term, Compound) and term.name == ":-" and len(term.args) == 1


def _is_read(settings: AceSettings, term: Term) -> bool:
    """Take a setting; False where it has no meaning here."""
    source, parameters = settings.source, settings.parameters
    match term:
        case Compound("load", (value,)):
            settings.models = _word(source, value, ("key", "models", "examples"), "load") != "key"
        case Compound("predict", (value,)):
            settings.predict = _predicted(source, value)
        case Compound("classes", (value,)):
            settings.classes = _classes(source, value)
        case Compound("typed_language", (value,)):
            settings.typed = _TYPED[_word(source, value, tuple(_TYPED), "typed_language")]
        case Compound("type", (value,)):
            _add_type(settings, value)
        case Compound("rmode", (value,)):
            settings.modes.append(value)
        case Compound("lookahead", (after, then)):
            settings.lookaheads.append((after, then))
        case Compound("max_lookahead", (value,)):
            parameters["lookahead"] = settings.max_lookahead = _count(source, value, 0, "max_lookahead")
        case Compound("minimal_cases", (value,)):
            parameters["min_samples_leaf"] = _count(source, value, 1, "minimal_cases")
        case Compound("heuristic", (value,)):
            parameters["criterion"] = CRITERIA[_word(source, value, tuple(CRITERIA), "heuristic")]
        case Compound("pruning", (value,)):
            parameters["prune"] = PRUNINGS[_word(source, value, tuple(PRUNINGS), "pruning")]
        case Compound("confidence_level", (value,)):
            parameters["confidence"] = _fraction(source, value, "confidence_level")
        case Compound("ftest", (value,)):
            parameters["ftest"] = _fraction(source, value, "ftest")
        case Compound("tilde_maxdepth", (Atom("inf" | "infinite"),)):
            parameters["max_depth"] = None
        case Compound("tilde_maxdepth", (value,)):
            parameters["max_depth"] = _count(source, value, 1, "tilde_maxdepth")
        case Compound("tilde_mode", (value,)):
            settings.regression = _word(source, value, ("classify", "regress"), "tilde_mode") == "regress"
        case Compound("accuracy", (value,)):
            return _fraction(source, value, "accuracy") == 1.0
        case Compound(name, (Atom("none" | "off" | "no"),)):
            return name in _NONE_ONLY
        case _:
            return False
    return True


def _word(source: PrologText, term: Term, allowed: tuple[str, ...], what: str) -> str:
    name = term.name if isinstance(term, Atom) else show(term)
    if name not in allowed:
        raise source.refuse(term.at, f"{what}({name[:40]}): allowed are {', '.join(allowed)}")
    return name


def _count(source: PrologText, term: Term, least: int, what: str) -> int:
    if not isinstance(term, Number) or not isinstance(term.value, int) or term.value < least:
        raise source.refuse(term.at, f"{what}({show(term)[:40]}): a count of at least {least} is needed")
    return term.value


def _fraction(source: PrologText, term: Term, what: str) -> float:
    if not isinstance(term, Number) or not 0 < term.value <= 1:
        raise source.refuse(term.at, f"{what}({show(term)[:40]}): a number above 0 and up to 1 is needed")
    return float(term.value)


def _predicted(source: PrologText, term: Term) -> tuple[str, int, int, int]:
    signs = [arg.name if isinstance(arg, Compound) else "" for arg in getattr(term, "args", ())]
    if not isinstance(term, Compound) or signs.count("+") != 1 or signs.count("-") != 1:
        what = "one place is the key (+) and one what is predicted (-)"
    elif len(signs) > 2:
        what = "only a key and a class are supported"
    else:
        return term.name, signs.index("+"), signs.index("-"), len(signs)
    raise source.refuse(term.at, f"predict({show(term)[:60]}): {what}")


def _classes(source: PrologText, term: Term) -> tuple[Value, ...]:
    values = values_of(term.items) if isinstance(term, ListTerm) else None
    if not values or len(set(values)) != len(values):
        raise source.refuse(term.at, f"classes({show(term)[:40]}): a list of different names is needed")
    return values


def _add_type(settings: AceSettings, term: Term) -> None:
    if not isinstance(term, Atom | Compound):
        raise settings.source.refuse(term.at, f"type({show(term)[:40]}): write type(name(type, ...))")
    types = tuple(arg.name if isinstance(arg, Atom | Var) else show(arg) for arg in term.args)
    if settings.types.setdefault(term.name, types) != types:
        raise settings.source.refuse(
            term.at, f"type({show(term)[:60]}): {term.name!r} has another type already"
        )
