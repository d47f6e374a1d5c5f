"""`hornbeam generate`: rows, or linked tables, of a known concept, of any length in little memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from .options import common_options

_Option = Callable[[Any], Any]
_Family = tuple[str, str, tuple[_Option, ...]]
"""What a family makes, how many if nobody says, and its own options."""


def option(name: str, default: Any, text: str, kind: type = float) -> Callable[[Any], Any]:
    """An option that the family itself checks; no default is shown where the text says what is usual."""
    shown = default is not None
    return click.option(name, type=kind, default=default, show_default=shown, metavar="VALUE", help=text)


_NOISE = option("--noise", 0.0, "The share of wrong labels.")
_EXTRA = option("--extra", 0, "How many random attributes to add.", int)

# What each family takes besides the options of all of them; named as its fields, which a test compares.
_TABLES: dict[str, _Family] = {
    "agrawal": (
        "People in two groups by ten functions.",
        "10,000",
        (
            option("--function", 1, "Which function says who is in group A: 1 to 10.", int),
            option("--profile", "ais93", "Whose reading of the generator: ais93, moa or quest-c.", str),
            option("--perturbation", 0.0, "How far numbers move after labelling, as a share of the range."),
            _NOISE,
            _EXTRA,
            option("--changed", None, "A region with another concept: 'age>=60 and salary<50000'.", str),
            option("--changed-to", "inverted", "The function that holds there: 1 to 10, or inverted.", str),
        ),
    ),
    "led": (
        "Digits on a faulty display.",
        "10,000",
        (
            option("--attributes", 7, "7 segments, or 24: 17 random bits more.", int),
            option("--noise", 0.1, "The share of wrong segments."),
        ),
    ),
    "xor": (
        "The parity of hidden bits.",
        "200",
        (
            option("--bits", 5, "How many bits matter.", int),
            option("--irrelevant", None, "How many do not; as many as matter if not given.", int),
            _NOISE,
        ),
    ),
    "numeric-xor": (
        "The sign of a product of hidden numbers.",
        "200",
        (
            option("--dimensions", 3, "How many numbers matter.", int),
            option("--irrelevant", None, "How many do not; as many as matter if not given.", int),
            _NOISE,
        ),
    ),
    "multiplexer": (
        "The addressed one of many bits.",
        "500",
        (
            option("--address", 4, "How many bits are the address; 4 for the multiplexer-20.", int),
            option("--irrelevant", 0, "How many bits do not matter.", int),
            _NOISE,
        ),
    ),
    "multiplex-xor": ("The selected one of two parities.", "200", (_NOISE,)),
    "monks": (
        "Monk's problems: all 432 robots or samples of them.",
        "all",
        (
            option("--problem", 1, "Which problem: 1, 2 or 3.", int),
            option("--subset", "all", "all, or training: a random set of the published size.", str),
            option(
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
            option("--tilt", 0.0, "The share of rows that makes the split at 20 better than the one at 60."),
            click.option("--balanced", is_flag=True, default=False, help="An exact tie at every fourth row."),
            _NOISE,
            _EXTRA,
        ),
    ),
}


_LINKED: dict[str, _Family] = {
    "bongard": (
        "Pictures of shapes inside others.",
        "1,453, complex 1,521",
        (
            option("--theory", "simple", "What the pictures of class pos have: simple or complex.", str),
            option("--objects", 6, "The most shapes of a picture.", int),
            option("--inside", 0.5, "How probably a shape lies in an earlier one."),
            _NOISE,
        ),
    ),
    "trains": (
        "Trains that go east by what cars they have.",
        "1,000",
        (
            option("--rule", 1, "Which trains go east: 1 to 5.", int),
            option("--cars", 5, "The most cars of a train.", int),
            _NOISE,
        ),
    ),
}


@click.group("generate", short_help="Make rows of a known concept.")
def command() -> None:
    """Make rows of a known concept, for tests and measurements: seeded, of any length, in little memory.

    The same seed gives the same rows on every machine, and the first rows of a large set are the small set.
    """


def _add(name: str, family: _Family, what: str, run: Callable[..., None], *output: _Option) -> None:
    text, usual, own = family
    shared = [
        click.option(
            "--rows",
            type=click.IntRange(min=1),
            metavar="N",
            help=f"How many {what} to make.  [default: {usual}]",
        ),
        option("--seed", 0, f"Names the set: the same seed, the same {what}.", int),
        option("--start", 0, f"Leave out the {what} before this one.", int),
        *output,
        common_options,
    ]
    if name in ("tictactoe", "balance"):
        del shared[1]  # nothing is drawn

    def make(**given: Any) -> None:
        run(name, **given)

    for one in reversed([*own, *shared]):
        make = one(make)
    command.command(name, help=text, short_help=text)(make)


def _rows(name: str, **given: Any) -> None:
    from .generate_rows import run

    run(name, **given)


def _linked(name: str, **given: Any) -> None:
    from .generate_linked import run

    run(name, **given)


_FILE = click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    metavar="FILE",
    help="A .csv or .parquet file, or - for CSV on stdout.",
)
_FOLDER = click.option(
    "-o", "--output", required=True, metavar="DIR", help="The directory; it is made if it is not there."
)
for _name, _family in _TABLES.items():
    _add(_name, _family, "rows", _rows, _FILE)
for _name, _family in _LINKED.items():
    _ace = click.option(
        "--ace", is_flag=True, help=f"{_name}.kb and {_name}.s for ACE instead of CSV tables."
    )
    _add(_name, _family, "examples", _linked, _FOLDER, _ace)
