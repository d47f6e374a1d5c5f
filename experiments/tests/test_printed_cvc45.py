"""John 1994, table 1: what can be known exactly, on the sets themselves."""

from collections.abc import Callable

import pytest

from hornbeam import C45Classifier
from hornbeam_experiments.cvc45.paper import paper, printed
from hornbeam_experiments.cvc45.protocol import judge, upper_bound
from hornbeam_experiments.cvc45.sets import Loaded, choose, read
from tests.real_data import RealSet


@pytest.fixture
def monk(real_set: Callable[[str], RealSet], monkeypatch: pytest.MonkeyPatch) -> Loaded:
    from tests import real_data

    monkeypatch.setenv("HORNBEAM_DATA", str(real_data.find_folder()))
    real_set("monks2_train")
    return read(choose(["Monk-2"])[0])


def test_C45_on_Monk_2_is_the_papers_tree(monk: Loaded) -> None:
    """All attributes are nominal and nothing is missing, so Release 8 differs in nothing from what John ran:
    31 nodes, 281 of 432 test rows. He prints 65.0 where 65.05 is rounded down."""
    split = monk.split(0)
    model = C45Classifier(nominal_features=list(monk.nominal)).fit(*split.train)
    right = round(model.score(*split.test) * 432)
    theirs = printed("Monk-2", "C4.5")
    assert (right, model.tree_.n_nodes) == (281, theirs.size)
    assert abs(100 * right / 432 - theirs.accuracy) < 0.05


def test_the_bound_on_Monk_2_is_the_papers_leaf(monk: Loaded) -> None:
    """The largest class has 290 of 432 test rows, and no m does better: so have C4.5* and small CVC4.5."""
    split = monk.split(0)
    best = upper_bound([judge(monk, split, m) for m in paper()["values of m"]])
    for method in ("C4.5*", "small CVC4.5"):
        theirs = printed("Monk-2", method)
        assert best.nodes == theirs.size == 1
        assert round(best.accuracy, 1) == theirs.accuracy == 67.1
    assert best.accuracy == pytest.approx(100 * 290 / 432)
