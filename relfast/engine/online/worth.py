"""What a response is worth that has no reward: whose fault it is decides.

A response that runs into its deadline or ends its workers has failed by itself. Under ``strict`` it is worth
the lowest reward of its task: were it left out, a policy would learn to hang where it does not know. What the
machinery or the data are to blame for (broken gold, no workers, an interrupted call) says nothing about the
response, and is worth what ``on_error`` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from relfast.engine.pool.failures import fault_of
from relfast.errors import UnscoredError, UsageError
from relfast.keywords import OnError, Unscored
from relfast.parameters import number_of
from relfast.records import Policy, Score
from relfast.tasks import find_task

_KINDS: Final = ("response", "machinery")


def checked_on_error(on_error: object) -> OnError:
    """``on_error`` as it is kept. Raises `UsageError` for what cannot be used."""
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
    """The reward of a score, or what ``on_error`` says of one that has none.

    Raises
    ------
    UnscoredError
        It has none, and ``on_error`` says so.
    """
    if score.reward is not None:
        return score.reward
    worth = _worth(score, on_error, policy)
    if isinstance(worth, str):
        raise UnscoredError(score.task, score.status, score.error["message"] if score.error else "no reward")
    return worth


def _worth(score: Score, on_error: OnError, policy: Policy) -> Unscored:
    """What an unscored response is worth."""
    kinds = on_error if isinstance(on_error, Mapping) else {"machinery": on_error}
    if fault_of(score) == "response":
        if "response" in kinds:
            return kinds["response"]
        task = find_task(score.task)
        if policy == "strict" and task is not None:
            return task.lowest_reward
    return kinds.get("machinery")
