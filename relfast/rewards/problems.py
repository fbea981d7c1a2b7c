"""Problems (prompt, question, gold) for environments and harnesses: from files of records, or generated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from relfast.engine.files.io.sources import iterate_lines, objects_in
from relfast.errors import UsageError
from relfast.formats import read_row
from relfast.formats.paths import MISSING
from relfast.inference.requests import completed
from relfast.json_text import decode_text
from relfast.tasks import find_task, get_task, infer_task

SEEDS: Final = 1_000_000
"""Number of problems of one seed. Problems of seed s use the generator's seeds from s times this number on,
so that two seeds share no problem."""

BLOCK: Final = 16
"""Problems that are generated with one seed of the generator. Generators alternate classes and sizes of gold
within one call, so a call for one record would always give the first class; a block of 16 has as many yes as
no."""


class Problem(NamedTuple):
    """One problem for a model: its prompt, and what scoring needs.

    Attributes
    ----------
    id, task
        The record's id, and the task's canonical name.
    prompt
        The question in the task's default prompt, as ``relfast run`` sends it.
    question
        The record's question, which rules of ``strict`` look at.
    answer
        Gold, as adapters of `relfast.rewards` accept it.
    """

    id: str
    task: str
    prompt: str
    question: str
    answer: Any


def problem_of(row: Mapping[str, Any], where: str = "record") -> Problem:
    """The problem of a record in any dialect, or of a data set's row that holds question and gold. ``where``
    begins the messages of errors.

    Raises
    ------
    UsageError
        The row has no question, no gold or no known task.
    """
    row = completed(dict(row))
    entry = read_row(row, "auto")
    answer = None if entry.answer is MISSING else entry.answer
    if isinstance(answer, str):
        answer = decode_text(answer)
    named = None if entry.task is MISSING else entry.task
    task = infer_task(answer) if named is None else find_task(named)
    if task is None:
        what = "its task cannot be told from 'answer'" if named is None else f"unknown task {named!r:.60}"
        raise UsageError(f"{where}: {what}")
    if not isinstance(entry.question, str) or not entry.question.strip():
        raise UsageError(f"{where}: 'question' is missing or no text")
    if not answer:
        raise UsageError(f"{where}: 'answer' is missing")
    name = "" if entry.id is MISSING or entry.id is None else str(entry.id)
    return Problem(name, task.name, task.prompts[0].words(entry.question, row), entry.question, answer)


def from_file(path: str | Path) -> Iterator[Problem]:
    """The problems of a file of records (JSON lines, plain, gz or zst), in order.

    Raises
    ------
    InputError, UsageError
        A line is no JSON object, or its record has no question, no gold or no known task.
    """
    for n, row in objects_in(iterate_lines(str(path)), str(path)):
        yield problem_of(row, f"{path}, line {n}")


def generated(task: str, at: int, seed: int = 0, **parameters: Any) -> Problem:
    """Problem number ``at`` of a seed: the same on every machine, and made without the problems before it.

    Parameters
    ----------
    task
        A task that has a generator.
    at, seed
        From 0; ``at`` is less than `SEEDS`.
    **parameters
        Parameters of the task's generator: ``relfast generate TASK --help`` lists them.

    Raises
    ------
    UsageError
        A parameter cannot be used, or the task has no generator.
    """
    if not 0 <= at < SEEDS:
        raise UsageError(f"at must be from 0 to {SEEDS - 1}, not {at!r}")
    name = get_task(task).name
    block = _block(name, seed * SEEDS + at // BLOCK, _Key(repr(sorted(parameters.items())), parameters))
    return problem_of(block[at % BLOCK], name)._replace(id=f"{name.lower()}-{seed}-{at}")


@dataclass(frozen=True)
class _Key:
    """Parameters of a generator as a key of the cache: equal if their text is equal."""

    text: str
    values: Mapping[str, Any] = field(compare=False)


@lru_cache(maxsize=64)
def _block(name: str, seed: int, key: _Key) -> list[dict[str, Any]]:
    """The `BLOCK` rows of one call of a generator, which takes 15 to 60 ms."""
    return list(get_task(name).generator_module.generate(name, BLOCK, seed, **key.values))
