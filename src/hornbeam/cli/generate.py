"""`hornbeam generate`: rows of a generator as a CSV or Parquet file, of any length in little memory."""

from __future__ import annotations

import os
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import click

from .generate_linked import linked_commands
from .generate_linked import option as _option
from .options import common_options

if TYPE_CHECKING:
    import pyarrow as pa

    from hornbeam.datasets.generators.family import RowsHash, TableFamily

Report = Callable[[float], None] | None
_SHOWN = 12


_NOISE = _option("--noise", 0.0, "The share of wrong labels.")
_EXTRA = _option("--extra", 0, "How many random attributes to add.", int)

# What each family takes besides the options of all of them; named as its fields, which a test compares.
_FAMILIES: dict[str, tuple[str, str, tuple[Callable[[Any], Any], ...]]] = {
    "agrawal": (
        "People in two groups by ten functions.",
        "10,000",
        (
            _option("--function", 1, "Which function says who is in group A: 1 to 10.", int),
            _option("--profile", "ais93", "Whose reading of the generator: ais93, moa or quest-c.", str),
            _option("--perturbation", 0.0, "How far numbers move after labelling, as a share of the range."),
            _NOISE,
            _EXTRA,
            _option("--changed", None, "A region with another concept: 'age>=60 and salary<50000'.", str),
            _option("--changed-to", "inverted", "The function that holds there: 1 to 10, or inverted.", str),
        ),
    ),
    "led": (
        "Digits on a faulty display.",
        "10,000",
        (
            _option("--attributes", 7, "7 segments, or 24: 17 random bits more.", int),
            _option("--noise", 0.1, "The share of wrong segments."),
        ),
    ),
    "xor": (
        "The parity of hidden bits.",
        "200",
        (
            _option("--bits", 5, "How many bits matter.", int),
            _option("--irrelevant", None, "How many do not; as many as matter if not given.", int),
            _NOISE,
        ),
    ),
    "numeric-xor": (
        "The sign of a product of hidden numbers.",
        "200",
        (
            _option("--dimensions", 3, "How many numbers matter.", int),
            _option("--irrelevant", None, "How many do not; as many as matter if not given.", int),
            _NOISE,
        ),
    ),
    "multiplexer": (
        "The addressed one of many bits.",
        "500",
        (
            _option("--address", 4, "How many bits are the address; 4 for the multiplexer-20.", int),
            _option("--irrelevant", 0, "How many bits do not matter.", int),
            _NOISE,
        ),
    ),
    "multiplex-xor": ("The selected one of two parities.", "200", (_NOISE,)),
    "monks": (
        "Monk's problems: all 432 robots or samples of them.",
        "all",
        (
            _option("--problem", 1, "Which problem: 1, 2 or 3.", int),
            _option("--subset", "all", "all, or training: a random set of the published size.", str),
            _option(
                "--noise", None, "The share of wrong labels; if not given 0.05 in training set 3, else 0."
            ),
        ),
    ),
    "tictactoe": ("All 958 endings of tic-tac-toe.", "all", ()),
    "balance": ("All 625 loads of a balance.", "all", ()),
    "instability": (
        "Two splits that are equally good.",
        "10,000",
        (
            _option("--tilt", 0.0, "The share of rows that makes the split at 20 better than the one at 60."),
            click.option("--balanced", is_flag=True, default=False, help="An exact tie at every fourth row."),
            _NOISE,
            _EXTRA,
        ),
    ),
}


@click.group("generate", short_help="Make rows of a known concept.")
def command() -> None:
    """Make rows of a known concept, for tests and measurements: seeded, of any length, in little memory.

    The same seed gives the same rows on every machine, and the first rows of a large set are the small set.
    """


def _add(name: str, text: str, usual: str, own: tuple[Callable[[Any], Any], ...]) -> None:
    shared = [
        click.option(
            "--rows",
            type=click.IntRange(min=1),
            metavar="N",
            help=f"How many rows to make.  [default: {usual}]",
        ),
        _option("--seed", 0, "Names the set: the same seed, the same rows.", int),
        _option("--start", 0, "Leave out the rows before this one.", int),
        click.option(
            "-o",
            "--output",
            default="-",
            show_default=True,
            metavar="FILE",
            help="A .csv or .parquet file, or - for CSV on stdout.",
        ),
        common_options,
    ]
    if name in ("tictactoe", "balance"):
        del shared[1]  # nothing is drawn

    def make(**given: Any) -> None:
        run(name, **given)

    for option in reversed([*own, *shared]):
        make = option(make)
    command.command(name, help=text, short_help=text)(make)


for _name, (_text, _usual, _own) in _FAMILIES.items():
    _add(_name, _text, _usual, _own)
for _linked in linked_commands():
    command.add_command(_linked)


def run(
    name: str, *, rows: int | None, start: int, output: str, as_json: bool, seed: int = 0, **options: Any
) -> None:
    """Everything is checked before anything is written."""
    from hornbeam.errors import UsageError

    from .output import check_places, print_json, working

    if output == "-" and as_json:
        raise UsageError("--json: stdout holds the rows already; name a file for them with -o")
    check_places(None if output == "-" else output)
    from hornbeam.datasets.generators import find_family
    from hornbeam.datasets.generators.family import RowsHash, batches, count_rows

    from .rows_out import format_of, write_rows

    form = format_of(output)
    if str(options.get("changed_to", "")).isdecimal():
        options["changed_to"] = int(options["changed_to"])
    family = find_family(name, **options)
    count = count_rows(family, rows, start)
    stream = batches(family, count, seed=seed, start=start)
    tally = _Tally(RowsHash(family), count)
    facts = {"generator": name, **asdict(family), "seed": seed, "start": start, "rows": count}  # type: ignore[call-overload]
    begin = time.perf_counter()
    with working(f"generating {name}") as report:
        try:
            write_rows(output, family, tally.watch(stream, report), facts)
        except KeyboardInterrupt:
            if output != "-":
                raise
            click.echo(f"hornbeam: interrupted after {tally.rows} of {count} rows", err=True)
            raise click.exceptions.Exit(130) from None
    if output == "-":
        return
    made = _summary(family, tally, facts) | {"output": output, "format": form}
    made["seconds"] = time.perf_counter() - begin
    print_json(made) if as_json else _print(made)


@dataclass
class _Tally:
    """What passed by: rows, classes, checksum."""

    hash: RowsHash
    expected: int
    rows: int = 0
    classes: Counter[str] = field(default_factory=Counter)

    def watch(self, stream: Iterator[pa.RecordBatch], report: Report) -> Iterator[pa.RecordBatch]:
        for batch in stream:
            yield batch
            self.hash.add(batch)
            for entry in batch.column(batch.num_columns - 1).value_counts().to_pylist():
                self.classes[str(entry["values"])] += entry["counts"]
            self.rows += batch.num_rows
            if report is not None:
                report(self.rows / self.expected)


def _summary(family: TableFamily, tally: _Tally, facts: dict[str, Any]) -> dict[str, Any]:
    import hornbeam

    names = family.schema.names
    return {
        **facts,
        "target": names[-1],
        "attributes": names[:-1],
        "nominal": list(family.nominal),
        "relevant": list(family.relevant(facts["seed"])),
        "classes": dict(sorted(tally.classes.items())),
        "hash": tally.hash.hexdigest(),
        "version": hornbeam.__version__,
    }


def _print(made: dict[str, Any]) -> None:
    from .output import print_pairs, style

    def listed(names: list[str]) -> str:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return ", ".join(names[:_SHOWN]) + more

    size = os.path.getsize(made["output"])
    shares = [f"{label} {count / made['rows']:.2%}" for label, count in made["classes"].items()]
    print_pairs(
        [
            (
                "written",
                style(f"{made['rows']:,} rows to {made['output']}", bold=True) + f" ({size:,} bytes)",
            ),
            ("attributes", listed(made["attributes"])),
            ("target", f"{made['target']} ({', '.join(shares)})"),
            ("decided by", listed(made["relevant"])),
            ("time", f"{made['seconds']:.2f} s"),
            ("hash", made["hash"][:16]),
        ]
    )
    click.echo(f"Next: hornbeam fit {shlex.quote(made['output'])} --target {made['target']}")
