"""What a response without a score is worth: ``on_error``.

The reward of a response without a score depends on what is at fault. A response that exceeds its deadline
or crashes its workers has failed by itself: under ``strict`` it gets the lowest reward of its task. If it
were left out of training instead, a model would learn to hang where it does not know the answer. Failures
of the machinery or the data (broken gold, no workers, an interrupted call) say nothing about the response:
the reward is what ``on_error`` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from relfast.engine.job import OnError, Unscored
from relfast.errors import UnscoredError, UsageError
from relfast.parameters import number_of
from relfast.records import Policy, Score, fault_of
from relfast.tasks import find_task

_KINDS: Final = ("response", "machinery")


def checked_on_error(on_error: object) -> OnError:
    """``on_error``, checked and with numbers as floats. Raises `UsageError` for any other value."""
    if isinstance(on_error, Mapping):
        unknown = sorted(map(str, on_error.keys() - set(_KINDS)))
        if unknown:
            raise UsageError(f"on_error has no kind {unknown[0]!r}; kinds: response, machinery")
        kinds = {kind: _checked(on_error[kind]) for kind in _KINDS if kind in on_error}
        return cast(OnError, kinds)
    return _checked(on_error)


def _checked(value: object) -> Unscored:
    if value is None or value == "raise":
        return cast(Unscored, value)
    number = number_of(value)
    if number is None:
        raise UsageError(
            f"on_error must be None, a number, 'raise', or a mapping of these by kind, not {value!r:.60}"
        )
    return number


def value_of(score: Score, on_error: OnError, policy: Policy) -> float | None:
    """The reward of a score, or the value that ``on_error`` gives if it has none.

    Raises
    ------
    UnscoredError
        The score has no reward, and ``on_error`` is ``"raise"`` for this kind of failure.
    """
    if score.reward is not None:
        return score.reward
    kinds = worths(on_error, policy)
    worth = kinds[fault_of(score) or "machinery"]
    if worth == LOWEST:
        task = find_task(score.task)
        worth = kinds["machinery"] if task is None else task.lowest_reward
    if isinstance(worth, str):
        raise UnscoredError(score.task, score.status, score.error["message"] if score.error else "no reward")
    return worth


LOWEST: Final = "lowest"
"""Placeholder for the lowest reward of the task."""


def worths(on_error: OnError, policy: Policy) -> dict[str, float | str | None]:
    """The reward of a response without a score, for each kind of failure (``response``, ``machinery``)."""
    kinds: dict[str, Any] = {"machinery": None}
    kinds |= on_error if isinstance(on_error, Mapping) else {"machinery": on_error}
    return {"response": LOWEST if policy == "strict" else kinds["machinery"], **kinds}
