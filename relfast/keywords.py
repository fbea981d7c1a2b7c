"""The keywords of `relfast.score` and its kin as types, for editors and type checkers.

A function adds ``**options: Unpack[…]`` of what it passes on. What is accepted is what `Job` and the tasks'
options declare; a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypedDict

from relfast.records import Policy as Policy
from relfast.tasks.options import OptionKeywords as OptionKeywords
from relfast.tasks.options import TaskKeywords as TaskKeywords

Unscored = float | None | Literal["raise"]
"""What an unscored response is worth: a number, None (left out), or an `UnscoredError`."""


class OnErrorByKind(TypedDict, total=False):
    """What unscored responses are worth, by whose fault it is.

    ``response``: it ran into its deadline, or ended its workers; where left out, under ``strict`` the lowest
    reward of its task, else as ``machinery``. ``machinery``: everything else (broken gold, unknown tasks, no
    workers, an interrupted call); where left out None.
    """

    response: Unscored
    machinery: Unscored


OnError = Unscored | OnErrorByKind
"""What unscored responses are worth; what is no mapping is meant for the kind ``machinery``."""


class JobKeywords(OptionKeywords, total=False):
    """What decides the rows of a run: see `relfast.engine.job.Job`.

    ``reward``, ``input_format`` and ``map`` are the command line's names of ``rewards``, ``dialect`` and
    ``field_map``.
    """

    task: str | None
    rewards: Mapping[str, str]
    reward: Mapping[str, str]
    details: bool
    timeout: float | None
    dialect: str
    input_format: str
    field_map: Mapping[str, str]
    map: Mapping[str, str]
    data: str | Path | Iterable[str | Path]
    filter: str | None
    max_line_bytes: int


class AdapterKeywords(JobKeywords, total=False):
    """What the reward functions of trainers take beside ``on_error``."""

    workers: int | None


class ScorerKeywords(AdapterKeywords, total=False):
    """The keywords of `relfast.Scorer`."""

    on_error: OnError
