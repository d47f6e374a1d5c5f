"""Dask as an engine: the futures of a client, whose workers are here, over SSH, on Slurm or Kubernetes.

States travel as tasks, so that they can be made again like everything else when a worker is lost. What a map
gives stays with its worker, in batches, so that a round over many parts is a few tasks; merges begin there.
"""

from __future__ import annotations

import logging
import pickle
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from math import ceil
from multiprocessing import resource_tracker
from typing import Any, NamedTuple

from hornbeam.distributed.engine import (
    BATCH_BYTES,
    FAN_IN,
    Done,
    Items,
    Kernel,
    Merge,
    Pick,
    merged,
    start_apart,
)
from hornbeam.distributed.messages import Packed, size_of
from hornbeam.errors import EngineError, HornbeamError, UsageError
from hornbeam.table.sources import Part, Source

_WAIT = 20  # seconds for a scheduler to answer, and for a first worker to come
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx", "inproc")
_MEMORY_PART = 2  # one task may take half of what its worker has for it
_BATCH_PART = 4  # of that a batch may be a quarter


@dataclass(frozen=True, eq=False)
class Batched:
    """What a map gave: futures of lists of messages."""

    futures: list[Any]


@dataclass(frozen=True, eq=False)
class Shuffled:
    """For each destination futures of lists of messages, which are one item."""

    destinations: list[list[Any]]


class DaskEngine:
    """The workers of a Dask client."""

    name = "dask"

    def __init__(self, client: Any, close: Callable[[], None] | None = None) -> None:
        self.client, self.shipped = client, 0
        self._live: weakref.WeakSet[Any] = weakref.WeakSet()
        # A cluster that was started for this engine goes with it, or with the process.
        self._close = None if close is None else weakref.finalize(self, close)

    def __repr__(self) -> str:
        return f"<hornbeam engine: Dask, {self.workers} workers>"

    @property
    def workers(self) -> int:
        threads: dict[str, int] = self._asked(self.client.nthreads)
        return max(1, sum(threads.values()))

    @property
    def memory(self) -> int | None:
        known = self.client.scheduler_info(n_workers=-1)["workers"].values()
        rooms = [w["memory_limit"] // max(1, w["nthreads"]) for w in known if w["memory_limit"]]
        return min(rooms) // _MEMORY_PART if rooms else None

    def parts(self, source: Source) -> list[Part]:
        return list(source.parts())

    def map(self, kernel: Kernel, items: Items, state: Any, done: Done | None = None) -> Batched:
        shared = self._share(state)
        futures = [self._submit(run, kernel, *given, shared) for run, *given in self._tasks(items)]
        self._wait(futures, done)
        return Batched(futures)

    def reduce(self, merge: Merge, items: Batched, state: Any) -> Packed:
        shared = self._share(state)
        here = [self._merged_at(worker, merge, own, shared) for worker, own in self._by_worker(items.futures)]
        level = [self._submit(_merge_sent, merge, group, shared) for group in _fanned(here)]
        while len(level) > 1:
            level = [self._submit(_merge_again, merge, group, shared) for group in _fanned(level)]
        found: Sent = self._results(level)[0]
        self.shipped += found.shipped
        return found.message

    def shuffle(self, pick: Pick, items: Batched, destinations: int, state: Any) -> Shuffled:
        shared, batches = self._share(state), self._batched(items.futures)
        return Shuffled(
            [
                [self._submit(_pick, pick, batch, to, shared) for batch in batches]
                for to in range(destinations)
            ]
        )

    def cancel(self) -> None:
        live = list(self._live)
        self._live.clear()
        if live and self.client.status == "running":
            self.client.cancel(live, force=True)

    def close(self) -> None:
        """End a cluster that was started for this engine; others go on."""
        self.cancel()
        if self._close is not None:
            self._close()

    # ---- futures ----

    def _tasks(self, items: Items) -> list[tuple[Any, ...]]:
        """What workers run, and on what."""
        match items:
            case Batched(futures):
                return [(_run_each, batches) for batches in self._batched(futures)]
            case Shuffled(destinations):
                return [(_run_all, batches) for batches in destinations]
            case parts:
                return [(_run_part, *self._bound(part)) for part in parts]

    def _submit(self, run: Callable[..., Any], *given: Any, at: str | None = None) -> Any:
        """A task; `at` a worker, if that is still there."""
        where = {} if at is None else {"workers": [at], "allow_other_workers": True}
        try:
            future = self.client.submit(run, *given, pure=False, **where)
        except Exception as error:
            raise _failed(error) from None
        self._live.add(future)
        return future

    def _share(self, state: Any) -> Any:
        return self._submit(_same, pickle.dumps(state))

    def _bound(self, part: Any) -> tuple[Any, Any]:
        """A part of a frame comes to its kernel with the rows, which Dask makes first."""
        frame = getattr(part, "delayed", None)
        return (part, None) if frame is None else (replace(part, delayed=None), self._computed(frame))

    def _computed(self, frame: Any) -> Any:
        future = self.client.compute(frame)
        self._live.add(future)
        return future

    def _merged_at(self, worker: str | None, merge: Merge, futures: Sequence[Any], shared: Any) -> Any:
        """All that is with a worker as one batch of one message, merged a few at a time."""
        level = list(futures)
        while True:
            level = [self._submit(_merge_here, merge, group, shared, at=worker) for group in _fanned(level)]
            if len(level) == 1:
                return level[0]

    def _batched(self, futures: Sequence[Any]) -> list[list[Any]]:
        """Batched that one task can take together: a few for each thread of a worker, none too large."""
        threads: dict[str, int] = self._asked(self.client.nthreads)
        if len(futures) <= sum(threads.values()):
            return [[future] for future in futures]
        sizes = self._asked(self.client.nbytes, [future.key for future in futures], summary=False)
        most = min(BATCH_BYTES, (self.memory or _BATCH_PART * BATCH_BYTES) // _BATCH_PART)
        batched: list[list[Any]] = []
        for worker, own in self._by_worker(futures):
            size = sum(sizes.get(future.key, 0) for future in own)
            n = min(len(own), max(threads.get(worker or "", 1), ceil(size / most)))
            batched += [own[i::n] for i in range(n)]
        return batched

    def _by_worker(self, futures: Sequence[Any]) -> list[tuple[str | None, list[Any]]]:
        """Results that are with the same worker; where that changes meanwhile, all only takes longer."""
        places = self._asked(self.client.who_has, list(futures))
        groups: dict[str | None, list[Any]] = {}
        for future in futures:
            groups.setdefault(next(iter(places.get(future.key) or ()), None), []).append(future)
        return list(groups.items())

    def _wait(self, futures: Sequence[Any], done: Done | None = None) -> None:
        # The client need not be Dask's default one.
        ended = _distributed().as_completed(list(futures), loop=self.client.loop)
        for n, future in enumerate(ended, 1):
            if future.status != "finished":
                raise self._why(future)
            if done is not None:
                done(n)

    def _asked(self, ask: Callable[..., Any], *given: Any, **more: Any) -> Any:
        """What the scheduler says."""
        try:
            return ask(*given, **more)
        except Exception as error:
            raise self._lost(error) from None

    def _why(self, future: Any) -> HornbeamError:
        """Why there is no result."""
        return _failed(future.exception()) if future.status == "error" else self._lost(None)

    def _lost(self, error: BaseException | None) -> HornbeamError:
        if self.client.status != "running":
            return EngineError("the Dask scheduler is gone; start it again, and run this again")
        return _failed(error)

    def _results(self, futures: Sequence[Any]) -> list[Any]:
        self._wait(futures)
        try:
            found: list[Any] = self.client.gather(list(futures))
        except Exception as error:
            raise _failed(error) from None
        return found


def dask_engine(given: Any = None, *, workers: int = 1) -> DaskEngine:
    """The engine of a client, of a scheduler's address, of the client that Dask has, or of a cluster of so
    many processes that is started here."""
    distributed = _distributed()
    if isinstance(given, distributed.Client):
        return _with_workers(DaskEngine(given))
    if given is not None:
        return _with_workers(_connected(distributed, str(given)))
    client = default_client()
    return _started(distributed, workers) if client is None else _with_workers(DaskEngine(client))


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing of Dask speaks to the terminal: what goes wrong is said in one line."""
    _distributed()  # which sets levels of its own
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def default_client() -> Any:
    """The client that Dask has, or None."""
    try:
        return _distributed().default_client()
    except ValueError:  # it has none, or, as a UsageError, it is not installed
        return None


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError(
            "engine='dask' needs Dask; install it by pip install 'hornbeam[distributed]'"
        ) from None
    return distributed


def _connected(distributed: Any, address: str) -> DaskEngine:
    scheme, colon, _ = address.partition("://")
    if colon and scheme not in _SCHEMES:
        raise UsageError(
            f"{address!r} is no address of a Dask scheduler; give one such as tcp://10.0.0.1:8786 or tls://..."
        )
    if scheme == "tls":
        _check_certificates(distributed, address)
    try:
        client = distributed.Client(address, timeout=_WAIT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {address!r} ({_line(error)}); start one by `dask scheduler`, and "
            "give the address that it prints"
        ) from None
    return DaskEngine(client, client.close)


def _check_certificates(distributed: Any, address: str) -> None:
    """Dask itself would fail inside, and then wait for what it has begun."""
    try:
        known = distributed.Security().get_connection_args("client").get("ssl_context")
    except OSError as error:
        raise UsageError(f"the certificates for {address!r} cannot be read: {_line(error)}") from None
    if known is None:
        raise UsageError(
            f"{address!r} needs certificates; name their files as Dask's distributed.comm.tls.ca-file, "
            "client.cert and client.key (docs/clusters.md), or give a client that has them"
        )


def _started(distributed: Any, workers: int) -> DaskEngine:
    def start() -> Any:
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs="ERROR"
        )
        return distributed.Client(cluster, set_as_default=False)

    def close(client: Any) -> None:
        cluster = client.cluster
        client.close()
        cluster.close()

    resource_tracker.ensure_running()  # begun by the first worker, it would let that hear Ctrl-C again
    client = start_apart(start, close)
    return DaskEngine(client, lambda: close(client))


def _with_workers(engine: DaskEngine) -> DaskEngine:
    if not engine.client.nthreads():
        try:
            engine.client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError:
            raise EngineError(
                "the Dask scheduler has no workers; start some by `dask worker ADDRESS`"
            ) from None
    return engine


def _fanned(level: Sequence[Any]) -> list[list[Any]]:
    return [list(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]


def _failed(error: BaseException | None) -> HornbeamError:
    """What a kernel refused, or one line for what the cluster did."""
    if isinstance(error, HornbeamError):
        return error
    if isinstance(error, MemoryError):
        return EngineError("a worker had no memory left; give a lower memory_limit, or workers more memory")
    return EngineError(f"the Dask cluster failed: {_line(error) if error else 'the work was cancelled'}")


def _line(error: BaseException) -> str:
    text = (str(error).splitlines() or [""])[0][:300].rstrip(". ")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# ---- on the workers ----


Batch = list[Packed]


class Sent(NamedTuple):
    """A message of what several workers had, and the bytes that left them."""

    message: Packed
    shipped: int


def _same(data: bytes) -> bytes:
    return data


@lru_cache(maxsize=4)
def _opened(data: bytes) -> Any:
    return pickle.loads(data)


def _run_part(kernel: Kernel, part: Any, rows: Any, shared: bytes) -> Batch:
    return [kernel(part if rows is None else part.of(rows), _opened(shared))]


def _run_each(kernel: Kernel, batches: Sequence[Batch], shared: bytes) -> Batch:
    return [kernel(item, _opened(shared)) for item in chain.from_iterable(batches)]


def _run_all(kernel: Kernel, batches: Sequence[Batch], shared: bytes) -> Batch:
    return [kernel(list(chain.from_iterable(batches)), _opened(shared))]


def _pick(pick: Pick, batches: Sequence[Batch], to: int, shared: bytes) -> Batch:
    return [pick(item, to, _opened(shared)) for item in chain.from_iterable(batches)]


def _merge_here(merge: Merge, batches: Sequence[Batch], shared: bytes) -> Batch:
    return merged(merge, chain.from_iterable(batches), _opened(shared))


def _merge_sent(merge: Merge, batches: Sequence[Batch], shared: bytes) -> Sent:
    """What came from several workers, as one."""
    messages = list(chain.from_iterable(batches))
    (found,) = merged(merge, messages, _opened(shared))
    return Sent(found, sum(map(size_of, messages)))


def _merge_again(merge: Merge, several: Sequence[Sent], shared: bytes) -> Sent:
    (found,) = merged(merge, (sent.message for sent in several), _opened(shared))
    return Sent(found, sum(sent.shipped for sent in several))
