"""Bytes from a file or from a worker: whatever is in them ends in one line, and never in a wrong place."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hornbeam import _core
from hornbeam.boat.buffer import Spill
from hornbeam.errors import StorageError

ROWS = 60
CLASSES, FOLDS, CATEGORIES = 3, 5, 4
CRITERIA = ("gini", "entropy", "gain_ratio", "c45", "correlation")

Bytes = npt.NDArray[np.uint8]


class Given:
    """Rows of three attributes, and a scan that counts, watches and keeps them."""

    def __init__(self, *, weighted: bool = False) -> None:
        rng = np.random.default_rng(3)
        self.floats = rng.normal(size=ROWS).round(2)
        self.floats[::7] = np.nan
        self.integers = rng.integers(-40, 300, ROWS)
        self.codes = rng.integers(-1, CATEGORIES, ROWS).astype(np.int32)
        self.classes = rng.integers(0, CLASSES, ROWS).astype(np.uint16)
        self.folds = rng.integers(0, FOLDS, ROWS).astype(np.uint16)
        self.weights = rng.integers(1, 9, ROWS) / 4
        self.layout = _core.RowLayout(
            [
                (0, float(np.nanmin(self.floats)), float(np.nanmax(self.floats))),
                (1, int(self.integers.min()), int(self.integers.max())),
                (2, CATEGORIES, None),
            ],
            CLASSES,
            FOLDS,
            weights=_core.exponent_span(self.weights) if weighted else None,
            rows=ROWS,
        )
        self.weighted = weighted
        edges: list[Any] = [None, None, None]
        highest = self.layout.missing_key(0) - 1
        edges[0] = np.array([highest // 3, highest // 2, highest], dtype=np.uint64)
        self.grid = _core.Grid(self.layout, edges)

    def scan(self, *, rows: bool = True) -> _core.SourceScan:
        """All attributes are counted; of the first, the values in all buckets but one are kept."""
        wanted = np.array([0, 1, 1, 1], dtype=np.uint8)
        place = {"counted": [0, 1, 2], "watches": [(0, wanted)], "keeps": True, "tests": [], "sums": False}
        scan = _core.SourceScan(self.layout, self.grid, [place])
        if rows:
            columns = [(self.floats, None), (self.integers, None), (self.codes, None)]
            scan.add(columns, self.classes, self.folds, self.weights if self.weighted else None)
        return scan

    def rows(self) -> Bytes:
        """All of them, as they are kept."""
        return np.frombuffer(b"".join(self.scan().take_rows(0).blocks()), dtype=np.uint8)

    def settle(self, scan: _core.SourceScan, criterion: str) -> None:
        """Judge the root by what the scan has found."""
        wholes = [np.bincount(self.classes, minlength=CLASSES).tolist()]
        settling = _core.Settling(
            criterion=criterion, nominal="subset", layout=self.layout, wholes=wholes, max_depth=-1,
            min_samples_split=2, min_samples_leaf=1, min_objs=None, min_impurity_decrease=0.0,
            many_valued=[[0, 0, 0]], sums=[scan.total_sums(0)] if self.weighted else [],
        )  # fmt: skip
        root = settling.open_root(0)
        if root >= 0:
            settling.settle(root, scan, 0)


class Fields:
    """Where the numbers in the bytes of a scan lie: first byte, bytes of a number, how many, in planes."""

    def __init__(self, found: bytes, words: int) -> None:
        self.found, self.at = found, 0
        self.of: dict[str, tuple[int, int, int, bool]] = {}
        for name in ("version", "places", "there"):
            self.numbers(name, 8, 1)
        for name, size in (("totals", 8), ("counts", 4), ("total sums", 8), ("cell sums", 8)):
            self.numbers(name, size, self.length(name), planes=name == "counts")
        self.length("watches")
        n = self.length("keys")
        self.numbers("keys", 8, n, planes=True)
        for name in ("joint classes", "times"):
            self.numbers(name, 4, self.length(name), planes=True)
        self.numbers("key sums", 8, n * words)
        self.length("rows")

    def length(self, name: str) -> int:
        self.numbers(f"number of {name}", 8, 1)
        return int.from_bytes(self.found[self.at - 8 : self.at], "little")

    def numbers(self, name: str, size: int, n: int, *, planes: bool = False) -> None:
        self.of[name] = (self.at, size, n, planes)
        self.at += size * n

    def read(self, name: str, i: int) -> int:
        return int.from_bytes(bytes(self.found[place] for place in self._places(name, i)), "little")

    def forged(self, name: str, i: int, number: int) -> bytes:
        """The bytes with another number in the place of one."""
        bytes_ = bytearray(self.found)
        size = self.of[name][1]
        for place, byte in zip(
            self._places(name, i), (number % 256**size).to_bytes(size, "little"), strict=True
        ):
            bytes_[place] = byte
        return bytes(bytes_)

    def _places(self, name: str, i: int) -> list[int]:
        begin, size, n, planes = self.of[name]
        return [begin + (b * n + i if planes else i * size + b) for b in range(size)]


LENGTHS = ("places", "number of totals", "number of counts", "number of total sums", "number of cell sums",
           "number of watches", "number of keys", "number of joint classes", "number of times",
           "number of rows")  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
def test_every_forged_number_of_a_scan_is_refused_or_another_result(weighted: bool) -> None:
    given = Given(weighted=weighted)
    fields = Fields(given.scan().to_bytes(), given.layout.sum_words)
    assert len(fields.found) == fields.at + ROWS * given.layout.stride
    refused = dict.fromkeys(fields.of, 0)
    for name, (_, size, n, _) in fields.of.items():
        for i in range(0, n, max(1, n // 30)):
            there = fields.read(name, i)
            for number in (there + 1, there - 1, there + 2**31, 2 ** (8 * size) - 1, 2 ** (8 * size - 1), 0):
                scan = given.scan(rows=False)
                with suppress(StorageError):
                    refused[name] += 1
                    scan.merge_bytes(fields.forged(name, i, number))
                    scan.to_bytes()
                    for criterion in ("gini",) if weighted else CRITERIA:
                        given.settle(scan, criterion)
                    scan.merge(given.scan())
                    refused[name] -= 1
    for name in ("version", *LENGTHS, "counts", "keys", "joint classes", "times"):
        assert refused[name] > 0, name


@pytest.mark.parametrize("field", LENGTHS)
@pytest.mark.parametrize("number", [2**64 - 1, 2**63, 2**61, 2**40, 10**6])
def test_lengths_that_the_bytes_do_not_have_are_refused(field: str, number: int) -> None:
    given = Given()
    found = Fields(given.scan().to_bytes(), 0).forged(field, 0, number)
    with pytest.raises(StorageError, match="no result of a scan of the same places: run it again"):
        given.scan(rows=False).merge_bytes(found)


@pytest.mark.parametrize("field", ["joint classes", "keys"])
def test_keys_and_classes_that_there_are_not_are_refused(field: str) -> None:
    given = Given()
    fields = Fields(given.scan().to_bytes(), 0)
    last = fields.of[field][2] - 1
    beyond = CLASSES * FOLDS if field == "joint classes" else given.layout.missing_key(0) + 1
    for number in (beyond, 2**31, 2**32 - 1, 2**63, 2**64 - 1):
        with pytest.raises(StorageError, match="no result of a scan"):
            given.scan(rows=False).merge_bytes(fields.forged(field, last, number))


def test_counts_of_other_rows_are_refused_before_cuts_are_sought() -> None:
    given = Given()
    fields = Fields(given.scan().to_bytes(), 0)
    for i in range(fields.of["counts"][2]):
        if fields.read("counts", i) == 0:
            continue
        scan = given.scan(rows=False)
        scan.merge_bytes(fields.forged("counts", i, 0))
        with suppress(StorageError):  # a bucket whose values are known is read from these
            given.settle(scan, "gini")
            continue
        break
    else:
        pytest.fail("no count is looked at")


def parts_of(given: Given) -> dict[str, tuple[int, int, int]]:
    """Where the parts of a row lie: first byte, bytes, and the least number that means nothing."""
    parts, at = {}, 0

    def part(name: str, least: int) -> None:
        nonlocal at
        size = max(1, ((least - 1).bit_length() + 7) // 8)
        parts[name] = (at, size, least)
        at += size

    for attribute in range(3):
        part(f"key {attribute}", given.layout.missing_key(attribute) + 1)
    part("class", CLASSES)
    part("fold", FOLDS)
    if given.weighted:
        parts["weight"] = (at, 8, 0)
        at += 8
    assert at == given.layout.stride
    return parts


def uses_of(given: Given) -> dict[str, Callable[[Bytes], object]]:
    """Whatever is done with rows that come as bytes."""
    nominal = {"kind": "nominal", "attribute": 2, "missing": 0, "children": [1, 2], "child_of": [0, 1, 0, 1]}
    plain = {"counted": [0, 1, 2], "watches": [(1, None)], "keeps": False, "tests": [], "sums": False}

    def scan(**also: Any) -> _core.SourceScan:
        return _core.SourceScan(given.layout, given.grid, [plain | also, plain, plain])

    def put(rows: Bytes) -> None:
        held = scan(keeps=True)
        held.put_bytes(rows.tobytes(), 0)
        held.take_rows(0).encode()

    def forward(rows: Bytes) -> None:
        scan(counted=[], watches=[], tests=[nominal]).send_on([rows], 0)

    return {
        "added": lambda rows: scan().add_rows(rows, 0),
        "looked into": lambda rows: scan().look_on(rows, 0, 1),
        "sent on": forward,
        "put back": put,
        "encoded": lambda rows: scan().take_rows(0).encode([rows]),
    }


READ = {  # what a use does not read it passes on as it is
    "looked into": ("key 1", "class", "fold"),
    "sent on": ("key 0", "key 1", "key 2", "class", "fold", "weight"),
}


@pytest.mark.parametrize("weighted", [False, True])
def test_every_forged_part_of_a_row_is_refused_before_it_is_used(weighted: bool) -> None:
    given = Given(weighted=weighted)
    rows, stride = given.rows(), given.layout.stride
    for name, use in uses_of(given).items():
        use(rows)
        for part, (begin, size, least) in parts_of(given).items():
            if part not in READ.get(name, (part,)):
                continue
            nothing = {least, 2 ** (8 * size) - 1} - {2 ** (8 * size)}
            if part == "weight":
                numbers = np.array([np.nan, np.inf, -1.0, 0.0, 1e300, 1e-300])
                nothing = {int(n) for n in numbers.view(np.uint64)}
            for number in nothing:
                for row in (0, ROWS // 2, ROWS - 1):
                    forged = rows.copy()
                    at = row * stride + begin
                    forged[at : at + size] = np.frombuffer(number.to_bytes(size, "little"), dtype=np.uint8)
                    with pytest.raises(StorageError, match="came back damaged"):
                        use(forged)


@pytest.mark.parametrize("weighted", [False, True])
def test_random_rows_are_refused_or_rows(weighted: bool) -> None:
    given = Given(weighted=weighted)
    random = np.random.default_rng(1)
    for use in uses_of(given).values():
        for size in (1, 2, 7, 60, 5000):
            with suppress(StorageError):
                use(random.integers(0, 256, size * given.layout.stride).astype(np.uint8))


def test_rows_that_a_disk_gives_back_changed_are_refused() -> None:
    given = Given()
    with Spill() as spill:
        pieces = spill.put(given.scan().take_rows(0))
        assert np.concatenate([spill.read(piece) for piece in pieces]).tobytes() == given.rows().tobytes()
        assert spill._file is not None
        os.pwrite(spill._file.fileno(), b"\x01\x02\x03", 17)
        with pytest.raises(StorageError, match="gives back other bytes than were written"):
            spill.read(pieces[0])
        os.ftruncate(spill._file.fileno(), 17)
        with pytest.raises(StorageError, match="gives back fewer bytes than were written"):
            spill.read(pieces[0])


def test_tests_that_send_rows_nowhere_are_refused() -> None:
    given = Given()
    fits = {"kind": "nominal", "attribute": 2, "missing": 0, "children": [0, 0], "child_of": [0, 1, 0, 1]}
    for change in ({"child_of": [0, 1, 2, 0]}, {"missing": 2}, {"kind": "numeric", "lo": 3, "children": [0]}):
        with pytest.raises(ValueError, match="no such child"):
            given.scan().lead(0, fits | change)


def test_scans_of_other_places_are_not_merged() -> None:
    given = Given()
    scan = given.scan()
    other = _core.SourceScan(
        given.layout,
        given.grid,
        [{"counted": [0], "watches": [], "keeps": True, "tests": [], "sums": False}],
    )
    with pytest.raises(ValueError, match="scans of different plans are not merged"):
        scan.merge(other)
