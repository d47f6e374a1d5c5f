"""From divisions to table 1: means with intervals, the paper's figures beside them, and who did better."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from hornbeam_experiments.cvc45.paper import printed
from hornbeam_experiments.cvc45.plan import Plan
from hornbeam_experiments.cvc45.protocol import METHODS, Division
from hornbeam_experiments.cvc45.sets import Loaded, PaperSet
from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.records import Cell, Sheet

Found = Sequence[tuple[Loaded, Sequence[Division]]]


def per_division(divisions: Sequence[Division], method: str, field: str) -> list[float]:
    """One figure a division, the mean of its runs; where there is one division, one figure a run."""
    trees = [division.by_method()[method] for division in divisions]
    if len(trees) == 1:
        return [float(getattr(one, field)) for one in trees[0]]
    return [statistics.fmean(float(getattr(one, field)) for one in some) for some in trees]


def table_1(found: Found) -> Sheet:
    """A line for each set and method, ours and the paper's."""
    records: list[dict[str, Cell]] = []
    for loaded, divisions in found:
        for method in METHODS:
            accuracy, nodes = (
                Mean.of(per_division(divisions, method, field)) for field in ("accuracy", "nodes")
            )
            theirs = printed(loaded.title, method)
            values = [one.m for division in divisions for one in division.by_method()[method]]
            records.append(
                {
                    "set": loaded.source.shown,
                    "method": method,
                    "accuracy": accuracy.value,
                    "low": accuracy.low,
                    "high": accuracy.high,
                    "over runs": spread_of(divisions) if method == "CVC4.5" else None,
                    "paper's accuracy": theirs.accuracy,
                    "paper's ±": theirs.spread,
                    "nodes": nodes.value,
                    "nodes, low": nodes.low,
                    "nodes, high": nodes.high,
                    "paper's nodes": theirs.size,
                    "median m": float(statistics.median(values)),
                    "divisions": len(divisions),
                }
            )
    return Sheet.of("table-1", records)


def spread_of(divisions: Sequence[Division]) -> float | None:
    """The standard deviation over the runs of a division, averaged over divisions; the paper had one."""
    known = [spread for division in divisions if (spread := division.spread()) is not None]
    return statistics.fmean(known) if known else None


def differences(found: Found) -> Sheet:
    """Each method against C4.5 as it comes, division by division."""
    records: list[dict[str, Cell]] = []
    for loaded, divisions in found:
        for method in METHODS[1:]:
            gains, shares = [], []
            for division in divisions:
                plain = division.by_method()["C4.5"][0]
                trees = division.by_method()[method]
                gains.append(statistics.fmean(one.accuracy for one in trees) - plain.accuracy)
                shares.append(statistics.fmean(one.nodes for one in trees) / plain.nodes)
            gain = Mean.of(gains)
            ours, base = printed(loaded.title, method), printed(loaded.title, "C4.5")
            records.append(
                {
                    "set": loaded.source.shown,
                    "method": method,
                    "points gained": gain.value,
                    "low": gain.low,
                    "high": gain.high,
                    "paper's points": round(ours.accuracy - base.accuracy, 2),
                    "better": sum(value > 1e-9 for value in gains),
                    "equal": sum(abs(value) <= 1e-9 for value in gains),
                    "worse": sum(value < -1e-9 for value in gains),
                    "nodes / C4.5's": statistics.fmean(shares),
                    "paper's nodes / C4.5's": ours.size / base.size,
                }
            )
    return Sheet.of("differences", records)


def by_m(found: Found, plan: Plan) -> Sheet:
    """What each m gave: estimated from the training rows, and on the test rows; means of the divisions."""
    records: list[dict[str, Cell]] = []
    for loaded, divisions in found:
        chosen = [choice.place for division in divisions for choice in division.choices]
        for place, m in enumerate(plan.values):
            estimates = [100 * choice.estimates[place] for one in divisions for choice in one.choices]
            outcomes = [one.outcomes[place] for one in divisions]
            records.append(
                {
                    "set": loaded.source.shown,
                    "m": m,
                    "cross-validated error": 100 - statistics.fmean(estimates),
                    "error on the test rows": 100 - statistics.fmean(one.accuracy for one in outcomes),
                    "nodes": statistics.fmean(one.nodes for one in outcomes),
                    "chosen": chosen.count(place),
                    "of": len(chosen),
                }
            )
    return Sheet.of("by-m", records)


def choices(found: Found) -> Sheet:
    """Every run of every division."""
    return Sheet.of(
        "choices",
        [
            {
                "set": loaded.source.shown,
                "division": number,
                "run": run,
                "m": division.outcomes[choice.place].m,
                "estimate": 100 * choice.estimate,
                "accuracy": division.outcomes[choice.place].accuracy,
                "nodes": division.outcomes[choice.place].nodes,
            }
            for loaded, divisions in found
            for number, division in enumerate(divisions)
            for run, choice in enumerate(division.choices)
        ],
    )


def the_sets(sets: Sequence[Loaded], absent: Sequence[tuple[PaperSet, str]]) -> Sheet:
    """What the sets are, and what is absent."""
    records: list[dict[str, Cell]] = []
    for loaded in sets:
        source = loaded.source
        divided = "given" if loaded.is_divided else "at random"
        records.append(_set(source, loaded.rows.num_rows, divided, source.remark))
    records += [_set(source, None, "", f"ABSENT: {reason}") for source, reason in absent]
    return Sheet.of("sets", records)


def _set(source: PaperSet, rows: int | None, divided: str, remark: str) -> dict[str, Cell]:
    return {
        "set": source.shown,
        "rows": rows,
        "training rows": source.train,
        "test rows": source.test,
        "divided": divided,
        "remark": remark,
    }


def text_of(sheet: Sheet) -> str:
    """Table 1 for a terminal: accuracy with half its interval and nodes, below them the paper's."""
    by_set: dict[Cell, dict[Cell, Mapping[str, Cell]]] = {}
    for record in sheet.records():
        by_set.setdefault(record["set"], {})[record["method"]] = record
    lines: list[tuple[str, ...]] = [("", *METHODS)]
    for title, methods in by_set.items():
        lines.append((str(title), *(_ours(methods[method]) for method in METHODS)))
        lines.append(("  the paper", *(_theirs(methods[method]) for method in METHODS)))
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _ours(record: Mapping[str, Cell]) -> str:
    value, high = float(record["accuracy"] or 0), float(record["high"] or 0)
    half = f" ± {high - value:.2f}" if high > value else ""
    return f"{value:.2f}{half} ({float(record['nodes'] or 0):.1f})"


def _theirs(record: Mapping[str, Cell]) -> str:
    spread = record["paper's ±"]
    half = "" if spread is None else f" ± {float(spread):.2f}"
    accuracy, nodes = record["paper's accuracy"], record["paper's nodes"]
    return f"{accuracy}{half} ({nodes})"
