"""A process of its own for each peer of the BOAT benchmark, and for `fit`: what it took, as JSON."""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hornbeam_experiments.boat import probe

Record = dict[str, Any]


def fit(question: Record) -> Record:
    """The tree of all rows in memory, as users without sources grow it: what every other tree must equal."""
    from pyarrow import parquet

    from hornbeam import TreeClassifier, TreeRegressor

    options, target = question.get("options", {}), question.get("target", "class")
    table = parquet.read_table(question["source"], columns=options.get("columns"))
    if target == "class":
        model = TreeClassifier(**question["parameters"], class_weight=question.get("class_weight"))
    else:
        model = TreeRegressor(**question["parameters"])
    said, weight = table[target], options.get("weight")
    weights = None if weight is None else table[weight].to_numpy()
    table = table.drop_columns([target] if weight is None else [target, weight])
    model.fit(table, said, sample_weight=weights)
    return {"digest": model.tree_.digest, "nodes": model.tree_.n_nodes}


def scikit_learn(question: Record) -> Record:
    """scikit-learn's tree of the same rows as float32, read a chunk at a time."""
    import numpy as np
    from pyarrow import parquet
    from sklearn.tree import DecisionTreeClassifier

    with parquet.ParquetFile(question["source"]) as file:
        rows, names = file.metadata.num_rows, file.schema_arrow.names[:-1]
        cells, labels = np.empty((rows, len(names)), dtype=np.float32), np.empty(rows, dtype=np.int8)
        for begin, numbers, classes in _chunks(file, names):
            cells[begin : begin + len(classes)], labels[begin : begin + len(classes)] = numbers, classes
    model = DecisionTreeClassifier(**question["parameters"], random_state=0).fit(cells, labels)
    return {
        "nodes": int(model.tree_.node_count),
        "accuracy": float(model.score(cells[: 10**6], labels[: 10**6])),
    }


def xgboost(question: Record) -> Record:
    """One round of XGBoost from external memory: binned, not exact."""
    import xgboost as library
    from pyarrow import parquet

    class Rows(library.DataIter):
        def __init__(self, cache: str) -> None:
            super().__init__(cache_prefix=cache)
            self._file = parquet.ParquetFile(question["source"])
            self.reset()

        def reset(self) -> None:
            self._chunks = _chunks(self._file, self._file.schema_arrow.names[:-1])

        def next(self, input_data: Any) -> bool:
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            input_data(data=chunk[1], label=chunk[2])
            return True

    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "objective": "binary:logistic",
            "tree_method": "hist",
            "max_depth": question["parameters"]["max_depth"],
            "min_child_weight": question["parameters"]["min_samples_leaf"] / 4,  # hessian of a row: 1/4
            "nthread": 1,
            "eta": 1.0,
            "lambda": 0.0,
        }
        rows = library.ExtMemQuantileDMatrix(Rows(str(Path(folder) / "rows")), nthread=1)
        booster = library.train(settings, rows, num_boost_round=1)
        return {"nodes": len(booster.trees_to_dataframe())}


def spark(question: Record) -> Record:
    """Spark MLlib's tree, in one local thread, within 1 GB of Java's heap: 32 bins an attribute, not exact.

    Java's CPU time and memory are those of another process: they are read before it ends.
    """
    from pyspark.ml.classification import DecisionTreeClassifier
    from pyspark.ml.feature import StringIndexer, VectorAssembler
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    rows = session.read.parquet(question["source"])
    names = [name for name in rows.columns if name != "class"]
    rows = StringIndexer(inputCol="class", outputCol="label").fit(rows).transform(rows)
    rows = VectorAssembler(inputCols=names, outputCol="features").transform(rows).select("features", "label")
    parameters = question["parameters"]
    learner = DecisionTreeClassifier(
        maxDepth=parameters["max_depth"], minInstancesPerNode=parameters["min_samples_leaf"]
    )
    nodes = learner.fit(rows).numNodes
    told = {"nodes": nodes, **_java(session)}
    session.stop()
    return told


def _java(session: Any) -> Record:
    process = Path("/proc") / str(session._jvm.java.lang.ProcessHandle.current().pid())
    ticks = process.joinpath("stat").read_text().rsplit(")", 1)[1].split()
    lines = process.joinpath("status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6
    return {"other cpu": (int(ticks[11]) + int(ticks[12])) / 100, "other peak": peak}


def _chunks(file: Any, names: list[str]) -> Iterator[tuple[int, Any, Any]]:
    """Where a chunk begins, its numbers as float32, its classes as 0 and 1."""
    import numpy as np
    import pyarrow.compute as pc

    begin = 0
    for batch in file.iter_batches(2**17, use_threads=False):
        numbers = np.column_stack([np.asarray(batch.column(name), dtype=np.float32) for name in names])
        yield begin, numbers, np.asarray(pc.equal(batch.column("class"), "A")).astype(np.int8)
        begin += batch.num_rows


KINDS = {"fit": fit, "scikit-learn": scikit_learn, "XGBoost": xgboost, "Spark": spark}

if __name__ == "__main__":
    answer = probe.answer(json.loads(sys.stdin.read()), KINDS)
    print(f"\n{json.dumps(answer)}")
