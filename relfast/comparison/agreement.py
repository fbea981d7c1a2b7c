"""Whether runs can be held against each other at all: signatures, policies, gold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from relfast.comparison.columns import Columns
from relfast.comparison.pairing import Pairs
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
