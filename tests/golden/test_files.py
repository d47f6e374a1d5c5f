"""Files that an earlier version wrote are read, and answer and go on as they did."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import hornbeam as hb

from . import files
from .values import differences

EXPECTED = files.read()
SAVED = [name for name in files.FILES if name.endswith(".hornbeam") and not name.startswith("command-")]
WRITTEN_BY_DUCKDB = 2  # older ones do not read its files


@pytest.mark.parametrize("name", files.FILES)
def test_a_file_answers_as_it_did(name: str) -> None:
    if name.endswith(".tree.gz") and int(duckdb.__version__.split(".")[0]) < WRITTEN_BY_DUCKDB:
        pytest.skip(f"written by DuckDB {WRITTEN_BY_DUCKDB}, which DuckDB {duckdb.__version__} does not read")
    before, now = EXPECTED[name], files.answer(name)
    # Parameters that came later are not in the file.
    told = {key: now["parameters"].get(key) for key in before["parameters"]} if "parameters" in before else {}
    different = differences(before, now | ({"parameters": told} if told else {}))
    assert not different, f"files/{name} does not answer as it did:\n{different}"


@pytest.mark.parametrize("name", SAVED)
def test_a_loaded_model_is_saved_as_the_same_file(name: str, tmp_path: Path) -> None:
    hb.save(hb.load(files.PLACE / name), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (files.PLACE / name).read_bytes(), (
        f"files/{name} is saved otherwise"
    )


def test_every_file_is_read() -> None:
    assert {place.name for place in files.PLACE.iterdir()} == {*files.FILES, "expected.json"}
    assert set(EXPECTED) == set(files.FILES)
