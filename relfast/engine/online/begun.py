"""Records that are being scored: those of the calling thread are done, those of workers will be."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence

from relfast.engine.online.pending_score import PendingScore
from relfast.engine.online.score_cache import for_record
from relfast.records import Record, Score


class Begun:
    """What `relfast.Scorer.begin` gives.

    Parameters
    ----------
    begun
        The score of each entry, or where it will be.
    entries
        What is scored.
    count
        Told of all scores, by `scores`.
    """

    def __init__(
        self,
        begun: Sequence[Score | PendingScore],
        entries: Sequence[Record | Score],
        count: Callable[[list[Score]], list[Score]],
    ) -> None:
        self._begun, self._entries, self._count = begun, entries, count

    async def ended(self) -> None:
        """Return when all are scored; the event loop goes on meanwhile, and no thread is held."""
        waited = [each for each in self._begun if isinstance(each, PendingScore)]
        if not waited:
            return
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        left, lock = len(waited), threading.Lock()

        def end() -> None:
            if not over.done():  # whoever awaits may have been cancelled
                over.set_result(None)

        def one_less(_: Score) -> None:
            nonlocal left
            with lock:
                left -= 1
                is_last = left == 0
            if is_last:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(end)

        for each in waited:
            each.when_done(one_less)
        await over

    def scores(self) -> list[Score]:
        """The scores in order, waited for if need be. To be called once."""
        return self._count([delivered(*pair) for pair in zip(self._begun, self._entries, strict=True)])


def delivered(begun: Score | PendingScore | None, entry: Record | Score | None) -> Score:
    """The row of an entry, waited for if need be."""
    if isinstance(begun, PendingScore):
        assert isinstance(entry, Record)
        return for_record(begun.score(), entry)
    assert begun is not None
    return begun
