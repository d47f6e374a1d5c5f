"""Bagging: trees of rows drawn again and again from one table, and what they say together."""

from hornbeam.ensemble.answers import Answering
from hornbeam.ensemble.bagging import ALGORITHMS, Copies, grow_bags
from hornbeam.ensemble.bags import MAX_BAGS, Bags, SourceBags, draw_bags, draw_source_bags
from hornbeam.ensemble.committee import VOTING, Committee
from hornbeam.ensemble.outside import Outside, OutsideSums, ask_outside

__all__ = [
    "ALGORITHMS",
    "MAX_BAGS",
    "VOTING",
    "Answering",
    "Bags",
    "Committee",
    "Copies",
    "Outside",
    "OutsideSums",
    "SourceBags",
    "ask_outside",
    "draw_bags",
    "draw_source_bags",
    "grow_bags",
]
