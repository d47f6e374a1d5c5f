"""What anytime induction is compared with: interruptible learners of one interface, each with its sources."""

from hornbeam_experiments.baselines.adtree import ADTree, AlternatingTree
from hornbeam_experiments.baselines.bagging import BaggedC45, BaggedID3
from hornbeam_experiments.baselines.gatree import GATree
from hornbeam_experiments.baselines.id3k import ID3k
from hornbeam_experiments.baselines.learner import Answer, Baseline, Model
from hornbeam_experiments.baselines.skewing import SequentialSkewing, Skewing

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
