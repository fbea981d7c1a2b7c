"""verl: ``compute_score``, a reward function to name in the configuration.

::

    reward.custom_reward_function.path="$(relfast path verl)"   # or your file that imports compute_score
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.on_error=0.0

``ground_truth`` is gold (a dict or its JSON text); the task is ``data_source`` or, if that is no task's
name, ``extra_info["task"]``. verl does not pass the prompt to reward functions, so the data set's rows must
hold it: ``extra_info["question"]`` (text; or ``"prompt"`` or ``"raw_prompt"``, also as chat messages). Some
rules of strict look at it; if they miss it, a warning says so, once for each task.

verl 0.9 has the reward managers ``naive``, ``dapo``, ``gdpo`` and ``remote``, which score one sample a call.
``batch`` and ``prime`` are no longer in its registry, so `compute_score_batched` is for older releases.

verl cannot leave a sample out: with the default ``on_error=None`` it fails at the first response without a
score. To let the run go on, set ``on_error`` to a number. (A response that hangs or crashes its scoring gets
the lowest reward of its task in any case; ``on_error`` is for broken gold and the like.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Unpack

from relfast.keywords import OptionKeywords, ScorerKeywords
from relfast.records import Score
from relfast.rewards.shared import Adapter, field, gold_of, question_of, reason_of
from relfast.tasks import find_task

__all__ = ["ComputeScore", "compute_score", "compute_score_batched", "make_compute_score"]

_OPTIONS: Final = frozenset(
    {"on_error", "workers", "metrics", "task", "rewards", "timeout"} | OptionKeywords.__annotations__.keys()
)


class ComputeScore(Adapter):
    """verl's reward function. Thread-safe and picklable.

    Called with arguments of singular names (``solution_str``, …) it scores one sample; with those of plural
    names (``solution_strs``, … of batch managers) a batch.

    Parameters
    ----------
    metrics
        True: a call returns a dict with the same keys for every sample of every task: ``score`` (the reward),
        ``acc`` (1.0 if correct), ``answered``, ``unscored``, ``pred``, the extracted answer as text (a
        panel's number, ``yes: a, b``, a SMILES, a plan; "" without one), and ``reason``, why ``strict``
        turned the response down or why it has no score (else ""). verl's maj@N compares the texts of
        ``pred``: two spellings of a molecule are two answers there. False: the reward alone, for managers
        that need a number (PRIME, batch managers before 0.3).
    **options
        ``on_error``, and those of `relfast.Scorer`.
    """

    wants_number: ClassVar[str | None] = (
        "verl makes a tensor of the scores: None is a TypeError at the end of the batch"
    )
    question_at: ClassVar[str] = (
        "as extra_info['question'] of the data set's rows (or 'prompt', 'raw_prompt')"
    )

    def __init__(self, *, metrics: bool = True, **options: Unpack[ScorerKeywords]) -> None:
        super().__init__(**options)
        self.__name__ = "compute_score"
        self._metrics = metrics

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
        if solution_strs is not None:
            n = len(solution_strs)
            return self.batch(
                data_sources if data_sources is not None else [None] * n,
                solution_strs,
                ground_truths if ground_truths is not None else [None] * n,
                extra_infos,
            )
        task, question = _task(data_source, extra_info), _question(extra_info, kwargs)
        return self._result(self.score(task, gold_of(ground_truth), solution_str, question))

    def batch(
        self,
        data_sources: Sequence[object],
        solution_strs: Sequence[object],
        ground_truths: Sequence[object],
        extra_infos: Sequence[object] | None,
    ) -> list[Any]:
        """The results of a call for each of several samples, scored as one batch, for verl's batch managers.

        Raises
        ------
        ValueError
            The columns differ in length.
        """
        infos = [None] * len(solution_strs) if extra_infos is None else list(extra_infos)
        scores = self.scores(
            [_task(*pair) for pair in zip(data_sources, infos, strict=True)],
            [*map(gold_of, ground_truths)],
            list(solution_strs),
            [_question(info, {}) for info in infos],
        )
        return [self._result(score) for score in scores]

    def _result(self, score: Score) -> Any:
        reward, correct = self.value(score), score.correct
        if not self._metrics:
            return reward
        return {
            "score": reward,
            "acc": 1.0 if correct else 0.0,
            "answered": 1.0 if score.status == "ok" else 0.0,
            "unscored": 1.0 if correct is None else 0.0,
            "pred": score.pred or "",
            "reason": reason_of(score),
        }


def _task(data_source: object, extra_info: object) -> Any:
    """The sample's task: ``data_source`` if that is a task's name, else ``extra_info["task"]``."""
    return data_source if find_task(data_source) is not None else field(extra_info, "task") or data_source


_QUESTION: Final = ("question", "prompt", "raw_prompt", "problem", "raw_problem")
"""Fields in which rows of verl's data sets hold the question, by precedence."""


def _question(extra_info: object, keywords: Mapping[str, Any]) -> str | None:
    """The sample's question: from ``extra_info``, else from keywords that a custom reward manager passes."""
    question = field(extra_info, *_QUESTION)
    if question is None and keywords:
        question = field(keywords, *_QUESTION)
    return question if isinstance(question, str) else question_of(question)


_made: dict[str, ComputeScore] = {}


def _with(kwargs: Mapping[str, Any]) -> ComputeScore:
    """The reward function with the options that are among ``kwargs``; verl adds other keywords to them."""
    options = {key: kwargs[key] for key in kwargs if key in _OPTIONS}
    if not options:
        return _default
    key = repr(sorted(options.items()))
    made = _made.get(key)
    if made is None:
        for name in ("rewards", "on_error"):
            if isinstance(options.get(name), Mapping):
                options[name] = dict(options[name])
        made = _made[key] = ComputeScore(**options)
    return made


def compute_score(
    data_source: object = None,
    solution_str: object = None,
    ground_truth: object = None,
    extra_info: object = None,
    **kwargs: Any,
) -> Any:
    """The reward of one sample, with the arguments that verl's reward managers pass; with plural names, of a
    batch.

    Options (``on_error``, ``policy``, ``rewards``, ``timeout``, ``workers``, ``metrics``, …) are set in
    ``reward.custom_reward_function.reward_kwargs``; other keywords are ignored.

    Returns
    -------
    dict
        The same keys for every sample: see `ComputeScore`.
    """
    return _with(kwargs)(data_source, solution_str, ground_truth, extra_info, **kwargs)


def compute_score_batched(
    data_sources: Sequence[object],
    solution_strs: Sequence[object],
    ground_truths: Sequence[object],
    extra_infos: Sequence[object] | None = None,
    **kwargs: object,
) -> list[Any]:
    """The rewards of a batch, in order, for verl's batch managers. Options as for `compute_score`."""
    return _with(kwargs).batch(data_sources, solution_strs, ground_truths, extra_infos)


make_compute_score = make_reward = ComputeScore

_default = ComputeScore.default()
