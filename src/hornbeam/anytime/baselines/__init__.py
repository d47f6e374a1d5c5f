"""What anytime induction is compared with: interruptible learners of one interface, each with its sources."""

from hornbeam.anytime.baselines.adtree import ADTree, AlternatingTree
from hornbeam.anytime.baselines.bagging import BaggedC45, BaggedID3
from hornbeam.anytime.baselines.gatree import GATree
from hornbeam.anytime.baselines.id3k import ID3k
from hornbeam.anytime.baselines.learner import Answer, Baseline, Model
from hornbeam.anytime.baselines.skewing import SequentialSkewing, Skewing

BASELINES: dict[str, type[Baseline]] = {
    kind.name: kind for kind in (ID3k, Skewing, SequentialSkewing, GATree, ADTree, BaggedID3, BaggedC45)
}

__all__ = [
    "BASELINES",
    "ADTree",
    "AlternatingTree",
    "Answer",
    "BaggedC45",
    "BaggedID3",
    "Baseline",
    "GATree",
    "ID3k",
    "Model",
    "SequentialSkewing",
    "Skewing",
]
