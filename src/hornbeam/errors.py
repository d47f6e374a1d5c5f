"""The error family: one line saying what was given, what is allowed, what to do; and the exit code."""

import re
from collections.abc import Callable, Collection
from typing import ClassVar, Final

LONGEST: Final = 900  # characters of an error
_LONG_WORD: Final = re.compile(r"\S{121,}")


class HornbeamError(ValueError):
    """Base of every error that Hornbeam raises on purpose; its text is one line, whatever it echoes."""

    exit_code: ClassVar[int] = 1

    def __init__(
        self, message: object = "", *, parameter: str | None = None, named: Collection[str] | None = None
    ) -> None:
        """The message writes the parameter that it is about, and others that are `named` in it, as Python
        does: `max_depth=0`."""
        super().__init__(one_line(str(message)))
        self.parameter = parameter
        self.named = (*(named or ()), *(() if parameter is None else (parameter,)))

    def worded(self, option_of: Callable[[str], str]) -> str:
        """The line in the words of the command, whose options the parameters come from: `--max-depth 0`."""
        text = str(self)
        for name in self.named:
            option = option_of(name)
            text, *parts = text.split(name)
            for part in parts:
                if part.startswith("="):
                    text += (option if option.endswith("=") else f"{option} ") + part[1:]
                else:  # a name of several words is no other word of a sentence
                    text += (option.rstrip("=") if "_" in name else name) + part
        return text


class UsageError(HornbeamError):
    """An option, a parameter or a combination of them that means nothing."""

    exit_code: ClassVar[int] = 2


class UnknownName(UsageError, TypeError):  # noqa: N818 - said of the name
    """A parameter or an option that there is none of; a TypeError too, as of every call in Python."""


class NotThere(UsageError, IndexError):  # noqa: N818 - said of the place
    """A place in a sequence that there is not; an IndexError too, so that the sequence can be walked."""


class DataError(HornbeamError):
    """Data that was read and is refused."""

    exit_code: ClassVar[int] = 3


class DataTypeError(DataError, TypeError):
    """Data of a type that can never become a table; scikit-learn's suite expects a TypeError here."""


class NoRows(DataError):  # noqa: N818 - said of the source, not of the error
    """A source that has columns and nothing else, or rows none of which weighs anything."""


class SourceChanged(DataError):  # noqa: N818 - said of the source, not of the error
    """The rows of a source are not those that an earlier scan saw."""


class StorageError(HornbeamError):
    """A file that cannot be opened, read or written."""

    exit_code: ClassVar[int] = 4


class EngineError(HornbeamError):
    """A cluster that cannot be reached, or that did not do what it was asked."""


class ExportWarning(UserWarning):
    """A tree was turned into something that does not say quite the same; no error, so it has no exit code."""


def one_line(text: str) -> str:
    """The text on one line of at most `LONGEST` characters, without control characters.

    Where there are more, long words are shortened first: they are the names and values that a text echoes.
    """
    text = _shortened(text)
    if not text.isprintable():
        text = " ".join(line.strip() for line in text.splitlines())
        text = "".join(c if c.isprintable() else " " if c.isspace() else repr(c)[1:-1] for c in text)
    return _shortened(text)


def first_line(error: object) -> str:
    """The first line of what another library says, without the stop at its end, for a clause of an error."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300].rstrip(".! ")


def _shortened(text: str) -> str:
    if len(text) > LONGEST:
        text = _LONG_WORD.sub(lambda word: f"{word[0][:80]}...{word[0][-20:]}", text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 303]}...{text[-300:]}"
