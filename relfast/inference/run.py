"""Completing records on a server: what `relfast run` does. Resumable; a failure is a row."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import orjson

from relfast.engine.io.lines import lines_of
from relfast.engine.io.sources import find_sources
from relfast.errors import InputError, ResumeMismatchError
from relfast.formats import read_row
from relfast.formats.failure import NoResponse
from relfast.inference.client import Client, Completion, Prompt, Settings
from relfast.inference.request_log import RequestCounts, RequestLog
from relfast.json_text import Undecodable, decode_object
from relfast.tasks import EXACT_FIELDS

GENERATION: Final = "generation"
"""The field of an output row that says how its response came about."""

_OWN_FIELDS: Final = ("response", "error", "status_code", GENERATION)
"""What a record may say of an earlier response."""

ROWS_PER_WRITE: Final = 16
"""Rows handed to the disk together; a kill loses at most these."""


@dataclass(frozen=True, slots=True)
class Request:
    """A record to complete: its place in the input, its row, and its prompt or why it has none."""

    index: int
    row: dict[str, Any]
    prompt: Prompt | None
    problem: str | None = None

    @property
    def digest(self) -> str:
        text = orjson.dumps(self.prompt, option=orjson.OPT_NON_STR_KEYS, default=str)
        return hashlib.blake2b(text, digest_size=8).hexdigest()


def read_requests(inputs: Iterable[str], limit: int | None = None) -> Iterator[Request]:
    """The records of some inputs (JSONL, plain or compressed, or Parquet), blank lines left out.

    Raises
    ------
    InputError
        An input cannot be read, or a line is no JSON object.
    """
    index = 0
    for source in find_sources(list(inputs)):
        for number, line in enumerate(lines_of(source), 1):
            if limit is not None and index >= limit:
                return
            index += 1
            if not line.strip():
                continue
            try:
                row = decode_object(line, EXACT_FIELDS)
            except Undecodable as error:
                raise InputError(str(error), file=source.path, line=number) from error
            yield _request(index - 1, row)


def complete_records(
    requests: list[Request],
    output: Path,
    api: str,
    settings: Settings,
    *,
    samples: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[RequestCounts], None] | None = None,
) -> RequestCounts:
    """Write each record with its ``response`` (a list if several ``samples``), in the input's order.

    Where a request failed, ``response`` (or its place in the list) is null, and ``error`` (a list too then)
    says why. Resumed, the run asks again for exactly those.

    Raises
    ------
    MissingExtraError, UsageError, OutputError, ResumeMismatchError
        Nothing that a server does raises.
    """
    facts = {
        "api": api,
        "model": settings.model,
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "system": settings.system,
        "samples": samples,
    }
    with RequestLog(
        output,
        key=lambda row: row[GENERATION]["index"],
        failed=lambda row: not (completions := _completions_in(row)) or None in completions,
        partial=lambda row: any(completion is not None for completion in _completions_in(row)),
        settings=facts,
        resume=resume,
        overwrite=overwrite,
    ) as log:
        _check_records(log, requests)
        todo = [request for request in requests if request.index not in log]
        counts = RequestCounts(len(requests), len(requests) - len(todo))
        asyncio.run(_send(todo, log, api, settings, samples, counts, report))
        log.finish(request.index for request in requests)
    return counts


async def _send(
    requests: list[Request],
    log: RequestLog,
    api: str,
    settings: Settings,
    samples: int,
    counts: RequestCounts,
    report: Callable[[RequestCounts], None] | None,
) -> None:
    rows: list[dict[str, Any]] = []

    def flush() -> None:
        log.append(rows)
        rows.clear()
        if report is not None:
            report(counts)

    def add(request: Request, completions: list[Completion], attempts: int = 0) -> None:
        row = _row(request, completions, settings, attempts)
        rows.append(row)
        counts.done += 1
        counts.failed += row["error"] is not None
        if len(rows) >= ROWS_PER_WRITE:
            flush()

    waiting: dict[int, list[Completion | None]] = {}
    attempts: dict[int, int] = {}
    for request in requests:
        if request.prompt is None:
            add(request, [Completion(None, {"type": "InvalidRecord", "message": str(request.problem)}, 0)])
            continue
        before = log.before(request.index)
        kept = [] if before is None else _completions_in(before)
        waiting[request.index] = kept if len(kept) == samples else [None] * samples
        if before is not None:
            attempts[request.index] = before[GENERATION].get("attempts", 0)
    prompts = (
        ((request, place), request.prompt or "")
        for request in requests
        if request.index in waiting
        for place, completion in enumerate(list(waiting[request.index]))
        if completion is None
    )
    try:
        async with Client[tuple[Request, int]](api, settings) as client:
            async for (request, place), completion in client.completions(prompts):
                completions = waiting[request.index]
                completions[place] = completion
                if None not in completions:
                    del waiting[request.index]
                    add(request, [each for each in completions if each], attempts.get(request.index, 0))
    finally:
        # also what a Ctrl-C interrupts: completions that came are kept
        flush()


def _completions_in(row: dict[str, Any]) -> list[Completion | None]:
    """The completions in an output row, None in the place of each that is to be asked for again."""
    samples = read_row(row, "native").samples()
    return [None if isinstance(sample, NoResponse) else Completion(sample, None, 0) for sample in samples]


def _row(
    request: Request, completions: list[Completion], settings: Settings, attempts: int
) -> dict[str, Any]:
    texts = [completion.text for completion in completions]
    errors = [completion.error for completion in completions]
    several = len(completions) > 1
    row = {name: value for name, value in request.row.items() if name not in _OWN_FIELDS}
    return row | {
        "response": texts if several else texts[0],
        "error": None if not any(errors) else errors if several else errors[0],
        GENERATION: {
            "index": request.index,
            "prompt": request.digest,
            "model": settings.model,
            "attempts": attempts + sum(completion.attempts for completion in completions),
        },
    }


def _check_records(log: RequestLog, requests: list[Request]) -> None:
    """Whether the rows that are there complete these very records."""
    digests = {request.index: request.digest for request in requests}
    unfinished = filter(None, (log.before(request.index) for request in requests))
    for row in chain(log.rows(), unfinished):
        index, digest = row[GENERATION]["index"], row[GENERATION].get("prompt")
        if digests.get(index, digest) != digest:
            raise ResumeMismatchError(f"record {index} of the input has another question now")


def _request(index: int, row: dict[str, Any]) -> Request:
    prompt = row.get("question", row.get("problem", row.get("prompt")))
    if isinstance(prompt, str) and prompt.strip():
        return Request(index, row, prompt)
    is_chat = (
        isinstance(prompt, list)
        and prompt
        and all(
            isinstance(message, dict) and "role" in message and "content" in message for message in prompt
        )
    )
    if is_chat:
        return Request(index, row, prompt)
    what = "is missing" if prompt is None else "is neither text nor chat messages"
    return Request(index, row, None, f"question {what}")
