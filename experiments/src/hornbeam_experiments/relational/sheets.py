"""The numbers of each figure, from the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hornbeam_experiments.intervals import Mean
from hornbeam_experiments.records import Cell, Sheet
from hornbeam_experiments.relational.growths import CACHED, ONE, Rounds, accuracy
from hornbeam_experiments.relational.sets import PRIVATE, Loaded, PaperSet


def first_table(all_rounds: Sequence[Rounds]) -> Sheet:
    """Table 1 of the first version: seconds of one tree, of S and of CV, speedup, and both overheads."""
    records: list[dict[str, Cell]] = []
    for rounds in all_rounds:
        speedup = rounds.ratio("S", "CV")
        records.append(
            {
                "set": rounds.loaded.title,
                "examples": rounds.loaded.n_examples,
                "T actual, ms": 1000 * rounds.seconds(ONE).value,
                "T serial, ms": 1000 * rounds.seconds("S").value,
                "T parallel, ms": 1000 * rounds.seconds("CV").value,
                "speedup": speedup.value,
                "low": speedup.low,
                "high": speedup.high,
                "overhead of S": rounds.ratio("S", ONE).value - 1,
                "overhead of CV": rounds.ratio("CV", ONE).value - 1,
                "S / CV with cache": rounds.ratio("S", CACHED).value,
            }
        )
    title, examples, _ = PRIVATE
    empty: dict[str, Cell] = dict.fromkeys(records[0]) if records else {}
    records.append(empty | {"set": f"{title} (private)", "examples": examples})
    return Sheet.of("first-version-table-1", records)


def breakdown(name: str, all_rounds: Sequence[Rounds]) -> tuple[Sheet, Sheet]:
    """Seconds by kind of work, and in all, relative to the tree of all examples alone."""
    works: list[dict[str, Cell]] = []
    totals: list[dict[str, Cell]] = []
    for rounds in all_rounds:
        one = rounds.seconds(ONE).value
        for algorithm in rounds.races[0].growths:
            owner: dict[str, Cell] = {"set": rounds.loaded.title, "algorithm": algorithm}
            for work, seconds in rounds.works(algorithm).items():
                works.append({**owner, "work": work, "seconds": seconds, "relative": seconds / one})
            relative = Mean.of([race.growths[algorithm].seconds / one for race in rounds.races])
            totals.append(
                {
                    **owner,
                    "seconds": rounds.seconds(algorithm).value,
                    "relative": relative.value,
                    "low": relative.low,
                    "high": relative.high,
                    "speedup": rounds.ratio("S", algorithm).value,
                    "runs": len(rounds.races),
                }
            )
    return Sheet.of(f"{name}-works", works), Sheet.of(name, totals)


def by_number(
    name: str, of: Mapping[int, Sequence[Rounds]], algorithms: Sequence[str], base: str = ONE
) -> Sheet:
    """Time relative to one tree by number of folds or bags; `speedup` is S over it."""
    records: list[dict[str, Cell]] = []
    for n, all_rounds in of.items():
        for rounds in all_rounds:
            for algorithm in algorithms:
                speedup = rounds.ratio("S", algorithm)
                records.append(
                    {
                        "set": rounds.loaded.title,
                        "sets grown": n,
                        "algorithm": algorithm,
                        "relative": rounds.ratio(algorithm, base).value,
                        "speedup": speedup.value,
                        "low": speedup.low,
                        "high": speedup.high,
                    }
                )
    records.sort(key=lambda record: (str(record["set"]), int(record["sets grown"] or 0)))
    return Sheet.of(name, records)


def by_level(all_rounds: Sequence[Rounds]) -> Sheet:
    """Figure 10: milliseconds of each level by algorithm, beside f of the level before."""
    records: list[dict[str, Cell]] = []
    for rounds in all_rounds:
        seconds = {name: rounds.levels(name) for name in (ONE, "S", "OS", "CV")}
        f = rounds.f
        for level in range(max(map(len, seconds.values()))):
            at = {name: own[level] if level < len(own) else 0.0 for name, own in seconds.items()}
            before = f[level - 1] if 0 < level <= len(f) else 1.0
            records.append({"set": rounds.loaded.title, "level": level + 1, **at, "f(i-1)": before})
    return Sheet.of("figure-10", records)


def accuracies(all_rounds: Sequence[Rounds]) -> Sheet:
    """Of ten folds, unpruned; the same for all algorithms."""
    records: list[dict[str, Cell]] = []
    for rounds in all_rounds:
        loaded = rounds.loaded
        found = Mean.of([100 * accuracy(loaded, race.forest) for race in rounds.races])
        target = loaded.coded.examples.target
        assert target is not None
        largest = 100 * max(int((target == k).sum()) for k in set(target.tolist())) / len(target)
        tree = rounds.races[0].forest.tree(0)
        records.append(
            {
                "set": loaded.title,
                "accuracy, %": found.value,
                "low": found.low,
                "high": found.high,
                "largest class, %": largest,
                "tests of the tree": sum(not node.is_leaf for node in tree.nodes),
            }
        )
    return Sheet.of("accuracy", records)


def the_sets(
    sets: Sequence[Loaded], plan: Sequence[PaperSet], absent: Sequence[tuple[PaperSet, str]]
) -> Sheet:
    """What the sets are, and what is absent."""
    remarks = {entry.title: entry for entry in plan}
    records: list[dict[str, Cell]] = []
    for loaded in sets:
        entry = remarks[loaded.title]
        facts = sum(relation.n_rows for relation in loaded.coded.relations.values())
        records.append(_set(entry.title, loaded.n_examples, entry.examples, facts, entry.remark))
    records += [_set(entry.title, None, entry.examples, None, f"ABSENT: {why}") for entry, why in absent]
    title, examples, reason = PRIVATE
    records.append(_set(title, None, examples, None, reason))
    return Sheet.of("sets", records)


def _set(title: str, ours: int | None, theirs: int, facts: int | None, remark: str) -> dict[str, Cell]:
    return {
        "set": title,
        "examples": ours,
        "examples in the paper": theirs,
        "facts": facts,
        "remark": remark,
    }
