"""`python -m tests.soak --seconds 600`: each adversary tries random cases for its share of the time.

Prints the seed first. A case that fails is made smaller and written to `build/soak`;
`--repeat FILE` tries it again.
"""

from __future__ import annotations

import argparse
import faulthandler
import secrets
import sys
from collections import Counter
from pathlib import Path

from tests import native
from tests.soak.adversaries import ADVERSARIES
from tests.soak.runner import Finding, case_of, failure, for_seconds, hunt


def repeat(path: Path) -> int:
    finding = Finding.read(path)
    case = case_of(finding.seed, finding.number, finding.steps)
    error = failure(ADVERSARIES[finding.adversary], case, finding.seed, finding.number, Counter())
    print(case)
    print(error or "nothing fails")
    return 1 if error else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="for how long in all (600)")
    parser.add_argument("--seed", type=int, help="which cases; none: new ones")
    parser.add_argument("--only", default="", help="adversaries whose names contain this")
    parser.add_argument("--repeat", type=Path, help="a file that an earlier run wrote")
    given = parser.parse_args()
    faulthandler.enable()
    if given.repeat is not None:
        return repeat(given.repeat)
    seed = secrets.randbits(32) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    chosen = [name for name in ("growths", *ADVERSARIES) if given.only in name]
    failed = False
    for name in chosen:
        share = given.seconds / len(chosen)
        if name == "growths":
            failed |= native.soak(share, seed) != 0
            continue
        ways, finding = hunt(ADVERSARIES[name], seed, for_seconds(share))
        print(f"{name}: " + ", ".join(f"{many} {way}" for way, many in sorted(ways.items())), flush=True)
        if finding is not None:
            failed = True
            print(f"{finding.error}\n{case_of(seed, finding.number, finding.steps)}")
            print(f"python -m tests.soak --repeat {finding.write(native.FOUND)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
