"""The package's trees answer to a change of the table as the law says."""

from __future__ import annotations

import pytest

from tests.laws.metamorphic import LAWS
from tests.laws.reading import by_package, needs_package

pytestmark = needs_package


@pytest.mark.parametrize("law", LAWS)
def test_the_package_keeps_the_law(law: str) -> None:
    LAWS[law](by_package)
