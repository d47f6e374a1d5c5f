"""Trains that go east or west by what cars they have, after Michalski's ten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from .family import choice, share, whole
from .linked import LinkedFamily, Tables, columns_of, draw_orders, labels, names, part_names, rows_of, some
from .streams import Integers, Reals, Rows, Truths

LENGTHS = ("short", "long")
SHAPES = ("rectangle", "u_shaped", "bucket", "hexagon", "ellipse")
ROOFS = ("flat", "peaked", "jagged", "arc")
LOADS = ("circle", "triangle", "rectangle", "hexagon")
DIRECTIONS = ("west", "east")
_HEAVY = 20.0
_PROPERTIES = (
    "short(T,C)",
    "closed(T,C)",
    "long(T,C)",
    "shape(T,C,#[rectangle,u_shaped,bucket,hexagon,ellipse])",
    "roof(T,C,#[flat,peaked,jagged,arc])",
    "wheels(T,C,#[2,3])",
    "carries(T,C,#[circle,triangle,rectangle,hexagon],_)",
)
SETTINGS = "\n".join(
    [
        "load(key).",
        "predict(train(+train,-class)).",
        "heuristic(gain).",
        "minimal_cases(2).",
        "max_lookahead(2).",
        "typed_language(yes).",
        *(f"type({name}(train,car))." for name in ("has_car", "short", "closed", "long")),
        *(f"type({name}(train,car,{name}))." for name in ("shape", "roof", "wheels", "weight")),
        "type(carries(train,car,load,count)).",
        "type(behind(train,car,car)).",
        "rmode(has_car(+T,-C)).",
        *(f"rmode({text.replace('(T,C', '(+T,+C')})." for text in _PROPERTIES),
        "rmode(behind(+T,+C,-D)).",
        *(f"lookahead(has_car(T,C), {text})." for text in _PROPERTIES),
        *(f"lookahead({name}(T,C), {text})." for name in ("short", "closed", "long") for text in _PROPERTIES),
        *(f"lookahead(behind(T,B,C), {text})." for text in _PROPERTIES),
        "execute(tilde).",
        "",
    ]
)


@dataclass(frozen=True)
class Cars:
    """Cars by train and place in it; a roof of -1 is none, a load of -1 is empty."""

    present: Truths
    long: Truths
    shape: Integers
    roof: Integers
    wheels: Integers
    weight: Reals
    load: Integers
    count: Integers


def _short_and_closed(cars: Cars) -> Truths:
    return some(cars.present & ~cars.long & (cars.roof >= 0))


def _triangle_before_closed(cars: Cars) -> Truths:
    before = cars.present & (cars.wheels == 2) & (cars.load == LOADS.index("triangle"))
    closed = cars.present & (cars.roof >= 0)
    return some(before[:, :-1] & closed[:, 1:])


def _circle_and_triangle(cars: Cars) -> Truths:
    circle = cars.present & cars.long & (cars.load == LOADS.index("circle"))
    triangle = cars.present & ~cars.long & (cars.load == LOADS.index("triangle"))
    return some(circle) & some(triangle)


def _nothing_jagged(cars: Cars) -> Truths:
    jagged = cars.present & (cars.roof == ROOFS.index("jagged"))
    return some(cars.present & (cars.wheels == 3)) & ~some(jagged)


def _heavy_and_closed(cars: Cars) -> Truths:
    return some(cars.present & (cars.roof >= 0) & (cars.weight > _HEAVY))


RULES: dict[int, Callable[[Cars], Truths]] = {
    1: _short_and_closed,
    2: _triangle_before_closed,
    3: _circle_and_triangle,
    4: _nothing_jagged,
    5: _heavy_and_closed,
}


@dataclass(frozen=True)
class Trains(LinkedFamily):
    """`rule`: a train goes east if it has 1 a short closed car (Michalski's); 2 a car of two wheels with
    triangles and right behind it a closed one; 3 a long car with circles and a short one with triangles; 4 a
    car of three wheels and none with a jagged roof; 5 a closed car of more than 20 tons."""

    name: ClassVar[str] = "trains"
    asks: ClassVar[str] = "Which trains go east by rule {0.rule}?"
    settings: ClassVar[str] = SETTINGS
    keys: ClassVar = {"train": "train_id", "car": "car_id"}
    references: ClassVar = {
        "car": {"train_id": "train"},
        "load": {"train_id": "train", "car_id": "car"},
        "behind": {"train_id": "train", "front_car_id": "car", "back_car_id": "car"},
    }
    target: ClassVar[str] = "train.direction"

    rule: int = choice(1, tuple(RULES))
    cars: int = whole(5, 2, 100)
    noise: float = share()

    @property
    def usual_examples(self) -> int:
        return 1000

    def made(self, rows: Rows) -> Cars:
        places = range(self.cars)

        def below(stream: str, bound: int) -> Integers:
            return columns_of(places, lambda j: rows.below(f"trains/{stream}/{j}", bound))

        cars = rows.between("trains/cars", 2, self.cars)
        present = columns_of(places, lambda j: cars > j)
        long = below("long", 2) == 1
        open_top = columns_of(places, lambda j: rows.chance(f"trains/open/{j}", 0.6))
        empty = columns_of(places, lambda j: rows.chance(f"trains/empty/{j}", 0.1))
        wheels = np.where(long & (below("wheels", 2) == 1), 3, 2)
        weight = (below("weight", 171) + 50) / 10.0  # 5.0 to 22.0 tons
        return Cars(
            present=present,
            long=long,
            shape=np.where(long, 0, below("shape", len(SHAPES))),  # long cars are rectangles
            roof=np.where(open_top, -1, below("roof", len(ROOFS))),
            wheels=wheels,
            weight=weight,
            load=np.where(empty, -1, below("load", len(LOADS))),
            count=below("count", 3) + 1,
        )

    def draw(self, rows: Rows) -> Tables:
        cars = self.made(rows)
        east = RULES[self.rule](cars) ^ rows.chance("trains/noise", self.noise)
        there, number = cars.present, draw_orders(rows, "trains/name", self.cars, cars.present)
        train = np.broadcast_to(rows.numbers[:, None], there.shape)
        position = np.broadcast_to(np.arange(self.cars), there.shape)
        loaded, follows = there & (cars.load >= 0), there[:, 1:]
        behind = train[:, 1:][follows]
        return {
            "train": pa.table(
                {
                    "train_id": names("t", rows.numbers + 1),
                    "direction": labels(east.astype(np.int64), DIRECTIONS),
                }
            ),
            "car": pa.table(
                {
                    "car_id": part_names("t", "c", train[there], number[there]),
                    "train_id": names("t", train[there] + 1),
                    "position": pa.array(position[there] + 1, type=pa.int32()),
                    "length": labels(cars.long[there].astype(np.int64), LENGTHS),
                    "shape": labels(cars.shape[there], SHAPES),
                    "roof": labels(cars.roof[there], ROOFS),
                    "wheels": pa.array(cars.wheels[there], type=pa.int32()),
                    "weight": pa.array(cars.weight[there], type=pa.float64()),
                }
            ),
            "load": pa.table(
                {
                    "train_id": names("t", train[loaded] + 1),
                    "car_id": part_names("t", "c", train[loaded], number[loaded]),
                    "shape": labels(cars.load[loaded], LOADS),
                    "count": pa.array(cars.count[loaded], type=pa.int32()),
                }
            ),
            "behind": pa.table(
                {
                    "train_id": names("t", behind + 1),
                    "front_car_id": part_names("t", "c", behind, number[:, :-1][follows]),
                    "back_car_id": part_names("t", "c", behind, number[:, 1:][follows]),
                }
            ),
        }

    def facts(self, tables: Tables) -> Iterator[str]:
        for train, direction in rows_of(tables["train"]):
            yield f"train({train},{direction})."
        for car, train, _, length, shape, roof, wheels, weight in rows_of(tables["car"]):
            yield f"has_car({train},{car})."
            yield f"{length}({train},{car})."
            yield f"shape({train},{car},{shape})."
            if roof is not None:
                yield f"closed({train},{car})."
                yield f"roof({train},{car},{roof})."
            yield f"wheels({train},{car},{wheels})."
            yield f"weight({train},{car},{weight})."
        for train, car, shape, count in rows_of(tables["load"]):
            yield f"carries({train},{car},{shape},{count})."
        for train, front, back in rows_of(tables["behind"]):
            yield f"behind({train},{front},{back})."
