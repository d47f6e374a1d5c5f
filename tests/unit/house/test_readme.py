"""The README's example does what it shows."""

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.house

README = Path(__file__).resolve().parents[3] / "README.md"


def test_the_example_of_the_readme_grows_a_tree() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 1
    names: dict[str, Any] = {}
    exec(blocks[0], names)
    assert names["model"].tree_.n_leaves >= 2
    answer = names["model"].predict(names["people"][["job", "age"]])
    assert set(answer) <= set(names["people"]["owner"])
