"""Problems as environments with Gymnasium's interface (``reset`` and ``step``; Gymnasium is not imported).

>>> from relfast.rewards.curriculum import Problems
>>> from relfast.rewards.environments import Environment
>>> environment = Environment(Problems("SeqBench", curriculum=[(0, {"rows": 3, "cols": 3, "B": 0})]))
>>> text, about = environment.reset()
>>> text, reward, terminated, truncated, about = environment.step(about["legal_actions"][0])

An episode of SeqBench is a walk through the maze: one action a step, and one reward at the end, which is the
strict score of the plan made of the legal actions, times the share of tried actions that were legal. An
episode of any other task has one step, the response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, Unpack

from relfast.engine.job import ScorerKeywords
from relfast.errors import UsageError
from relfast.records import Score
from relfast.rewards.problems import Problem
from relfast.rewards.shared import Adapter
from relfast.rewards.stored import gold_of
from relfast.tasks import get_task

if TYPE_CHECKING:
    from relfast.tasks.seqbench.walk import Walk

__all__ = ["Environment", "Walking"]

PATIENCE: Final = 3
"""An episode is cut off after this many times the number of actions of the shortest plan."""


class Numbered(Protocol):
    """Problems by number, from 0; raises IndexError after the last."""

    def __getitem__(self, at: int, /) -> Problem: ...


class Walking(Adapter):
    """Scores walks through mazes, and gives their rewards. Thread-safe and picklable."""

    question_at = "of the problem"

    def judge(self, walk: Walk, task: str, answer: object, question: object) -> Score:
        """The score of the plan made of a walk's legal actions so far."""
        return self.score(task, gold_of(answer), str(walk.plan), question)

    def worth(self, walk: Walk, value: float) -> float:
        """The reward of a walk whose plan has the reward ``value``: ``value`` times the share of tried
        actions that were legal; the start counts as one."""
        return value * len(walk.plan) / (len(walk.plan) + walk.refused)


class Environment:
    """An environment whose episodes are problems, one after the other. For one thread at a time.

    Parameters
    ----------
    problems
        `relfast.rewards.curriculum.Problems`, or a list, which starts again after its last problem.
    max_steps
        Most actions of an episode; None: three times as many as the shortest plan has.
    **options
        ``on_error``, and the options of `relfast.Scorer`; the default ``policy`` is ``"strict"``.
    """

    def __init__(
        self, problems: Numbered, *, max_steps: int | None = None, **options: Unpack[ScorerKeywords]
    ) -> None:
        self.problems, self.max_steps = problems, max_steps
        self._walking = Walking(**options)
        self._next = 0
        self._problem: Problem | None = None
        self._walk: Walk | None = None
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode with the next problem.

        Parameters
        ----------
        seed, options
            The number of a problem to begin with instead, as ``seed`` or ``options["at"]``; later episodes
            continue from it.

        Returns
        -------
        text, info
            The prompt; and a dict with ``id``, ``task`` and, for SeqBench, ``legal_actions``.
        """
        at = (options or {}).get("at", seed)
        self._problem = self._take(self._next if at is None else at)
        task, answer, question = self._problem.task, self._problem.answer, self._problem.question
        self._walk, self._over = get_task(task).walk(answer, question), False
        text = self._problem.prompt if self._walk is None else self._walk.text
        return text, self._about()

    def step(self, action: object) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take an action of a walk, such as ``"move_to: A2"``; for other tasks ``action`` is the response.

        Returns
        -------
        text, reward, terminated, truncated, info
            The observation; the reward, 0 before the end; whether the episode ended by its rules; whether it
            was cut off; and the dict of `reset` with ``violation`` (why the action was not legal, or None)
            and, at the end, ``status``, ``correct`` and ``metrics``.

        Raises
        ------
        UsageError
            No episode is running: `reset` begins one.
        UnscoredError
            The episode's plan or response has no score, and ``on_error`` has no number for it.
        """
        if self._over or self._problem is None:
            raise UsageError("no episode is running: reset() begins one")
        _, task, _, question, answer = self._problem
        walk = self._walk
        if walk is None:
            self._over = True
            score = self._walking.score(task, gold_of(answer), action, question)
            return "", self._walking.number(score), True, False, self._about(score)
        violation = walk.step(action)
        text = walk.where if violation is None else f"Not possible: {walk.why(violation)}. {walk.where}"
        cut = not walk.done and walk.tried >= (self.max_steps or PATIENCE * walk.shortest)
        if not walk.done and not cut:
            return text, 0.0, False, False, self._about(violation=violation)
        self._over = True
        score = self._walking.judge(walk, task, answer, question)
        reward = self._walking.worth(walk, self._walking.number(score))
        return text, reward, walk.done, cut, self._about(score, violation=violation)

    def close(self) -> None:
        """Do nothing: the workers belong to the process (`relfast.rewards.close` ends them)."""

    def _take(self, at: int) -> Problem:
        try:
            problem = self.problems[at]
        except IndexError:
            if at == 0:
                raise UsageError("there are no problems") from None
            return self._take(0)
        self._next = at + 1
        return problem

    def _about(self, score: Score | None = None, **more: Any) -> dict[str, Any]:
        assert self._problem is not None
        about = {"id": self._problem.id, "task": self._problem.task, **more}
        if self._walk is not None:
            about["legal_actions"] = self._walk.legal()
        if score is not None:
            about |= {"status": score.status, "correct": score.correct, "metrics": dict(score.metrics)}
        return about
