"""The parts of the page: which figures of the paper, from which measurements, with which words."""

from __future__ import annotations

from collections.abc import Sequence

from hornbeam_experiments.boat import curves, pictures
from hornbeam_experiments.boat.changing import changing_parts
from hornbeam_experiments.boat.growths import ALL, BOAT, MEMORY
from hornbeam_experiments.boat.instability import unstable
from hornbeam_experiments.boat.paper import paper, said
from hornbeam_experiments.boat.plan import CHANGING, Plan
from hornbeam_experiments.records import Cell, Part, Sheet

MILLION = 1e6
RATIO = "CPU / BOAT's"
BYTES = "MB read and spilled"


def parts_of(plan: Plan) -> tuple[Part, ...]:
    """Figures 4 to 12, QUEST, figures 13 to 15, as far as the plan has them, and the setting."""
    made = [make(plan) for name, make in _GROWING.items() if name in plan.parts]
    if any(name in CHANGING for name in plan.parts):
        made += changing_parts(plan)
    return (*made, setting_part(plan))


def rows_part(plan: Plan) -> Part:
    sheet = curves.by_rows(plan)
    compared = factors(sheet, plan)
    unit, scale = plan.unit
    return Part(
        "Figures 4 to 6: time by rows",
        f"No noise; families below {plan.stop:,} rows are leaves. {found(compared)}",
        said("figures 4-6"),
        pictures.curves(sheet, "rows", f"{unit} rows", "By rows", scale),
        (compared, sheet),
        (compared.name,),
    )


def factors(sheet: Sheet, plan: Plan) -> Sheet:
    """At the most rows: how much longer the others take, how often and how much they read."""
    records: list[dict[str, Cell]] = []
    for name in plan.functions:
        mine = {
            str(record["algorithm"]): record
            for record in sheet.records()
            if record["set"] == name and record["rows"] == plan.sizes[-1]
        }
        boat = mine[BOAT.name]
        for other, record in mine.items():
            in_paper = other in paper()["entries"]
            records.append(
                {
                    "set": name,
                    "algorithm": other,
                    RATIO: record["/ BOAT"],
                    "the paper's factor": paper()["factors"][name] if in_paper else None,
                    "scans": record["scans"],
                    "MB read": record["MB read"],
                    "MB spilled": record["MB spilled"],
                    "bytes / BOAT's": float(record[BYTES] or 0) / float(boat[BYTES] or 1),
                    "peak MB": record["peak MB"],
                    "alarms": record["alarms"],
                }
            )
    return Sheet.of("factors", records)


def found(compared: Sheet) -> str:
    """The factors in a sentence."""
    words = []
    for other in dict.fromkeys(str(record["algorithm"]) for record in compared.records()):
        if other != BOAT.name:
            mine = [record for record in compared.records() if record["algorithm"] == other]
            ratios = ", ".join(f"{float(r[RATIO] or 0):.2f} ({r['set']})" for r in mine)
            name = "one scan and then growing in memory" if other == MEMORY.name else other
            words.append(f"{name} takes {ratios}")
    return f"Here, with the most rows, in times BOAT's CPU: {'; '.join(words)}." if words else ""


def noise_part(plan: Plan) -> Part:
    sheet = curves.by_noise(plan)
    return Part(
        "Figures 7 to 9: time by noise",
        f"{plan.middle:,} rows; so many labels in a hundred are wrong. {spread(sheet)}",
        said("figures 7-9"),
        pictures.curves(sheet, "noise", "% noise", "By noise"),
        (sheet,),
    )


def spread(sheet: Sheet) -> str:
    """How much BOAT's time depends on what was varied."""
    words = []
    for name in dict.fromkeys(str(record["set"]) for record in sheet.records()):
        seconds = _boats(sheet, name)
        words.append(f"{min(seconds):.1f} to {max(seconds):.1f} s ({name})")
    return f"BOAT's CPU seconds, least and most: {', '.join(words)}."


def _boats(sheet: Sheet, name: str) -> list[float]:
    return [
        float(record["CPU seconds"] or 0)
        for record in sheet.records()
        if record["set"] == name and record["algorithm"] == BOAT.name
    ]


def attributes_part(plan: Plan) -> Part:
    sheet = curves.by_attributes(plan)
    names = list(dict.fromkeys(str(record["set"]) for record in sheet.records()))
    most, least = plan.extras[-1], plan.extras[0]
    grown = [_boats(sheet, name) for name in names]
    each = ", ".join(f"{seconds[-1] / seconds[0]:.2f} ({n})" for n, seconds in zip(names, grown, strict=True))
    return Part(
        "Figures 10 and 11: time by further attributes",
        f"{plan.middle:,} rows; the further attributes are random numbers of 0 to 99,999. With {most} "
        f"BOAT takes so many times what it takes with {least}: {each}; the attributes to read are "
        f"{(9 + most) / (9 + least):.2f} times as many.",
        said("figures 10-11"),
        pictures.curves(sheet, "further attributes", "further attributes", "By further attributes"),
        (sheet,),
    )


def instability_part(plan: Plan) -> Part:
    curve, cuts, works = unstable(plan)
    short = curves.brief("instability", works)
    return Part(
        "Figure 12: two splits that are equally good",
        f"{plan.middle:,} rows with x from 0 to 80 in four equal parts and four attributes that say nothing, "
        "and the same with a first part that is a little larger. Below, where the bootstrap trees cut x at "
        "their roots, and what growing took: a node on which they disagree costs BOAT its rows.",
        said("figure 12"),
        (pictures.impurity(curve),),
        (cuts, short, works, curve),
        (cuts.name, short.name),
    )


def quest_part(plan: Plan) -> Part:
    sheet = curves.by_quest(plan)
    short = curves.brief("quest-and-gini", sheet, "criterion", "nodes", "remark")
    return Part(
        "QUEST: a selection of splits without impurity",
        f"{plan.middle:,} rows without noise, growth stops as above. QUEST's sums have no bounds; "
        "who does not take it says so, and growing in memory stands beside.",
        said("quest"),
        (),
        (short, sheet),
        (short.name,),
    )


def setting_part(plan: Plan) -> Part:
    """The paper's setting and ours."""
    buffers = {one.name: plan.entries(one) for one in ALL if one.avc_entries is not None}
    lines: Sequence[tuple[str, Cell, Cell]] = (
        ("sampled rows", paper()["sample"], plan.sampling["sample"]),
        ("bootstraps", paper()["bootstraps"], plan.sampling["bootstraps"]),
        ("rows of a bootstrap", paper()["bootstrap rows"], plan.sampling["rows"]),
        ("families that are leaves, rows below", paper()["stop"], plan.stop),
        *((f"entries of {name}", paper()["entries"][name], entries) for name, entries in buffers.items()),
        ("memory for all but the last, MB", 128, plan.memory_limit / MILLION),
        ("memory of a kept tree and of a new file, MB", 128, plan.kept_memory / MILLION),
        ("rows of a chunk", paper()["chunk"], plan.chunk),
        ("bytes of a row", "40, binary files", "16, Parquet with snappy"),
        ("contestants", "BOAT, RF-Hybrid, RF-Vertical", ", ".join(one.name for one in ALL)),
    )
    records = [{"setting": name, "the paper": theirs, "here": ours} for name, theirs, ours in lines]
    sheet = Sheet.of("setting", records)
    return Part("The setting", "", "", sheets=(sheet,), shown=(sheet.name,))


_GROWING = {
    "4-6": rows_part,
    "7-9": noise_part,
    "10-11": attributes_part,
    "12": instability_part,
    "quest": quest_part,
}
