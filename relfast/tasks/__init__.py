"""The table of tasks: a literal, so that the whole list is read in one place.

Names are compared without regard to case, as the published scorers do; they are not stripped.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from relfast.errors import UnknownTaskError
from relfast.tasks.base import Task
from relfast.tasks.realign import TASK as REALIGN
from relfast.tasks.rel_a import TASKS as REL_A
from relfast.tasks.rel_b import TASK as REL_B
from relfast.tasks.rel_c import C1, C2, C3
from relfast.tasks.seqbench import TASK as SEQBENCH

__all__ = ["EXACT_FIELDS", "TASKS", "Task", "find_task", "get_task", "infer_task"]


TASKS: Final[Mapping[str, Task]] = MappingProxyType(
    {task.name: task for task in (*REL_A, REL_B, C1, C2, C3, SEQBENCH, REALIGN)}
)
"""Canonical name → task, in the order of the benchmarks' documents."""

_BY_UPPER: Final = {name.upper(): task for name, task in TASKS.items()}


def find_task(name: object) -> Task | None:
    """The task of that name in any case, or None."""
    return _BY_UPPER.get(name.upper()) if isinstance(name, str) else None


def get_task(name: object) -> Task:
    """The task of that name in any case.

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
"""Fields of gold whose integers must keep all their digits."""


def _by_keys() -> Mapping[tuple[str, ...], Task]:
    entries = [(keys, task) for task in TASKS.values() for keys in task.gold.keys]
    # biology and chemistry come first, in the published order of the latter's scorer (label, smiles,
    # missing_smiles); `label` with `taxa` is biology's, whose records have both
    entries.sort(key=lambda entry: (entry[1].gold.precedence, -len(entry[0])))
    # tasks whose gold looks alike cannot be told apart: the first of them has it
    table: dict[tuple[str, ...], Task] = {}
    for keys, task in entries:
        table.setdefault(keys, task)
    return table


_BY_KEYS: Final = tuple(_by_keys().items())
"""Keys of gold and whose they are, in the order they are looked for."""


def infer_task(answer: Any) -> Task | None:
    """The task whose gold has the keys of ``answer``, or None.

    A key whose value is None counts only when no task is found without it: columns of a `datasets`
    table come back with the union of all keys, the foreign ones None.
    """
    if not isinstance(answer, Mapping):
        return None
    for is_there in (lambda key: answer.get(key) is not None, answer.__contains__):
        for keys, task in _BY_KEYS:
            if all(is_there(key) for key in keys):
                return task
    return None
