"""The loader of the real tables keeps text, numbers and missing cells apart."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import real_data

pytestmark = pytest.mark.house


def test_kinds_come_from_the_schema_and_empty_cells_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "schema.csv").write_text(
        "file,position,column,kind,role\n"
        "tiny.csv.gz,1,code,nominal,attribute\n"
        "tiny.csv.gz,2,size,numeric,attribute\n"
        "tiny.csv.gz,3,class,nominal,target\n"
    )
    with gzip.open(tmp_path / "tiny.csv.gz", "wt") as file:
        file.write("code,size,class\n1,2,a\nNA,,b\n,3.5,a\n")
    monkeypatch.setenv("HORNBEAM_DATA", str(tmp_path))
    tiny = real_data.load("tiny")
    assert (tiny.numeric, tiny.nominal) == (("size",), ("code",))
    assert tiny.table["code"].tolist()[:2] == ["1", "NA"]
    assert tiny.table["code"].isna().tolist() == [False, False, True]
    assert tiny.table["size"].isna().tolist() == [False, True, False]
    assert tiny.target.tolist() == ["a", "b", "a"]


def test_a_named_folder_without_data_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORNBEAM_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no schema"):
        real_data.find_folder()


def test_letter_has_its_published_shape(real_set: Callable[[str], real_data.RealSet]) -> None:
    letter = real_set("letter")
    assert letter.table.shape == (20000, 16)
    assert letter.target.nunique() == 26
