"""Who is compared, and what one growth of each came to, measured in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import hornbeam
from hornbeam.boat.growth import SCANNING
from hornbeam.errors import HornbeamError, StorageError, UsageError

PROBE = Path(__file__).with_name("probe.py")
MEGABYTE = 1e6


@dataclass(frozen=True)
class Contestant:
    """An algorithm with the buffer that the paper gave it, in entries of AVC-sets."""

    name: str
    algorithm: str
    avc_entries: int | None = None
    variant: str | None = None

    @property
    def is_there(self) -> bool:
        """Whether this version has it."""
        return self.algorithm == "memory" or self.algorithm in SCANNING


BOAT = Contestant("BOAT", "boat")
HYBRID = Contestant("RF-Hybrid", "rf_hybrid", 3_000_000)
VERTICAL = Contestant("RF-Vertical", "rf_vertical", 1_800_000)
MEMORY = Contestant("in memory", "memory")
ALL = (BOAT, HYBRID, VERTICAL, MEMORY)


def contestants() -> tuple[Contestant, ...]:
    """Those of the paper, as far as they are built, and growing from memory after one scan."""
    return tuple(one for one in ALL if one.is_there)


@dataclass(frozen=True)
class Growth:
    """What one growth took; memory in megabytes, `cpu` and `wall` in seconds."""

    cpu: float
    wall: float
    peak: float
    scans: int
    rows: int
    megabytes: float
    """Read from the source."""
    spilled: float
    alarms: int
    held: int
    families: int
    nodes: int
    digest: str
    phases: Mapping[str, float]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        return cls(
            cpu=told["cpu"],
            wall=told["wall"],
            peak=told["peak"],
            scans=told["scans"],
            rows=told["rows"],
            megabytes=told["bytes"] / MEGABYTE,
            spilled=told["spilled_bytes"] / MEGABYTE,
            alarms=told["alarms"],
            held=told["held_rows"],
            families=told["families"],
            nodes=told["nodes"],
            digest=told["digest"],
            phases=told["phases"],
        )


def ask(question: Mapping[str, Any], module: str | None = None) -> dict[str, Any]:
    """The answer of a new process: of the probe, or of a module that answers like it."""
    what = ["-P", str(PROBE)] if module is None else ["-m", module]
    package = str(Path(hornbeam.__file__).parent.parent)
    paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, *what],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise StorageError(f"the process that measures {question.get('algorithm', 'a scan')} ended: {last}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def grow(one: Contestant, question: Mapping[str, Any]) -> Growth:
    """One growth by one contestant; memory alone is never limited."""
    asked = {"kind": "grow", **question, "algorithm": one.algorithm, "variant": one.variant}
    if one.algorithm == "memory":
        asked["memory_limit"] = None
    told = ask(asked)
    if "refused" in told:
        raise UsageError(told["refused"])
    return Growth.of(told)


def confirm_same(what: str, growths: Mapping[str, Sequence[Growth]]) -> None:
    """All grew one tree, or nothing that was measured means anything."""
    digests = {name: {growth.digest for growth in some} for name, some in growths.items()}
    if len(set().union(*digests.values())) > 1:
        names = " and ".join(digests)
        raise HornbeamError(f"{what}: {names} grew different trees; this is a fault of Hornbeam, report it")
