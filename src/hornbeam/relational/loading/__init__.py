"""Ways in: frames, databases and folders of CSV files as tables with their keys and references."""

from __future__ import annotations

import os
from typing import Any

from hornbeam.errors import DataTypeError


def path_text(place: Any, what: str) -> str:
    """A path as text; anything else is refused, `what` says as what it was given."""
    if not isinstance(place, str | os.PathLike):
        raise DataTypeError(f"{what} is given by its path, not as {type(place).__name__}")
    return os.fsdecode(place)
