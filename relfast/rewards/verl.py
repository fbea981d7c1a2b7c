"""verl: ``compute_score``, a reward function to name in the configuration.

::

    reward.custom_reward_function.path=pkg://relfast.rewards.verl   # or your file that imports compute_score
    reward.custom_reward_function.name=compute_score                # or acompute_score, which verl 0.9 awaits
    +reward.custom_reward_function.reward_kwargs.on_error=0.0

``ground_truth`` is gold (a dict or its JSON text). The task is ``data_source``, or the last part of a path
there (``org/REL-C1``), or ``extra_info["task"]``; if none of these names a task, the option ``task``, or else
the task is inferred from gold. verl does not pass the prompt to reward functions, so the data set's rows must
hold it: ``extra_info["question"]`` (text; or ``"prompt"`` or ``"raw_prompt"``, also as chat messages). Some
rules of strict look at it; if they miss it, a warning says so, once for each task.

verl 0.9 has the reward managers ``naive``, ``dapo``, ``gdpo`` and ``remote``, which score one sample a call.
``batch`` and ``prime`` are no longer in its registry, so `compute_score_batched` is for older releases.

verl cannot leave a sample out: with the default ``on_error=None`` it fails at the first response without a
score. To let the run go on, set ``on_error`` to a number. (A response that hangs or crashes its scoring gets
the lowest reward of its task in any case; ``on_error`` is for broken gold and the like.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, Unpack

from relfast.engine.job import OptionKeywords, ScorerKeywords
from relfast.errors import UsageError
from relfast.formats.stored import gold_of, held
from relfast.records import Score
from relfast.rewards.shared import (
    Adapter,
    awaited,
    checked_components,
    columns_of_rows,
    component_of,
    field,
    question_of,
    reason_of,
)
from relfast.tasks import find_task, infer_task

__all__ = [
    "AsyncComputeScore",
    "ComputeScore",
    "acompute_score",
    "compute_score",
    "compute_score_batched",
    "make_compute_score",
]

_OPTIONS: Final = frozenset(
    {"on_error", "workers", "metrics", "components", "task", "rewards", "reward", "timeout"}
    | OptionKeywords.__annotations__.keys()
)


class ComputeScoreKeywords(ScorerKeywords, total=False):
    """The keywords of `ComputeScore`."""

    metrics: bool
    components: Sequence[str] | str


class _Function(Adapter):
    """What both of verl's reward functions are. Thread-safe and picklable.

    Parameters
    ----------
    metrics
        True: a call returns a dict with the same keys for every sample of every task: ``score`` (the reward),
        ``acc`` (1.0 if correct), ``answered``, ``unscored``, ``pred``, the extracted answer as text (a
        panel's number, ``yes: a, b``, a SMILES, a plan; "" without one), and ``reason``, why ``strict``
        turned the response down or why it has no score (else ""). verl's maj@N compares the texts of
        ``pred``: two spellings of a molecule are two answers there. False: the reward alone, for managers
        that need a number (PRIME, batch managers before 0.3).
    components
        Further keys of the dict, for ``algorithm.gdpo_reward_keys``: metrics such as ``f1``, ``step_f1`` and
        ``precision``, or ``correct`` and ``reward``. 0.0 where a sample's task has no such metric, or the
        metric no value; the sample's ``score`` where it was not scored.
    **options
        ``on_error``, and those of `relfast.Scorer`.

    Raises
    ------
    UsageError, UnknownTaskError
        An option that is unknown, or cannot be used.
    """

    wants_number: ClassVar[str | None] = (
        "verl makes a tensor of the scores: None is a TypeError at the end of the batch"
    )
    question_at: ClassVar[str] = (
        "as extra_info['question'] of the data set's rows (or 'prompt', 'raw_prompt')"
    )

    def __init__(
        self,
        *,
        metrics: bool = True,
        components: Sequence[str] | str = (),
        **options: Unpack[ScorerKeywords],
    ) -> None:
        super().__init__(**options)
        self.__name__ = "compute_score"
        self._metrics = metrics
        self._components = checked_components(components) if components else []
        if self._components and not metrics:
            raise UsageError("components are keys of the dict that metrics=False turns off")

    def _row(
        self, data_source: object, solution: object, truth: object, extra_info: object, keywords: Any
    ) -> tuple[Any, Any, Any, Any]:
        """Task, gold, response and question of a sample."""
        gold = gold_of(truth)
        task = data_source if type(data_source) is str and find_task(data_source) is not None else None
        if task is None:
            task = self._task(data_source, extra_info, gold)
        return task, gold, solution, _question(extra_info, keywords)

    def _task(self, data_source: object, extra_info: object, gold: object) -> Any:
        """The sample's task where ``data_source`` is no task's name; None: the option's, or to be
        inferred."""
        for name in (data_source, field(extra_info, "task")):
            named = _named(held(name))
            if named is not None:
                return named
        # a name that says nothing, unless gold does not either: then it is in the message
        return None if self.options.get("task") or infer_task(gold) is not None else held(data_source)

    def result(self, score: Score) -> Any:
        """What a call gives for a sample."""
        reward, correct = self.value(score), score.correct
        if not self._metrics:
            return reward
        found = {
            "score": reward,
            "acc": 1.0 if correct else 0.0,
            "answered": 1.0 if score.status == "ok" else 0.0,
            "unscored": 1.0 if correct is None else 0.0,
            "pred": score.pred or "",
            "reason": reason_of(score),
        }
        for name in self._components:
            found[name] = reward if correct is None else component_of(score, name) or 0.0
        return found


class ComputeScore(_Function):
    __doc__ = f"verl's reward function.{(_Function.__doc__ or '').partition('.')[2]}"

    def __call__(
        self,
        data_source: object = None,
        solution_str: object = None,
        ground_truth: object = None,
        extra_info: object = None,
        *,
        data_sources: Sequence[object] | None = None,
        solution_strs: Sequence[object] | None = None,
        ground_truths: Sequence[object] | None = None,
        extra_infos: Sequence[object] | None = None,
        **kwargs: object,
    ) -> Any:
        """The result of one sample; with arguments of plural names (batch managers') those of a batch."""
        if solution_strs is not None:
            return self.batch(data_sources, solution_strs, ground_truths, extra_infos)
        return self.result(
            self.score(*self._row(data_source, solution_str, ground_truth, extra_info, kwargs))
        )

    def batch(
        self,
        data_sources: Sequence[object] | None,
        solution_strs: Sequence[object],
        ground_truths: Sequence[object] | None,
        extra_infos: Sequence[object] | None,
    ) -> list[Any]:
        """The results of a call for each of several samples, scored as one batch, for verl's batch managers.

        Raises
        ------
        ValueError
            The columns differ in length.
        """
        none = [None] * len(solution_strs)
        given = (none if column is None else column for column in (data_sources, ground_truths, extra_infos))
        rows = (
            self._row(source, solution, truth, info, {})
            for solution, source, truth, info in zip(solution_strs, *given, strict=True)
        )
        return [*map(self.result, self.scores(*columns_of_rows(rows)))]


@awaited
class AsyncComputeScore(_Function):
    __doc__ = f"verl's reward function, awaited.{(_Function.__doc__ or '').partition('.')[2]}"

    async def __call__(
        self,
        data_source: object = None,
        solution_str: object = None,
        ground_truth: object = None,
        extra_info: object = None,
        **kwargs: object,
    ) -> Any:
        """The result of one sample. While workers score it, neither the event loop nor a thread waits."""
        row = self._row(data_source, solution_str, ground_truth, extra_info, kwargs)
        return self.result(await self.ascore(*row))


def _named(name: object) -> str | None:
    """The task that a name is, or the last part of a path (``org/REL-C1``), or None."""
    if not isinstance(name, str):
        return None
    task = find_task(name) or find_task(re.split(r"[/|]", name)[-1])
    return None if task is None else task.name


_QUESTION: Final = ("question", "prompt", "raw_prompt", "problem", "raw_problem")
"""Fields in which rows of verl's data sets hold the question, by precedence."""


def _question(extra_info: object, keywords: Mapping[str, Any]) -> str | None:
    """The sample's question: from ``extra_info``, else from keywords that a custom reward manager passes."""
    question = field(extra_info, *_QUESTION)
    if question is None and keywords:
        question = field(keywords, *_QUESTION)
    return question if isinstance(question, str) else question_of(question)


_made: dict[str, Any] = {}


def _with(kwargs: Mapping[str, Any], made: type[Any], default: Any) -> Any:
    """The reward function with the options that are among ``kwargs``; verl adds other keywords to them.

    Raises
    ------
    UsageError
        A keyword is nearly the name of an option, or an option cannot be used.
    """
    options = {key: kwargs[key] for key in kwargs if key in _OPTIONS}
    if len(options) < len(kwargs):
        _refuse_near_misses(tuple(key for key in kwargs if key not in _OPTIONS))
    if not options:
        return default
    key = f"{made.__name__} {sorted(options.items())!r}"
    found = _made.get(key)
    if found is None:
        # a configuration gives mappings and lists of a class of its own
        plain = {
            name: dict(value) if isinstance(value, Mapping) else value for name, value in options.items()
        }
        found = _made[key] = made(**plain)
    return found


@lru_cache(maxsize=256)
def _refuse_near_misses(names: tuple[str, ...]) -> None:
    """Raise for a keyword that can only be an option spelled wrong; verl's own are named otherwise."""
    from difflib import get_close_matches

    bare = {option.replace("_", ""): option for option in _OPTIONS}
    for name in names:
        near = get_close_matches(name.lower().replace("_", ""), bare, 1, _NEAR)
        if near:
            raise UsageError(f"compute_score has no option {name!r}: is {bare[near[0]]!r} meant?")


_NEAR: Final = 0.8
"""From this similarity on (`difflib`) a keyword is taken for a misspelled option: one letter of six wrong."""


def compute_score(
    data_source: object = None,
    solution_str: object = None,
    ground_truth: object = None,
    extra_info: object = None,
    **kwargs: Any,
) -> Any:
    """The reward of one sample, with the arguments that verl's reward managers pass; with plural names, of a
    batch.

    Options (``on_error``, ``policy``, ``rewards``, ``timeout``, ``workers``, ``metrics``, ``components``, …)
    are set in ``reward.custom_reward_function.reward_kwargs``; other keywords are ignored, unless they are
    nearly an option.

    Returns
    -------
    dict
        The same keys for every sample: see `ComputeScore`.

    Raises
    ------
    UsageError
        An option that cannot be used, or a keyword that is nearly an option (``on_eror``).
    """
    return _with(kwargs, ComputeScore, _default)(
        data_source, solution_str, ground_truth, extra_info, **kwargs
    )


async def acompute_score(
    data_source: object = None,
    solution_str: object = None,
    ground_truth: object = None,
    extra_info: object = None,
    **kwargs: Any,
) -> Any:
    """`compute_score` of one sample for verl 0.9, which awaits a coroutine function in its event loop instead
    of holding a thread for each sample."""
    function = _with(kwargs, AsyncComputeScore, _async_default)
    return await function(data_source, solution_str, ground_truth, extra_info, **kwargs)


def compute_score_batched(
    data_sources: Sequence[object],
    solution_strs: Sequence[object],
    ground_truths: Sequence[object],
    extra_infos: Sequence[object] | None = None,
    **kwargs: object,
) -> Any:
    """The list of rewards of a batch, in order, for verl's batch managers. Options as for `compute_score`."""
    function = _with(kwargs, ComputeScore, _default)
    return function.batch(data_sources, solution_strs, ground_truths, extra_infos)


def make_compute_score(
    *, asynchronous: bool = False, **options: Unpack[ComputeScoreKeywords]
) -> ComputeScore | AsyncComputeScore:
    """A reward function with options: those of `ComputeScore`. With ``asynchronous`` verl 0.9 awaits it.

    Raises
    ------
    UsageError, UnknownTaskError
        An option that is unknown, or cannot be used.
    """
    return AsyncComputeScore(**options) if asynchronous else ComputeScore(**options)


make_reward = make_compute_score

_default = ComputeScore.default()
_async_default = AsyncComputeScore.default()
