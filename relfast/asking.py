"""Asking a server for responses to records: what `relfast run` does. Resumable; a failure is a row."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import orjson

from relfast.engine.lines import lines_of
from relfast.engine.sources import find_sources
from relfast.errors import InputError, ResumeMismatchError
from relfast.formats import read_row
from relfast.formats.failure import NoResponse
from relfast.journal import Journal
from relfast.json_text import Undecodable, decode_object
from relfast.llm import Answer, Client, Prompt, Settings
from relfast.tasks import EXACT_FIELDS

GENERATION: Final = "generation"
"""The field of an output row that says how its response came about."""

_OWN_FIELDS: Final = ("response", "error", "status_code", GENERATION)
"""What a record may say of an earlier response."""

ROWS_PER_WRITE: Final = 16
"""Rows handed to the disk together; a kill loses at most these."""


@dataclass(frozen=True, slots=True)
class Question:
    """A record to ask: its place in the input, its row, and its prompt or why it has none."""

    index: int
    row: dict[str, Any]
    prompt: Prompt | None
    problem: str | None = None

    @property
    def digest(self) -> str:
        text = orjson.dumps(self.prompt, option=orjson.OPT_NON_STR_KEYS, default=str)
        return hashlib.blake2b(text, digest_size=8).hexdigest()


@dataclass
class Progress:
    """How far a run is: records in all, answered before it, asked by it, and failed."""

    total: int
    before: int
    done: int = 0
    failed: int = 0


def read_questions(inputs: Iterable[str], limit: int | None = None) -> Iterator[Question]:
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
            yield _question(index - 1, row)


def ask_records(
    questions: list[Question],
    output: Path,
    api: str,
    settings: Settings,
    *,
    samples: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[Progress], None] | None = None,
) -> Progress:
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
    with Journal(
        output,
        key=lambda row: row[GENERATION]["index"],
        failed=lambda row: not (answers := _answers_in(row)) or None in answers,
        partial=lambda row: any(answer is not None for answer in _answers_in(row)),
        settings=facts,
        resume=resume,
        overwrite=overwrite,
    ) as journal:
        _check_records(journal, questions)
        todo = [question for question in questions if question.index not in journal]
        progress = Progress(len(questions), len(questions) - len(todo))
        asyncio.run(_ask(todo, journal, api, settings, samples, progress, report))
        journal.finish(question.index for question in questions)
    return progress


async def _ask(
    questions: list[Question],
    journal: Journal,
    api: str,
    settings: Settings,
    samples: int,
    progress: Progress,
    report: Callable[[Progress], None] | None,
) -> None:
    rows: list[dict[str, Any]] = []

    def flush() -> None:
        journal.append(rows)
        rows.clear()
        if report is not None:
            report(progress)

    def add(question: Question, answers: list[Answer], attempts: int = 0) -> None:
        row = _row(question, answers, settings, attempts)
        rows.append(row)
        progress.done += 1
        progress.failed += row["error"] is not None
        if len(rows) >= ROWS_PER_WRITE:
            flush()

    waiting: dict[int, list[Answer | None]] = {}
    attempts: dict[int, int] = {}
    for question in questions:
        if question.prompt is None:
            add(question, [Answer(None, {"type": "InvalidRecord", "message": str(question.problem)}, 0)])
            continue
        before = journal.before(question.index)
        kept = [] if before is None else _answers_in(before)
        waiting[question.index] = kept if len(kept) == samples else [None] * samples
        if before is not None:
            attempts[question.index] = before[GENERATION].get("attempts", 0)
    prompts = (
        ((question, place), question.prompt or "")
        for question in questions
        if question.index in waiting
        for place, answer in enumerate(list(waiting[question.index]))
        if answer is None
    )
    try:
        async with Client[tuple[Question, int]](api, settings) as client:
            async for (question, place), answer in client.answers(prompts):
                answers = waiting[question.index]
                answers[place] = answer
                if None not in answers:
                    del waiting[question.index]
                    add(question, [each for each in answers if each], attempts.get(question.index, 0))
    finally:
        # also what a Ctrl-C interrupts: answers that came are kept
        flush()


def _answers_in(row: dict[str, Any]) -> list[Answer | None]:
    """The answers in an output row, None in the place of each that is to be asked for again."""
    samples = read_row(row, "native").samples()
    return [None if isinstance(sample, NoResponse) else Answer(sample, None, 0) for sample in samples]


def _row(question: Question, answers: list[Answer], settings: Settings, attempts: int) -> dict[str, Any]:
    texts = [answer.text for answer in answers]
    errors = [answer.error for answer in answers]
    several = len(answers) > 1
    row = {name: value for name, value in question.row.items() if name not in _OWN_FIELDS}
    return row | {
        "response": texts if several else texts[0],
        "error": None if not any(errors) else errors if several else errors[0],
        GENERATION: {
            "index": question.index,
            "prompt": question.digest,
            "model": settings.model,
            "attempts": attempts + sum(answer.attempts for answer in answers),
        },
    }


def _check_records(journal: Journal, questions: list[Question]) -> None:
    """Whether the rows that are there answer these very records."""
    digests = {question.index: question.digest for question in questions}
    unfinished = filter(None, (journal.before(question.index) for question in questions))
    for row in chain(journal.rows(), unfinished):
        index, digest = row[GENERATION]["index"], row[GENERATION].get("prompt")
        if digests.get(index, digest) != digest:
            raise ResumeMismatchError(f"record {index} of the input has another question now")


def _question(index: int, row: dict[str, Any]) -> Question:
    prompt = row.get("question", row.get("problem", row.get("prompt")))
    if isinstance(prompt, str) and prompt.strip():
        return Question(index, row, prompt)
    is_chat = (
        isinstance(prompt, list)
        and prompt
        and all(
            isinstance(message, dict) and "role" in message and "content" in message for message in prompt
        )
    )
    if is_chat:
        return Question(index, row, prompt)
    what = "is missing" if prompt is None else "is neither text nor chat messages"
    return Question(index, row, None, f"question {what}")
