"""The comparison with J48: its print is read, what is absent is named, rows are written and dealt alike."""

import importlib.util
import shutil
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import j48, weka
from benchmarks.peers import Absent
from hornbeam import C45Classifier
from hornbeam.table import read_path

pytestmark = pytest.mark.house

PRINTED = """
Options: -C 0.25 -M 2

=== Classifier model (full training set) ===

J48 pruned tree
------------------

size <= 2.5: small (4.0)
size > 2.5
|   colour = red: large (3.0/1.0)
|   colour = blue: 'it: (b)' (2.33/0.33)
|   colour = green: large (0.0)

Number of Leaves  : \t4

Size of the tree : \t6


Time taken to build model: 0.49 seconds

=== Error on training data ===

Correctly Classified Instances           8               88.8889 %
Incorrectly Classified Instances         1               11.1111 %

=== Error on test data ===

Correctly Classified Instances           3               75      %
Incorrectly Classified Instances         1               25      %
"""


def test_sizes_leaves_and_right_answers_are_read() -> None:
    printed = weka.read_printed(PRINTED)
    assert (printed.n_leaves, printed.n_nodes, printed.n_empty) == (4, 6, 1)
    assert printed.leaves == {(4.0, 0.0): 1, (3.0, 1.0): 1, (2.33, 0.33): 1, (0.0, 0.0): 1}
    assert printed.correct == (8, 3)


def test_a_tree_of_one_leaf_is_read() -> None:
    single = ": large (17.0/8.0)\n\nNumber of Leaves  : \t1\n\nSize of the tree : \t1\n"
    assert weka.read_printed(single).leaves == {(17.0, 8.0): 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nWeka exception: Can't open file x.arff.\n", "it said: Weka exception: Can't open file x.arff"),
        ("", "it said: nothing"),
        (PRINTED.replace("size <= 2.5: small (4.0)", "size <= 2.5"), "counts 4 leaves, its drawing has 3"),
    ],
)
def test_what_is_no_tree_is_refused(text: str, message: str) -> None:
    with pytest.raises(weka.WekaError, match=message):
        weka.read_printed(text)


def reason(found: weka.Weka | Absent) -> str:
    assert isinstance(found, Absent)
    return found.reason


def test_no_java_no_jar_and_a_wrong_jar_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("WEKA_JAR", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "no java" in reason(weka.find_weka())
    monkeypatch.setattr("sys.argv", ["j48"])
    assert j48.main() == 0
    assert "skipped, nothing to set beside C45Classifier: no java" in capsys.readouterr().out
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/java")
    assert "no weka.jar; name it by WEKA_JAR" in reason(weka.find_weka())
    monkeypatch.setenv("WEKA_JAR", str(tmp_path / "weka.jar"))
    assert "no such file" in reason(weka.find_weka())
    (tmp_path / "weka.jar").touch()
    assert weka.find_weka() == weka.Weka("/bin/java", str(tmp_path / "weka.jar"))


def test_the_jar_of_an_installed_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleSpec("weka", None, is_package=True)
    package.submodule_search_locations = [str(tmp_path)]
    monkeypatch.delenv("WEKA_JAR", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: package)
    assert weka.find_jar() is None
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "weka.jar").touch()
    assert weka.find_jar() == tmp_path / "lib" / "weka.jar"


def test_rows_are_written_so_that_they_can_be_read(tmp_path: Path) -> None:
    table = pd.DataFrame({"it's": ["a b", None, "c'd", "50%"], "n": [0.1, 2.0, np.nan, 1e-7]})
    target = pd.Series(["yes", "no", "no", "?"], name="class")
    domains = {"it's": ["50%", "a b", "c'd"], "class": ["?", "no", "yes"]}
    path = weka.write_arff(tmp_path / "rows.arff", table, target, domains)
    assert path.read_text().splitlines()[-4:] == [
        "'a b',0.1,'yes'",
        "?,2.0,'no'",
        "'c\\'d',?,'no'",
        "'50%',1e-07,'?'",
    ]
    read = read_path(path).to_pydict()
    assert read["n"] == [0.1, 2.0, None, 1e-7]
    assert read["it's"] == ["a b", None, "c'd", "50%"]


def test_folds_differ_by_one_row_at_most_in_all_and_in_each_class() -> None:
    codes = np.array([0] * 37 + [1] * 12 + [2] * 2)
    dealt = j48.deal(codes, 10)
    for rows in (dealt, *(dealt[codes == k] for k in range(3))):
        sizes = np.bincount(rows, minlength=10)
        assert sizes.max() - sizes.min() <= 1


def test_our_leaves_are_counted_as_those_of_J48() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]})
    tree = C45Classifier(prune=None).fit(table, list("aaabbba")).tree_
    kinds = j48.leaf_kinds(tree)
    assert kinds == {(3.0, 0.0): 1, (4.0, 1.0): 1}
