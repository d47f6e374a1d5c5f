"""Bongard problems: pictures of shapes, some inside others, that a pattern sorts into two classes.

The sets SB and CB of Blockeel and Struyf were never published. These are stand-ins of the same sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from .family import choice, share, whole
from .linked import LinkedFamily, Tables, columns_of, draw_orders, labels, names, part_names, rows_of, some
from .streams import Integers, Rows, Truths, Values

SHAPES = ("triangle", "square", "circle")
TURNS = ("up", "down")
CLASSES = ("neg", "pos")
SIZES = {"simple": 1453, "complex": 1521}
_TRIANGLE, _SQUARE, _CIRCLE = range(3)
_UP, _DOWN = range(2)
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
    asks: ClassVar[str] = "Which pictures follow the {0.theory} theory?"
    settings: ClassVar[str] = SETTINGS
    keys: ClassVar = {"picture": "picture_id", "object": "object_id"}
    references: ClassVar = {
        "object": {"picture_id": "picture"},
        "inside": {"picture_id": "picture", "inner_object_id": "object", "outer_object_id": "object"},
    }
    target: ClassVar[str] = "picture.class"

    theory: str = choice("simple", tuple(SIZES))
    objects: int = whole(6, 2, 100)
    inside: float = share(0.5)
    noise: float = share()

    @property
    def usual_examples(self) -> int:
        return SIZES[self.theory]

    def pictures(self, rows: Rows) -> Pictures:
        places, objects = range(self.objects), rows.between("bongard/objects", 2, self.objects)
        present = columns_of(places, lambda j: objects > j)
        shape = columns_of(places, lambda j: rows.below(f"bongard/shape/{j}", 3))
        turn = columns_of(places, lambda j: rows.below(f"bongard/turn/{j}", 2))
        turn[shape != _TRIANGLE] = -1

        def around(j: int) -> Integers:
            inside = rows.chance(f"bongard/is_inside/{j}", self.inside if j else 0.0)
            return np.where(inside, rows.below(f"bongard/outer/{j}", max(j, 1)), -1)

        outer = columns_of(places, around)
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
                    "object_id": part_names("p", "o", picture[there], number[there]),
                    "picture_id": names("p", picture[there] + 1),
                    "shape": labels(named(made.shape)[there], SHAPES),
                    "orientation": labels(named(made.turn)[there], TURNS),
                }
            ),
            "inside": pa.table(
                {
                    "picture_id": names("p", picture[within] + 1),
                    "inner_object_id": part_names("p", "o", picture[within], number[within]),
                    "outer_object_id": part_names("p", "o", picture[within], around[within]),
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
