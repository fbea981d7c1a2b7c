"""Runs tasks on a Ray cluster: measuring a chunk, scoring a part.

Ray places the tasks, starts processes for them, and retries a task whose process or node died. A record that
kills its process kills only a worker of relfast's pool on the node, as on one machine, and gets ``crashed``.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from relfast import telemetry
from relfast.distributed.part_scoring import Assignment, Method, answer, versions
from relfast.errors import MissingExtraError, ReadError, RelfastError, UsageError, WorkerError

CPUS_OF_TASK: Final = 4
"""Default number of CPUs and worker processes for scoring a part; fewer if the smallest node has fewer."""

AHEAD: Final = 2
"""Tasks submitted to Ray for each that can run at a time: the running one and the next, so that no node waits
for the driver."""

RETRIES: Final = 3
"""Retries of a task whose process or node died, or that could not read its input (stores can fail)."""

KNOCK_SECONDS: Final = 10.0
"""Longest wait for a cluster's first answer."""

TICK: Final = 1.0
"""Longest wait for Ray, in seconds; then the caller shows progress and can be interrupted."""


def ray_module() -> Any:
    """Ray, imported. Raises `MissingExtraError`."""
    telemetry.turn_off()
    try:
        import ray
    except ImportError:
        raise MissingExtraError("scoring on Ray", "ray") from None
    return ray


def node_cpus(ray: Any) -> list[int]:
    """CPUs of each node that is alive and has some."""
    found = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
    return [int(cpus) for cpus in found if cpus >= 1]


class Cluster:
    """A connection to Ray that runs tasks, made by the first task. A context manager: leaving it shuts down
    the connection, and a local Ray that was started for it.

    Parameters
    ----------
    address
        ``auto``, ``HOST:PORT`` or ``ray://…``; None: the cluster of ``RAY_ADDRESS``, else the one of this
        machine, else a new local Ray for this run.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._ray = ray_module()
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
        try:
            with _own_signals():
                self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:
            # Ray's errors have no common base: a bare Exception where a raylet dies as it starts
            with contextlib.suppress(Exception):
                self._ray.shutdown()  # of what has been started
            reason = " ".join(str(error).split())[:200]
            raise UsageError(f"no Ray cluster at {address or 'this machine'}: {reason}") from None
        self._started = True

    def run(
        self, method: Method, items: Sequence[Any], assignment: Assignment, workers: int | None
    ) -> Iterator[tuple[Any, Any] | None]:
        """Run a task for each item. Yields (item, result or `RelfastError`) in the order in which tasks
        end, and None at least every `TICK` seconds while none ends.

        ``workers`` are the processes that score a part (None: as many as fit into every node).

        Raises
        ------
        UsageError
            There is no cluster at the address, or no node has so many CPUs.
        """
        if not items:
            return
        self._connect()
        nodes = node_cpus(self._ray)
        cpus = min([CPUS_OF_TASK, *nodes]) if workers is None else workers
        largest = max(nodes, default=cpus)
        if cpus > largest:
            raise UsageError(f"no node has {cpus} CPUs for a part (--workers); the largest has {largest}")
        # measuring reads and counts in one thread
        taken = 1 if method == "measure" else max(1, cpus)
        task = self._ray.remote(answer).options(
            name=f"relfast {method}",
            num_cpus=taken,
            max_retries=RETRIES,
            retry_exceptions=[ReadError],
            scheduling_strategy="SPREAD",
        )
        given = versions(), pickle.dumps(replace(assignment, workers=cpus)), method
        refs: dict[Any, Any] = {}
        left = iter(items)
        try:
            while True:
                room = AHEAD * max(1, sum(node // taken for node in node_cpus(self._ray)))
                refs |= {task.remote(*given, item): item for item in islice(left, max(0, room - len(refs)))}
                if not refs:
                    return
                waited = list(refs)
                finished = self._ray.wait(waited, num_returns=1, timeout=TICK)[0]
                if finished:
                    # take all that have ended: a wait on 1,000 tasks for each one would dominate the
                    # driver's time
                    finished = self._ray.wait(waited, num_returns=len(waited), timeout=0)[0]
                else:
                    yield None
                for ref in finished:
                    yield refs.pop(ref), self._answer(ref)
        finally:
            for ref in refs:
                self._ray.cancel(ref, force=True)

    def _answer(self, ref: Any) -> Any:
        try:
            return self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, RelfastError):
                return error.cause
            return WorkerError(_last_line(str(error)))
        except self._ray.exceptions.RayError as error:
            return ReadError(f"given up after {1 + RETRIES} tries: {_last_line(str(error))}")


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Restore the handler of SIGTERM afterwards: Ray's own exits with status 0."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


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
