"""A generated database of a million child rows: read, coded, one tree and ten folds, in this process."""

import json
import sys
import time

from benchmarks.answers import confirm
from benchmarks.common import forget_peak, peak_bytes
from hornbeam.datasets import make_bongard
from hornbeam.growth import TrainingSets
from hornbeam.relational.data import RelationalData
from hornbeam.relational.growth import FirstOrderParameters, grow_first_order
from hornbeam.validation import deal_classes

FOLDS = 10


def main(pictures: int) -> dict[str, float]:
    made = make_bongard(pictures, theory="complex", seed=7)
    children = sum(table.num_rows for name, table in made.tables.items() if name != "picture")
    before = forget_peak()
    begin = time.process_time()
    data = RelationalData.from_frames(made.tables, made.keys, made.references, target=made.target)
    bias = data.default_bias()
    coded = data.coded(bias)
    read = time.process_time() - begin
    target = coded.examples.target
    assert target is not None
    fold = deal_classes(target, FOLDS, 0)
    sets = TrainingSets.of_rows(pictures, (fold != i for i in range(FOLDS)), all_rows_first=True)
    forest = grow_first_order(coded, bias, FirstOrderParameters("entropy", 50), sets)
    right = sum(int((forest.held_out(i + 1).predicted == target[fold == i]).sum()) for i in range(FOLDS))
    seconds = time.process_time() - begin
    confirm(right / pictures > 0.95, f"{right / pictures:.3f} of the pictures are right; the theory is known")
    return {
        "pictures": pictures,
        "child rows": children,
        "seconds": seconds,
        "reading": read,
        "held before": before,
        "peak": peak_bytes(),
        "accuracy": right / pictures,
        "nodes": sum(not node.is_leaf for node in forest.tree(0).nodes),
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
