"""The error family: one line saying what was given, what is allowed, what to do; and the exit code."""

from typing import ClassVar

_LONGEST = 900


class HornbeamError(ValueError):
    """Base of every error that Hornbeam raises on purpose.

    Whatever it quotes, it is one line of text that can be printed. Of a long one the middle is left out: what
    was given comes first, and what to do last.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: object = "") -> None:
        line = str(message)
        if len(line) > _LONGEST:
            line = f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}"
        if len(line.splitlines()) > 1:
            line = " ".join(line.split())
        super().__init__(line.encode("utf-8", "backslashreplace").decode("utf-8"))


class UsageError(HornbeamError):
    """An option, a parameter or a combination of them that means nothing."""

    exit_code: ClassVar[int] = 2


class UnknownName(UsageError, TypeError):  # noqa: N818 - said of the name
    """A parameter or an option that there is none of; a TypeError too, as of every call in Python."""


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
