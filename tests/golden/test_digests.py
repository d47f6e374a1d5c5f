"""Every fit gives the tree, the answers and the scores that it gave before the house was rebuilt."""

from __future__ import annotations

import pytest

from . import digests
from .values import differences

# Few bags, few rows: some rows are in every bag, and estimators say so.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

EXPECTED = digests.read()


@pytest.mark.parametrize("name", digests.CASES)
def test_a_fit_gives_what_it_gave(name: str) -> None:
    different = differences(EXPECTED.get(name, {}), digests.CASES[name]())
    assert not different, (
        f"{name!r} gives another answer than the one that was written down:\n{different}\n"
        f'If that is meant, say why, and write it down: python -m tests.golden digests "{name}"'
    )


def test_nothing_is_written_down_that_is_not_tried() -> None:
    assert list(EXPECTED) == list(digests.CASES)
