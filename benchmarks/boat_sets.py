"""The sets of the BOAT benchmark as files of a cache directory: made once, in chunks, and found again."""

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hornbeam_experiments.boat.people import people, write

FURTHER = 30  # columns of the wide set
_FEW = 1000  # values of each
ATTRIBUTES = ("salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan")
STAR = """select salary, commission, age, elevel, car, zipcode, hvalue, hyears, loan, class
from money join people using (person) join levels using (level_key) join cars using (car_key)
join zips using (zip_key)"""


@dataclass(frozen=True)
class Set:
    """Rows of one of Agrawal's functions, and how `hornbeam.source` opens them."""

    function: int
    noise: float
    rows: int
    place: str
    options: dict[str, Any] = field(default_factory=dict)
    kind: str = ""

    @property
    def name(self) -> str:
        return f"F{self.function}, {100 * self.noise:g} % noise{self.kind and ', '}{self.kind}"

    @property
    def is_settled_by_bounds(self) -> bool:
        """Two tests and no doubt: the tree of function 1 without noise."""
        return (self.function, self.noise) == (1, 0)


def default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hornbeam" / "benchmarks"


def plain(cache: Path, function: int, noise: float, rows: int) -> Set:
    """Ten whole numbers a row, Parquet with snappy."""
    path = _made(
        cache / f"agrawal-f{function}-n{100 * noise:g}-{rows}.parquet",
        lambda place: write(people(rows, function=function, noise=noise), place),
    )
    return Set(function, noise, rows, str(path))


def wide(cache: Path, function: int, noise: float, rows: int) -> Set:
    """The same people with thirty columns more, which say nothing and are read, compressed by zstd."""
    path = _made(
        cache / f"agrawal-wide-f{function}-n{100 * noise:g}-{rows}.parquet",
        lambda place: write(_widened(rows, function, noise), place, "zstd"),
    )
    return Set(function, noise, rows, str(path), kind="wide and compressed")


def star(cache: Path, plain_set: Set) -> Set:
    """The same rows as a query that joins a table of amounts with one of people and three small ones."""
    path = _made(
        cache / f"agrawal-star-f{plain_set.function}-n{100 * plain_set.noise:g}-{plain_set.rows}.duckdb",
        lambda place: _make_star(plain_set.place, place),
    )
    options = {"sql": STAR, "memory_limit": "1GB"}
    return Set(plain_set.function, plain_set.noise, plain_set.rows, str(path), options, "star join")


def numbers(cache: Path, rows: int, kind: str, columns: Collection[str], weight: str | None = None) -> Set:
    """The people of function 7 with noise, an income to predict, and a weight: those columns of them."""
    path = _made(
        cache / f"agrawal-numbers-f7-n5-{rows}.parquet", lambda place: write(_with_income(rows), place)
    )
    options: dict[str, Any] = {"columns": [*ATTRIBUTES, *columns]}
    if weight is not None:
        options["weight"] = weight
    return Set(7, 0.05, rows, str(path), options, kind)


def _with_income(rows: int) -> Iterator[pa.RecordBatch]:
    """The income is what is left of salary and commission after the loan's rate, to the hundredth, give or
    take 5 000; a weight is from 0.5 to 2, to the thousandth."""
    draw = np.random.default_rng(1)
    for batch in people(rows, function=7, noise=0.05):
        salary, commission, loan = (
            batch.column(name).to_numpy().astype(float) for name in ("salary", "commission", "loan")
        )
        left = 0.67 * (salary + commission) - 0.2 * loan + draw.normal(size=len(loan)) * 5000
        weight = draw.uniform(0.5, 2, len(loan))
        columns = [*batch.columns, pa.array(left.round(2)), pa.array(weight.round(3))]
        yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, "income", "weight"])


def _made(path: Path, make: Callable[[Path], None]) -> Path:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"unfinished-{os.getpid()}-{path.name}")
        try:
            make(unfinished)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    return path


def _widened(rows: int, function: int, noise: float) -> Iterator[pa.RecordBatch]:
    for batch in people(rows, function=function, noise=noise, extra=FURTHER):
        columns = []
        for name in batch.schema.names:
            column = batch.column(name)
            if name.startswith("extra"):
                parts = pc.divide(column, pa.scalar(100_000 // _FEW, column.type))
                column = parts.cast(pa.int16())
            columns.append(column)
        yield pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _make_star(source: str, place: Path) -> None:
    with duckdb.connect(str(place)) as database:
        database.execute("set threads = 1")
        database.execute(f"""create table everything as
            select row_number() over () as person, * from read_parquet('{source}')""")
        database.execute(
            "create table money as select person, salary, commission, hvalue, loan, class from everything"
        )
        database.execute("""create table people as select person, age, elevel + 100 as level_key,
            car + 200 as car_key, zipcode + 300 as zip_key, hyears from everything""")
        for table, key, value, more in (
            ("levels", "level_key", "elevel", 100),
            ("cars", "car_key", "car", 200),
            ("zips", "zip_key", "zipcode", 300),
        ):
            database.execute(
                f"create table {table} as select distinct {value} + {more} as {key}, {value} from everything"
            )
        database.execute("drop table everything")
        database.execute("checkpoint")
