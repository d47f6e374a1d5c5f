"""What the folds of a set gave, kept in a folder: a run of hours that is broken off goes on where it was."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Scores = dict[str, list[float | None]]
"""Accuracy by learner, one for each budget."""


@dataclass(frozen=True)
class Fold:
    """One fold of a set: scores, CPU seconds of this process, and the machine's load at the end."""

    table: str
    number: int
    scores: Scores
    seconds: float
    load: float


@dataclass(frozen=True)
class Kept:
    """Folds measured under the same terms: budgets, peers, versions. Without a folder none are kept."""

    folder: Path | None
    terms: Mapping[str, Any]

    def file(self, folder: Path, table: str, number: int) -> Path:
        return folder / f"{table}-{number}.json"

    def find(self, table: str, number: int) -> Fold | None:
        """The fold if it was measured; other terms than now are refused."""
        if self.folder is None or not (path := self.file(self.folder, table, number)).exists():
            return None
        content = json.loads(path.read_text())
        for name, now in self.terms.items():
            if (then := content["terms"].get(name)) != now:
                raise ValueError(
                    f"{path.name} was measured with {name} {then}, now it is {now}; "
                    "name another folder, or run with the same"
                )
        return Fold(**content["fold"])

    def keep(self, fold: Fold) -> None:
        """Written beside and moved there: a fold that is there is whole."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.file(self.folder, fold.table, fold.number)
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps({"terms": dict(self.terms), "fold": asdict(fold)}, indent=1) + "\n")
        beside.replace(path)

    def told(self, tables: Iterable[str], which: Iterable[int]) -> str:
        """One line: the sets and folds that are there."""
        if self.folder is None:
            return "no fold was kept; --kept FOLDER keeps them"
        numbers = list(which)
        found = {table: [n for n in numbers if self.find(table, n) is not None] for table in tables}
        lists = [f"{table} {' '.join(map(str, have))}" for table, have in found.items() if have]
        return f"folds that are kept: {', '.join(lists) or 'none'}; the same command goes on"
