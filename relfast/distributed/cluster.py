"""Runs tasks on a Ray cluster, which decides where, and does again what a process or node has lost."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

from relfast.distributed.shards import Method, Shard, answer, versions
from relfast.distributed.storage import one_line
from relfast.errors import MissingExtraError, ReadError, RelfastError, UsageError, WorkerError
from relfast.support.system import turn_off_telemetry

CPUS_OF_TASK: Final = 4
"""Default number of CPUs and worker processes for scoring a shard; fewer if the smallest node has fewer."""

RETRIES: Final = 3
"""Retries of a task whose process or node died, or that could not read its input (stores can fail)."""

KNOCK_SECONDS: Final = 10.0
"""Longest wait for a cluster's first answer, and for the end of tasks that are cancelled."""

TICK: Final = 1.0
"""Longest wait for Ray, in seconds; then the caller shows progress and can be interrupted."""


def node_cpus(ray: Any) -> list[int]:
    """CPUs of each node that is alive and has some."""
    found = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
    return [int(cpus) for cpus in found if cpus >= 1]


class Cluster:
    """A connection to Ray. Leaving the context shuts down the connection, and a local Ray that was started
    for it.

    Parameters
    ----------
    address
        ``auto``, ``HOST:PORT`` or ``ray://…``; None: the cluster of ``RAY_ADDRESS``, else the one of this
        machine, else a new local Ray for this run.
    cpus
        CPUs and worker processes for a shard; None: as many as fit into every node.

    Raises
    ------
    UsageError
        There is no cluster at the address, or no node has so many CPUs.
    """

    def __init__(self, address: str | None, cpus: int | None) -> None:
        turn_off_telemetry()
        try:
            import ray
        except ImportError:
            raise MissingExtraError("scoring on Ray", "ray") from None
        self._ray, self._started = ray, not ray.is_initialized()
        if self._started:
            self._connect(address)
        nodes = node_cpus(ray)
        self.cpus: int = min([CPUS_OF_TASK, *nodes]) if cpus is None else cpus
        if nodes and self.cpus > max(nodes):
            self.__exit__()
            raise UsageError(
                f"no node has {self.cpus} CPUs for a part (--workers); the largest has {max(nodes)}"
            )

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._started:
            self._ray.shutdown()

    def _connect(self, address: str | None) -> None:
        if address is not None and not address.strip():
            raise UsageError("the address of the Ray cluster is empty: auto, HOST:PORT, or leave it out")
        # as Ray does
        address = os.environ.get("RAY_ADDRESS") or None if address is None else address
        _knock(address)
        before = signal.getsignal(signal.SIGTERM)
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:
            # Ray's errors have no common base: a bare Exception where a raylet dies as it starts
            with contextlib.suppress(Exception):
                self._ray.shutdown()  # of what has been started
            raise UsageError(f"no Ray cluster at {address or 'this machine'}: {one_line(error)}") from None
        finally:
            # Ray's own handler exits with status 0
            if before is not None and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, before)

    def run(
        self, method: Method, shards: Sequence[Shard], given: bytes
    ) -> Iterator[tuple[Shard, Any] | None]:
        """Run a task for each shard; ``given`` is a pickled `relfast.distributed.shards.Assignment`. Yields
        (shard, result or `RelfastError`) in the order in which tasks end, and None at least every `TICK`
        seconds. Left early, it ends its tasks."""
        task = self._ray.remote(answer).options(
            name=f"relfast {method}",
            num_cpus=1 if method == "count" else max(1, self.cpus),
            max_retries=RETRIES,
            retry_exceptions=[ReadError],
            scheduling_strategy="SPREAD",
        )
        told = versions()
        refs: dict[Any, Shard] = {}
        try:
            for shard in shards:
                refs[task.remote(told, given, method, shard)] = shard
            while refs:
                # for all: a wait on 1,000 tasks for each one would dominate the driver's time
                for ref in self._ray.wait([*refs], num_returns=len(refs), timeout=TICK)[0]:
                    yield refs.pop(ref), self._answer(ref)
                yield None
        finally:
            if refs:
                for ref in refs:
                    self._ray.cancel(ref, force=True)
                self._ray.wait([*refs], num_returns=len(refs), timeout=KNOCK_SECONDS)

    def _answer(self, ref: Any) -> Any:
        try:
            return self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            return (
                error.cause if isinstance(error.cause, RelfastError) else WorkerError(repr(error.cause)[:300])
            )
        except self._ray.exceptions.RayError as error:
            return ReadError(f"given up after {1 + RETRIES} tries: {one_line(error)}")


def _knock(address: str | None) -> None:
    """Check that the address accepts connections; Ray itself would try for minutes. Raises `UsageError`."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if "://" in host or not (colon and port.isdecimal()):
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UsageError(f"no Ray cluster at {address}: {one_line(error)}") from None
