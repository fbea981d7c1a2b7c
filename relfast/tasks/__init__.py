"""The table of all tasks, written as a literal so that the whole list can be read in one place, and the
options of all tasks in one dataclass: a run has one `AllOptions`, each task reads its fields.

Task names are compared case-insensitively, as in the published scorers; white space is not stripped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypedDict

from relfast.errors import UnknownTaskError
from relfast.records import Options, Policy
from relfast.tasks.base import Task
from relfast.tasks.realign import TASK as REALIGN
from relfast.tasks.realign import Grader, RealignOptions
from relfast.tasks.rel_a import TASKS as REL_A
from relfast.tasks.rel_b import TASK as REL_B
from relfast.tasks.rel_b import RelBOptions
from relfast.tasks.rel_c import C1, C2, C3, RelCOptions, Tautomers
from relfast.tasks.seqbench import TASK as SEQBENCH

__all__ = [
    "EXACT_FIELDS",
    "TASKS",
    "AllOptions",
    "OptionKeywords",
    "Task",
    "TaskKeywords",
    "find_task",
    "get_task",
    "infer_task",
]


TASKS: Final[Mapping[str, Task]] = MappingProxyType(
    {task.name: task for task in (*REL_A, REL_B, C1, C2, C3, SEQBENCH, REALIGN)}
)
"""Canonical name → task, in the order of the benchmarks' documents."""

_BY_UPPER: Final = {name.upper(): task for name, task in TASKS.items()}


def find_task(name: object) -> Task | None:
    """The task called ``name``, in any case, or None."""
    return _BY_UPPER.get(name.upper()) if isinstance(name, str) else None


def get_task(name: object) -> Task:
    """The task called ``name``, in any case.

    Raises
    ------
    UnknownTaskError
        No task has that name; the message lists the known ones.
    """
    task = find_task(name)
    if task is None:
        raise UnknownTaskError(name, TASKS)
    return task


EXACT_FIELDS: Final = tuple(dict.fromkeys(name for task in TASKS.values() for name in task.gold.exact))
"""Fields of gold answers whose integers must keep all their digits when JSON is decoded."""


def _by_keys() -> Mapping[tuple[str, ...], Task]:
    """Make `_BY_KEYS`, in its order."""
    entries = [(keys, task) for task in TASKS.values() for keys in task.gold.keys]
    # biology and chemistry come first; within chemistry the order is its published scorer's (label, smiles,
    # missing_smiles). An answer with both `label` and `taxa` is a biology answer
    entries.sort(key=lambda entry: (entry[1].gold.precedence, -len(entry[0])))
    # tasks whose gold has the same keys cannot be told apart: the first task in the order gets the keys
    table: dict[tuple[str, ...], Task] = {}
    for keys, task in entries:
        table.setdefault(keys, task)
    return table


_BY_KEYS: Final = tuple(_by_keys().items())
"""Pairs of (keys of gold, task that has them), in the order in which `infer_task` tries them."""


def infer_task(answer: Any) -> Task | None:
    """The task whose gold has the keys of ``answer``, or None: ``{"target": 3}`` is REL-A1's.

    A key whose value is None counts only if no task is found without it: rows of a `datasets` table come
    back with the union of all tasks' keys, and keys of other tasks are None.
    """
    if not isinstance(answer, Mapping):
        return None
    for is_there in (lambda key: answer.get(key) is not None, answer.__contains__):
        for keys, task in _BY_KEYS:
            if all(is_there(key) for key in keys):
                return task
    return None


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
