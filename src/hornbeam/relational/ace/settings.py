"""Settings files of ACE (`.s`): ACE's names and what they are called here; those without a meaning are named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hornbeam.relational.ace.reader import read_clauses
from hornbeam.relational.ace.terms import Atom, Compound, ListTerm, Number, Term, Var, show, value_of
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
        if isinstance(term, Compound) and term.name == ":-" and len(term.args) == 1:
            settings.unknown.append(f":- {show(term.args[0])[:40]} (line {source.line(clause.at)})")
            continue
        name, args = (term.name, term.args) if isinstance(term, Compound) else (show(term), ())
        read = _READERS.get((name, len(args)))
        if read is not None:
            read(settings, *args)
        elif name not in NEUTRAL:
            settings.unknown.append(f"{show(term)[:60]} (line {source.line(clause.at)})")
    return settings


def _word(settings: AceSettings, term: Term, allowed: tuple[str, ...], what: str) -> str:
    name = term.name if isinstance(term, Atom) else show(term)
    if name not in allowed:
        raise settings.source.refuse(term.at, f"{what}({name[:40]}): allowed are {', '.join(allowed)}")
    return name


def _count(settings: AceSettings, term: Term, least: int, what: str) -> int:
    if not isinstance(term, Number) or not isinstance(term.value, int) or term.value < least:
        raise settings.source.refuse(
            term.at, f"{what}({show(term)[:40]}): a count of at least {least} is needed"
        )
    return term.value


def _fraction(settings: AceSettings, term: Term, what: str) -> float:
    if not isinstance(term, Number) or not 0 < term.value <= 1:
        raise settings.source.refuse(
            term.at, f"{what}({show(term)[:40]}): a number above 0 and up to 1 is needed"
        )
    return float(term.value)


def _load(settings: AceSettings, term: Term) -> None:
    settings.models = _word(settings, term, ("key", "models", "examples"), "load") != "key"


def _predict(settings: AceSettings, term: Term) -> None:
    signs = [arg.name if isinstance(arg, Compound) else "" for arg in getattr(term, "args", ())]
    if not isinstance(term, Compound) or signs.count("+") != 1 or signs.count("-") != 1:
        raise settings.source.refuse(
            term.at, f"predict({show(term)[:60]}): one place is the key (+) and one what is predicted (-)"
        )
    if len(signs) > 2:
        raise settings.source.refuse(
            term.at, f"predict({show(term)[:60]}): only a key and a class are supported"
        )
    settings.predict = (term.name, signs.index("+"), signs.index("-"), len(signs))


def _classes(settings: AceSettings, term: Term) -> None:
    values = [value_of(item) for item in term.items] if isinstance(term, ListTerm) else []
    known = tuple(value for value in values if value is not None)
    if len(known) < 1 or len(known) != len(values) or len(set(known)) != len(known):
        raise settings.source.refuse(
            term.at, f"classes({show(term)[:40]}): a list of different names is needed"
        )
    settings.classes = known


def _typed_language(settings: AceSettings, term: Term) -> None:
    settings.typed = _TYPED[_word(settings, term, tuple(_TYPED), "typed_language")]


def _type(settings: AceSettings, term: Term) -> None:
    if isinstance(term, Var | Number | ListTerm):
        raise settings.source.refuse(term.at, f"type({show(term)[:40]}): write type(name(type, ...))")
    args = term.args if isinstance(term, Compound) else ()
    names = tuple(arg.name if isinstance(arg, Atom | Var) else show(arg) for arg in args)
    before = settings.types.setdefault(term.name, names)
    if before != names:
        raise settings.source.refuse(
            term.at, f"type({show(term)[:60]}): {term.name!r} has another type already"
        )


def _mode(settings: AceSettings, term: Term) -> None:
    settings.modes.append(term)


def _lookahead(settings: AceSettings, after: Term, then: Term) -> None:
    settings.lookaheads.append((after, then))


def _max_lookahead(settings: AceSettings, term: Term) -> None:
    settings.max_lookahead = _count(settings, term, 0, "max_lookahead")
    settings.parameters["lookahead"] = settings.max_lookahead


def _minimal_cases(settings: AceSettings, term: Term) -> None:
    settings.parameters["min_samples_leaf"] = _count(settings, term, 1, "minimal_cases")


def _heuristic(settings: AceSettings, term: Term) -> None:
    settings.parameters["criterion"] = CRITERIA[_word(settings, term, tuple(CRITERIA), "heuristic")]


def _pruning(settings: AceSettings, term: Term) -> None:
    settings.parameters["prune"] = PRUNINGS[_word(settings, term, tuple(PRUNINGS), "pruning")]


def _confidence(settings: AceSettings, term: Term) -> None:
    settings.parameters["confidence"] = _fraction(settings, term, "confidence_level")


def _ftest(settings: AceSettings, term: Term) -> None:
    settings.parameters["ftest"] = _fraction(settings, term, "ftest")


def _depth(settings: AceSettings, term: Term) -> None:
    endless = isinstance(term, Atom) and term.name in ("inf", "infinite")
    settings.parameters["max_depth"] = None if endless else _count(settings, term, 1, "tilde_maxdepth")


def _tilde_mode(settings: AceSettings, term: Term) -> None:
    settings.regression = _word(settings, term, ("classify", "regress"), "tilde_mode") == "regress"


def _accuracy(settings: AceSettings, term: Term) -> None:
    if _fraction(settings, term, "accuracy") != 1.0:
        settings.unknown.append(f"accuracy({show(term)}) (line {settings.source.line(term.at)})")


def _none_only(name: str) -> Callable[..., None]:
    def read(settings: AceSettings, term: Term) -> None:
        if not isinstance(term, Atom) or term.name not in ("none", "off", "no"):
            settings.unknown.append(f"{name}({show(term)[:40]}) (line {settings.source.line(term.at)})")

    return read


_READERS: dict[tuple[str, int], Callable[..., None]] = {
    ("load", 1): _load,
    ("predict", 1): _predict,
    ("classes", 1): _classes,
    ("typed_language", 1): _typed_language,
    ("type", 1): _type,
    ("rmode", 1): _mode,
    ("lookahead", 2): _lookahead,
    ("max_lookahead", 1): _max_lookahead,
    ("minimal_cases", 1): _minimal_cases,
    ("heuristic", 1): _heuristic,
    ("pruning", 1): _pruning,
    ("confidence_level", 1): _confidence,
    ("ftest", 1): _ftest,
    ("tilde_maxdepth", 1): _depth,
    ("tilde_mode", 1): _tilde_mode,
    ("accuracy", 1): _accuracy,
    **{(name, 1): _none_only(name) for name in _NONE_ONLY},
}
