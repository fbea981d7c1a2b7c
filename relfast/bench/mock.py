"""A stand-in for a model and its server: every task says itself how one would answer (`Task.mock`)."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final

import orjson

from relfast.inference.client import Prompt
from relfast.inference.replies import Completion
from relfast.inference.run import Asker, Place
from relfast.tasks import find_task
from relfast.tasks.base import resolve

MODEL: Final = "mock"


class MockAsker:
    """Answers at once, the same to the same record and sample."""

    async def completions(
        self, prompts: Iterable[tuple[Place, Prompt]], seed_of: Callable[[Place], int | None]
    ) -> AsyncIterator[tuple[Place, Completion]]:
        for (request, sample), _ in prompts:
            task = find_task(request.task)
            text = "I do not know."
            if task is not None and task.mock is not None:
                seed = orjson.dumps([task.name, request.digest, sample, seed_of((request, sample))])
                text = resolve(task.mock)(request.row, random.Random(seed))
            yield (request, sample), Completion(text, finish_reason="stop", model=MODEL)


@asynccontextmanager
async def open_mock() -> AsyncIterator[Asker]:
    """For `relfast.inference.run.Plan`."""
    yield MockAsker()
