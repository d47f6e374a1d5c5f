"""What every public call says of an argument that means nothing: what was given, and what is allowed."""

from __future__ import annotations

import inspect
import math
import numbers
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, NoReturn, Self

from hornbeam.errors import NotThere, StorageError, UnknownName, UsageError

MAX_THREADS = 2**15
_LONGEST = 80
_LONGEST_NAME, _LONGEST_PATH = 255, 4096


def brief(value: Any) -> str:
    """A value on one line and of bounded length, whatever was given."""
    if isinstance(value, (str, bytes)):
        value = value[: 2 * _LONGEST]
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def shown(name: str, value: Any) -> str:
    """`max_depth=0`."""
    return f"{name}={brief(value)}"


def refuse(name: str, value: Any, allowed: str) -> NoReturn:
    raise UsageError(f"{shown(name, value)}: {allowed}", parameter=name)


def one_of(name: str, value: Any, allowed: Collection[str], context: str = "", also: str = "") -> str:
    """A word of those that are allowed."""
    if not isinstance(value, str) or value not in allowed:
        *others, last = map(repr, allowed)
        listed = f"{', '.join(others)} or {last}" if others else last
        raise UsageError(f"{shown(name, value)}{context}: use {listed}{also}", parameter=name)
    return str(value)


def is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def whole(name: str, value: Any, least: int = 0, most: int | None = None, also: str = "") -> int:
    """A whole number of a range; beyond `most` there is nothing more to say."""
    if not is_number(value, numbers.Integral) or value < least:
        refuse(name, value, f"a whole number from {least} is allowed{also}")
    return int(value) if most is None else min(int(value), most)


def whole_or_none(
    name: str, value: Any, least: int = 0, most: int | None = None, also: str = "no limit"
) -> int | None:
    return None if value is None else whole(name, value, least, most, f", or None for {also}")


def finite(name: str, value: Any, allowed: str = "a finite number is allowed") -> float:
    if not is_number(value, numbers.Real) or not math.isfinite(value):
        refuse(name, value, allowed)
    return float(value)


def number(name: str, value: Any, inside: Callable[[Any], bool], allowed: str) -> float:
    """A number that is `inside` of what is allowed."""
    if not is_number(value, numbers.Real) or not inside(value):
        refuse(name, value, f"{allowed} is allowed")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """True or False; 1 and 0 are theirs too."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if not isinstance(value, int) or value not in (0, 1):
        refuse(name, value, "True or False is allowed")
    return bool(value)


def text(name: str, value: Any, also: str = "") -> str:
    if not isinstance(value, str):
        refuse(name, value, f"a text is allowed{also}")
    return str(value)


def text_or_none(name: str, value: Any) -> str | None:
    return None if value is None else text(name, value, ", or None")


def texts(name: str, value: Any, also: str = "") -> tuple[str, ...]:
    """Several names; one text alone is one name."""
    listed = [value] if isinstance(value, str) else value
    entries: list[Any] = list(listed) if is_list(listed) else [None]
    if isinstance(listed, Mapping) or not all(isinstance(entry, str) for entry in entries):
        refuse(name, value, f"a list of names is allowed{also}")
    return tuple(entries)


def mapping(name: str, value: Any, example: str) -> dict[Any, Any]:
    """A dict; None is an empty one."""
    if value is not None and not isinstance(value, Mapping):
        refuse(name, value, f"a dict is allowed, such as {example}, or None")
    return dict(value or {})


def path(name: str, value: Any) -> str:
    """A path as text."""
    given = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(given, str):
        refuse(name, value, "a path is allowed: a text or a pathlib.Path")
    return given


def file_path(name: str, value: Any) -> str:
    """The path of a file or a folder that there can be."""
    given = path(name, value)
    try:
        fits = "\0" not in given and max(map(len, map(os.fsencode, given.split(os.sep)))) <= _LONGEST_NAME
    except UnicodeEncodeError:
        fits = False
    if not given or not fits or len(given) >= _LONGEST_PATH:
        raise StorageError(f"{shown(name, value)}: no file can have this path; name another one")
    return given


def place(name: str, value: Any, n: int, what: str) -> int:
    """A whole number from 0 that is below n, the number of what there is."""
    if not is_number(value, numbers.Integral) or not 0 <= value < n:
        raise NotThere(f"{shown(name, value)}: 0 to {n - 1} are there, {what}")
    return int(value)


def places(name: str, value: Any, n: int) -> Any:
    """Whole numbers from 0 below n, as an array."""
    import numpy as np

    try:
        given = np.asarray(value)
        fine = given.ndim == 1 and given.dtype.kind in "iu" and bool(((given >= 0) & (given < n)).all())
    except (TypeError, ValueError):
        fine = False
    if not fine and not (isinstance(value, (list, tuple)) and not value):
        raise NotThere(f"{shown(name, value)}: a list of whole numbers from 0 to {n - 1} is allowed")
    return given.astype(np.int64)


def is_list(value: Any) -> bool:
    """Whether a value has a length and entries; a text, bytes and an array without dimensions have none."""
    if isinstance(value, (str, bytes)) or getattr(value, "shape", None) == ():
        return False
    try:
        return isinstance(value, Iterable) and len(value) >= 0  # type: ignore[arg-type]
    except TypeError:
        return False


def threads_of(n_jobs: Any) -> int:
    """Threads for scikit-learn's n_jobs: None is one, -1 all processors, -2 all but one."""
    if n_jobs is None:
        return 1
    if not is_number(n_jobs, numbers.Integral) or n_jobs == 0 or n_jobs > MAX_THREADS:
        refuse("n_jobs", n_jobs, f"None (one thread), 1 to {MAX_THREADS} or -1 (all processors) is allowed")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def generator(random_state: Any) -> Any:
    """The RandomState that scikit-learn makes of a random_state."""
    from sklearn.utils import check_random_state

    try:
        return check_random_state(random_state)
    except (TypeError, ValueError):
        refuse(
            "random_state",
            random_state,
            "a whole number from 0 to 2**32 - 1, a RandomState or None is allowed",
        )


def instance(name: str, value: Any, kind: type | tuple[type, ...], what: str) -> Any:
    """An object of a class that `what` says how to get."""
    if not isinstance(value, kind):
        raise UsageError(f"{name} is a {type(value).__name__}, and {what} is needed")
    return value


def refuse_unknown(
    owner: str, given: Collection[str], known: Sequence[str], instead: Mapping[str, str] | None = None
) -> None:
    """Refuse the first name that nobody takes: with what to do instead, or the nearest name there is."""
    for name in given:
        if name in known:
            continue
        advice = (instead or {}).get(name)
        if advice is None:
            near = get_close_matches(str(name)[:_LONGEST], known, 1)
            advice = f"use {near[0]!r}" if near else f"allowed are {', '.join(known)}"
        raise UnknownName(f"{owner} has no parameter {str(name)[:_LONGEST]!r}: {advice}")


class NamedParameters:
    """A class whose constructor, and `set_params`, refuse an unknown name with what to use instead."""

    _instead: ClassVar[Mapping[str, str]] = {}
    """What to do instead of giving a parameter that others have; a subclass adds to its parents'."""

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        known = constructor_of(cls).parameters
        if not parameters.keys() <= known.keys():
            refuse_unknown(cls.__name__, parameters, tuple(known), _advice(cls))
        by_place = [entry.name for entry in known.values() if entry.kind is not entry.KEYWORD_ONLY]
        if len(args) > len(by_place):
            name = next(iter(known))
            raise UnknownName(f"{cls.__name__} takes its parameters by name, for instance {name}=...")
        return super().__new__(cls)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; the names are those of the constructor."""
        kind, names = type(self), [name.partition("__")[0] for name in parameters]
        refuse_unknown(kind.__name__, names, tuple(constructor_of(kind).parameters), _advice(kind))
        super().set_params(**parameters)  # type: ignore[misc]
        return self

    class _Signature:
        """The signature that people see: it would be that of `__new__`."""

        def __get__(self, instance: object, owner: type) -> inspect.Signature:
            return constructor_of(owner)

    __signature__ = _Signature()


def constructor_of(kind: type) -> inspect.Signature:
    """The signature of a class."""
    whole = inspect.signature(kind.__init__)  # type: ignore[misc]
    return whole.replace(parameters=list(whole.parameters.values())[1:])


def _advice(kind: type) -> dict[str, str]:
    advice: dict[str, str] = {}
    for parent in reversed(kind.__mro__):
        advice |= vars(parent).get("_instead", {})
    return advice
