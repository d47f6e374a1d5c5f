"""Model files that were damaged, forged or cut off: refused in one line, or harmless; never a crash.

HORNBEAM_FUZZ sets the number of mutants of each kind (300 without it); HORNBEAM_FUZZ_SEED where they begin.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hornbeam.errors import DataError, HornbeamError
from hornbeam.model import Tree, read_document, write_document
from tests.unit.model.builder import mixed_schema, random_table, random_tree

MUTANTS = int(os.environ.get("HORNBEAM_FUZZ", "300"))
FIRST_SEED = int(os.environ.get("HORNBEAM_FUZZ_SEED", "0"))
SEEDS = range(FIRST_SEED, FIRST_SEED + MUTANTS)
NASTY: list[Any] = [
    *(None, True, "", "inf", "\ud800", [], {}, [[]]),
    *(-1, 0, 1, 2, 7, 0.5, -0.0, 1e308, float("1e999"), 10**9, 10**30),
    *(2**31 - 1, 2**31, -(2**31), 2**62, 2**63, -(2**63), 2**64),
    *("numeric", "leaf", "multiway", "nominal", "uint64", "date"),
]


def model(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, mixed_schema(), n_tests=12, n_targets=2 * (seed % 2), breadth_first=seed % 3 > 0)
    return {"estimator": "TreeClassifier", "tree": tree.to_record()}


def document(payload: bytes) -> bytes:
    """With a checksum that is right: forgers can compute it too."""
    checksum = hashlib.sha256(payload).hexdigest().encode()
    return (
        b'{"format": "hornbeam-model", "version": 1, "sha256": "'
        + checksum
        + b'", "payload": '
        + payload
        + b"}\n"
    )


def mutated(rng: np.random.Generator, content: bytes) -> bytes:
    """One accident: cut, flipped bit, wrong byte, lost, repeated, zeroed or shuffled block."""
    data = bytearray(content)
    at, size = int(rng.integers(len(data))), int(rng.integers(1, 64))
    other = int(rng.integers(len(data)))
    match int(rng.integers(7)):
        case 0:
            del data[at:]
        case 1:
            data[at] ^= 1 << int(rng.integers(8))
        case 2:
            data[at] = int(rng.choice(np.frombuffer(b'0123456789-.,:[]{}"eEntf \\', np.uint8)))
        case 3:
            del data[at : at + size]
        case 4:
            data[at:at] = data[other : other + size]
        case 5:
            data[at : at + size] = bytes(len(data[at : at + size]))
        case _:
            data[at : at + size] = data[other : other + size]
    return bytes(data)


def forge(rng: np.random.Generator, record: Any) -> None:
    """Changes one value somewhere in a nest of dicts and lists."""
    while True:
        key: Any = rng.choice(list(record)) if isinstance(record, dict) else int(rng.integers(len(record)))
        inner = record[key]
        if isinstance(inner, dict | list) and len(inner) > 0 and rng.random() < 0.9:
            record = inner
            continue
        match int(rng.integers(5)):
            case 0:
                del record[key]
            case 1 if isinstance(record, list):
                record.insert(key, record[int(rng.integers(len(record)))])
            case 2 if isinstance(record, list):
                other = int(rng.integers(len(record)))
                record[key], record[other] = record[other], record[key]
            case 3 if type(inner) in (int, float):
                record[key] = inner + int(rng.integers(-2, 3))
            case _:
                record[key] = NASTY[int(rng.integers(len(NASTY)))]
        return


def use(payload: Any) -> None:
    """Everything a loaded model can be asked."""
    if not isinstance(payload, dict) or "tree" not in payload:
        raise DataError("no tree")
    tree = Tree.from_record(payload["tree"])
    table = random_table(np.random.default_rng(0), tree.schema, 50)
    leaves = tree.apply(table, 2)
    assert all(tree.is_leaf(leaf) for leaf in leaves)
    tree.decision_path(table)
    assert tree.feature_importances.shape == (len(tree.schema.attributes),)
    if tree.n_classes:
        tree.predict_codes(table)
        assert np.allclose(tree.predict_shares(table).sum(axis=1), 1.0)
    else:
        assert np.all(np.isfinite(tree.predict_means(table)))
    assert tree.to_text(missing=True)
    assert Tree.from_json(tree.to_json()) == tree


def refusal(path: Path) -> str:
    """The line with which a file is refused, or nothing; any exception of another kind fails the test."""
    try:
        use(read_document(path))
    except HornbeamError as error:
        return str(error)
    return ""


def refused(path: Path) -> bool:
    line = refusal(path)
    assert "\n" not in line
    assert len(line) < 1000
    return line != ""


def test_every_accident_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    write_document(path, model(1))
    whole = path.read_bytes()
    for seed in SEEDS:
        damaged = mutated(np.random.default_rng(seed), whole)
        if damaged == whole:
            continue
        path.write_bytes(damaged)
        with pytest.raises(DataError) as caught:
            read_document(path)
        assert "\n" not in str(caught.value), seed


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_accidents_with_a_right_checksum_are_refused_or_harmless(tmp_path: Path, kind: str) -> None:
    payload = json.dumps(model(kind == "regression"), separators=(",", ":")).encode()
    path = tmp_path / "m"
    path.write_bytes(document(payload))
    assert not refused(path)
    for seed in SEEDS:
        path.write_bytes(document(mutated(np.random.default_rng(seed), payload)))
        refused(path)


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_forged_values_are_refused_or_harmless(tmp_path: Path, kind: str) -> None:
    text = json.dumps(model(kind == "regression"))
    path = tmp_path / "m"
    n_refused = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        record = json.loads(text)
        for _ in range(int(rng.integers(1, 4))):
            forge(rng, record["tree"])
        path.write_bytes(document(json.dumps(record).encode()))
        n_refused += refused(path)
    assert n_refused > len(SEEDS) // 3


def hostile_payloads() -> dict[str, bytes]:
    def forged(**nodes: Any) -> bytes:
        record = model(0)
        for name, change in nodes.items():
            change(record["tree"]["nodes"], name)
        return json.dumps(record).encode()

    def first(value: Any) -> Any:
        return lambda nodes, name: nodes[name].__setitem__(0, value)

    def last(value: Any) -> Any:
        return lambda nodes, name: nodes[name].__setitem__(-1, value)

    return {
        "a billion nodes": forged(n_nodes=lambda nodes, name: nodes.update(n_nodes=10**9)),
        "a child at a billion": forged(first_child=first(10**9)),
        "a cycle": forged(first_child=first(0)),
        "a billion children": forged(n_children=first(10**9)),
        "branches without end": forged(branch_start=last(2**62)),
        "counts without end": forged(count_start=last(2**62)),
        "a code beyond all": forged(branch_code=first(2**31 - 1)),
        "a class beyond all": forged(count_class=first(2**31 - 1)),
        "deep nesting": b'{"tree":' + b"[" * 5_000_000 + b"]" * 5_000_000 + b"}",
        "deep objects": b'{"tree":' + b'{"a":' * 1_000_000 + b"0" + b"}" * 1_000_001,
        "a number of a million digits": b'{"tree":' + b"9" * 1_000_000 + b"}",
        "a key twice": b'{"tree":0,"tree":1}',
        "not a number": b'{"tree":NaN}',
        "no object": b"{}  ",
    }


LOAD = """
import resource, sys, time
from hornbeam.errors import HornbeamError
from hornbeam.model import Tree, read_document

def load(path):
    try:
        Tree.from_record(read_document(path).get("tree"))
    except HornbeamError as error:
        return str(error)
    return ""

assert load(sys.argv[1]) == ""
for path in sys.argv[2:]:
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    error = load(path)
    seconds = time.process_time() - began
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error, sep="\\t")
"""


def test_hostile_files_are_refused_within_a_second_and_100_MB(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(document(json.dumps(model(0)).encode()))
    names = []
    for i, (name, payload) in enumerate(hostile_payloads().items()):
        (tmp_path / str(i)).write_bytes(document(payload))
        names.append(name)
    paths = [str(tmp_path / str(i)) for i in range(len(names))]
    run = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path / "good"), *paths],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == len(names)
    for name, line in zip(names, lines, strict=True):
        seconds, kilobytes, error = line.split("\t")
        assert error, f"{name}: accepted"
        assert float(seconds) < 1.0, f"{name}: {seconds} s"
        assert int(kilobytes) < 100_000, f"{name}: {kilobytes} KB"


def write_for_ever(path: Path) -> None:
    payload = model(0)
    for generation in range(10**9):
        write_document(path, {**payload, "generation": generation})


def test_a_kill_leaves_the_old_model_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "m"
    write_document(path, {**model(0), "generation": -1})
    rng = np.random.default_rng(0)
    for _ in range(8):
        writer = multiprocessing.get_context("fork").Process(target=write_for_ever, args=(path,))
        before = path.stat().st_ino
        writer.start()
        while path.stat().st_ino == before and writer.is_alive():  # a busy machine starts it late
            time.sleep(0.001)
        time.sleep(0.04 * rng.random())
        os.kill(writer.pid or 0, signal.SIGKILL)
        writer.join()
        use(read_document(path))
    assert read_document(path)["generation"] >= 0


def test_a_full_disk_leaves_the_old_model_and_no_temporary_file(tmp_path: Path) -> None:
    script = (
        "import resource, sys\n"
        "from hornbeam.errors import StorageError\n"
        "from hornbeam.model import read_document, write_document\n"
        "write_document(sys.argv[1], {'old': 1})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n    write_document(sys.argv[1], {'new': 'x' * 100_000})\n"
        "except StorageError as error:\n    print(error.exit_code, error)\n"
        "assert read_document(sys.argv[1]) == {'old': 1}\n"
    )
    path = str(tmp_path / "m")
    run = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"4 cannot write '{path}': the file would be larger")
    assert os.listdir(tmp_path) == ["m"]
