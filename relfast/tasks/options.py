"""The options of all tasks in one dataclass: a run has one `AllOptions`, each task reads its fields."""

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
    """The options of every task. Immutable and picklable.

    Fields of the last base come first in a dataclass: the bases are the table of tasks in reverse order.
    """


class TaskKeywords(TypedDict, total=False):
    """`AllOptions` as keyword arguments, without the policy, which many functions declare themselves."""

    strip_reasoning: bool
    reasoning: tuple[tuple[str, str], ...]
    b1_min_f1: float
    tautomers: Tautomers
    mcs_timeout: int
    embedder: str
    device: str
    grader: Grader


class OptionKeywords(TaskKeywords, total=False):
    """`AllOptions` as keyword arguments."""

    policy: Policy
