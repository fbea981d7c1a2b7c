"""What the pool has its workers do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from relfast.engine.pool.failures import Death
from relfast.errors import WorkerError


class WorkItem(Protocol):
    """What a worker is asked to do. All methods are called by the pool's threads, one at a time."""

    ahead: bool = False
    """Whether its request may wait in the pipe of a worker that is about to be done: a small one."""

    def request(self) -> Any:
        """The message to the worker."""

    def answer(self, message: Any) -> None:
        """A message from the worker."""

    def finished(self) -> None:
        """The worker is done with it."""

    def died(self, death: Death) -> Sequence[WorkItem]:
        """The worker died on it; what is left to do, as new items."""

    def failed(self, error: WorkerError) -> None:
        """It cannot be done."""
