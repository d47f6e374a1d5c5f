"""Who is compared, and what one growth of each came to, measured in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from hornbeam.errors import HornbeamError, UsageError
from hornbeam_experiments.asking import answer_of

PROBE = Path(__file__).with_name("probe.py")
MEGABYTE = 1e6


@dataclass(frozen=True)
class Contestant:
    """An algorithm with the buffer that the paper gave it, in entries of AVC-sets."""

    name: str
    algorithm: str
    avc_entries: int | None = None
    variant: str | None = None


BOAT = Contestant("BOAT", "boat")
LITERAL = Contestant("literal BOAT", "boat", variant="paper")
HYBRID = Contestant("RF-Hybrid", "rf_hybrid", 3_000_000)
VERTICAL = Contestant("RF-Vertical", "rf_vertical", 1_800_000)
MEMORY = Contestant("in memory", "memory")
# Those of the paper, its BOAT to the letter as well, and growing from memory after one scan.
ALL = (BOAT, LITERAL, HYBRID, VERTICAL, MEMORY)


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
    measured = question.get("algorithm", "a scan")
    told: dict[str, Any] = answer_of(what, measured, json.dumps(question))
    return told


def grow(one: Contestant, question: Mapping[str, Any]) -> Growth:
    """One growth by one contestant; memory alone is never limited."""
    return _growth(ask(_asked(one, question)))


def grow_each(one: Contestant, questions: Sequence[Mapping[str, Any]]) -> list[Growth]:
    """One growth after the other in one process."""
    asked = [_asked(one, question) for question in questions]
    return [_growth(told) for told in ask_each(one.name, asked)]


def ask_each(name: str, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answers of one new process; none is started for none."""
    if not questions:
        return []
    told: list[dict[str, Any]] = ask({"kind": "series", "algorithm": name, "asked": questions})["each"]
    return told


def _asked(one: Contestant, question: Mapping[str, Any]) -> dict[str, Any]:
    asked = {"kind": "grow", **question, "algorithm": one.algorithm, "variant": one.variant}
    if one.algorithm == "memory":
        asked["memory_limit"] = None
    return asked


def _growth(told: Mapping[str, Any]) -> Growth:
    if "refused" in told:
        raise UsageError(told["refused"])
    return Growth.of(told)


class Grown(Protocol):
    """Whatever ends in a tree."""

    @property
    def digest(self) -> str: ...


def confirm_same(what: str, growths: Mapping[str, Sequence[Grown]]) -> None:
    """All grew one tree, or nothing that was measured means anything."""
    digests = {name: {growth.digest for growth in some} for name, some in growths.items()}
    if len(set().union(*digests.values())) > 1:
        names = " and ".join(digests)
        raise HornbeamError(f"{what}: {names} grew different trees; this is a fault of Hornbeam, report it")
