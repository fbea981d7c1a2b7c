"""What adapters share: a scorer per set of options, and readers of gold, completions and prompts."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, Self, TypeVar, Unpack

from relfast.engine.calls.incoming import Columns
from relfast.engine.calls.scorer import Scorer, shared_scorer
from relfast.engine.calls.scorer import close_shared as close
from relfast.engine.calls.scorer import stats_of_process as stats
from relfast.engine.calls.unscored import Formless, Needs, checked_on_error, log_unscored, value_of, worths
from relfast.engine.job import AdapterKeywords, OnError
from relfast.errors import UnscoredError, UsageError
from relfast.formats.entry import last_user_said, plain_messages
from relfast.formats.stored import gold_of, held
from relfast.records import Score
from relfast.tasks import TASKS, find_task

__all__ = ["close", "prepare", "stats"]

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
    def default(cls, **options: Any) -> Self:
        """The adapter that a module makes when it is imported, with default options. It warns at its first
        call of what other adapters warn of when they are made."""
        made = cls.__new__(cls)
        made._is_default = True
        cls.__init__(made, **options)
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

    def prepare(self, *tasks: str) -> dict[str, float]:
        """Have the first reward cost what later ones do: see `relfast.Scorer.prepare`."""
        return self.scorer.prepare(*tasks)

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

    async def ascores(
        self, tasks: list[Any], gold: list[Any], responses: list[Any], questions: list[Any] | None
    ) -> list[Score]:
        """`scores` for an event loop."""
        begun = self.scorer.begin_columns((tasks, gold, responses, questions))
        await begun.ended()
        return self._all_checked(begun.scores(), gold, questions)

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


def prepare(*tasks: str, **options: Unpack[AdapterKeywords]) -> dict[str, float]:
    """Have this process's first reward cost what later ones do (`relfast.Scorer.prepare`): machine code and
    ReAlign's model are loaded, and workers have started, which takes up to 2 s.

    Call it before training, in the process that scores: in the file that a trainer imports, say.

    Parameters
    ----------
    *tasks
        Names of tasks; default: all.
    **options
        Those of the reward function, without ``on_error``: functions with equal options share a scorer.

    It returns and raises what `relfast.Scorer.prepare` does; also `UsageError`, for an option that cannot be
    used.
    """
    return shared_scorer({"policy": "strict", **options}).prepare(*tasks)


def columns_of_rows(rows: Iterable[Row]) -> Columns:
    """Rows as the columns that `Scorer.begin_columns` takes."""
    tasks, gold, responses, questions = [*map(list, zip(*rows, strict=True))] or ([], [], [], [])
    return tasks, gold, responses, questions


def reason_of(score: Score) -> str:
    """Why strict turned a response down, or why it has no score; "" for any other."""
    return str(score.metrics.get("reason") or (score.error["message"] if score.error else ""))


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
        return held(gold.get("task")), gold_of(gold["answer"]), held(gold.get("question"))
    return None, gold, None


def read_sample(label: object, prompt: object, *places: object) -> tuple[Any, Any, Any]:
    """Task, gold and question of a sample, each from the first source that has it: the label (`read_label`),
    then ``task``, ``answer`` and ``question`` of the mappings ``places``, and for the question last the
    prompt (`question_of`)."""
    task, gold, question = read_label(label)
    for place in map(mapping, places):
        if task is None:
            task = held(place.get("task"))
        if gold is None or (isinstance(gold, str) and not gold):  # a column's empty text stands for none
            gold = gold_of(place.get("answer"))
        if question is None:
            question = held(place.get("question"))
    return task, gold, question_of(prompt) if question is None else question


def question_of(prompt: object) -> str | None:
    """The question in a prompt: a text itself, or the user's last of a list (or array) of chat messages."""
    messages = plain_messages(prompt)
    question = last_user_said(messages) if isinstance(messages, list) else messages
    return question if isinstance(question, str) else None


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


COMPONENTS: Final = ("reward", "correct", "answered")
"""What every score can be asked for, beside its task's metrics."""


def checked_components(components: object) -> list[str]:
    """Names of components, such as ``["correct", "f1"]`` or ``"correct,f1"``.

    Raises
    ------
    UsageError
        No task has such a metric, or it is not one that training may raise.
    """
    given: Any = components.split(",") if isinstance(components, str) else components
    if not isinstance(given, Iterable):
        raise UsageError(f"components must be names, not {components!r:.60}")
    names = [str(name).strip() for name in given]
    known = dict.fromkeys(
        metric.name
        for task in TASKS.values()
        for metric in task.metric_objects
        if metric.kind != "label" and metric.higher_is_better
    )
    for name in names:
        if name not in known and name not in COMPONENTS:
            raise UsageError(f"no component {name!r:.60}; components: {', '.join((*COMPONENTS, *known))}")
    return names


def component_of(score: Score, name: str) -> float | None:
    """One component of a score; None where its task has no such metric, or the metric no value."""
    if name == "answered":
        return float(score.status == "ok")
    if name in COMPONENTS:
        return score.reward if name == "reward" else None if score.correct is None else float(score.correct)
    return metric_of(score, name)


def metric_of(score: Score, name: str) -> float | None:
    """A metric of a score as a finite number; None for a text, a missing value, or one that means
    "undefined"."""
    value = score.metrics.get(name)
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    task = find_task(score.task)
    metric = None if task is None else task.metric_by_name.get(name)
    return None if metric is not None and value == metric.undefined else float(value)


Awaited = TypeVar("Awaited", bound=type)


def awaited(cls: Awaited) -> Awaited:
    """Let instances of a class whose ``__call__`` is a coroutine function be known for one.

    Trainers ask `inspect.iscoroutinefunction`, which says yes to objects that have a function's attributes.
    """
    call: Any = cls.__call__
    for name in ("__code__", "__defaults__", "__kwdefaults__"):
        setattr(cls, name, getattr(call, name))
    return cls


def shares(scores: Sequence[Score]) -> dict[str, float]:
    """The shares of all responses that are ``answered`` (status ``ok``) and ``unscored``."""
    n = len(scores)
    answered = sum([score.status == "ok" for score in scores])
    return {"answered": answered / n, "unscored": sum([score.correct is None for score in scores]) / n}
