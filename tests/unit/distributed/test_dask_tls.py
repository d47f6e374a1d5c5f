"""A Dask cluster that speaks TLS alone, with certificates of an authority of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hornbeam.distributed.dask_engine import dask_engine
from hornbeam.errors import EngineError, UsageError
from tests.unit.cli.test_command import run
from tests.unit.distributed.growing import People, fitted, grown_by

COMMANDS = (
    "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca-key.pem -out ca.pem",
    "req -newkey rsa:2048 -nodes -subj /CN=hornbeam -keyout me-key.pem -out me.csr",
    "x509 -req -in me.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -out me.pem",
)


def certified(folder: Path) -> dict[str, str]:
    """Certificates, as Dask's settings name them for whoever connects."""
    if shutil.which("openssl") is None:
        pytest.skip("certificates need openssl, and it is not installed")
    for command in COMMANDS:
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    own = {"cert": str(folder / "me.pem"), "key": str(folder / "me-key.pem")}
    client = {f"distributed.comm.tls.client.{name}": path for name, path in own.items()}
    return {"distributed.comm.tls.ca-file": str(folder / "ca.pem"), **client}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return certified(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def encrypted(settings: dict[str, str]) -> Iterator[Any]:
    """The client of two workers."""
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    ca, cert, key = settings.values()
    names = [f"tls_{who}_{what}" for who in ("scheduler", "worker", "client") for what in ("cert", "key")]
    security = distributed.Security(
        tls_ca_file=ca, require_encryption=True, **dict(zip(names, [cert, key] * 3, strict=True))
    )
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            security=security,
            dashboard_address=":0",
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster, security=security, set_as_default=False) as made,
    ):
        yield made


def test_the_tree_is_the_same(encrypted: Any, people: People) -> None:
    assert encrypted.scheduler.address.startswith("tls://")
    assert grown_by(encrypted, people[1]) == fitted(people[0], max_depth=6)


def test_the_command_finds_certificates_in_the_settings_of_dask(
    encrypted: Any, people: People, settings: dict[str, str]
) -> None:
    import dask

    asked = ("fit", people[1], "--target", "class", "--max-depth", "4", "--scheduler")
    with dask.config.set(settings):
        done = run(*asked, encrypted.scheduler.address)
    assert done.exit_code == 0, done.output
    assert fitted(people[0], max_depth=4)[:16] in done.stdout
    refused = run(*asked, encrypted.scheduler.address)
    assert refused.exit_code == 2
    assert "needs certificates; name their files as Dask's distributed.comm.tls.ca-file" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_certificates_of_another_authority_are_one_line(
    encrypted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask

    monkeypatch.setattr("hornbeam.distributed.dask_engine._WAIT", 1)
    with (
        dask.config.set(certified(tmp_path)),
        pytest.raises(EngineError, match=r"^no Dask scheduler answers at 'tls://") as caught,
    ):
        dask_engine(encrypted.scheduler.address)
    assert "\n" not in str(caught.value)
    plain = encrypted.scheduler.address.replace("tls://", "tcp://")
    with pytest.raises(EngineError, match=r"^no Dask scheduler answers at 'tcp://"):
        dask_engine(plain)


def test_certificates_that_are_not_there_are_one_line(settings: dict[str, str]) -> None:
    import dask

    lost = {**settings, "distributed.comm.tls.client.cert": "/nowhere/me.pem"}
    with dask.config.set(lost), pytest.raises(UsageError, match=r"^the certificates for .* cannot be read"):
        dask_engine("tls://127.0.0.1:8786")
