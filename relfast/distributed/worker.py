"""What works on chunks and parts: an actor on a cluster's node, or this process."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from relfast_kernels.compiled import native

from relfast import __version__
from relfast.distributed.part_scoring import Done, score_part
from relfast.distributed.parts import Chunk, Part, measure
from relfast.distributed.storage import Folder, is_url
from relfast.embed import SHARED_VARIABLE, THREADS_VARIABLE
from relfast.engine.file_run.run import in_process, on_pool
from relfast.engine.job import Job
from relfast.engine.signature import packages_of, version
from relfast.errors import RelfastError
from relfast.tasks import TASKS

Method = Literal["measure", "score"]


@dataclass(frozen=True, slots=True)
class Assignment:
    """What every worker of a run must know.

    ``workers`` are its processes, 0 = none; ``large`` as for a `Pool`; rows go to ``folder``, in files that
    end in ``suffix``.
    """

    job: Job
    workers: int
    large: bool
    part_bytes: int
    folder: Folder
    suffix: str


def versions() -> dict[str, str]:
    """All whose difference could make rows of one node differ from those of another."""
    return {"relfast": __version__, **{name: version(name) for name in packages_of(TASKS.values())}}


class PartWorker:
    """Measures chunks and scores parts, one of each at a time. Our errors are answers: who asked decides."""

    def __init__(self, told: Assignment) -> None:
        self._told = told
        self._open = contextlib.ExitStack()
        # workers tell each other how many lines a block has, by its number
        self._numbers = itertools.count()
        native.see_to_missing()
        self._score = self._open.enter_context(
            on_pool(told.job, told.workers, large=told.large) if told.workers else in_process(told.job)
        )

    def hello(self) -> dict[str, Any]:
        """Where it is, and what it has."""
        folder = self._told.folder.path
        seen = is_url(folder) or os.path.isdir(folder)
        return {"host": socket.gethostname(), "versions": versions(), "sees_output": seen}

    def measure(self, chunk: Chunk) -> list[Part] | RelfastError:
        """The parts of a chunk."""
        try:
            return measure(chunk, self._told.job, self._told.part_bytes)
        except RelfastError as error:
            return error

    def score(self, part: Part) -> Done | RelfastError:
        """A part's rows are written when this returns."""
        told = self._told
        try:
            return score_part(
                part,
                told.job,
                self._score,
                told.folder,
                told.suffix,
                self._numbers,
            )
        except RelfastError as error:
            return error

    def close(self) -> None:
        self._open.close()


Tick: Final = 1.0
"""Seconds after which the waiting caller runs, to show progress and to be interrupted."""


class NodePartWorker(PartWorker):
    """The same as an actor, in a process of its own on a node."""

    def __init__(self, told: Assignment) -> None:
        be_modest()
        super().__init__(told)


def be_modest() -> None:
    """Have this process, and its workers, take no more of a node than their share."""
    # a model would take a thread for every core there is, and every worker of every actor would hold it
    os.environ.setdefault(THREADS_VARIABLE, "1")
    os.environ.setdefault(SHARED_VARIABLE, "1")


Work = dict[Method, deque[Any]]
"""What is to be done: chunks to measure, parts to score. The caller may add to it as answers come."""


class Executor(Protocol):
    """Has workers do tasks."""

    @property
    def actors(self) -> int:
        """Workers that there is room for, or will be; at least 1."""

    def run(self, work: Work) -> Iterator[tuple[Method, Any, Any] | None]:
        """Tasks with their answers as they come, until there are no more; None now and then, when there is
        none."""


class InProcess:
    """The executor without a cluster: one worker, in this process; ``actors`` is what it says there are."""

    def __init__(self, told: Assignment, actors: int = 1) -> None:
        self._worker = PartWorker(told)
        self.actors = actors

    def run(self, work: Work) -> Iterator[tuple[Method, Any, Any] | None]:
        while any(work.values()):
            method: Method = "measure" if work["measure"] else "score"
            task = work[method].popleft()
            do: Callable[[Any], Any] = getattr(self._worker, method)
            yield method, task, do(task)

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        self._worker.close()
