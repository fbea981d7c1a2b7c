"""Rows of several runs matched: by task, id and sample, on columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from relfast.comparison.columns import UNSCORED, Columns
from relfast.comparison.model import LeftOut
from relfast.comparison.runs import Loaded
from relfast.tasks import TASKS

HARMLESS = ("relfast", "timeout")
"""Parts of a signature that should not change a score; nor should the versions of packages."""


@cache
def _harmless() -> frozenset[str]:
    return frozenset((*HARMLESS, *(name for task in TASKS.values() for name in task.packages)))


def parts_of(signature: str) -> dict[str, str]:
    """The parts of a signature by their first word, the tasks' revisions apart: ``task REL-A1`` → ``2``."""
    parts: dict[str, str] = {}
    for part in signature.split(" | "):
        key, _, value = part.partition(" ")
        if key == "tasks":
            pairs = (item.rpartition(":") for item in value.split(","))
            parts.update({f"scorer of {name}": revision for name, _, revision in pairs if name})
        else:
            parts[key] = f"{parts[key]} {value}" if key in parts else value
    return parts


def differing_signatures(a: Loaded, b: Loaded, metric: str) -> tuple[list[str], list[str]]:
    """What two signatures disagree on, in words: what forbids to compare, and what is to be noted."""
    names = f"{a.run.name} and {b.run.name}"
    if a.run.signature is None or b.run.signature is None:
        return [], []
    ours, theirs = parts_of(a.run.signature), parts_of(b.run.signature)
    grave, light = [], []
    for key in dict.fromkeys((*ours, *theirs)):
        one, other = ours.get(key), theirs.get(key)
        if one == other:
            continue
        if key.startswith("scorer of ") and None in (one, other):
            continue  # a task of one run only: there is nothing to compare
        text = f"{names} differ in {key}: {one or 'none'} and {other or 'none'}"
        if key in _harmless() or (key == "reward" and metric != "reward"):
            light.append(text)
        else:
            grave.append(text)
    return grave, light


def unsigned(runs: Sequence[Loaded]) -> list[str]:
    """A note on the runs whose signature is not known."""
    names = [run.run.name for run in runs if run.run.signature is None]
    if not names:
        return []
    return [f"no summary beside {', '.join(names)}: whether policy, scorers and versions agree is not known"]


def differing_policies(a: Loaded, b: Loaded) -> list[str]:
    """Tasks whose rows only ``strict`` writes on one side and, as far as can be seen, not on the other."""
    if a.run.signature is not None and b.run.signature is not None:
        return []
    strict = [
        run.run.name
        for run in (a, b)
        if run.run.signature is None and bool(run.columns.table["strict"].any())
    ]
    if len(strict) != 1:
        return []
    (name,) = strict
    other = b if name == a.run.name else a
    if other.run.signature is not None and "policy strict" in other.run.signature:
        return []
    return [f"rows of {name} were scored under policy strict, those of {other.run.name} show no sign of it"]


def differing_records(a: Columns, b: Columns, pairs: Pairs) -> tuple[int, int]:
    """How many pairs have different gold, as far as rows show it, and the row of ``a`` of the first."""
    differs = np.zeros(len(pairs.rows_a), bool)
    for column in ("gold", "shape"):
        ours, theirs = pairs.values(a, b, column)
        differs |= (ours != theirs) & (ours != 0) & (theirs != 0)
    places = np.flatnonzero(differs)
    return len(places), int(pairs.rows_a[places[0]]) if len(places) else -1


def only_some(names: Sequence[str], most: int = 3) -> str:
    """Some names and how many more."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


Rows = NDArray[np.int64]
"""Row numbers of a run."""

_ODD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass
class Keyed:
    """A run with a key per row that other runs' rows share; rows in the order of their keys.

    Attributes
    ----------
    columns
        The run.
    keys
        Sorted, distinct.
    rows
        The row that each key is of.
    prompts
        Hash of task and prompt, per row.
    """

    columns: Columns
    keys: NDArray[np.uint64]
    rows: Rows
    prompts: NDArray[np.uint64]

    def find(self, keys: NDArray[np.uint64]) -> Rows:
        """The rows of some keys, all of which are there."""
        return self.rows[np.searchsorted(self.keys, keys)]


def keyed(columns: Columns, tasks: Sequence[str]) -> Keyed:
    """Give each row its key; ``tasks`` numbers the tasks of all runs.

    Lines that repeat an id are further samples of its prompt: of rows with one id and sample the first goes
    with the first, the second with the second.
    """
    table = columns.table
    numbers = np.array([tasks.index(name) for name in columns.tasks], np.uint64)
    # one task's hash of an id is no other task's
    of_task = numbers[table["task"]] if len(numbers) else np.zeros(0, np.uint64)
    prompts = _mixed(table["prompt"].astype(np.uint64) + _mixed(of_task + np.uint64(1)))
    keys = _mixed(prompts + _mixed(table["sample"].astype(np.uint64) + np.uint64(1)))
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    starts = np.r_[True, sorted_keys[1:] != sorted_keys[:-1]] if len(keys) else np.zeros(0, bool)
    if not starts.all():
        first = np.flatnonzero(starts)
        again = np.arange(len(keys)) - np.repeat(first, np.diff(np.r_[first, len(keys)]))
        keys = np.where(again > 0, _mixed(sorted_keys + again.astype(np.uint64)), sorted_keys)
        place = np.argsort(keys, kind="stable")
        return Keyed(columns, keys[place], order[place], prompts)
    return Keyed(columns, sorted_keys, order, prompts)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection that spreads what differs over all bits (SplitMix64)."""
    with np.errstate(over="ignore"):
        values = values + _ODD
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
        return values ^ (values >> np.uint64(31))


@dataclass
class Pairs:
    """What two runs have in common of a task.

    Attributes
    ----------
    rows_a, rows_b
        Rows of the same sample, both with a value.
    prompts
        Hash of each one's prompt.
    left_out
        What is no pair.
    """

    rows_a: Rows
    rows_b: Rows
    prompts: NDArray[np.uint64]
    left_out: LeftOut

    def values(self, a: Columns, b: Columns, column: str = "value") -> tuple[NDArray[Any], NDArray[Any]]:
        return a.table[column][self.rows_a], b.table[column][self.rows_b]


def common_keys(runs: Sequence[Keyed]) -> NDArray[np.uint64]:
    """Keys of samples that have a value in all runs, sorted."""
    common: NDArray[np.uint64] | None = None
    for run in runs:
        valued = run.keys[~np.isnan(run.columns.table["value"][run.rows])]
        common = valued if common is None else np.intersect1d(common, valued, assume_unique=True)
    return np.zeros(0, np.uint64) if common is None else common


def pair(a: Keyed, b: Keyed, task: str, common: NDArray[np.uint64]) -> Pairs:
    """The pairs of a task among the samples that have a value in all runs."""
    of_a, of_b = _of_task(a, task), _of_task(b, task)
    both = np.intersect1d(a.keys[of_a], b.keys[of_b], assume_unique=True)
    rows_a, rows_b = a.find(both), b.find(both)
    lacks_a = np.isnan(a.columns.table["value"][rows_a])
    lacks_b = np.isnan(b.columns.table["value"][rows_b])
    valued = both[~lacks_a & ~lacks_b]
    chosen = np.intersect1d(valued, common, assume_unique=True)
    left_out = LeftOut(
        only_a=int(of_a.sum()) - len(both),
        only_b=int(of_b.sum()) - len(both),
        unscored_a=int((lacks_a & ~lacks_b).sum()),
        unscored_b=int((lacks_b & ~lacks_a).sum()),
        unscored_both=int((lacks_a & lacks_b).sum()),
        elsewhere=len(valued) - len(chosen),
    )
    rows_a = a.find(chosen)
    # in the order of a's rows, so that what is listed of them is too
    order = np.argsort(rows_a, kind="stable")
    rows_a, rows_b = rows_a[order], b.find(chosen)[order]
    return Pairs(rows_a, rows_b, a.prompts[rows_a], left_out)


def _of_task(run: Keyed, task: str) -> NDArray[np.bool_]:
    """Which keys are of a task."""
    if task not in run.columns.tasks:
        return np.zeros(len(run.keys), bool)
    chosen: NDArray[np.bool_] = run.columns.table["task"][run.rows] == run.columns.tasks.index(task)
    return chosen


def flipped(pairs: Pairs, a: Columns, b: Columns) -> NDArray[np.bool_]:
    """Which pairs one run has right and the other wrong."""
    right_a, right_b = pairs.values(a, b, "correct")
    changed: NDArray[np.bool_] = (right_a != right_b) & (right_a != UNSCORED) & (right_b != UNSCORED)
    return changed
