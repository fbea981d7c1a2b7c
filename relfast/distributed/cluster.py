"""Runs tasks on a Ray cluster, which decides where, and does again what a process or node has lost."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from relfast.distributed.shards import Assignment, Method, Shard, answer, versions
from relfast.errors import MissingExtraError, ReadError, RelfastError, UsageError, WorkerError
from relfast.support import telemetry

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
    """A connection to Ray, made by the first task. A context manager: leaving it shuts down the connection,
    and a local Ray that was started for it.

    Parameters
    ----------
    address
        ``auto``, ``HOST:PORT`` or ``ray://…``; None: the cluster of ``RAY_ADDRESS``, else the one of this
        machine, else a new local Ray for this run.
    """

    def __init__(self, address: str | None) -> None:
        telemetry.turn_off()
        try:
            import ray
        except ImportError:
            raise MissingExtraError("scoring on Ray", "ray") from None
        self._address, self._ray = address, ray
        self._started = False

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._started:
            self._ray.shutdown()

    def _connect(self) -> None:
        """Connect to a cluster, or start a local Ray; nothing if Ray is connected. Raises `UsageError`."""
        if self._ray.is_initialized():
            return
        if self._address is not None and not self._address.strip():
            raise UsageError("the address of the Ray cluster is empty: auto, HOST:PORT, or leave it out")
        # as Ray does
        address = os.environ.get("RAY_ADDRESS") or None if self._address is None else self._address
        _knock(address)
        before = signal.getsignal(signal.SIGTERM)
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:
            # Ray's errors have no common base: a bare Exception where a raylet dies as it starts
            with contextlib.suppress(Exception):
                self._ray.shutdown()  # of what has been started
            reason = " ".join(str(error).split())[:200]
            raise UsageError(f"no Ray cluster at {address or 'this machine'}: {reason}") from None
        finally:
            # Ray's own handler exits with status 0
            if before is not None and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, before)
        self._started = True

    def run(
        self, method: Method, shards: Sequence[Shard], assignment: Assignment, workers: int | None
    ) -> Iterator[tuple[Shard, Any] | None]:
        """Run a task for each shard. Yields (shard, result or `RelfastError`) in the order in which tasks
        end, and None at least every `TICK` seconds while none ends. Left early, it ends its tasks.

        ``workers`` are the processes that score a shard (None: as many as fit into every node).

        Raises
        ------
        UsageError
            There is no cluster at the address, or no node has so many CPUs.
        """
        if not shards:
            return
        self._connect()
        nodes = node_cpus(self._ray)
        cpus = min([CPUS_OF_TASK, *nodes]) if workers is None else workers
        largest = max(nodes, default=cpus)
        if cpus > largest:
            raise UsageError(f"no node has {cpus} CPUs for a part (--workers); the largest has {largest}")
        task = self._ray.remote(answer).options(
            name=f"relfast {method}",
            num_cpus=1 if method == "count" else max(1, cpus),
            max_retries=RETRIES,
            retry_exceptions=[ReadError],
            scheduling_strategy="SPREAD",
        )
        given = versions(), pickle.dumps(replace(assignment, workers=cpus)), method
        refs: dict[Any, Shard] = {}
        try:
            for shard in shards:
                refs[task.remote(*given, shard)] = shard
            while refs:
                ended = self._ray.wait([*refs], num_returns=1, timeout=TICK)[0]
                if not ended:
                    yield None
                    continue
                # all that have ended: a wait on 1,000 tasks for each one would dominate the driver's time
                for ref in self._ray.wait([*refs], num_returns=len(refs), timeout=0)[0]:
                    yield refs.pop(ref), self._answer(ref)
        finally:
            if refs:
                for ref in refs:
                    self._ray.cancel(ref, force=True)
                self._ray.wait([*refs], num_returns=len(refs), timeout=KNOCK_SECONDS)

    def _answer(self, ref: Any) -> Any:
        try:
            return self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, RelfastError):
                return error.cause
            return WorkerError(_last_line(str(error)))
        except self._ray.exceptions.RayError as error:
            return ReadError(f"given up after {1 + RETRIES} tries: {_last_line(str(error))}")


def _knock(address: str | None) -> None:
    """Check that the address accepts connections; Ray itself would try for minutes. Raises `UsageError`."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if "://" in host or not (colon and port.isdecimal()):
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"no Ray cluster at {address}: {getattr(error, 'strerror', None) or error}"
        ) from None


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no reason given"
