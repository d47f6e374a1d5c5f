"""Writes down what Hornbeam answers now: `python -m tests.golden digests|texts|files [NAME...]`.

Names are those of cases (in quotes) or of sessions; without any, all are written. Files of models are never
written again: `files` adds those that are missing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

from . import digests, files, texts
from .sessions import SESSIONS

WRITERS: dict[str, tuple[Callable[[list[str]], list[str]], set[str]]] = {
    "digests": (digests.write, set(digests.CASES)),
    "texts": (texts.write, set(SESSIONS)),
    "files": (lambda _: files.write_missing(), set()),
}


def main(given: list[str]) -> int:
    what, *names = given or [""]
    if what not in WRITERS:
        print(__doc__, file=sys.stderr)
        return 2
    write, known = WRITERS[what]
    unknown = sorted(set(names) - known)
    if unknown:
        print(
            f"{what} has no {unknown[0]!r}; it has {', '.join(sorted(known)) or 'no names to give'}",
            file=sys.stderr,
        )
        return 2
    warnings.simplefilter("ignore")
    changed = write(names)
    print("\n".join(changed) if changed else "nothing changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
