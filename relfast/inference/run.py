"""Completes records on a server, for `relfast run`. Resumable; failed requests give rows with an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, Protocol

from relfast.errors import ResumeMismatchError
from relfast.formats import read_row
from relfast.formats.failure import CUT_OFF, IN_REPLIES, NoResponse
from relfast.inference.client import Client, Endpoint, Prompt, Settings
from relfast.inference.replies import Completion
from relfast.inference.request_log import RequestCounts, RequestLog, made_of
from relfast.inference.requests import Request

GENERATION: Final = "generation"
"""The field of an output row with the details of its request: prompt, model, tokens, …"""

_OWN_FIELDS: Final = ("response", "error", "status_code", GENERATION)
"""Fields that the output row sets; those of an earlier response in the record are dropped."""

_SAMPLE: Final = "sample"
"""Key in `GENERATION` of a line with one of several samples, which is kept until all of them have arrived."""

_ABOUT: Final = ("finish_reason", "usage", "reasoning")
"""Keys of `GENERATION` with a value for each sample."""

Place = tuple[Request, int]
"""A request, and the number of one of its samples."""


class Asker(Protocol):
    """Gives completions for prompts: a `Client`, or a replacement of one."""

    def completions(
        self, prompts: Iterable[tuple[Place, Prompt]], seed_of: Callable[[Place], int | None]
    ) -> AsyncIterator[tuple[Place, Completion]]: ...


@dataclass(frozen=True)
class Plan:
    """Settings of a run: the server, how requests are made, and how many.

    Attributes
    ----------
    samples
        Number of responses to each record; several make a list.
    cut_off_fails
        Whether a response that ran out of tokens counts as failed. If not, it is used, and its row's
        ``finish_reason`` shows it.
    asker
        Gives the completions in place of the server.
    """

    api: str
    settings: Settings
    samples: int = 1
    cut_off_fails: bool = False
    asker: Asker | None = None

    def open(self) -> AbstractAsyncContextManager[Asker]:
        return Client[Place](self.api, self.settings) if self.asker is None else nullcontext(self.asker)

    def describe(self) -> dict[str, Any]:
        """The settings that rows depend on; they must be equal in a resumed run."""
        if self.asker is None:
            Endpoint.parse(self.api)  # raises for a URL with a password, which would be written to the file
        facts = {"api": self.api, **self.settings.describe(), "samples": self.samples}
        return facts | ({"cut_off_fails": True} if self.cut_off_fails else {})


def complete_records(
    requests: list[Request],
    output: Path,
    plan: Plan,
    *,
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[RequestCounts], None] | None = None,
) -> RequestCounts:
    """Write each record with its ``response`` (a list if there are several samples), in the input's order.

    Where a request failed, ``response`` (or its place in the list) is null, and ``error`` (then a list,
    too) has the reason. A resumed run sends exactly these requests again.

    Raises
    ------
    MissingExtraError, UsageError, OutputError, ResumeMismatchError
        Failures of the server do not raise.
    """
    with RequestLog(
        output,
        key=lambda row: row[GENERATION]["index"],
        failed=lambda row: not (completions := _completions_in(row)) or None in completions,
        partial=lambda row: any(completion is not None for completion in _completions_in(row)),
        piece=lambda row: _SAMPLE in row[GENERATION],
        settings=plan.describe(),
        resume=resume,
        overwrite=overwrite,
    ) as log:
        _check_records(log, requests)
        todo = [request for request in requests if request.index not in log]
        counts = RequestCounts(len(requests), len(requests) - len(todo))
        asyncio.run(_Sending(log, plan, counts, report).send(todo))
        log.finish((request.index for request in requests), made_of(log.rows(), requests, GENERATION))
    return counts


class _Sending:
    """Sends the requests of a run, and writes their rows as they become complete."""

    def __init__(
        self,
        log: RequestLog,
        plan: Plan,
        counts: RequestCounts,
        report: Callable[[RequestCounts], None] | None,
    ) -> None:
        self._log, self._plan, self._counts, self._report = log, plan, counts, report
        self._waiting: dict[int, list[Completion | None]] = {}

    async def send(self, requests: list[Request]) -> None:
        for request in requests:
            if request.prompt is None:
                problem = {"type": "InvalidRecord", "message": str(request.problem)}
                self._add(request, [Completion(None, problem, 0)])
                continue
            self._waiting[request.index] = self._held(request)
        for request in requests:
            # an earlier run may have ended after the last sample and before the row
            self._close(request)
        prompts = (
            ((request, sample), request.prompt or "")
            for request in requests
            if request.index in self._waiting
            for sample, completion in enumerate(list(self._waiting[request.index]))
            if completion is None
        )
        async with self._plan.open() as asker:
            async for place, completion in asker.completions(prompts, self._seed_of):
                self._take(*place, completion)

    def _held(self, request: Request) -> list[Completion | None]:
        """A request's completions, by sample, that an earlier run has; None for each other sample."""
        held: list[Completion | None] = [None] * self._plan.samples
        for row in self._log.before(request.index):
            sample = row[GENERATION].get(_SAMPLE)
            completions = _completions_in(row)
            if sample is not None:
                held[sample] = completions[0]
            elif len(completions) == len(held):
                held = completions
        return held

    def _seed_of(self, place: Place) -> int | None:
        seed = self._plan.settings.seed
        return None if seed is None else seed + place[1]

    def _take(self, request: Request, sample: int, completion: Completion) -> None:
        """Count a completion, and write it: the whole row if it is complete, else a piece."""
        counts, usage = self._counts, completion.usage or {}
        counts.prompt_tokens += usage.get("prompt_tokens", 0)
        counts.completion_tokens += usage.get("completion_tokens", 0)
        counts.retries += max(0, completion.attempts - 1)
        if completion.cut_off:
            counts.cut_off += 1
            if self._plan.cut_off_fails and completion.error is None:
                where = "in the middle of the answer" if completion.text else "before the answer began"
                message = f"the tokens ran out {where}: raise --max-tokens"
                completion = replace(
                    completion, text=None, error={"type": IN_REPLIES[CUT_OFF], "message": message}
                )
        completions = self._waiting[request.index]
        completions[sample] = completion
        if not self._close(request) and completion.text is not None:
            # at once, so that no sample is requested twice, however this process ends
            self._log.append([_piece(request, sample, completion)])
        if self._report is not None:
            self._report(counts)

    def _close(self, request: Request) -> bool:
        """Write the row of a request if all of its samples have arrived; whether it did."""
        completions = self._waiting.get(request.index)
        if completions is None or None in completions:
            return False
        del self._waiting[request.index]
        self._add(request, [each for each in completions if each is not None])
        return True

    def _add(self, request: Request, completions: list[Completion]) -> None:
        row = _row(request, completions, self._plan.settings)
        self._log.append([row])
        self._counts.done += 1
        self._counts.failed += row["error"] is not None
        for completion in completions:
            if completion.error is not None:
                self._counts.add_cause(completion.error)


def _completions_in(row: Mapping[str, Any]) -> list[Completion | None]:
    """The completions in an output row, by sample; None for each that has to be requested again."""
    samples = read_row(row, "native").samples()
    about = row[GENERATION]
    columns = {name: about.get(name) for name in _ABOUT}

    def completion(place: int, text: Any) -> Completion:
        details = {
            name: column[place] if isinstance(column, list) and len(column) == len(samples) else column
            for name, column in columns.items()
        }
        return Completion(text, None, 0, model=about.get("server_model"), **details)

    return [
        None if isinstance(sample, NoResponse) else completion(place, sample)
        for place, sample in enumerate(samples)
    ]


def _generation(request: Request, completions: list[Completion], settings: Settings) -> dict[str, Any]:
    """The field `GENERATION` of a row. It is independent of failed attempts: resumed runs give equal rows."""
    models = [completion.model for completion in completions if completion.model is not None]
    about: dict[str, Any] = {
        "index": request.index,
        "prompt": request.digest,
        "prompt_name": request.wording,
        "model": settings.model,
        "server_model": models[0] if models else None,
    }
    for name in _ABOUT:
        values = [getattr(completion, name) for completion in completions]
        if any(value is not None for value in values):
            about[name] = values if len(values) > 1 else values[0]
    return about


def _row(request: Request, completions: list[Completion], settings: Settings) -> dict[str, Any]:
    texts = [completion.text for completion in completions]
    errors = [completion.error for completion in completions]
    several = len(completions) > 1
    row = {name: value for name, value in request.row.items() if name not in _OWN_FIELDS}
    return row | {
        "response": texts if several else texts[0],
        "error": None if not any(errors) else errors if several else errors[0],
        GENERATION: _generation(request, completions, settings),
    }


def _piece(request: Request, sample: int, completion: Completion) -> dict[str, Any]:
    """A line with one of several samples, without the record, which the whole row will have."""
    details = {name: value for name in _ABOUT if (value := getattr(completion, name)) is not None}
    about = {"index": request.index, _SAMPLE: sample, "prompt": request.digest}
    return {"response": completion.text, GENERATION: about | {"server_model": completion.model} | details}


def _check_records(log: RequestLog, requests: list[Request]) -> None:
    """Raise `ResumeMismatchError` if rows of an earlier run are responses to other prompts."""
    digests = {request.index: request.digest for request in requests}
    parts = chain.from_iterable(log.before(request.index) for request in requests)
    for row in chain(log.rows(), parts):
        index, digest = row[GENERATION]["index"], row[GENERATION].get("prompt")
        if digests.get(index, digest) != digest:
            raise ResumeMismatchError(
                f"record {index} of the input has another question now, or another prompt"
            )
