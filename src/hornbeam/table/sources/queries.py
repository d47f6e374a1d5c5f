"""Queries of databases: how they are called in errors, and what all of them share."""

from dataclasses import dataclass, field

import pyarrow as pa

from hornbeam.errors import DataError, HornbeamError, UsageError, first_line
from hornbeam.table.columns import check_names
from hornbeam.table.schema import list_names
from hornbeam.table.sources.part import Part

NO_NUMBERS = "its rows have no numbers, so folds need a key"


@dataclass(frozen=True)
class QueryPart(Part):
    """All rows of a query, which has no final semicolon; `place` says where the database is."""

    place: str = field(repr=False)
    sql: str

    def failures(self) -> tuple[type[Exception], ...]:
        return pa.ArrowException, OSError, UnicodeDecodeError

    def refuse(self, error: Exception, rows: int) -> HornbeamError:
        return query_failed(self.shown, error, f" after {rows:,} rows")


def query_failed(shown: str, error: BaseException, when: str = "") -> DataError:
    """The one line for a query that the database refused or gave up."""
    return DataError(f"{shown}: the query failed{when}: {first_line(error)}")


def show_query(place: str, sql: str) -> str:
    """A query for people: the database, and how the query begins."""
    short = " ".join(sql.split())
    return f"{place!r} ({short if len(short) <= 60 else short[:57] + '...'})"


def check_query_names(names: list[str], shown: str) -> tuple[str, ...]:
    """The names of a query's columns, which must be different."""
    try:
        return check_names(list(names)) or ()
    except DataError as error:
        raise DataError(f"{shown}: {error}") from None


def quoted(name: str) -> str:
    """A name as SQL takes any: in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def query_of(place: str, sql: str | None, table: str | None, tables: list[str]) -> str:
    """The query that is meant; exactly one of a query and a table must be given."""
    if (sql is None) == (table is None):
        if sql is not None:
            raise UsageError(f"{place!r}: sql and table are both given; give one of them")
        raise UsageError(
            f"{place!r} is a database and needs sql='select ...' or table='...'; its tables are: "
            f"{list_names(tables)}",
            parameter="sql",
        )
    if table is not None and table not in tables:
        raise UsageError(f"{place!r} has no table {table!r}; its tables are: {list_names(tables)}")
    text = sql.strip().rstrip(";").rstrip() if sql is not None else f"select * from {quoted(table or '')}"
    if not text:
        raise UsageError(f"{place!r}: sql is empty; give a query (select ...)")
    return text
