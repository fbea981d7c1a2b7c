"""The options of all tasks together: what a run is given, and what its parts take their own from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from relfast.records import Options, Policy
from relfast.tasks.realign import Grader, RealignOptions
from relfast.tasks.rel_b import RelBOptions
from relfast.tasks.rel_c import RelCOptions, Tautomers

__all__ = ["AllOptions", "OptionKeywords", "TaskKeywords"]


@dataclass(frozen=True)
class AllOptions(RealignOptions, RelCOptions, RelBOptions, Options):
    """Every task's options. Immutable and picklable.

    A dataclass has the fields of its last base first: the bases stand in reverse order of the table of tasks.
    """


class TaskKeywords(TypedDict, total=False):
    """`AllOptions` as keywords, without the policy, which many functions name themselves."""

    strip_reasoning: bool
    reasoning: tuple[tuple[str, str], ...]
    b1_min_f1: float
    tautomers: Tautomers
    mcs_timeout: int
    embedder: str
    device: str
    grader: Grader


class OptionKeywords(TaskKeywords, total=False):
    """`AllOptions` as keywords."""

    policy: Policy
