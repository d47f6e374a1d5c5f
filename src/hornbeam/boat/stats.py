"""What growing from a source came to: scans, rows, bytes, alarms, rows held, memory, seconds; and why so.

Fitted estimators are pickled with their records, so the module keeps its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hornbeam.growth.memory import text_of


@dataclass(frozen=True)
class SourceStats:
    """The record behind `scan_stats_`."""

    algorithm: str
    reason: str
    """Why this algorithm, in a sentence."""
    scans: int = 0
    rows: int = 0
    """Rows read, each as often as it was."""
    bytes: int = 0
    """As stored (files) or as handed over (others)."""
    alarms: int = 0
    """Nodes whose guess the bounds could not confirm."""
    held_rows: int = 0
    """Rows that were kept for a node, or in memory at all."""
    spilled_bytes: int = 0
    families: int = 0
    """Nodes whose rows were finished by the grower in memory."""
    peak_memory: int = 0
    """Of the whole process while it grew, as the operating system counts it."""
    memory_limit: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    """By phase."""
    engine: str | None = None
    """Who scanned; None: this process."""
    workers: int = 0
    shipped: Mapping[str, int] = field(default_factory=dict)
    """Bytes that left the workers, by phase: counts, samples and trees, never rows."""

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())

    def to_record(self) -> dict[str, Any]:
        """Plain, for JSON."""
        return asdict(self) | {"seconds": dict(self.seconds), "shipped": dict(self.shipped)}

    def to_pairs(self, digits: Callable[[int], str] = "{:,}".format) -> list[tuple[str, str]]:
        """Names and values for people; `digits` writes a number of rows."""
        held = [f"{digits(self.held_rows)} {'row' if self.held_rows == 1 else 'rows'}"]
        if self.families:
            families = "family" if self.families == 1 else "families"
            held.append(f"{digits(self.families)} {families} finished in memory")
        if self.spilled_bytes:
            held.append(f"{text_of(self.spilled_bytes)} on disk for a while")
        limit = "no limit" if self.memory_limit is None else f"limit {text_of(self.memory_limit)}"
        phases = ", ".join(f"{name} {seconds_text(value)}" for name, value in self.seconds.items())
        return [
            ("algorithm", f"{self.algorithm}: {self.reason}"),
            *self._cluster(),
            ("scans", f"{self.scans} ({digits(self.rows)} rows, {text_of(self.bytes)} read)"),
            ("alarms", str(self.alarms)),
            ("rows held", "; ".join(held)),
            ("peak memory", f"{text_of(self.peak_memory)} of the process ({limit})"),
            ("seconds", phases),
        ]

    def _cluster(self) -> list[tuple[str, str]]:
        if self.engine is None:
            return []
        workers = f"{self.workers} {'worker' if self.workers == 1 else 'workers'}"
        phases = ", ".join(f"{name} {text_of(size)}" for name, size in self.shipped.items())
        return [("engine", f"{self.engine}, {workers}"), ("shipped", phases or "nothing")]

    def to_text(self) -> str:
        """A line for each figure."""
        pairs = self.to_pairs()
        width = max(len(name) for name, _ in pairs)
        return "\n".join(f"{name.ljust(width)}  {value}" for name, value in pairs)


def seconds_text(seconds: float) -> str:
    """A duration for people: two digits that say something."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"
