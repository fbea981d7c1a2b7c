"""verl: ``compute_score``, named in the configuration or imported by a file that is.

::

    reward.custom_reward_function.path="$(relfast path verl)"   # or your file that imports compute_score
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.on_error=0.0

``ground_truth`` is gold (a dict or its JSON text); the task is ``data_source`` or, where that is no task's
name, ``extra_info["task"]``. verl does not pass the prompt to reward functions, so the data set's rows must
carry it: ``extra_info["question"]`` (text; ``"prompt"`` and ``"raw_prompt"``, chat messages too, do as
well). Rules of strict look at it; where it is missing and needed, a warning says so, once for each task.

verl 0.9 has the reward managers ``naive``, ``dapo``, ``gdpo`` and ``remote``, which score one sample a call.
``batch`` and ``prime`` are gone from its registry, and with them the way to `compute_score_batched`, which
serves older releases.

verl cannot leave a sample out: with the default ``on_error=None`` it stops at the first response without
a score, loudly. A run that is to go on says what such a response is worth. (A response that hangs or crashes
its scoring is worth the lowest reward of its task in any case; ``on_error`` is for broken gold and the like.)
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

    Called with the singular names it scores one sample; with the plural ones (batch managers) a batch.

    Parameters
    ----------
    metrics
        Give a dict, the same keys for every sample of every task: ``score`` (the reward), ``acc`` (1.0 if
        correct), ``answered``, ``unscored``, and ``pred``, the answer that was read, as text (a panel's
        number, ``yes: a, b``, a SMILES, a plan; "" without one), and ``reason``, why ``strict`` turned a
        response down or why it has no score ("" else). verl's maj@N compares the texts of ``pred``: two
        spellings of a molecule are two answers there.
        False: the reward alone, for managers that want a number (PRIME, batch managers before 0.3).
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
        """What a call gives for each of some samples, scored together: verl's batched reward managers.

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
    """The sample's task: ``data_source`` if that is one, else what ``extra_info`` says."""
    return data_source if find_task(data_source) is not None else field(extra_info, "task") or data_source


_QUESTION: Final = ("question", "prompt", "raw_prompt", "problem", "raw_problem")
"""Where rows of verl's data sets keep what was asked, in the order in which one is believed."""


def _question(extra_info: object, keywords: Mapping[str, Any]) -> str | None:
    """The sample's question: ``extra_info``'s, or what a manager of one's own passes by keyword."""
    question = field(extra_info, *_QUESTION)
    if question is None and keywords:
        question = field(keywords, *_QUESTION)
    return question if isinstance(question, str) else question_of(question)


_made: dict[str, ComputeScore] = {}


def _with(kwargs: Mapping[str, Any]) -> ComputeScore:
    """The function with the options among ``kwargs``; verl adds others, which are none of ours."""
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
    """The reward of one sample, as verl's reward managers call it; with plural names, of a batch.

    Options (``on_error``, ``policy``, ``rewards``, ``timeout``, ``workers``, ``metrics``, …) come through
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
    """The rewards of a batch, in order, as verl's batch managers call it. Options as `compute_score`."""
    return _with(kwargs).batch(data_sources, solution_strs, ground_truths, extra_infos)


make_compute_score = make_reward = ComputeScore

_default = ComputeScore.default()
