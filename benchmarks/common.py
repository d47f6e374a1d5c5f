"""What every benchmark shares: CPU seconds of interleaved runs, verdicts on floors and goals, tables."""

import ctypes
import json
import math
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

RESULTS = Path(__file__).resolve().parent / "results"
Clock = Callable[[], float]


@dataclass(frozen=True)
class Timing:
    """Seconds of each run of one contestant, and what its last run returned."""

    seconds: tuple[float, ...]
    result: Any = field(repr=False)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def measure(
    contestants: Mapping[str, Callable[[], Any]],
    *,
    repeats: int = 5,
    budget: float = 60.0,
    clock: Clock = time.process_time,
) -> dict[str, Timing]:
    """Runs everybody in turn, round after round: a slow moment of the machine meets them all.

    There is always one round; another one starts while fewer than `repeats` were run and it should end within
    `budget` seconds of the clock. CPU seconds are of the whole process, so a peer's threads are counted too.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    results: dict[str, Any] = {}
    rounds = 0
    spent = 0.0
    while rounds == 0 or (rounds < repeats and spent + spent / rounds <= budget):
        for name, run in contestants.items():
            results.pop(name, None)  # the last model must not weigh on the next run
            begin = clock()
            results[name] = run()
            seconds[name].append(clock() - begin)
        rounds += 1
        spent = sum(map(sum, seconds.values()))
    return {name: Timing(tuple(seconds[name]), results[name]) for name in contestants}


def geometric_mean(ratios: Iterable[float]) -> float:
    """The mean of ratios: a set that is 4x and one that is 0.25x make 1."""
    logs = [math.log(ratio) for ratio in ratios]
    if not logs:
        raise ValueError("no ratios to average; measure at least one set")
    return math.exp(statistics.fmean(logs))


@dataclass(frozen=True)
class Verdict:
    """One claim: a measured figure against its floor (must hold) and its goal (where it is going)."""

    claim: str
    measured: float
    better: Literal["higher", "lower"] = "higher"
    floor: float | None = None
    goal: float | None = None
    unit: str = "x"

    def _meets(self, bound: float | None) -> bool:
        if bound is None:
            return True
        return self.measured >= bound if self.better == "higher" else self.measured <= bound

    @property
    def holds(self) -> bool:
        return self._meets(self.floor)

    @property
    def reaches(self) -> bool:
        return self._meets(self.goal)

    def row(self) -> tuple[str, ...]:
        def word(bound: float | None, met: bool) -> str:
            return "" if bound is None else f"{bound:g}{self.unit} {'pass' if met else 'FAIL'}"

        return (
            self.claim,
            f"{self.measured:.2f}{self.unit}",
            word(self.floor, self.holds),
            word(self.goal, self.reaches),
        )


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Plain text columns; the first is words, the others are figures."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]

    def layout(line: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(widths[i]) if i == 0 else cell.rjust(widths[i]) for i, cell in enumerate(line)
        )
        return "  ".join([first, *others]).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([layout(lines[0]), rule, *(layout(line) for line in lines[1:])])


def format_seconds(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def environment(packages: Iterable[str]) -> dict[str, str]:
    """What the figures were measured with: versions and the kind of machine, never its name."""
    found = {"python": platform.python_version(), "machine": platform.machine(), "cpu": cpu_model()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def peak_bytes() -> int:
    """The most memory this process ever held.

    Linux says it per address space; its ru_maxrss would begin with the size of the parent process.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def forget_peak() -> int:
    """The memory held now, from which the peak is counted again where Linux allows it.

    What was freed goes back to the system first: a later growth must not live on it for nothing.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        return peak_bytes()
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def close(
    name: str,
    verdicts: Sequence[Verdict],
    records: Mapping[str, Any],
    skips: Sequence[tuple[str, str]],
    *,
    out: Path | None = None,
) -> int:
    """Prints verdicts and skips, writes the JSON, and returns the exit code: 1 where a floor is missed."""
    print("\nFloors and goals")
    print(format_table(("claim", "measured", "floor", "goal"), [verdict.row() for verdict in verdicts]))
    print("\nSkipped" if skips else "\nNothing was skipped.")
    for what, reason in skips:
        print(f"- {what}: {reason}")
    path = out or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        **records,
        "verdicts": [
            {**asdict(verdict), "holds": verdict.holds, "reaches": verdict.reaches} for verdict in verdicts
        ],
        "skips": [{"what": what, "reason": reason} for what, reason in skips],
    }
    path.write_text(json.dumps(content, indent=1) + "\n")
    floors = [verdict for verdict in verdicts if verdict.floor is not None]
    held = sum(verdict.holds for verdict in floors)
    print(f"\n{held} of {len(floors)} floors hold; figures in {path.name}")
    return 0 if held == len(floors) else 1
