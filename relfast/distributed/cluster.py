"""Workers on a Ray cluster: an actor for every few CPUs, tasks handed out by the driver, two ahead at most.

Nothing is left to Ray's own retries: who died on what is seen here. A record that kills its process kills a
worker of the actor's pool, as on one machine, and is marked there. An actor that is gone (its node, memory,
a signal) is replaced where Ray has room, and its tasks are done by others; a task on which actors keep dying
is given up and named.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from relfast.distributed.part_scoring import Assignment, Method, PartWorker, Tick, Work, versions
from relfast.engine.segments import Tell, tell_nobody
from relfast.errors import MissingExtraError, ReadError, RelfastError, UsageError, WorkerError

if TYPE_CHECKING:
    from ray.actor import ActorHandle

CPUS_OF_ACTOR: Final = 4
"""CPUs an actor asks for, and its worker processes, unless the smallest node has fewer or the user says."""

AHEAD: Final = 2
"""Tasks of a kind that an actor has at a time: the one it works on, and the next, so that it never waits for
the driver. It measures one chunk while it scores a part."""

MAX_DEATHS: Final = 4
"""Actors that may die on a task before it is given up."""

MAX_READS: Final = 2
"""How often a part is tried that cannot be read: a store may stumble."""

MAX_FAILED_STARTS: Final = 5
"""Starts in a row that may fail before the run gives up: the nodes' installation is broken then."""

KNOCK_SECONDS: Final = 10.0
"""Longest wait for a cluster's first answer."""

START_SECONDS: Final = 600.0
"""Longest wait without any actor: a busy or growing cluster takes minutes to make room."""


def ray_module() -> Any:
    """Ray, imported. Raises `MissingExtraError`."""
    # no telemetry unless asked for; a running cluster keeps its own setting
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise MissingExtraError("scoring on Ray", "ray") from None
    return ray


def node_cpus(ray: Any) -> list[int]:
    """CPUs of each node that is alive and has some."""
    found = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
    return [int(cpus) for cpus in found if cpus >= 1]


@dataclass(eq=False, slots=True)
class _Task:
    method: Method
    what: Any
    deaths: int = 0
    reads: int = 0


@dataclass(eq=False, slots=True)
class _Actor:
    handle: ActorHandle[Any]
    hello: Any
    ready: bool = False
    host: str = "?"
    tasks: dict[Method, deque[_Task]] = field(default_factory=lambda: {"measure": deque(), "score": deque()})


class Cluster:
    """Workers on Ray. A context manager: its actors, and a Ray that it started, end with it.

    Parameters
    ----------
    address
        ``auto``, ``HOST:PORT`` or ``ray://…``; None: the cluster of ``RAY_ADDRESS`` or of this machine, else
        a Ray of its own that ends with the run.

    Raises
    ------
    MissingExtraError
        Ray is not installed.
    UsageError
        There is no cluster at the address.
    """

    def __init__(self, address: str | None, tell: Tell = tell_nobody) -> None:
        self._ray = ray_module()
        self._tell = tell
        self._started = not self._ray.is_initialized()
        if self._started:
            if address is not None and not address.strip():
                raise UsageError("the address of the Ray cluster is empty: auto, HOST:PORT, or leave it out")
            # Ray itself would look there
            address = os.environ.get("RAY_ADDRESS") or None if address is None else address
            _knock(address)
            try:
                with _own_signals():
                    self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
            except (ConnectionError, ValueError, RuntimeError) as error:
                self._started = False
                reason = " ".join(str(error).split())[:200]
                raise UsageError(f"no Ray cluster at {address or 'this machine'}: {reason}") from None
        self._actors: list[_Actor] = []
        self._failed_starts = 0
        self.replaced = 0

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *exc: object) -> None:
        for actor in self._actors:
            self._ray.kill(actor.handle)
        self._actors.clear()
        if self._started:
            self._ray.shutdown()

    def run(
        self, work: Work, told: Assignment, workers: int | None
    ) -> Iterator[tuple[Method, Any, Any] | None]:
        """Tasks with their answers as they come, until there are no more; None now and then, when there is
        none. ``workers`` are the processes of each actor (None: as many as fit into every node).

        Raises
        ------
        WorkerError
            There are no actors, or they do not start.
        UsageError
            A node cannot give the same rows, or does not see the output; or none has so many CPUs.
        """
        nodes = node_cpus(self._ray)
        cpus = min([CPUS_OF_ACTOR, *nodes]) if workers is None else workers
        largest = max(nodes, default=cpus)
        if cpus > largest:
            raise UsageError(f"no node has {cpus} CPUs for an actor (--workers); the largest has {largest}")
        told = replace(told, workers=cpus)
        refs: dict[Any, tuple[_Actor, _Task]] = {}
        again: deque[_Task] = deque()
        looked = 0.0
        alive_at = time.monotonic()
        while refs or again or any(work.values()):
            now = time.monotonic()
            if now - looked > Tick:
                self._fill(told, len(refs) + len(again) + sum(map(len, work.values())))
                looked = now
            for actor in self._actors:
                if actor.ready:
                    self._feed(actor, work, again, refs)
            waited = [*refs, *(actor.hello for actor in self._actors if not actor.ready)]
            finished = self._ray.wait(waited, num_returns=1, timeout=Tick)[0] if waited else []
            if finished:
                # to look at all of a thousand for each that is done would be most of the driver's time
                finished = self._ray.wait(waited, num_returns=len(waited), timeout=0)[0]
            if not waited:
                time.sleep(Tick)
            if any(actor.ready for actor in self._actors):
                alive_at = now
            elif now - alive_at > START_SECONDS:
                raise WorkerError(f"no node made room for an actor within {START_SECONDS:.0f} s")
            if not finished:
                yield None
            for ref in finished:
                if ref not in refs:
                    self._greet(next((actor for actor in self._actors if actor.hello == ref), None))
                    continue
                actor, task = refs.pop(ref)
                try:
                    answer = self._ray.get(ref)
                except self._ray.exceptions.RayTaskError as error:
                    answer = WorkerError(f"{task.what}: {_last_line(error)}")
                except self._ray.exceptions.RayError as error:
                    for given_up in self._bury(actor, refs, again, str(error)):
                        reason = f"{given_up.deaths} actors died while they worked on it"
                        yield given_up.method, given_up.what, ReadError(reason)
                    continue
                actor.tasks[task.method].remove(task)
                task.reads += 1
                if isinstance(answer, ReadError) and task.reads < MAX_READS:
                    again.append(task)
                    continue
                yield task.method, task.what, answer

    def _feed(
        self,
        actor: _Actor,
        work: Work,
        again: deque[_Task],
        refs: dict[Any, tuple[_Actor, _Task]],
    ) -> None:
        """Give an actor what it has room for; what others have failed at comes first."""
        for method, queue in work.items():
            held = actor.tasks[method]
            while len(held) < AHEAD:
                task = next((task for task in again if task.method == method), None)
                if task is not None:
                    again.remove(task)
                elif queue:
                    task = _Task(method, queue.popleft())
                else:
                    break
                call = getattr(actor.handle, method).options(concurrency_group=method)
                refs[call.remote(task.what)] = actor, task
                held.append(task)

    def _fill(self, told: Assignment, left: int) -> None:
        """Start actors where nodes have room for them, and no more than there are tasks."""
        cpus = max(1, told.workers)
        wanted = min(left, max(1, sum(node // cpus for node in node_cpus(self._ray))))
        while len(self._actors) < wanted:
            kind = self._ray.remote(concurrency_groups={"measure": 1, "score": 1})(PartWorker).options(
                num_cpus=cpus,
                max_restarts=0,
                max_task_retries=0,
                scheduling_strategy="SPREAD",
            )
            handle = kind.remote(told)
            self._actors.append(_Actor(handle, handle.hello.remote()))

    def _greet(self, actor: _Actor | None) -> None:
        """An actor is up, or could not come up."""
        if actor is None:
            return
        try:
            hello: Mapping[str, Any] = self._ray.get(actor.hello)
        except self._ray.exceptions.RayError as error:
            self._actors.remove(actor)
            self._failed_starts += 1
            self._tell(f"actor did not start: {_last_line(error)}")
            if self._failed_starts >= MAX_FAILED_STARTS:
                raise WorkerError(
                    f"{self._failed_starts} actors in a row did not start: {_last_line(error)}"
                ) from None
            return
        actor.host, self._failed_starts = hello["host"], 0
        for name, here in versions().items():
            there = hello["versions"].get(name)
            if there != here:
                raise UsageError(f"node {actor.host} has {name} {there}, this one {here}: install the same")
        if not hello["sees_output"]:
            raise UsageError(
                f"node {actor.host} does not see the output: name a folder that all nodes share, or a URL"
            )
        actor.ready = True
        self._tell(f"actor on {actor.host}: ready")

    def _bury(
        self,
        actor: _Actor,
        refs: dict[Any, tuple[_Actor, _Task]],
        again: deque[_Task],
        reason: str,
    ) -> list[_Task]:
        """Take a dead actor off the list; its tasks go to others. Those on which too many have died."""
        given_up = []
        for held in actor.tasks.values():
            if held:
                # the one that it worked on
                held[0].deaths += 1
                if held[0].deaths >= MAX_DEATHS:
                    given_up.append(held.popleft())
            again.extendleft(reversed(held))
            held.clear()
        for ref in [ref for ref, (whose, _) in refs.items() if whose is actor]:
            del refs[ref]
        if actor in self._actors:
            self._actors.remove(actor)
            self.replaced += 1
            self._ray.kill(actor.handle)  # it may only be out of reach
            self._tell(f"actor on {actor.host} is gone ({_first_line(reason)}); its parts go to others")
        return given_up


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Have SIGTERM do what it did: Ray has it leave as if all were done."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _knock(address: str | None) -> None:
    """See that the address answers: Ray itself tries for minutes. Raises `UsageError`."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if "://" in host or not (colon and port.isdecimal()):
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"no Ray cluster at {address}: {getattr(error, 'strerror', None) or error}"
        ) from None


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "no reason given")[:200]


def _last_line(error: Exception) -> str:
    cause = getattr(error, "cause", None)
    if isinstance(cause, RelfastError):
        return str(cause)
    lines = [line for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).strip()[:300]
