"""Which fits there are, and what was written down of them: `digests.json`, a line a case."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from . import fits, linked, scanned, searched, shared
from .values import Case, Values, written_as_json

PLACE = Path(__file__).with_name("digests.json")
CASES: dict[str, Case] = {
    name: case for room in (fits, shared, scanned, searched, linked) for name, case in room.cases().items()
}


def read() -> dict[str, Values]:
    found: dict[str, Values] = json.loads(PLACE.read_text())
    return found


def write(names: Iterable[str] = ()) -> list[str]:
    """Write what these cases give now, or all; the names of those that changed."""
    before = read() if PLACE.exists() else {}
    chosen = list(names) or list(CASES)
    now = {name: values for name, values in before.items() if name in CASES}
    now |= {name: CASES[name]() for name in chosen}
    PLACE.write_text(written_as_json({name: now[name] for name in CASES if name in now}))
    written = read()
    return [name for name in {**before, **written} if before.get(name) != written.get(name)]
