"""Checks records against the format of their task, line by line, and reports every flaw.

REL's rules are those of section "Benchmark Format" of REL's `REL/README.md`. A record of another task is good
if a response to it can be scored under ``strict``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple

import orjson

from relfast.engine.calls.scorer import Scorer
from relfast.engine.files.io.sources import find_sources, lines_of
from relfast.errors import InputError
from relfast.formats import read_row
from relfast.formats.paths import MISSING
from relfast.inference.requests import completed
from relfast.json_text import BOM, LongLine, decode_text
from relfast.records import Policy
from relfast.tasks import TASKS, Task, find_task, infer_task
from relfast.tasks.base import Problem, kind_of, shown

DOCUMENTED: Final = {name: task for name, task in TASKS.items() if task.gold.check is not None}
"""The tasks whose record format is documented."""

_NAMES: Final = tuple(DOCUMENTED)
DOMAINS: Final = tuple(dict.fromkeys(task.gold.domain for task in DOCUMENTED.values()))


class Flaw(NamedTuple):
    """A problem with its place: file, and line from 1. A ``note`` is one that no score depends on: the record
    deviates from the published format and is scored all the same."""

    file: str
    line: int
    problem: Problem
    note: bool = False

    def __str__(self) -> str:
        name, message = self.problem
        start = "note: " if self.note else ""
        return f"{self.file}:{self.line}: {start}{name + ': ' if name else ''}{message}"


_NOT_SCORED: Final = ("id", "question", "domain", "metadata")
"""Fields of the published format that no score depends on."""


def is_note(problem: Problem, record: Any) -> bool:
    """Whether a record with this problem is scored as if it had none."""
    field = problem.field.partition(".")[0].partition("[")[0]
    if field == "task":
        return _task_of(record) is not None
    # two records with one id are samples of one prompt, whatever their gold
    return field in _NOT_SCORED and not problem.message.startswith(_TWICE)


_TWICE: Final = "is already the id of "


def _task_of(record: Mapping[str, Any]) -> Task | None:
    """The task as which a record is scored."""
    entry = read_row(completed(dict(record)), "auto")
    gold = decode_text(entry.answer) if isinstance(entry.answer, str) else entry.answer
    return infer_task(gold) if entry.task in (MISSING, None) else find_task(entry.task)


@cache
def _scorer(policy: Policy = "strict") -> Scorer:
    return Scorer(policy=policy, workers=0)


def _undocumented(record: Any) -> Task | None:
    """The task of a record if it is a known one without a documented format, else None."""
    if not isinstance(record, dict) or record.get("task") in _NAMES:
        return None
    task = _task_of(record)
    return None if task is None or task.name in DOCUMENTED else task


def lacks_of(record: Any) -> list[str]:
    """What `relfast.tasks.base.Metric.lacks` says about a good record's gold, read as published."""
    task = _undocumented(record)
    told = [] if task is None else [metric for metric in task.metric_objects if metric.lacks]
    if not told:
        return []
    (score,) = _scorer("reference").score([{**completed(dict(record)), "response": ""}])
    return [
        metric.lacks for metric in told if metric.name in score.metrics and score.metrics[metric.name] is None
    ]


def check_record(record: Any) -> list[Problem]:
    """All problems of one record; an empty list if it has the format of its task. `is_note` tells those for
    which it is scored all the same."""
    if not isinstance(record, Mapping):
        return [Problem("", f"a record must be an object, not {kind_of(record)}")]
    if _undocumented(record) is not None:
        (score,) = _scorer().score([{**completed(dict(record)), "response": ""}])
        return [] if score.error is None else [Problem("", score.error["message"])]
    problems = [*_check_text(record, "id"), *_check_text(record, "question")]
    name, task = record.get("task"), _task_of(record)
    if "task" not in record:
        problems.append(Problem("task", "missing"))
    elif task is None or name != task.name:
        problems.append(Problem("task", f"must be one of {', '.join(DOCUMENTED)}, not {shown(name)}"))
    domain = record.get("domain")
    if "domain" not in record:
        problems.append(Problem("domain", "missing"))
    elif domain not in DOMAINS:
        problems.append(Problem("domain", f"must be {' or '.join(map(str, DOMAINS))}, not {shown(domain)}"))
    elif task is not None and domain != task.gold.domain:
        problems.append(Problem("domain", f"must be {task.gold.domain} for {task.name}, not {domain}"))
    # as in cells of a CSV, and as many data sets carry gold
    metadata, answer = (
        decode_text(value) if isinstance(value, str) else value
        for value in (record.get("metadata"), record.get("answer"))
    )
    if "metadata" in record and not isinstance(metadata, Mapping):
        problems.append(Problem("metadata", f"must be an object, not {kind_of(metadata)}"))
    if "answer" not in record:
        problems.append(Problem("answer", "missing"))
    elif not isinstance(answer, Mapping):
        problems.append(Problem("answer", f"must be an object, not {kind_of(answer)}"))
    if task is not None:
        problems += task.problems(answer, metadata)
    return problems


def _check_text(record: Mapping[str, Any], name: str) -> Iterator[Problem]:
    value = record.get(name)
    if name not in record:
        yield Problem(name, "missing")
    elif not isinstance(value, str):
        yield Problem(name, f"must be text, not {kind_of(value)}")
    elif not value.strip():
        yield Problem(name, "is empty")


@dataclass
class FileCheck:
    """The check of one file. Iterating yields its flaws; after that the counts are complete.

    Iterating raises `InputError` if the file cannot be read at all.

    Attributes
    ----------
    path
        A file of JSON lines, plain or compressed, or Parquet; ``-``: stdin; a folder: its files.
    n_records, n_good
        Records seen so far, and those without a flaw but notes. Blank lines are no records.
    tasks
        Good records by task.
    lacking
        What good records lack for published scoring (`lacks_of`): how many lack it.
    """

    path: str
    n_records: int = 0
    n_good: int = 0
    tasks: dict[str, int] = field(default_factory=dict)
    lacking: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Flaw]:
        first: dict[str, tuple[str, int]] = {}
        for source in find_sources([self.path]):
            number = 0
            try:
                for number, line in enumerate(lines_of(source), 1):
                    yield from self._check_line(source.path, number, line, first)
            except InputError as error:
                if not self.n_records:
                    raise
                # a damaged compressed file, for instance: the lines before have been checked
                yield Flaw(source.path, number + 1, Problem("", str(error).removeprefix(f"{source.path}: ")))

    def _check_line(
        self, path: str, number: int, line: bytes, first: dict[str, tuple[str, int]]
    ) -> Iterator[Flaw]:
        if isinstance(line, LongLine):
            self.n_records += 1
            yield Flaw(path, number, Problem("", line.said))
            return
        if number == 1:
            line = line.removeprefix(BOM)
        if not line.strip():
            return
        self.n_records += 1
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield Flaw(path, number, Problem("", f"no JSON: {error}"))
            return
        problems = check_record(record)
        name = record.get("id") if isinstance(record, dict) else None
        if isinstance(name, str):
            where, earlier = first.setdefault(name, (path, number))
            if (where, earlier) != (path, number):
                place = f"line {earlier}" if where == path else f"{where}:{earlier}"
                problems.append(Problem("id", f"{_TWICE}{place}: {shown(name)}"))
        flaws = [
            Flaw(path, number, each, isinstance(record, dict) and is_note(each, record)) for each in problems
        ]
        task = _task_of(record) if isinstance(record, dict) else None
        if task is not None and all(flaw.note for flaw in flaws):
            self.n_good += 1
            self.tasks[task.name] = self.tasks.get(task.name, 0) + 1
            self.lacking.update(lacks_of(record))
        yield from flaws
