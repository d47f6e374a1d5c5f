"""Sets of all there is: the 625 loads of a balance, and the 958 boards on which tic-tac-toe can end."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .family import CLASS, GeneratedColumn, TableFamily, integer, labelled
from .streams import Integers, Rows, Values

SIDES = ("left_weight", "left_distance", "right_weight", "right_distance")
MOST = 5  # the largest weight, and the largest distance
TIPS = ("L", "B", "R")  # B: it is balanced


@dataclass(frozen=True)
class Balance(TableFamily):
    """All loads, the last number running fastest; nothing is chosen or drawn."""

    name: ClassVar[str] = "balance"
    asks: ClassVar[str] = "To which side does the balance tip?"

    @property
    def size(self) -> int:
        return int(MOST ** len(SIDES))

    def columns(self) -> tuple[GeneratedColumn, ...]:
        return (*(integer(side, few=True) for side in SIDES), labelled(CLASS, TIPS))

    def relevant(self, seed: int) -> tuple[str, ...]:
        return SIDES

    def draw(self, rows: Rows) -> list[Values]:
        places = MOST ** np.arange(len(SIDES))[::-1]
        loads = 1 + rows.numbers[:, None] // places % MOST
        left, right = loads[:, 0] * loads[:, 1], loads[:, 2] * loads[:, 3]
        return [*loads.T, 1 + np.sign(right - left)]


MARKS = ("x", "o", "b")  # b: blank
SQUARES = tuple(
    f"{row}_{column}_square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")
)
_X, _O, _BLANK = range(3)
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
Board = tuple[int, ...]


@dataclass(frozen=True)
class TicTacToe(TableFamily):
    """All endings in the order of their squares, x before o before blank; nothing is chosen or drawn."""

    name: ClassVar[str] = "tictactoe"
    asks: ClassVar[str] = "Did x win the game of tic-tac-toe?"

    @property
    def size(self) -> int:
        return len(_endings())

    def columns(self) -> tuple[GeneratedColumn, ...]:
        return (*(labelled(square, MARKS) for square in SQUARES), labelled(CLASS, ("positive", "negative")))

    def relevant(self, seed: int) -> tuple[str, ...]:
        return SQUARES

    def draw(self, rows: Rows) -> list[Values]:
        boards = _endings()[rows.numbers]
        return [*boards[:, :9].T, boards[:, 9]]


@functools.cache
def _endings() -> Integers:
    """Nine squares and the class of each board that ends a game, every game being played out."""
    seen: set[Board] = set()
    endings: set[Board] = set()
    waiting: list[Board] = [(_BLANK,) * 9]
    while waiting:
        board = waiting.pop()
        if board in seen:
            continue
        seen.add(board)
        blanks = [square for square in range(9) if board[square] == _BLANK]
        if not blanks or _has_line(board, _X) or _has_line(board, _O):
            endings.add((*board, 0 if _has_line(board, _X) else 1))
            continue
        player = _X if len(blanks) % 2 else _O
        waiting += [(*board[:square], player, *board[square + 1 :]) for square in blanks]
    return np.array(sorted(endings), dtype=np.int64)


def _has_line(board: Board, player: int) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)
