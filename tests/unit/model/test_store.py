"""Model files: what is written comes back, the old file survives every failure, errors are one line."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hornbeam.errors import DataError, StorageError
from hornbeam.model import Tree, read_document, store, write_document
from tests.rights import without_rights
from tests.unit.model.builder import chain, float_schema

PAYLOAD = {
    "estimator": "TreeClassifier",
    "parameters": {"max_depth": None, "name": "ü\n"},
    "list": [1, 0.1, "x"],
}


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    write_document(tmp_path / "m.hornbeam", PAYLOAD)
    assert read_document(tmp_path / "m.hornbeam") == PAYLOAD
    assert read_document(str(tmp_path / "m.hornbeam")) == PAYLOAD
    assert os.listdir(tmp_path) == ["m.hornbeam"]


def test_the_file_is_one_json_document(tmp_path: Path) -> None:
    write_document(tmp_path / "m", PAYLOAD)
    document = json.loads((tmp_path / "m").read_text("ascii"))
    assert list(document) == ["format", "version", "sha256", "payload"]
    assert (document["format"], document["version"], document["payload"]) == ("hornbeam-model", 1, PAYLOAD)


def test_equal_payloads_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_document(tmp_path / name, PAYLOAD)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_mode_follows_the_umask_and_a_link_stays_a_link(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        write_document(tmp_path / "m", PAYLOAD)
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640
    (tmp_path / "link").symlink_to("m")
    write_document(tmp_path / "link", {"new": 1})
    assert (tmp_path / "link").is_symlink()
    assert read_document(tmp_path / "m") == {"new": 1}


@pytest.mark.parametrize("call", ["open", "fsync", "replace", "write"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_a_failure_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    path = tmp_path / "m"
    write_document(path, PAYLOAD)

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise OSError(code, os.strerror(code))

    if call == "write":
        real = os.fdopen

        def failing_file(*args: Any, **kwargs: Any) -> Any:
            file = real(*args, **kwargs)
            file.close()
            return _Full(fail)

        monkeypatch.setattr(os, "fdopen", failing_file)
    else:
        monkeypatch.setattr(os, call, fail)
    with pytest.raises(StorageError, match="cannot write '") as caught:
        write_document(path, {"new": 1})
    monkeypatch.undo()
    assert "\n" not in str(caught.value)
    assert read_document(path) == PAYLOAD
    assert os.listdir(tmp_path) == ["m"]


class _Full:
    """A file on a full disk."""

    def __init__(self, fail: Any) -> None:
        self.write = fail

    def __enter__(self) -> _Full:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def test_an_interrupt_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_document(tmp_path / "m", PAYLOAD)
    assert os.listdir(tmp_path) == []


def test_paths_that_cannot_be_read_are_storage_errors(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no such file"):
        read_document(tmp_path / "absent")
    with pytest.raises(StorageError, match="it is a directory"):
        read_document(tmp_path)
    with pytest.raises(StorageError, match="null character"):
        read_document("a\0b")
    with pytest.raises(StorageError, match="not a regular file"):
        read_document(os.devnull)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="not a regular file"):
        read_document(tmp_path / "pipe")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="not a directory"):
        read_document(tmp_path / "file" / "m")
    assert StorageError.exit_code == 4


def test_paths_that_cannot_be_written_are_storage_errors(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent" / "m", "a\0b", tmp_path / ("n" * 300), ""):
        with pytest.raises(StorageError, match="cannot write") as caught:
            write_document(path, PAYLOAD)
        assert "\n" not in str(caught.value)


def test_places_without_permission_are_storage_errors(tmp_path: Path) -> None:
    write_document(tmp_path / "m", PAYLOAD)
    (tmp_path / "m").chmod(0)
    tmp_path.chmod(0o500)
    with without_rights():
        with pytest.raises(StorageError, match=r"cannot write .*: permission denied"):
            write_document(tmp_path / "new", PAYLOAD)
        with pytest.raises(StorageError, match=r"cannot read .*: permission denied"):
            read_document(tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]


def test_a_newer_version_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "m").write_text('{"format": "hornbeam-model", "version": 7, "whatever": []}')
    with pytest.raises(
        DataError, match="written by a newer Hornbeam: version 7, this one reads up to 1; upgrade"
    ):
        read_document(tmp_path / "m")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\x80\x04pickle",
        b'{"format": "other", "version": 1}',
        b'{"format": "hornbeam-model", "version": 0, ',
        b"\0" * 100,
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(DataError, match="not a Hornbeam model file"):
        read_document(tmp_path / "m")


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "m", "wb") as file:
        file.truncate(store.MAX_BYTES + 1)
    with pytest.raises(DataError, match="at most 1073741824"):
        read_document(tmp_path / "m")


def test_a_model_above_the_limit_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 100)
    with pytest.raises(StorageError, match="at most 100"):
        write_document(tmp_path / "m", PAYLOAD)
    assert os.listdir(tmp_path) == []


def test_a_hundred_thousand_nodes_are_saved_and_loaded(tmp_path: Path) -> None:
    tree = chain(50_000, float_schema(8))
    write_document(tmp_path / "m", {"tree": tree.to_record()})
    again = Tree.from_record(read_document(tmp_path / "m")["tree"])
    assert again == tree


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_device_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match="a device or a pipe"):
        write_document(pipe, {"a": 1})
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize(
    "thrown",
    [OverflowError("too large\nto convert"), MemoryError(), RecursionError("deep"), KeyError("k" * 10**6)],
)
def test_whatever_goes_wrong_with_a_file_is_one_line_about_it(thrown: Exception) -> None:
    with pytest.raises(DataError) as caught, store.reading("some.hornbeam"):
        raise thrown
    line = str(caught.value)
    assert line.startswith("'some.hornbeam'")
    assert "\n" not in line
    assert len(line) < 1000
    assert caught.value.__cause__ is thrown  # --debug shows it


def test_who_stops_the_reading_of_a_file_is_heard() -> None:
    with pytest.raises(KeyboardInterrupt), store.reading("some.hornbeam"):
        raise KeyboardInterrupt
