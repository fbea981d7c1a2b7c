"""What adapters share: a scorer per set of options, and readers of gold, completions and prompts."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, Self, Unpack

import orjson

from relfast.engine.online.incoming import Columns
from relfast.engine.online.needs import Formless, Needs, log_unscored
from relfast.engine.online.scorer import (
    Scorer,
    checked_on_error,
    close,
    shared_scorer,
    stats,
    value_of,
    worths,
)
from relfast.errors import UnscoredError
from relfast.formats.entry import content_of, text_of
from relfast.json_text import decode_text
from relfast.keywords import AdapterKeywords, OnError
from relfast.records import Score

__all__ = ["close", "stats"]

_log: Final = logging.getLogger("relfast")

Row = tuple[Any, Any, Any, Any]
"""Task, gold as `gold_of` returns it, response and question."""


class Adapter:
    """Base of all adapters: picklable options, and the shared scorer of the process for these options.

    An adapter warns, once for each task, if a rule of ``strict`` needs the question and a call has none.
    After the first 64 responses it logs how many had no final answer in a documented form (`Formless`).

    Parameters
    ----------
    on_error
        The reward of a response without a score: None, a number, ``"raise"``, or a mapping with one of these
        for each kind of cause; see `relfast.Scorer`. Under ``strict`` a response that hangs or crashes its
        scoring gets the lowest reward of its task instead.
    **options
        Options of `relfast.Scorer`; the default ``policy`` is ``"strict"``.
    """

    question_at: ClassVar[str] = "with the record"
    """Where users of the trainer put the question; the warning of a missing one names this place."""

    wants_number: ClassVar[str | None] = None
    """For a trainer that cannot leave a sample out: its name, and what it does with a reward that is no
    number. None: the trainer accepts None."""

    _is_default = False

    def __init__(self, *, on_error: OnError = None, **options: Unpack[AdapterKeywords]) -> None:
        self.on_error: OnError = checked_on_error(on_error)
        self.options: AdapterKeywords = {"policy": "strict", **options}
        Scorer(on_error=on_error, **self.options)  # raises at once for unusable options
        self._scorer: Scorer | None = None
        self._warned = (
            self.wants_number is None or None not in worths(on_error, self.options["policy"]).values()
        )
        if not self._is_default:
            self._warn_of_none()

    @classmethod
    def default(cls) -> Self:
        """The adapter that a module makes when it is imported, with default options. It warns at its first
        call of what other adapters warn of when they are made."""
        made = cls.__new__(cls)
        made._is_default = True
        cls.__init__(made)
        return made

    def _warn_of_none(self) -> None:
        """Warn once, before a run begins, that ``on_error`` is no number though the trainer needs one."""
        if not self._warned:
            self._warned = True
            _log.warning(
                "relfast: a response without a score has no reward here, and %s; say what it is worth:"
                " on_error=0.0 or another number",
                self.wants_number,
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scorer": None, "_needs": None, "_formless": None}

    @property
    def scorer(self) -> Scorer:
        """The process's scorer for these options, made at the first call."""
        if self._scorer is None:
            self._warn_of_none()
            self._needs = Needs(self.options["policy"], self.question_at)
            self._formless = Formless(self.options["policy"])
            self._scorer = shared_scorer(self.options)
        return self._scorer

    def score(self, task: Any, gold: Any, response: Any, question: Any = None) -> Score:
        """The score of a response. ``gold`` is as `gold_of` returns it; no content of a record raises."""
        return self._checked(
            (self._scorer or self.scorer).kept_score(task, gold, response, question), gold, question
        )

    async def ascore(self, task: Any, gold: Any, response: Any, question: Any = None) -> Score:
        """`score` for an event loop: it blocks only for responses that are scored without a worker."""
        score = (self._scorer or self.scorer).kept_score(task, gold, response, question, False)
        if score is None:
            score = await asyncio.wrap_future(self.scorer.submit(task, gold, response, question))
        return self._checked(score, gold, question)

    def scores(
        self,
        tasks: Sequence[Any],
        gold: Sequence[Any],
        responses: Sequence[Any],
        questions: Sequence[Any] | None = None,
    ) -> list[Score]:
        """The scores of responses, in order; they are scored as one batch."""
        scores = self.scorer.kept_scores(list(tasks), gold, responses, questions=questions)
        return self._all_checked(scores, gold, questions)

    async def ascores(self, rows: Iterable[Row]) -> list[Score]:
        """`scores` for an event loop."""
        columns = columns_of_rows(rows)
        begun = self.scorer.begin_columns(columns)
        await begun.ended()
        return self._all_checked(begun.scores(), columns[1], columns[3])

    def _checked(self, score: Score, gold: Any, question: Any) -> Score:
        """The score unchanged, after the warnings that it gives rise to."""
        if not self._formless.is_settled:
            self._formless.count((score,))
        self._warn(score, gold, question)
        return score

    def _all_checked(
        self, scores: list[Score], gold: Sequence[Any], questions: Sequence[Any] | None
    ) -> list[Score]:
        for at, score in enumerate(scores):
            self._warn(score, gold[at], None if questions is None else questions[at], at)
        if not self._formless.is_settled:
            self._formless.count(scores)
        return scores

    def _warn(self, score: Score, gold: Any, question: Any, at: int = 0) -> None:
        if score.reward is None:
            log_unscored(score, gold, at)
        if type(question) is not str or not question:
            self._needs.look(score.task, gold, question)

    def value(self, score: Score) -> float | None:
        """The reward of a score; of one without a reward the value that ``on_error`` sets.

        Raises
        ------
        UnscoredError
            The score has no reward, and ``on_error`` is ``"raise"``.
        """
        return value_of(score, self.on_error, self.options["policy"])

    def number(self, score: Score) -> float:
        """`value` for a trainer that fails on None.

        Raises
        ------
        UnscoredError
            The response has no score, and ``on_error`` has no number for it.
        """
        value = self.value(score)
        if value is None:
            what = score.error["message"] if score.error else "no reward"
            raise UnscoredError(score.task, score.status, f"{what}; on_error=0.0 would make it 0")
        return value


def columns_of_rows(rows: Iterable[Row]) -> Columns:
    """Rows as the columns that `Scorer.begin_columns` takes."""
    tasks, gold, responses, questions = map(list, zip(*rows, strict=True))
    return tasks, gold, responses, questions


def reason_of(score: Score) -> str:
    """Why strict turned a response down, or why it has no score; "" for any other."""
    return str(score.metrics.get("reason") or (score.error["message"] if score.error else ""))


def gold_of(answer: Any) -> Any:
    """Gold as it was before a data set stored it.

    JSON text is decoded (once per distinct text), arrays become lists, and fields that are None are dropped:
    a `datasets` column of dicts gives every row the union of all keys. Gold with no other fields, and values
    that are no gold at all, stay as they are; their score then says what is wrong with them.

    >>> gold_of('{"target": 3}'), gold_of({"target": 3, "smiles": None})
    ({'target': 3}, {'target': 3})
    """
    if type(answer) is str or isinstance(answer, str):
        return _gold_of_text(answer)
    return _gold_of_object(answer)


@lru_cache(maxsize=4096)
def _gold_of_text(text: str) -> Any:
    return _gold_of_object(decode_text(text))


def _gold_of_object(answer: Any) -> Any:
    if type(answer) is not dict and not isinstance(answer, Mapping):
        return answer
    try:
        try:
            orjson.dumps(answer)
        except TypeError:
            answer = _plain(answer)
        if type(answer) is dict and None not in answer.values():
            return answer
        return {key: value for key, value in answer.items() if value is not None} or answer
    except Exception:
        # a foreign Mapping class whose methods raise, or a mapping that contains itself
        return None


def _plain(value: object) -> Any:
    """The value with arrays and array scalars (Parquet readers give them) made lists and numbers."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def read_label(label: object) -> tuple[Any, Any, Any]:
    """Task, gold and question from a label: the single field that some trainers have for all three.

    A label is ``{"task": …, "answer": {…}, "question": …}`` or gold alone, as dict or JSON text. With gold
    alone the task is None, and is inferred from gold's keys later. Gold is returned as by `gold_of`.
    """
    return _label_of_text(label) if type(label) is str else _label_of(gold_of(label))


@lru_cache(maxsize=4096)
def _label_of_text(text: str) -> tuple[Any, Any, Any]:
    return _label_of(gold_of(text))


def _label_of(gold: Any) -> tuple[Any, Any, Any]:
    if isinstance(gold, Mapping) and "answer" in gold:
        return gold.get("task"), gold_of(gold["answer"]), gold.get("question")
    return None, gold, None


def read_sample(label: object, prompt: object, *places: object) -> tuple[Any, Any, Any]:
    """Task, gold and question of a sample, each from the first source that has it: the label (`read_label`),
    then ``task``, ``answer`` and ``question`` of the mappings ``places``, and for the question last the
    prompt (`question_of`)."""
    task, gold, question = read_label(label)
    for place in map(mapping, places):
        if task is None:
            task = place.get("task")
        if gold is None or (isinstance(gold, str) and not gold):  # a column's empty text stands for none
            gold = gold_of(place.get("answer"))
        if question is None:
            question = place.get("question")
    return task, gold, question_of(prompt) if question is None else question


def response_of(completion: object) -> Any:
    """The text of a completion: a text itself, or the assistant's last message of a list of chat messages."""
    if type(completion) is list and len(completion) == 1 and type(completion[0]) is dict:
        message = completion[0]
        content = message.get("content")
        if type(content) is str and message.get("role") == "assistant":
            return content  # the usual form, handled first
    return completion if type(completion) is str or isinstance(completion, str) else text_of(completion)


def question_of(prompt: object) -> str | None:
    """The question in a prompt: a text itself, or the user's last of a list (or array) of chat messages."""
    if hasattr(prompt, "tolist"):
        prompt = prompt.tolist()
    if isinstance(prompt, str) or not isinstance(prompt, Sequence):
        return prompt if isinstance(prompt, str) else None
    for message in reversed(prompt):
        if mapping(message).get("role") == "user":
            content = content_of(message.get("content"))
            return content if isinstance(content, str) else None
    return None


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def field(row: object, *names: str) -> Any:
    """The first value of these fields that is not None; None without one, or if ``row`` is no mapping."""
    if row is not None and (type(row) is dict or isinstance(row, Mapping)):
        for name in names:
            value = row.get(name)
            if value is not None:
                return value
    return None


def tensor(values: Sequence[float | None]) -> Any:
    """The values as a float32 tensor (None as NaN) if the process has loaded torch, else as a list."""
    torch = sys.modules.get("torch")
    if torch is None:
        return values if type(values) is list else list(values)
    if not values:
        return torch.empty(0, dtype=torch.float32)
    floats: Any = values
    try:
        numbers = array("f", floats)
    except TypeError:  # there is a None
        numbers = array("f", [math.nan if value is None else value for value in values])
    # takes a third of the time of `torch.tensor`; the tensor shares the array's memory and keeps it alive
    return torch.frombuffer(numbers, dtype=torch.float32)


def tallies(scores: Sequence[Score]) -> dict[str, float]:
    """Means of a batch for a trainer's log: ``correct`` and the numeric metrics over the scored responses;
    ``answered`` and ``unscored`` as shares of all responses."""
    if not scores:
        return {}
    scored = [score for score in scores if score.correct is not None]
    columns: dict[str, list[float]] = {}
    for score in scored:
        columns.setdefault("correct", []).append(float(score.correct or False))
        for name, value in score.metrics.items():
            if isinstance(value, (int, float)):
                columns.setdefault(f"{score.task}/{name}", []).append(float(value))
    return {**shares(scores), **{name: sum(column) / len(column) for name, column in columns.items()}}


def shares(scores: Sequence[Score]) -> dict[str, float]:
    """The shares of all responses that are ``answered`` (status ``ok``) and ``unscored``."""
    n = len(scores)
    answered = sum([score.status == "ok" for score in scores])
    return {"answered": answered / n, "unscored": sum([score.correct is None for score in scores]) / n}
