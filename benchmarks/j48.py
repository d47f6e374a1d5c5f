"""C45Classifier beside Weka's J48: sizes, accuracy on training rows and in the same folds, CPU seconds."""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import common, weka
from benchmarks.answers import accuracy, confirm
from benchmarks.common import Verdict, format_seconds
from benchmarks.peers import Absent
from hornbeam import C45Classifier
from hornbeam.model import Tree
from tests import real_data

# Every real set of classes with fewer than 35,000 rows; numbers only first, then those with nominal columns.
SETS = (
    "iris",
    "glass",
    "pima_diabetes",
    "yeast",
    "spambase",
    "pendigits_train",
    "letter",
    "breast_cancer_wisconsin",
    "monks1_train",
    "monks2_train",
    "monks3_train",
    "tictactoe",
    "car",
    "led7",
    "led24",
    "nursery",
    "mushroom",
    "credit_approval",
    "internet_ads_first998",
    "adult_train",
    "nomao",
)
CLOSE = 1e-5  # J48 makes no cut between values that are closer
FORMS = {"pruned": ("-C", "0.25", "-M", "2"), "unpruned": ("-U", "-M", "2")}


@dataclass(frozen=True)
class Row:
    """Two trees of one table: ours and J48's. Accuracies are shares of the rows."""

    table: str
    shape: str
    form: str
    missing: int  # rows with a missing value
    leaves: int
    j48_leaves: int
    j48_empty: int
    same: int  # leaves with as many rows and errors as one of J48's
    nodes: int
    j48_nodes: int
    training: float
    j48_training: float
    folds: float | None
    j48_folds: float | None
    cpu: float
    j48_cpu: float
    reasons: str

    @property
    def alike(self) -> bool:
        """Leaf for leaf, but for J48's empty ones."""
        return self.same == self.leaves == self.j48_leaves - self.j48_empty


def grow(form: str) -> C45Classifier:
    return C45Classifier(min_objs=2, confidence=0.25, prune="error_based" if form == "pruned" else None)


def leaf_kinds(tree: Tree) -> weka.Leaves:
    counts = (tree.counts(node) for node in range(tree.n_nodes) if tree.is_leaf(node))
    return Counter((float(c.sum()), float(c.sum() - c.max())) for c in counts)


def deal(codes: npt.NDArray[np.int64], folds: int) -> npt.NDArray[np.int64]:
    """C4.5's own: shuffle, order by class, deal. Sizes and classes of folds differ by one at most."""
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    dealt = np.empty(len(codes), dtype=np.int64)
    dealt[order] = np.arange(len(codes)) % folds
    return dealt


def domains(data: real_data.RealSet) -> dict[str, list[str]]:
    """The values of the nominal columns, in the order of ours, so that ties fall alike."""
    columns = {name: data.table[name] for name in data.nominal} | {str(data.target.name): data.target}
    return {name: sorted(column.dropna().unique()) for name, column in columns.items()}


def complete_rows(data: real_data.RealSet) -> real_data.RealSet:
    known = data.table.notna().all(axis=1)
    return replace(data, name=f"{data.name}, complete", table=data.table[known], target=data.target[known])


def growth_reasons(data: real_data.RealSet, missing: int) -> str:
    """What of the table lets the grown trees differ; docs/c45.md explains each."""
    numbers = [np.unique(data.table[name].dropna()) for name in data.numeric]
    close = sum(bool((np.diff(values) <= CLOSE).any()) for values in numbers)
    classes = data.target.nunique()
    reasons = {
        f"{missing} rows with missing values": missing > 0,
        f"{classes} classes, counted at the node for the size of a cut": classes > 2 and bool(numbers),
        f"values closer than {CLOSE:g} in {close} columns": close > 0,
        "ties": True,
    }
    return ", ".join(reason for reason, holds in reasons.items() if holds)


def cross(
    peer: weka.Weka, data: real_data.RealSet, form: str, folds: int, folder: Path
) -> tuple[float, float]:
    """Accuracy of both over the same folds: correct answers over all rows."""
    _, codes = np.unique(data.target.to_numpy(dtype=str), return_inverse=True)
    dealt, values = deal(codes, folds), domains(data)
    ours = theirs = 0
    for fold in range(folds):
        learn, rest = dealt != fold, dealt == fold
        model = grow(form).fit(data.table[learn], data.target[learn])
        ours += int((model.predict(data.table[rest]) == data.target[rest].to_numpy()).sum())
        train = weka.write_arff(folder / "train.arff", data.table[learn], data.target[learn], values)
        test = weka.write_arff(folder / "test.arff", data.table[rest], data.target[rest], values)
        printed, _ = weka.run_j48(peer, FORMS[form], train, test)
        theirs += printed.correct[-1]
    return ours / len(codes), theirs / len(codes)


def compare(peer: weka.Weka, data: real_data.RealSet, form: str, folds: int, folder: Path) -> Row:
    begin = time.process_time()
    model = grow(form).fit(data.table, data.target)
    cpu = time.process_time() - begin
    whole = weka.write_arff(folder / "whole.arff", data.table, data.target, domains(data))
    printed, j48_cpu = weka.run_j48(peer, FORMS[form], whole)
    tree, kinds = model.tree_, leaf_kinds(model.tree_)
    rows, missing = len(data.target), int(data.table.isna().any(axis=1).sum())
    training = accuracy(model.predict(data.table), data.target)
    errors = sum(wrong * times for (_, wrong), times in kinds.items())
    confirm(round(training * rows) == rows - errors, f"{data.name}: {errors:g} errors counted, others made")
    scores = cross(peer, data, form, folds, folder) if folds else (None, None)
    return Row(
        table=data.name,
        shape=f"{rows}x{data.table.shape[1]}",
        form=form,
        missing=missing,
        leaves=tree.n_leaves,
        j48_leaves=printed.n_leaves,
        j48_empty=printed.n_empty,
        same=(kinds & printed.leaves).total(),
        nodes=tree.n_nodes,
        j48_nodes=printed.n_nodes,
        training=training,
        j48_training=printed.correct[0] / rows,
        folds=scores[0],
        j48_folds=scores[1],
        cpu=cpu,
        j48_cpu=j48_cpu,
        reasons=growth_reasons(data, missing),
    )


def compare_set(peer: weka.Weka, name: str, folds: int, folder: Path) -> list[Row]:
    """Both forms; where values are missing also of the complete rows, to see what else differs."""
    data = real_data.load(name)
    rows = [compare(peer, data, form, folds * (form == "pruned"), folder) for form in FORMS]
    if rows[0].missing:
        rows += [compare(peer, complete_rows(data), form, 0, folder) for form in FORMS]
    return rows


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"


def print_rows(form: str, rows: Sequence[Row]) -> None:
    """Ours / J48's, set by set."""
    print(f"\n{form}: hornbeam / J48; empty leaves are J48's, of values that no row at the node has")
    body = [
        (
            f"{row.table} {row.shape}",
            f"{row.leaves} / {row.j48_leaves}",
            str(row.j48_empty),
            str(row.same),
            f"{row.nodes} / {row.j48_nodes}",
            f"{percent(row.training)} / {percent(row.j48_training)}",
            f"{percent(row.folds)} / {percent(row.j48_folds)}",
            f"{format_seconds(row.cpu)} / {format_seconds(row.j48_cpu)}",
        )
        for row in rows
    ]
    head = ("table", "leaves", "empty", "same leaves", "nodes", "training %", "folds %", "CPU")
    print(common.format_table(head, body))


def print_reasons(rows: Sequence[Row]) -> None:
    """Trees that are alike before pruning differ by pruning alone."""
    grown = {row.table: row for row in rows if row.form == "unpruned"}
    print("\nWhere leaves differ, by what may make them differ (docs/c45.md)")
    for row in rows:
        if row.alike:
            continue
        reasons = row.reasons
        if row.form == "pruned" and grown[row.table].alike:
            raised = ", rows raised into empty branches" if grown[row.table].j48_empty else ""
            reasons = f"the estimate of errors{raised}"
        print(f"- {row.table}, {row.form}: {reasons}")


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Without missing values trees are grown alike, and with them accuracy is not below J48's."""
    shares = [
        row.same / max(row.leaves, row.j48_leaves - row.j48_empty)
        for row in rows
        if row.form == "unpruned" and not row.missing
    ]
    scores = [row.folds / row.j48_folds for row in rows if row.folds and row.j48_folds]
    verdicts = []
    if shares:
        mean = common.geometric_mean(shares)
        verdicts.append(Verdict("leaves as J48's, unpruned, nothing missing (mean)", mean, floor=0.95))
    if scores:
        mean = common.geometric_mean(scores)
        verdicts.append(Verdict("accuracy in folds / J48's (mean)", mean, floor=0.99, goal=1))
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=SETS, help="names of sets")
    parser.add_argument("--folds", type=int, default=10, help="of the pruned trees; 0 leaves them out")
    options = parser.parse_args()
    peer = weka.find_weka()
    reason = peer.reason if isinstance(peer, Absent) else None
    if reason is None and real_data.find_folder() is None:
        reason = real_data.ABSENT
    if reason is not None or isinstance(peer, Absent):
        print(f"skipped, nothing to set beside C45Classifier: {reason}")
        return 0
    setting: dict[str, Any] = common.environment(["hornbeam", "numpy"]) | {"weka": peer.version}
    print("  ".join(f"{name} {version}" for name, version in setting.items()))
    print("CPU: ours is of fit, J48's of its process (Java's start, reading ARFF, growing, asking).")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            print(f"  {name}", flush=True)
            rows += compare_set(peer, name, options.folds, Path(folder))
    for form in FORMS:
        print_rows(form, [row for row in rows if row.form == form])
    print_reasons(rows)
    return common.close("j48", judge(rows), {"setting": setting, "rows": [asdict(row) for row in rows]}, [])


if __name__ == "__main__":
    raise SystemExit(main())
