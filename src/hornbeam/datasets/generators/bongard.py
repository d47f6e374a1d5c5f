"""Bongard problems: pictures of shapes, some inside others, that a pattern sorts into two classes.

The sets SB and CB of Blockeel and Struyf were never published. These are stand-ins of the same sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from .family import check_choice, check_count, check_share
from .linked import LinkedFamily, Tables, draw_orders, labels, names, rows_of, some
from .streams import Integers, Rows, Truths, Values

SHAPES = ("triangle", "square", "circle")
TURNS = ("up", "down")
CLASSES = ("neg", "pos")
SIZES = {"simple": 1453, "complex": 1521}
_TRIANGLE, _SQUARE, _CIRCLE = range(3)
_UP, _DOWN = range(2)


@dataclass(frozen=True)
class Pictures:
    """Objects by picture and place: whether there is one, its shape, how a triangle is turned, and the place
    of the object that it lies in (-1: none)."""

    present: Truths
    shape: Integers
    turn: Integers
    outer: Integers

    def outer_of(self, values: Integers) -> Integers:
        """The value of the object around each object, -1 where there is none."""
        padded = np.concatenate([values, np.full((len(values), 1), -1)], axis=1)
        return np.take_along_axis(padded, self.outer, axis=1)

    def is_meant(self, theory: str) -> Truths:
        around = self.outer_of(self.shape)
        triangle = self.present & (self.shape == _TRIANGLE)
        if theory == "simple":
            return some(triangle & (around == _CIRCLE))
        beyond = self.outer_of(around)
        circle = self.present & (self.shape == _CIRCLE)
        square = self.present & (self.shape == _SQUARE)
        first = some(triangle & (self.turn == _UP) & (around == _TRIANGLE))
        second = some(circle & (around == _SQUARE) & (beyond == _TRIANGLE))
        third = some(triangle & (self.turn == _DOWN) & (around == _CIRCLE)) & ~some(square)
        return first | second | third


@dataclass(frozen=True)
class Bongard(LinkedFamily):
    """`theory` simple: a triangle lies in a circle. complex: an up triangle lies in a triangle, or a circle
    in a square that lies in a triangle, or a down triangle in a circle where there is no square."""

    name: ClassVar[str] = "bongard"
    keys: ClassVar = {"picture": "picture_id", "object": "object_id"}
    references: ClassVar = {
        "object": {"picture_id": "picture"},
        "inside": {"picture_id": "picture", "inner_object_id": "object", "outer_object_id": "object"},
    }
    target: ClassVar[str] = "picture.class"

    theory: str = "simple"
    objects: int = 6
    inside: float = 0.5
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_choice("theory", self.theory, tuple(SIZES))
        check_count("objects", self.objects, 2, 100)
        check_share("inside", self.inside)
        check_share("noise", self.noise)

    @property
    def title(self) -> str:
        return f"Which pictures follow the {self.theory} theory?"

    @property
    def usual_examples(self) -> int:
        return SIZES[self.theory]

    def pictures(self, rows: Rows) -> Pictures:
        count = rows.between("bongard/objects", 2, self.objects)
        places = range(self.objects)
        present = np.stack([count > j for j in places], axis=1)
        shape = np.stack([rows.below(f"bongard/shape/{j}", 3) for j in places], axis=1)
        turn = np.stack([rows.below(f"bongard/turn/{j}", 2) for j in places], axis=1)
        turn[shape != _TRIANGLE] = -1
        outer = np.stack(
            [
                np.where(
                    rows.chance(f"bongard/is_inside/{j}", self.inside if j else 0.0),
                    rows.below(f"bongard/outer/{j}", max(j, 1)),
                    -1,
                )
                for j in places
            ],
            axis=1,
        )
        outer[~present] = -1
        return Pictures(present, shape, turn, outer)

    def draw(self, rows: Rows) -> Tables:
        made = self.pictures(rows)
        label = made.is_meant(self.theory) ^ rows.chance("bongard/noise", self.noise)
        # Names are dealt at random and tables follow them: who came first must not show in the order.
        place = draw_orders(rows, "bongard/name", self.objects, made.present)
        by_name = np.argsort(place, axis=1, kind="stable")

        def named(values: Values) -> Values:
            return np.take_along_axis(values, by_name, axis=1)

        there = named(made.present)
        picture = np.broadcast_to(rows.numbers[:, None], there.shape)
        number = np.broadcast_to(np.arange(self.objects), there.shape)
        within = there & (named(made.outer) >= 0)
        around = named(made.outer_of(place))
        return {
            "picture": pa.table(
                {
                    "picture_id": names("p", rows.numbers + 1),
                    "class": labels(label.astype(np.int64), CLASSES),
                }
            ),
            "object": pa.table(
                {
                    "object_id": object_names(picture[there], number[there]),
                    "picture_id": names("p", picture[there] + 1),
                    "shape": labels(named(made.shape)[there], SHAPES),
                    "orientation": labels(named(made.turn)[there], TURNS),
                }
            ),
            "inside": pa.table(
                {
                    "picture_id": names("p", picture[within] + 1),
                    "inner_object_id": object_names(picture[within], number[within]),
                    "outer_object_id": object_names(picture[within], around[within]),
                }
            ),
        }

    def facts(self, tables: Tables) -> Iterator[str]:
        for picture, label in rows_of(tables["picture"]):
            yield f"bongard({picture},{label})."
        for thing, picture, shape, turn in rows_of(tables["object"]):
            yield f"{shape}({picture},{thing})."
            if turn is not None:
                yield f"config({picture},{thing},{turn})."
        for picture, inner, outer in rows_of(tables["inside"]):
            yield f"in({picture},{inner},{outer})."

    @property
    def settings(self) -> str:
        return SETTINGS


def object_names(pictures: Integers, numbers: Integers) -> pa.Array:
    pairs = zip((pictures + 1).tolist(), (numbers + 1).tolist(), strict=True)
    return pa.array([f"p{picture}_o{number}" for picture, number in pairs], type=pa.string())


SETTINGS = """\
load(key).
predict(bongard(+pic,-class)).
heuristic(gain).
minimal_cases(2).
typed_language(yes).
type(triangle(pic,obj)).
type(square(pic,obj)).
type(circle(pic,obj)).
type(in(pic,obj,obj)).
type(config(pic,obj,conf)).
rmode(5: triangle(+P,+-S)).
rmode(5: square(+P,+-S)).
rmode(5: circle(+P,+-S)).
rmode(5: in(+P,+S1,+-S2)).
rmode(5: in(+P,+-S1,+S2)).
rmode(5: config(+P,+S,#[up,down])).
execute(tilde).
"""
