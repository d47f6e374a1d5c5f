"""What is refused of y and of sample_weight, said of the columns of the source that they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hornbeam.errors import DataError

_OF_Y = re.compile(r"(?:Input )?\by (has|holds|contains|mixes)\b")


@contextmanager
def naming_columns(targets: Sequence[str], weight: str | None) -> Iterator[None]:
    """Errors of what happens inside name the target and the weight."""
    try:
        yield
    except DataError as error:
        target = ", ".join(map(repr, targets))
        text = _OF_Y.sub(lambda found: f"target {target} {found[1]}", str(error))
        text = text if weight is None else text.replace("sample_weight", f"weight {weight!r}")
        if text == str(error):
            raise
        raise type(error)(text) from None
