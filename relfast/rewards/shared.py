"""What the adapters have in common: one scorer per set of options, and gold as trainers carry it."""

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
from relfast.engine.online.needs import Formless, Needs
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
"""Task, gold as `gold_of` reads it, response and question."""


class Adapter:
    """Options that travel by pickle, and the shared scorer they stand for.

    Where a rule of ``strict`` looks at the question and a call has none, it warns, once for each task. After
    the first 64 responses it logs how many had no final answer in a documented form (`Formless`).

    Parameters
    ----------
    on_error
        The reward of a response without a score: None, a number, or ``"raise"``, or these by whose fault it
        is; see `relfast.Scorer`. Under ``strict`` a response that hangs or crashes its scoring is worth the
        lowest reward of its task, not this.
    **options
        As `relfast.Scorer`; ``policy`` is ``"strict"`` unless given.
    """

    question_at: ClassVar[str] = "with the record"
    """Where the trainer's user puts a question: for that warning."""

    wants_number: ClassVar[str | None] = None
    """Of a trainer that cannot leave a sample out: its name, and what comes of a reward that is no number."""

    _is_default = False

    def __init__(self, *, on_error: OnError = None, **options: Unpack[AdapterKeywords]) -> None:
        self.on_error: OnError = checked_on_error(on_error)
        self.options: AdapterKeywords = {"policy": "strict", **options}
        Scorer(on_error=on_error, **self.options)  # says at once what cannot be used
        self._found: Scorer | None = None
        self._told = (
            self.wants_number is None or None not in worths(on_error, self.options["policy"]).values()
        )
        if not self._is_default:
            self._tell()

    @classmethod
    def default(cls) -> Self:
        """The module's own: made by its import, its first call says what others say when made."""
        made = cls.__new__(cls)
        made._is_default = True
        cls.__init__(made)
        return made

    def _tell(self) -> None:
        """Say once, before a run has begun, that ``on_error`` has no number where the trainer needs one."""
        if not self._told:
            self._told = True
            _log.warning(
                "relfast: a response without a score has no reward here, and %s; say what it is worth:"
                " on_error=0.0 or another number",
                self.wants_number,
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": None, "_needs": None, "_formless": None}

    @property
    def scorer(self) -> Scorer:
        """The process's scorer for these options, made at the first call."""
        if self._found is None:
            self._tell()
            self._needs = Needs(self.options["policy"], self.question_at)
            self._formless = Formless(self.options["policy"])
            self._found = shared_scorer(self.options)
        return self._found

    def score(self, task: Any, gold: Any, response: Any, question: Any = None) -> Score:
        """The score of a response, its gold as `gold_of` reads it; never raises for what is in it."""
        return self._seen(
            (self._found or self.scorer).kept_score(task, gold, response, question), gold, question
        )

    async def ascore(self, task: Any, gold: Any, response: Any, question: Any = None) -> Score:
        """`score` for an event loop, which is held up only by what needs no worker."""
        score = (self._found or self.scorer).kept_score(task, gold, response, question, False)
        if score is None:
            score = await asyncio.wrap_future(self.scorer.submit(task, gold, response, question))
        return self._seen(score, gold, question)

    def scores(
        self,
        tasks: Sequence[Any],
        gold: Sequence[Any],
        responses: Sequence[Any],
        questions: Sequence[Any] | None = None,
    ) -> list[Score]:
        """The scores of responses, in order, scored together."""
        scores = self.scorer.kept_scores(list(tasks), gold, responses, questions=questions)
        return self._all_seen(scores, gold, questions)

    async def ascores(self, rows: Iterable[Row]) -> list[Score]:
        """`scores` for an event loop."""
        columns = columns_of_rows(rows)
        begun = self.scorer.begin_columns(columns)
        await begun.ended()
        return self._all_seen(begun.scores(), columns[1], columns[3])

    def _seen(self, score: Score, gold: Any, question: Any) -> Score:
        """The score, what is to be said of it said."""
        if not self._formless.is_settled:
            self._formless.count((score,))
        self._look(score, gold, question)
        return score

    def _all_seen(
        self, scores: list[Score], gold: Sequence[Any], questions: Sequence[Any] | None
    ) -> list[Score]:
        for at, score in enumerate(scores):
            self._look(score, gold[at], None if questions is None else questions[at], at)
        if not self._formless.is_settled:
            self._formless.count(scores)
        return scores

    def _look(self, score: Score, gold: Any, question: Any, at: int = 0) -> None:
        if score.reward is None:
            self._tell_unscored(score, gold, at)
        if type(question) is not str or not question:
            self._needs.look(score.task, gold, question)

    def _tell_unscored(self, score: Score, gold: object, at: int = 0) -> None:
        """Log why a response has no score, once for each kind of cause and task in a process."""
        error = score.error or {"type": score.status, "message": "no reward"}
        kind = error["type"], score.task
        if kind in _told or len(_told) >= MAX_KINDS:
            return
        _told.add(kind)
        _log.warning(
            "relfast: %s: response %d of a call has no score (%s): %.200s. Its gold is %.200r. (Said once.)",
            score.task or "no task",
            at,
            score.status,
            error["message"],
            gold,
        )

    def value(self, score: Score) -> float | None:
        """The reward of a score, or what ``on_error`` says of one without.

        Raises
        ------
        UnscoredError
            It has none, and ``on_error`` is ``"raise"``.
        """
        return value_of(score, self.on_error, self.options["policy"])

    def number(self, score: Score) -> float:
        """`value` for a trainer that breaks on None.

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
    """Rows as `Scorer.begin_columns` takes them."""
    tasks, gold, responses, questions = map(list, zip(*rows, strict=True))
    return tasks, gold, responses, questions


MAX_KINDS: Final = 100
"""Causes that a process tells of; a run has few."""

_told: Final[set[tuple[Any, ...]]] = set()


def reason_of(score: Score) -> str:
    """Why a response is worth less than its text looks: strict's reason, or why it has no score; else ""."""
    return str(score.metrics.get("reason") or (score.error["message"] if score.error else ""))


def gold_of(answer: Any) -> Any:
    """Gold as it was before a data set carried it.

    JSON text is read (once per distinct text), arrays become lists, and fields that are None are left
    out: a `datasets` column of dicts comes back with the union of all keys. Gold of which nothing would
    be left, and what is no gold at all, stays as it is; the score says what is wrong with it.
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
        # a mapping of somebody else's making that fails when it is read, or that never ends
        return None


def _plain(value: object) -> Any:
    """The same with arrays and array scalars (Parquet readers give them) as lists and numbers."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def read_label(label: object) -> tuple[Any, Any, Any]:
    """Task, gold and question out of the single field that some trainers have for all of it.

    ``{"task": …, "answer": {…}, "question": …}`` or its JSON text; gold alone is its own label, and the
    task is inferred from its keys. Gold has been read (`gold_of`).
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
    """Task, gold and question of a sample: its label's (`read_label`), else what the first of some mappings
    has as ``task``, ``answer`` and ``question``; for a question last the user's in the prompt."""
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
    """The text of a completion: text as it is, of chat messages the last of the assistant."""
    if type(completion) is list and len(completion) == 1 and type(completion[0]) is dict:
        message = completion[0]
        content = message.get("content")
        if type(content) is str and message.get("role") == "assistant":
            return content  # as most are
    return completion if type(completion) is str or isinstance(completion, str) else text_of(completion)


def question_of(prompt: object) -> str | None:
    """The question in a prompt: text as it is, of chat messages (or an array of them) the user's last."""
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
    """A mapping, or an empty one in the place of anything else."""
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def field(row: object, *names: str) -> Any:
    """The first of the fields that ``row`` (a mapping, or nothing) has and that is not None."""
    if row is not None and (type(row) is dict or isinstance(row, Mapping)):
        for name in names:
            value = row.get(name)
            if value is not None:
                return value
    return None


def tensor(values: Sequence[float | None]) -> Any:
    """The values as a float tensor (None as NaN) where the process has loaded torch, else as they are."""
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
    # a third of what `torch.tensor` takes; its memory is the array's, which it keeps
    return torch.frombuffer(numbers, dtype=torch.float32)


def tallies(scores: Sequence[Score]) -> dict[str, float]:
    """Means of a batch for a trainer's log: ``correct`` and the numeric metrics over the scored
    responses, ``answered`` and ``unscored`` as shares of all."""
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
    """``answered`` and ``unscored`` as shares of all."""
    n = len(scores)
    answered = sum([score.status == "ok" for score in scores])
    return {"answered": answered / n, "unscored": sum([score.correct is None for score in scores]) / n}
