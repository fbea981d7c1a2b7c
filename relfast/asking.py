"""Asking a server for responses to records: what `relfast run` does. Resumable; a failure is a row."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from relfast.engine.decode import Undecodable, decode_object
from relfast.engine.sources import find_sources
from relfast.errors import InputError, ResumeMismatchError
from relfast.journal import Journal
from relfast.llm import Answer, Client, Prompt, Settings

GENERATION: Final = "generation"
"""The field of an output row that says how its response came about."""

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
        for number, line in enumerate(_lines(source), 1):
            if limit is not None and index >= limit:
                return
            index += 1
            if not line.strip():
                continue
            try:
                row = decode_object(line)
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

    Raises
    ------
    MissingExtraError, UsageError, OutputError, ResumeMismatchError
        Nothing that a server does raises: such a row has ``response`` null and ``error``.
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
        failed=lambda row: row.get("error") is not None,
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

    def add(question: Question, answers: list[Answer]) -> None:
        row = _row(question, answers, settings)
        rows.append(row)
        progress.done += 1
        progress.failed += row["error"] is not None
        if len(rows) >= ROWS_PER_WRITE:
            flush()

    for question in questions:
        if question.prompt is None:
            add(question, [Answer(None, {"type": "InvalidRecord", "message": str(question.problem)}, 0)])
    asked = [question for question in questions if question.prompt is not None]
    prompts = ((question, question.prompt or "") for question in asked for _ in range(samples))
    waiting: dict[int, list[Answer]] = {}
    try:
        async with Client[Question](api, settings) as client:
            async for question, answer in client.answers(prompts):
                answers = waiting.setdefault(question.index, [])
                answers.append(answer)
                if len(answers) == samples:
                    add(question, waiting.pop(question.index))
    finally:
        # also what a Ctrl-C interrupts: answers that came are kept
        flush()


def _row(question: Question, answers: list[Answer], settings: Settings) -> dict[str, Any]:
    failed = next((answer.error for answer in answers if answer.error is not None), None)
    texts = [answer.text for answer in answers]
    row = {
        name: value for name, value in question.row.items() if name not in ("response", "error", GENERATION)
    }
    response = None if failed else texts[0] if len(texts) == 1 else texts
    return row | {
        "response": response,
        "error": failed,
        GENERATION: {
            "index": question.index,
            "prompt": question.digest,
            "model": settings.model,
            "attempts": sum(answer.attempts for answer in answers),
        },
    }


def _check_records(journal: Journal, questions: list[Question]) -> None:
    """Whether the rows that are there answer these very records."""
    digests = {question.index: question.digest for question in questions}
    for row in journal.rows():
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


def _lines(source: Any) -> Iterator[bytes]:
    if source.codec == "parquet":
        from relfast.engine.parquet import iterate_rows

        yield from iterate_rows(source.path)
        return
    with source.open() as stream:
        yield from stream
