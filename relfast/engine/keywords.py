"""Types for the keyword arguments of `relfast.score` and similar functions, for editors and type checkers.

A function that passes keywords on declares ``**options: Unpack[JobKeywords]``, for example. Which keywords
are accepted at run time is decided by `Job` and the tasks' options; a test keeps the two lists equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypedDict

from relfast.records import Policy as Policy
from relfast.tasks.options import OptionKeywords as OptionKeywords
from relfast.tasks.options import TaskKeywords as TaskKeywords

Unscored = float | None | Literal["raise"]
"""The reward of an unscored response: a number, None (left out), or "raise" for an `UnscoredError`."""


class OnErrorByKind(TypedDict, total=False):
    """Rewards of unscored responses, by what is at fault.

    ``response``: scoring it took longer than its deadline or crashed its workers; default: under ``strict``
    the lowest reward of the task, else the value of ``machinery``. ``machinery``: everything else (broken
    gold, unknown tasks, no workers, an interrupted call); default: None.
    """

    response: Unscored
    machinery: Unscored


OnError = Unscored | OnErrorByKind
"""Rewards of unscored responses; a single value counts for the kind ``machinery``."""


class JobKeywords(OptionKeywords, total=False):
    """The settings that decide the rows of a run: see `relfast.engine.job.Job`.

    ``reward``, ``input_format`` and ``map`` are the command-line names of ``rewards``, ``dialect`` and
    ``field_map``; both spellings are accepted.
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
    """The keywords that the trainers' reward functions accept besides ``on_error``."""

    workers: int | None


class ScorerKeywords(AdapterKeywords, total=False):
    """The keywords of `relfast.Scorer`."""

    on_error: OnError
