"""A test may have to be somebody who may not write: root gives its rights up for a while."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65534


@contextmanager
def without_rights() -> Iterator[None]:
    """Import what is needed before: nobody may not be able to read it."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
