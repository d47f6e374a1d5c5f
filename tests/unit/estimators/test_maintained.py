"""The face of a maintained tree: files, batches, ids, syncing, forgetting, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import hornbeam as hb
from hornbeam import MaintainedTree, TreeClassifier, TreeRegressor
from hornbeam.datasets import generate
from hornbeam.errors import DataError, StorageError, UsageError
from hornbeam.maintained.changes import KEPT, MOVED, REBUILT, Changes

PARAMETERS: dict[str, Any] = {"max_depth": 5, "min_samples_leaf": 10}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rows = pa.table(generate("agrawal", 6000, function=7, noise=0.05, seed=3))
    return rows.append_column("person", pa.array([f"p{i // 2}" for i in range(rows.num_rows)]))


@pytest.fixture
def tree(people: pa.Table, tmp_path: Path) -> MaintainedTree:
    rows = hb.source(people.slice(0, 4000))
    return MaintainedTree.create(tmp_path / "rows.tree", rows, target="class", key="person", **PARAMETERS)


def fit(rows: pa.Table) -> str:
    X = rows.drop_columns(["class", "person"])
    digest: str = TreeClassifier(**PARAMETERS).fit(X, rows["class"]).tree_.digest
    return digest


def path_of(tree: MaintainedTree) -> str:
    return str(tree.stats["path"])


def test_every_batch_leaves_the_tree_of_a_rebuild(tree: MaintainedTree, people: pa.Table) -> None:
    assert tree.tree.digest == fit(people.slice(0, 4000))
    changes = tree.insert(people.slice(4000, 500))
    assert changes.digest_after == tree.tree.digest == fit(people.slice(0, 4500))
    tree.delete(people.slice(0, 500))
    assert tree.tree.digest == fit(people.slice(500, 4000))
    changes = tree.apply(inserted=people.slice(4500, 300), deleted=people.slice(500, 700))
    assert (changes.inserted, changes.deleted, changes.rows) == (300, 700, 3600)
    assert tree.tree.digest == fit(people.slice(1200, 3600))
    digest = tree.tree.digest
    assert tree.verify() == {"digest": digest, "rebuilt": digest, "equal": True, "intact": True}


def test_the_present_rows_are_a_source(tree: MaintainedTree, people: pa.Table) -> None:
    tree.warm_up()
    tree.delete(people.slice(0, 1000))
    rows = pa.Table.from_batches(tree.source().scan())
    assert rows.num_rows == 3000
    found, expected = (
        t.to_pandas().astype(str).sort_values(people.column_names).to_numpy()
        for t in (rows, people.slice(1000, 3000))
    )
    assert (found == expected).all()
    assert (tree.key, tree.schema.names) == ("person", people.column_names)


def test_frames_and_sources_are_rows_too(tree: MaintainedTree, people: pa.Table, tmp_path: Path) -> None:
    tree.insert(people.slice(4000, 100).to_pandas())
    pa.parquet.write_table(people.slice(4100, 100), tmp_path / "more.parquet")
    tree.insert(hb.source(str(tmp_path / "more.parquet")))
    tree.delete(people.slice(0, 50).select(people.column_names[::-1]))  # columns are known by name
    assert tree.tree.digest == fit(people.slice(50, 4150))


def test_rows_that_are_there_twice_go_one_by_one(tree: MaintainedTree, people: pa.Table) -> None:
    twice = people.slice(0, 40)
    tree.insert(twice)
    tree.delete(twice)
    assert tree.tree.digest == fit(people.slice(0, 4000))
    with pytest.raises(DataError, match="no such row to delete: row 41 of the batch, salary="):
        tree.delete(pa.concat_tables([twice, twice]))
    assert tree.tree.digest == fit(people.slice(0, 4000))


def test_a_row_that_is_not_there_refuses_the_whole_batch(tree: MaintainedTree, people: pa.Table) -> None:
    before = tree.stats
    rows = pa.concat_tables([people.slice(0, 5), people.slice(5000, 1)])
    with pytest.raises(DataError, match=f"salary={people['salary'][5000]}.*; nothing was changed"):
        tree.apply(inserted=people.slice(4000, 10), deleted=rows)
    assert tree.stats | {"bytes": 0} == before | {"bytes": 0}
    assert tree.verify()["equal"]
    tree.insert(people.slice(4000, 10))
    assert tree.tree.digest == fit(people.slice(0, 4010))


def test_a_repeated_id_is_a_no_op(tree: MaintainedTree, people: pa.Table) -> None:
    first = tree.insert(people.slice(4000, 50), id="monday")
    again = tree.insert(people.slice(4000, 50), id="monday")
    assert (first.repeated, again.repeated) == (False, True)
    assert (again.number, again.nodes) == (first.number, first.nodes)
    assert tree.tree.digest == fit(people.slice(0, 4050))
    assert [batch.id for batch in tree.changes()] == [None, "monday"]
    assert [[batch.number for batch in tree.changes(last)] for last in (0, 1, 9)] == [[], [1], [0, 1]]
    with pytest.raises(UsageError, match="id=3: give a text"):
        tree.insert(people.slice(0, 1), id=3)  # type: ignore[arg-type]


def test_it_is_opened_again_as_it_was(tree: MaintainedTree, people: pa.Table) -> None:
    tree.insert(people.slice(4000, 50))
    path, stats = path_of(tree), tree.stats
    tree.close()
    with MaintainedTree.open(path) as again:
        assert again.stats["digest"] == stats["digest"]
        assert [batch.to_record() for batch in again.changes()][1]["inserted"] == 50
        again.delete(people.slice(0, 50))
        assert again.tree.digest == fit(people.slice(50, 4000))


def test_empty_batches_and_the_last_row(tree: MaintainedTree, people: pa.Table) -> None:
    digest = tree.tree.digest
    assert tree.insert(people.slice(0, 0)).counts[REBUILT] == 0
    assert tree.apply().rows == 4000
    assert tree.tree.digest == digest
    tree.delete(people.slice(0, 4000))
    assert tree.stats["rows"] == tree.stats["leaves"] == 0
    with pytest.raises(DataError, match="has no rows, so there is no tree; insert some"):
        tree.tree  # noqa: B018
    assert tree.verify() == {"digest": None, "rebuilt": None, "equal": True, "intact": True}
    tree.insert(people.slice(100, 200))
    assert tree.tree.digest == fit(people.slice(100, 200))


def test_sync_brings_the_rows_of_a_source(tree: MaintainedTree, people: pa.Table) -> None:
    changes = tree.sync(hb.source(people.slice(300, 4000)))
    assert (changes.inserted, changes.deleted) == (300, 300)
    assert tree.tree.digest == fit(people.slice(300, 4000))
    assert (tree.sync(hb.source(people.slice(300, 4000))).inserted, tree.stats["rows"]) == (0, 4000)


def test_forgotten_keys_leave_a_certificate(tree: MaintainedTree, people: pa.Table) -> None:
    before = tree.tree.digest
    proof = tree.forget(["p7", "p8"])
    assert (proof["rows"], proof["digest_before"], proof["equal"]) == (4, before, True)
    gone = np.isin(people["person"].to_numpy(zero_copy_only=False), ["p7", "p8"])
    rest = people.slice(0, 4000).filter(pa.array(~gone[:4000]))
    assert proof["digest_after"] == proof["digest_rebuilt"] == fit(rest)
    with pytest.raises(DataError, match="'person' has none of these keys; nothing was changed"):
        tree.forget(["p7"])
    proof = tree.forget(["p9", "nobody"], id="request 17")
    assert (proof["rows"], proof["absent"], proof["repeated"]) == (2, ["nobody"], False)
    again = tree.forget(["p9", "nobody"], id="request 17")
    assert (again["rows"], again["equal"], again["repeated"]) == (2, True, True)


@pytest.mark.parametrize(
    "said", ["Query interrupted", "exporting a stream from 'given_rows' failed: KeyboardInterrupt:"]
)
def test_ctrl_c_is_told_as_what_it_is(
    said: str, tree: MaintainedTree, people: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    from hornbeam.maintained.database import Database

    digest, run = tree.tree.digest, Database._execute

    def stopped(self: Database, statement: str, values: list[Any] | None = None) -> list[Any]:
        if statement.startswith("insert into rows"):
            raise duckdb.InvalidInputException(said)
        return run(self, statement, values)

    monkeypatch.setattr(Database, "_execute", stopped)
    with pytest.raises(KeyboardInterrupt):
        tree.insert(people.slice(4000, 10))
    monkeypatch.setattr(Database, "_execute", run)
    assert (tree.tree.digest, tree.stats["rows"]) == (digest, 4000)


def test_reading_only(tree: MaintainedTree, people: pa.Table) -> None:
    path = path_of(tree)
    tree.close()
    with (
        MaintainedTree.open(path, read_only=True) as reader,
        MaintainedTree.open(path, read_only=True) as other,
    ):
        assert reader.tree.digest == other.tree.digest == fit(people.slice(0, 4000))
        assert reader.verify()["equal"]
        rows = people.slice(4000, 1)
        for write in (
            lambda: reader.insert(rows),
            lambda: reader.sync(hb.source(rows)),
            lambda: reader.forget(["p1"]),
        ):
            with pytest.raises(UsageError, match="is open for reading only"):
                write()


def test_rows_that_are_looked_for_in_parts_go_as_often_as_they_are_given(
    tree: MaintainedTree, people: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hornbeam.maintained.rows._AT_ONCE", 3)
    one = people.slice(7, 1)
    tree.insert(pa.concat_tables([one] * 6))
    digest = tree.tree.digest
    with pytest.raises(DataError, match="no such row to delete"):
        tree.delete(pa.concat_tables([one] * 8))
    assert (tree.stats["rows"], tree.tree.digest) == (4006, digest)
    tree.delete(pa.concat_tables([one] * 6))
    assert tree.tree.digest == fit(people.slice(0, 4000))


def test_sync_by_a_key_refuses_two_rows_of_one(tree: MaintainedTree, people: pa.Table) -> None:
    digest = tree.tree.digest
    with pytest.raises(DataError, match=r"^person='p\d+' has several rows, and by a key each has one"):
        tree.sync(hb.source(people), key="person")
    with pytest.raises(UsageError, match=r"^key='nobody': rows have "):
        tree.sync(hb.source(people), key="nobody")
    assert tree.tree.digest == digest
    every_other = people.take(pa.array(range(0, 100, 2)))
    assert tree.sync(hb.source(every_other), key="person").rows == 50


def test_what_does_not_fit_is_named_in_a_sync_too(tree: MaintainedTree, people: pa.Table) -> None:
    with pytest.raises(DataError, match="column 'car' is missing"):
        tree.sync(hb.source(people.drop_columns(["car"])))
    assert tree.verify()["equal"]


def test_new_labels_and_classes_are_taken(tree: MaintainedTree, people: pa.Table) -> None:
    frame = people.slice(4000, 60).to_pandas()
    frame["car"] = "hearse"
    frame["class"] = "C"
    new = pa.Table.from_pandas(frame, preserve_index=False).cast(people.schema)
    tree.insert(frame)
    assert tree.tree.digest == fit(pa.concat_tables([people.slice(0, 4000), new]))
    assert tree.estimator().classes_.tolist() == ["A", "B", "C"]
    tree.delete(frame)
    assert tree.tree.digest == fit(people.slice(0, 4000))
    frame["salary"], frame["class"] = 10**12, "A"
    tree.insert(frame)
    assert tree.verify()["equal"]


def test_the_estimator_predicts(tree: MaintainedTree, people: pa.Table) -> None:
    X = people.drop_columns(["class", "person"])
    plain = TreeClassifier(**PARAMETERS).fit(X.slice(0, 4000), people["class"].slice(0, 4000))
    assert (tree.estimator().predict(X) == plain.predict(X)).all()
    assert tree.estimator().get_params() == plain.get_params()


def test_changes_say_what_moved(tree: MaintainedTree, people: pa.Table) -> None:
    flipped = people.slice(4000, 2000).to_pandas()
    flipped["class"] = np.where(flipped["loan"] > 200_000, "A", "B")
    changes = tree.insert(flipped)
    assert sum(changes.counts.values()) > 0
    assert changes.counts[MOVED] + changes.counts[REBUILT] > 0
    text = changes.to_text()
    assert text.startswith("batch 1: 2,000 rows inserted, 0 deleted, 6,000 present; ")
    assert text.count("\n") == changes.counts[MOVED] + changes.counts[REBUILT]
    again = Changes.from_record(json.loads(json.dumps(changes.to_record())))
    assert again == changes
    root = changes.nodes[0]
    assert (root.rows_before, root.rows_after) == (4000, 6000)
    beyond = [node for node in changes.nodes if node.beyond_chance]
    assert beyond
    assert all(node.state != KEPT for node in beyond)
    few = tree.insert(people.slice(100, 3))
    assert not any(node.beyond_chance for node in few.nodes)
    assert tree.insert(people.slice(0, 1)).nodes[0].state == KEPT


def test_numbers_weights_and_pruning(people: pa.Table, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    salary = people["salary"].to_numpy()
    rows = people.drop_columns(["person", "class"]).append_column(
        "y", pa.array(salary * 0.7 + rng.normal(size=6000))
    )
    rows = rows.append_column("w", pa.array(rng.integers(1, 4, 6000)))
    options = {"max_depth": 4, "prune": "cost_complexity", "ccp_alpha": 1e5}
    with MaintainedTree.create(
        tmp_path / "n.tree", hb.source(rows.slice(0, 4000), weight="w"), target="y", **options
    ) as tree:
        tree.apply(inserted=rows.slice(4000, 300), deleted=rows.slice(0, 300))
        here = rows.slice(300, 4000)
        model = TreeRegressor(**options).fit(
            here.drop_columns(["y", "w"]), here["y"], sample_weight=here["w"]
        )
        assert tree.tree.digest == model.tree_.digest


def test_numbers_that_are_the_same_are_the_same_row(tmp_path: Path) -> None:
    rows = pd.DataFrame({"x": [0.0, np.nan, 1.0, 2.0] * 10, "class": ["a", "b"] * 20})
    with MaintainedTree.create(tmp_path / "z.tree", hb.source(rows), target="class") as tree:
        tree.delete(pd.DataFrame({"x": [-0.0, None], "class": ["a", "b"]}))
        assert tree.stats["rows"] == 38
        assert tree.verify()["equal"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "c45"}, "kept by bounds, which c45, quest and multiway tests do not have"),
        ({"criterion": "quest"}, "kept by bounds"),
        ({"nominal": "multiway"}, "kept by bounds"),
        ({"prune": "error_based"}, "asks for the rows of each node, which no maintained tree keeps"),
        ({"competitors": 2}, "asks for the rows of each node"),
        ({"cv": 5}, "cv=5: folds are dealt by a key"),
        ({"policy": "steady"}, "policy='steady'"),
        ({"key": "nobody"}, "key='nobody' is not a column"),
        ({"max_dept": 3}, "TreeClassifier has no parameter 'max_dept': use 'max_depth'"),
        ({"memory_limit": "1MB"}, "give at least 32 MB"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    options: dict[str, Any], message: str, people: pa.Table, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        MaintainedTree.create(tmp_path / "no.tree", hb.source(people), **{"target": "class"} | options)
    assert list(tmp_path.iterdir()) == []


def test_rows_of_another_shape_are_refused(tree: MaintainedTree, people: pa.Table) -> None:
    digest, one = tree.tree.digest, people.slice(4000, 1)
    for rows, message in [
        (one.drop_columns(["car"]), "column 'car' is missing; rows have 'salary'"),
        (one.append_column("extra", pa.array([1])), "column 'extra' is new"),
        (one.set_column(0, "salary", pa.array(["much"])), "column 'salary' is text, but int64 before"),
        (
            one.set_column(9, "class", pa.nulls(1, pa.string())),
            "column 'class' has no value in row 1 of the batch; every row needs its class",
        ),
    ]:
        with pytest.raises(DataError, match=message):
            tree.insert(rows)
    assert tree.tree.digest == digest
    assert tree.verify()["equal"]


def test_a_failing_source_leaves_nothing_behind(people: pa.Table, tmp_path: Path) -> None:
    def broken() -> Any:
        yield people.to_batches()[0]
        raise RuntimeError("the network is gone")

    with pytest.raises((RuntimeError, DataError)):
        MaintainedTree.create(tmp_path / "b.tree", hb.source(broken), target="class", key="person")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_trees(tree: MaintainedTree, people: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="exists already; open it, or name another file"):
        MaintainedTree.create(path_of(tree), hb.source(people), target="class")
    with pytest.raises(StorageError, match="is not there"):
        MaintainedTree.open(tmp_path / "none.tree")
    (tmp_path / "text.tree").write_text("not a database " * 1000)
    with pytest.raises(StorageError, match="cannot be opened as a maintained tree"):
        MaintainedTree.open(tmp_path / "text.tree")
    import duckdb

    with duckdb.connect(str(tmp_path / "other.tree")) as other:
        other.execute("create table t (x int)")
    with pytest.raises(StorageError, match="is not the file of a maintained tree, or it is damaged"):
        MaintainedTree.open(tmp_path / "other.tree")
    tree.close()
    with duckdb.connect(str(tmp_path / "rows.tree")) as newer:
        newer.execute("update meta set value = '99' where name = 'format'")
    with pytest.raises(StorageError, match="has format 99, and this version reads 2"):
        MaintainedTree.open(tmp_path / "rows.tree")


def test_a_second_writer_is_told_who_has_it(tree: MaintainedTree) -> None:
    path = path_of(tree)
    with pytest.raises(StorageError, match="is locked by this process"):
        MaintainedTree.open(path)
    code = "import sys, hornbeam\nhornbeam.MaintainedTree.open(sys.argv[1])"
    other = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert f"is locked by process {os.getpid()}" in other.stderr
    tree.close()
    again = MaintainedTree.open(path)
    tree.close()  # a second time: the lock is another's now
    with pytest.raises(StorageError, match="is locked by this process"):
        MaintainedTree.open(path)
    del again
    MaintainedTree.open(path).close()


# ---- folds ----


def check_folds_are_those_of_a_rebuild(tree: MaintainedTree, rows: pa.Table, folds: int) -> None:
    model = TreeClassifier(cv=folds, **PARAMETERS).fit_source(hb.source(rows), target="class", key="person")
    forest = tree.forest()
    assert forest.n_sets == folds + 1
    for i in range(folds + 1):
        assert forest.tree(i).digest == model.forest_.tree(i).digest
    assert tree.estimate().scores == tuple(model.cv_results_["test_score"])
    assert tree.verify()["equal"]


def test_the_trees_of_folds_follow_every_batch(people: pa.Table, tmp_path: Path) -> None:
    rows = hb.source(people.slice(0, 4000))
    options = {"target": "class", "key": "person", "cv": 4, **PARAMETERS}
    with MaintainedTree.create(tmp_path / "cv.tree", rows, **options) as tree:
        check_folds_are_those_of_a_rebuild(tree, people.slice(0, 4000), 4)
        tree.apply(inserted=people.slice(4000, 400), deleted=people.slice(0, 300))
        check_folds_are_those_of_a_rebuild(tree, people.slice(300, 4100), 4)
        tree.apply(inserted=people.slice(4400, 5), deleted=people.slice(300, 7))
        check_folds_are_those_of_a_rebuild(tree, people.slice(307, 4098), 4)
        hearse = pa.array(["hearse"]).cast(people.schema.field("car").type)
        rare = people.slice(5000, 1).set_column(4, people.schema.field("car"), hearse)
        tree.insert(rare)  # a label that most training sets have and one has not
        check_folds_are_those_of_a_rebuild(tree, pa.concat_tables([people.slice(307, 4098), rare]), 4)
    with MaintainedTree.open(tmp_path / "cv.tree") as tree:
        tree.delete(rare)
        check_folds_are_those_of_a_rebuild(tree, people.slice(307, 4098), 4)
        tree.delete(people.slice(307, 4098))
        tree.insert(people.slice(0, 600))
        check_folds_are_those_of_a_rebuild(tree, people.slice(0, 600), 4)


def test_folds_that_have_no_rows_are_told(people: pa.Table, tmp_path: Path) -> None:
    rows = hb.source(people.slice(0, 400))
    options = {"target": "class", "key": "person", "cv": 3, **PARAMETERS}
    with MaintainedTree.create(tmp_path / "cv.tree", rows, **options) as tree:
        tree.delete(people.slice(2, 398))
        assert tree.stats["rows"] == 2  # of one person
        with pytest.raises(DataError, match="has no row"):
            tree.estimate()
        with pytest.raises(DataError, match="a fold has all rows"):
            tree.forest()
        assert tree.verify()["equal"]
        tree.insert(people.slice(2, 398))
        check_folds_are_those_of_a_rebuild(tree, people.slice(0, 400), 3)


def test_folds_of_numbers(people: pa.Table, tmp_path: Path) -> None:
    rows = people.drop_columns(["class"]).append_column("y", pa.array(people["loan"].to_numpy() / 3.7))
    options = {"max_depth": 3}
    with MaintainedTree.create(
        tmp_path / "cv.tree", hb.source(rows.slice(0, 3000)), target="y", key="person", cv=3, **options
    ) as tree:
        tree.apply(inserted=rows.slice(3000, 200), deleted=rows.slice(0, 100))
        here = hb.source(rows.slice(100, 3100))
        model = TreeRegressor(cv=3, **options).fit_source(here, target="y", key="person")
        digests = [tree.forest().tree(i).digest for i in range(4)]
        assert digests == [model.forest_.tree(i).digest for i in range(4)]
        assert tree.estimate().measure == "r2"
        assert list(tree.estimate().scores) == model.cv_results_["test_score"].tolist()


def test_folds_need_a_key(tree: MaintainedTree, people: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cv=5: folds are dealt by a key"):
        MaintainedTree.create(tmp_path / "no.tree", hb.source(people), target="class", cv=5)
    for asked in (tree.estimate, tree.forest):
        with pytest.raises(UsageError, match="has no folds; give cv= when it is created"):
            asked()


# ---- what is predicted ----


def test_a_criterion_says_that_whole_floats_are_classes(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    rows = pa.table({"a": draw.integers(0, 9, 90), "y": draw.choice([-1.0, 0.0, 2.0], 90)})
    source = hb.source(rows.slice(0, 60))
    with MaintainedTree.create(tmp_path / "c", source, target="y", criterion="gini", max_depth=2) as tree:
        tree.insert(rows.slice(60))
        alone = TreeClassifier(max_depth=2).fit(rows.select(["a"]), rows["y"])
        assert tree.tree.digest == alone.tree_.digest
        assert tree.verify()["equal"]
        with pytest.raises(DataError, match=r"y has the value 0\.5"):
            tree.insert(pa.table({"a": [1], "y": [0.5]}))
        assert tree.estimator().classes_.tolist() == [-1.0, 0.0, 2.0]
    with MaintainedTree.create(tmp_path / "n", source, target="y", max_depth=2) as tree:
        assert tree.tree.classes is None


def test_an_estimate_takes_numbers_outside_the_range_that_was_counted(
    people: pa.Table, tmp_path: Path
) -> None:
    rows = hb.source(people.slice(0, 2000))
    tree = MaintainedTree.create(tmp_path / "cv.tree", rows, target="class", key="person", cv=2, max_depth=3)
    tree.warm_up()
    far = people.slice(2000, 20)
    more = pa.compute.add(pa.compute.max(people["salary"]), 10)
    at = far.schema.get_field_index("salary")
    tree.insert(far.set_column(at, "salary", pa.array([more.as_py()] * 20, far["salary"].type)))
    assert len(tree.estimate().scores) == 2
