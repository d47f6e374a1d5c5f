"""The real tables that tests and benchmarks read: gzip CSV files described by a `schema.csv` beside them."""

import csv
import functools
import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
ABSENT = "no real data: set HORNBEAM_DATA to the folder that holds schema.csv, or put it at ../shared/data"


@dataclass(frozen=True)
class RealSet:
    """One table: nominal attributes as text, numeric ones as float64, an empty cell as missing."""

    name: str
    table: pd.DataFrame
    target: pd.Series
    numeric: tuple[str, ...]
    nominal: tuple[str, ...]


def find_folder() -> Path | None:
    """The folder of the real tables, or None where this machine has none."""
    named = os.environ.get("HORNBEAM_DATA")
    if named and not (Path(named) / "schema.csv").is_file():
        raise FileNotFoundError(f"HORNBEAM_DATA={named}: no schema.csv there; name the folder that holds it")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if (folder / "schema.csv").is_file() else None


@functools.cache
def read_schema(folder: Path) -> dict[str, list[dict[str, str]]]:
    """File name -> its columns (column, kind, role), in their order."""
    columns: dict[str, list[dict[str, str]]] = {}
    with open(folder / "schema.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            columns.setdefault(row["file"], []).append(row)
    return columns


def load(name: str) -> RealSet:
    """The table called `name` (without `.csv.gz`); the caller makes sure that there is a folder."""
    folder = find_folder()
    if folder is None:
        raise FileNotFoundError(ABSENT)
    columns = read_schema(folder)[f"{name}.csv.gz"]
    target = next(c["column"] for c in columns if c["role"] == "target")
    kinds = {c["column"]: c["kind"] for c in columns if c["role"] == "attribute"}
    # A target of whole numbers (abalone's rings) stays numeric; class labels are text.
    types = {c["column"]: "str" if c["kind"] == "nominal" else "float64" for c in columns}
    frame = pd.read_csv(folder / f"{name}.csv.gz", dtype=types, keep_default_na=False, na_values=[""])
    return RealSet(
        name=name,
        table=frame[list(kinds)],
        target=frame[target],
        numeric=tuple(c for c, kind in kinds.items() if kind == "numeric"),
        nominal=tuple(c for c, kind in kinds.items() if kind == "nominal"),
    )
