"""NeMo-RL: an environment that scores a conversation's last assistant message and ends the conversation.

::

    register_env("relfast", "relfast.rewards.nemo_rl.RelfastEnvironment")
    env = create_env("relfast", {"on_error": 0.0})  # or RelfastEnvironment.remote({"on_error": 0.0})

``metadata`` of a conversation holds ``task`` and ``answer`` (or ``ground_truth``): gold as a dict or its
JSON text. The question is ``metadata``'s ``question``, or else the user's last message.

NeMo-RL cannot leave a sample out: a NaN spoils the advantages of its whole group, masked or not. A response
without a score raises `UnscoredError`, unless ``on_error`` is a number.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, Unpack

from relfast.engine.job import ScorerKeywords
from relfast.records import Score
from relfast.rewards.shared import Adapter, Row, columns_of_rows, mapping, read_sample, tensor

__all__ = ["EnvironmentReturn", "RelfastEnvironment", "make_environment"]


class EnvironmentReturn(NamedTuple):
    """A copy of NeMo-RL's class of this name, field by field, for when NeMo-RL is not installed."""

    observations: list[dict[str, str]]
    metadata: list[Any]
    next_stop_strings: list[Any]
    rewards: Any
    terminateds: Any
    answers: list[str | None] | None = None


class _Environment(Adapter):
    """The implementation of `RelfastEnvironment`, and the class that Ray actors are made of.

    Parameters
    ----------
    cfg
        Options as a mapping: ``on_error``, and those of `relfast.Scorer`. Of the keys of NeMo-RL's own
        environments, ``num_workers`` means ``workers``, and ``stop_strings`` is ignored.
    **options
        The same options as keywords, which override ``cfg``.
    """

    wants_number: ClassVar[str | None] = (
        "NeMo-RL averages over the group: a NaN spoils the advantages of all its samples"
    )
    question_at: ClassVar[str] = "as the message log's message of the user, or as 'question' in metadata"

    def __init__(self, cfg: Mapping[str, Any] | None = None, **options: Unpack[ScorerKeywords]) -> None:
        merged: dict[str, Any] = {**(cfg or {}), **options}
        merged.pop("stop_strings", None)
        n_workers = merged.pop("num_workers", None)
        if n_workers is not None:
            merged.setdefault("workers", n_workers)
        super().__init__(**merged)

    def step(
        self,
        message_log_batch: Sequence[object],
        metadata: Sequence[object],
        return_extracted_answer: bool = False,
    ) -> Any:
        """Score a batch of conversations.

        Returns
        -------
        EnvironmentReturn
            NeMo-RL's own class if NeMo-RL is installed. ``rewards`` and ``terminateds`` are float
            tensors of shape (n,).

        Raises
        ------
        UnscoredError
            A response has no score, and ``on_error`` has no number for it.
        """
        rows = [_read(log, about) for log, about in zip(message_log_batch, metadata, strict=True)]
        scores = self.scores(*columns_of_rows(rows))
        return _returned()(
            [{"role": "environment", "content": _remark(score)} for score in scores],
            list(metadata),
            [None] * len(scores),
            tensor([self.number(score) for score in scores]),
            tensor([1.0] * len(scores)),
            [score.pred for score in scores] if return_extracted_answer else None,
        )

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, float]]:
        """The batch unchanged; the mean reward of the scored responses as ``accuracy``, and the share of
        responses that are ``unscored``."""
        rewards = batch["rewards"]
        values = [float(value) for value in rewards]
        scored = [value for value in values if value == value]
        metrics = {"unscored": (len(values) - len(scored)) / len(values) if values else 0.0}
        if scored:
            metrics["accuracy"] = sum(scored) / len(scored)
        return batch, metrics

    def shutdown(self) -> None:
        """End the workers."""
        self.scorer.close()


class _AsActor(type):
    """Metaclass with the two methods that NeMo-RL's ``create_env`` calls on a registered class."""

    def options(cls, **options: Any) -> Any:
        """Ray's actor class with these options: ``.options(num_cpus=1).remote(cfg)``."""
        return importlib.import_module("ray").remote(_Environment).options(**options)

    def remote(cls, *args: Any, **kwargs: Any) -> Any:
        """Start a Ray actor: ``.remote(cfg)``."""
        return importlib.import_module("ray").remote(_Environment).remote(*args, **kwargs)


class RelfastEnvironment(_Environment, metaclass=_AsActor):
    """An environment of one turn: it scores the last assistant message and ends the conversation. Picklable.

    Options as a mapping ``cfg``, as keywords, or both (keywords override): ``on_error``, and those of
    `relfast.Scorer`. The class itself has ``options`` and ``remote``, like Ray's actor classes.
    """


def _read(log: object, about: object) -> Row:
    """Task, gold, response and question of a conversation."""
    known = mapping(about)
    label = known.get("answer")
    task, gold, question = read_sample(known.get("ground_truth") if label is None else label, log, known)
    return task, gold, log, question


def _remark(score: Score) -> str:
    words = {True: "correct", False: "incorrect", None: f"not scored ({score.status})"}
    return f"Environment: {words[score.correct]}"


@cache
def _returned() -> Any:
    """The class of return values, looked up once: a failed import takes 0.1 ms."""
    try:
        return importlib.import_module("nemo_rl.environments.interfaces").EnvironmentReturn
    except ImportError:
        return EnvironmentReturn


make_environment = make_reward = RelfastEnvironment
