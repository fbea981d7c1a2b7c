"""Makes requests of records: finds a row's task and question, and puts the question into a prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from relfast.engine.files.io.sources import find_sources, lines_of
from relfast.errors import InputError, UsageError
from relfast.formats import read_row
from relfast.formats.paths import MISSING
from relfast.inference.client import Prompt
from relfast.json_text import Undecodable, decode_object, decode_text
from relfast.tasks import EXACT_FIELDS, TASKS, Task, find_task, infer_task
from relfast.tasks.base import AS_IT_STANDS
from relfast.tasks.base import Prompt as Wording

_QUESTIONS: Final = ("question", "problem")
"""Fields that may hold a row's question, besides its dialect's. (``prompt`` holds a complete prompt.)"""


@dataclass(frozen=True, slots=True)
class Request:
    """A record to complete: its index in the input, its row, and its prompt, or the ``problem`` that
    prevents one.

    ``task`` is the task's name (None: unknown), ``wording`` the name of the prompt (None without one).
    """

    index: int
    row: dict[str, Any]
    prompt: Prompt | None
    problem: str | None = None
    task: str | None = None
    wording: str | None = None

    @property
    def digest(self) -> str:
        text = orjson.dumps(self.prompt, option=orjson.OPT_NON_STR_KEYS, default=str)
        return hashlib.blake2b(text, digest_size=8).hexdigest()


class Wordings:
    """Chooses the prompt of each task: its default, another one by name, or the user's from a file.

    Parameters
    ----------
    chosen
        Name of a prompt of any task, ``question`` for the bare question, or the path of a text file; None:
        each task's default.
    task
        Task of records that name none.

    Raises
    ------
    UsageError
        There is no such prompt and no such file.
    """

    def __init__(self, chosen: str | None = None, task: Task | None = None) -> None:
        self._task = task
        self._for_all: Wording | None = None
        self._named: str | None = None
        self.files: tuple[str, ...] = ()
        """The file that the prompt was read from."""
        if chosen is None:
            return
        if chosen == AS_IT_STANDS.name:
            self._for_all = AS_IT_STANDS
        elif any(chosen == wording.name for one in TASKS.values() for wording in one.prompts):
            self._named = chosen
        else:
            self._for_all = _from_file(chosen)
            self.files = (chosen,)

    def request(self, index: int, row: dict[str, Any]) -> Request:
        """The request of a row."""
        row = completed(row)
        entry = read_row(row, "auto")
        task = find_task(entry.task) or self._task_of(entry.answer)
        name = None if task is None else task.name
        question = next((row[key] for key in _QUESTIONS if row.get(key) is not None), entry.question)
        if question in (MISSING, None) and row.get("prompt") is not None:
            return _request(index, row, row["prompt"], name, AS_IT_STANDS)
        return _request(index, row, None if question is MISSING else question, name, self._wording(task))

    def _task_of(self, answer: Any) -> Task | None:
        if self._task is not None:
            return self._task
        if isinstance(answer, str):
            answer = decode_text(answer)
        return infer_task(answer)

    def _wording(self, task: Task | None) -> Wording:
        if self._for_all is not None:
            return self._for_all
        if task is None:
            return AS_IT_STANDS
        return next((one for one in task.prompts if one.name == self._named), task.prompts[0])


def completed(row: dict[str, Any]) -> dict[str, Any]:
    """A data set's row, which has fields of gold beside its question, as a record with task and answer, so
    that it can be scored. Other rows are returned as they are.

    Tasks with a documented format of records (`relfast.tasks.base.Gold.domain`) are left out: their gold is
    always in ``answer``, and a column of the same name in another table is not gold.
    """
    entry = read_row(row, "auto")
    if entry.task not in (MISSING, None) or entry.answer not in (MISSING, None):
        return row
    task = infer_task(row)
    if task is None or task.gold.domain is not None:
        return row
    complete = (keys for keys in task.gold.keys if all(row.get(key) is not None for key in keys))
    keys = next(complete, None)
    if keys is None:
        return row
    question = next((row[key] for key in _QUESTIONS if row.get(key) is not None), None)
    return {**row, "task": task.name, "question": question, "answer": {key: row[key] for key in keys}}


def _from_file(path: str) -> Wording:
    names = dict.fromkeys(wording.name for task in TASKS.values() for wording in task.prompts)
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(
            f"--prompt {path}: {reason}; it takes a text file or one of {', '.join(names)}"
        ) from None
    return Wording.own(Path(path).name, text)


def _request(index: int, row: dict[str, Any], question: Any, task: str | None, wording: Wording) -> Request:
    if isinstance(question, str) and question.strip():
        return Request(index, row, wording.words(question, row), None, task, wording.shown)
    is_chat = (
        isinstance(question, list)
        and question
        and all(
            isinstance(message, dict) and "role" in message and "content" in message for message in question
        )
    )
    if is_chat:
        # chat messages are a complete prompt
        return Request(index, row, question, None, task, AS_IT_STANDS.shown)
    what = "is missing" if question is None else "is neither text nor chat messages"
    return Request(index, row, None, f"question {what}", task)


def read_requests(
    inputs: Iterable[str],
    limit: int | None = None,
    wordings: Wordings | None = None,
    own: Sequence[str] = (),
) -> Iterator[Request]:
    """The requests of all records in some inputs (JSONL, plain or compressed, or Parquet); skips blank lines.
    ``own`` is as in `find_sources`.

    Raises
    ------
    InputError
        An input cannot be read, or a line is no JSON object.
    """
    wordings = wordings or Wordings()
    index = 0
    for source in find_sources(list(inputs), own):
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
            yield wordings.request(index - 1, row)
