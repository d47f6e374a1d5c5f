"""Bagging: trees of rows drawn again and again from one table, and what they say together."""

from hornbeam.ensemble.answers import Answering
from hornbeam.ensemble.bagging import ALGORITHMS, Copies, grow_bags
from hornbeam.ensemble.bags import MAX_BAGS, Bags, draw_bags
from hornbeam.ensemble.committee import VOTING, Committee
from hornbeam.ensemble.dealt import DealtBags, deal_bags
from hornbeam.ensemble.outside import Outside, OutsideSums, ask_outside

__all__ = [
    "ALGORITHMS",
    "MAX_BAGS",
    "VOTING",
    "Answering",
    "Bags",
    "Committee",
    "Copies",
    "DealtBags",
    "Outside",
    "OutsideSums",
    "ask_outside",
    "deal_bags",
    "draw_bags",
    "grow_bags",
]
