"""TRL's ``environment_factory`` (1.9 and later): SeqBench as a multi-step task whose actions are tools.

>>> from relfast.rewards.trl_environments import SeqBenchEnvironment
>>> GRPOTrainer(..., train_dataset=dataset, environment_factory=SeqBenchEnvironment)     # doctest: +SKIP

The data set has ``answer`` (gold) and ``question`` (the facts), as `relfast.rewards.curriculum.Problems.rows`
makes them, and a ``prompt`` of chat messages. TRL appends the facts to the last message, so leave its text
empty, as `prompts` does. The environment gives the reward; no reward function is needed.

TRL offers every public method of the class except ``reset`` and ``get_reward`` as a tool, so the class has no
other public methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

from relfast.engine.job import ScorerKeywords
from relfast.errors import UsageError
from relfast.rewards.curriculum import Problems
from relfast.rewards.environments import PATIENCE, Walking
from relfast.rewards.stored import gold_of
from relfast.tasks.seqbench.walk import Walk

__all__ = ["SeqBenchEnvironment", "prompts"]


class SeqBenchEnvironment:
    """A maze that the model walks through by calling tools. One rollout at a time, as TRL uses it.

    A call that is not possible raises; TRL counts such calls (``tools/failure_frequency``) and shows the
    model the message. The reward is the strict score of the plan made of the possible calls, times their
    share of all calls.

    Parameters
    ----------
    sight
        Whether each tool's answer lists the actions that are possible next; if not, the model has only the
        facts.
    max_steps
        Most actions of a rollout; None: three times as many as the shortest plan has. Later ones raise.
    **options
        ``on_error``, and the options of `relfast.Scorer`; set them by ``functools.partial`` of the class.
    """

    def __init__(
        self, *, sight: bool = False, max_steps: int | None = None, **options: Unpack[ScorerKeywords]
    ) -> None:
        self._sight, self._max_steps = sight, max_steps
        self._walking = Walking(**options)
        self._walk: Walk | None = None
        self._record: tuple[Any, Any] = (None, None)

    def reset(self, answer: Any = None, question: Any = None, **row: Any) -> str:
        """Begin a rollout: the maze of a row of the data set, in words.

        Raises
        ------
        InputError
            The row does not describe a maze.
        """
        self._record = gold_of(answer), question
        self._walk = Walk(*self._record)
        return self._walk.told + self._possible()

    def move_to(self, room: str) -> str:
        """Go to an adjacent room, through a door that is open or that you have opened.

        Args:
            room: Name of the room, such as "B2".

        Returns:
            Where you are then.
        """
        return self._do(f"move_to: {room}")

    def pick_up_key(self, key: str) -> str:
        """Take a key that lies in the room where you are.

        Args:
            key: Number of the key, such as "7".

        Returns:
            Where you are, and which keys you hold.
        """
        return self._do(f"pick_up_key: {key}")

    def unlock_door_to(self, room: str) -> str:
        """Unlock and open the locked door to an adjacent room with its key, which you must hold.

        Args:
            room: Name of the room behind the door, such as "B2".

        Returns:
            Where you are.
        """
        key = self._begun.key_to(room)
        if key is not None:
            self._do(f"use_key: {key}")
        return self._do(f"unlock_and_open_door_to: {room}")

    def rescue(self, name: str) -> str:
        """Rescue the person in the room where you are. It is the last action.

        Args:
            name: Name of the person to be rescued, such as "Alice".

        Returns:
            That it is done.
        """
        return self._do(f"rescue: {name}")

    def get_reward(self) -> float | None:
        """The reward of the walk so far; without a score ``on_error``, by default None, which TRL leaves out.

        Raises
        ------
        UnscoredError
            The walk has no score, and ``on_error`` is ``"raise"``.
        """
        value = self._walking.value(self._walking.judge(self._begun, "SeqBench", *self._record))
        return None if value is None else self._walking.worth(self._begun, value)

    @property
    def _begun(self) -> Walk:
        if self._walk is None:
            raise UsageError("no episode is running: reset() begins one")
        return self._walk

    def _do(self, action: str) -> str:
        walk = self._begun
        if walk.tried >= (self._max_steps or PATIENCE * walk.shortest):
            raise ValueError("Too many actions: it is over.")
        violation = walk.step(action)
        if violation is not None:
            raise ValueError(f"Not possible: {walk.why(violation)}. {walk.where}{self._possible()}")
        return "Done: they are rescued." if walk.done else walk.where + self._possible()

    def _possible(self) -> str:
        return f" Possible: {', '.join(self._begun.legal())}." if self._sight else ""


def prompts(problems: Problems, n: int | None = None) -> Iterator[dict[str, Any]]:
    """Rows of a data set for the environment: those of ``problems.rows`` with an empty prompt, to which TRL
    adds the maze: ``datasets.IterableDataset.from_generator(prompts, gen_kwargs={"problems": …})``."""
    for row in problems.rows(n):
        yield {**row, "prompt": [{"role": "user", "content": ""}]}
