"""The small files that sessions find, good ones and bad ones."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .linked import FACTS, SETTINGS
from .tables import people, shop

PERSON = ("age", "income", "colour", "town", "member", "class")


def prepare(place: Path) -> None:
    """The files that sessions find."""
    rows = people(80, seed=31, gaps=0.08)
    _write_csv(place / "data.csv", rows.select(PERSON))
    _write_csv(
        place / "new.csv", people(5, seed=32, gaps=0.2).select(["town", "age", "colour", "member", "income"])
    )
    _write_csv(place / "weighed.csv", rows.select([*PERSON, "weight"]))
    _write_csv(place / "numbers.csv", rows.select([*PERSON[:-1], "amount", "change"]))
    keyed = people(120, seed=33).select(["id", *PERSON])
    pq.write_table(keyed.slice(0, 90), place / "keyed.parquet")
    pq.write_table(keyed.slice(90, 30), place / "more.parquet")
    pq.write_table(keyed.slice(20, 10), place / "gone.parquet")
    pq.write_table(keyed.slice(30, 70), place / "now.parquet")
    (place / "shop").mkdir()
    names = {"customer": "customer_id", "order": "order_id"}
    for name, table in shop().items():
        renamed = table.rename_columns([names.get(column, column) for column in table.column_names])
        _write_csv(place / "shop" / f"{name}.csv", renamed)
    (place / "mach.s").write_text(SETTINGS)
    (place / "mach.kb").write_text(FACTS)
    _write_bad(place, keyed)


def _write_bad(place: Path, keyed: pa.Table) -> None:
    (place / "no_rows.csv").write_text("a,y\n")
    (place / "alone.csv").write_text("y\nk\nl\n")
    (place / "twice.csv").write_text("a,a,y\n1,2,k\n3,4,l\n")
    (place / "gaps.csv").write_text("a,y\n1,k\n2,\n")
    (place / "infinite.csv").write_text("a,y\n1,0.5\n2,inf\n")
    (place / "latin.csv").write_bytes("a,y\n1,für\n2,x\n".encode("latin-1"))
    (place / "wide.csv").write_bytes("a,y\n1,k\n".encode("utf-16"))
    (place / "narrow.csv").write_text("age,colour,town,member\n40,red,Mons,true\n")
    pq.write_table(keyed.drop_columns(["age"]), place / "less.parquet")
    pq.write_table(keyed.append_column("new", keyed["age"]), place / "wider.parquet")
    (place / "cut.model").write_text('{"format": "hornbeam-model", "version": 1, "sha2')
    (place / "newer.model").write_text(
        '{"format": "hornbeam-model", "version": 7, "sha256": "", "payload": {}}\n'
    )
    (place / "forged.model").write_text(
        '{"format": "hornbeam-model", "version": 1, "sha256": "'
        + "0" * 64
        + '", "payload": {"estimator": "X"}}\n'
    )


def _write_csv(path: Path, table: pa.Table) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.column_names)
        columns = [[_cell(value) for value in column.to_pylist()] for column in table.columns]
        writer.writerows(zip(*columns, strict=True))


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value
