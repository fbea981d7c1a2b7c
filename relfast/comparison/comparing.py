"""Makes a `Comparison` of runs: matches their prompts, checks that they are comparable, tests differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from relfast.comparison.model import Comparison, Flip, LeftOut, Side, TaskComparison
from relfast.comparison.runs import Loaded, RunLike, load, rows_at
from relfast.errors import UsageError
from relfast.stats.intervals import LEVEL, Interval, check_level, mean_interval, share_interval
from relfast.stats.paired import Differences, holm
from relfast.stats.samples import group_of
from relfast.tasks import TASKS

_HARMLESS: Final = {"relfast", "timeout"}.union(*(task.packages for task in TASKS.values()))
"""Parts of a signature, package versions among them, that should not change a score: a difference is noted,
but does not forbid to compare."""


def parts_of(signature: str) -> dict[str, str]:
    """The parts of a signature by their first word, with a part for each task's scorer revision:
    ``{"scorer of REL-A1": "2", "policy": "strict", …}``."""
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
    """The differences of two signatures, in words: those that forbid to compare, and those only noted."""
    names = f"{a.run.name} and {b.run.name}"
    if a.run.signature is None or b.run.signature is None:
        return [], []
    parts_a, parts_b = parts_of(a.run.signature), parts_of(b.run.signature)
    grave, light = [], []
    for key in dict.fromkeys((*parts_a, *parts_b)):
        one, other = parts_a.get(key), parts_b.get(key)
        if one == other:
            continue
        if key.startswith("scorer of ") and None in (one, other):
            continue  # a task of one run only: there is nothing to compare
        text = f"{names} differ in {key}: {one or 'none'} and {other or 'none'}"
        if key in _HARMLESS or (key == "reward" and metric != "reward"):
            light.append(text)
        else:
            grave.append(text)
    return grave, light


def differing_policies(a: Loaded, b: Loaded) -> list[str]:
    """A message, in a list, if the rows of one run show that it was scored under ``strict`` and nothing shows
    this for the other run; else empty. Runs without a signature are judged by metrics that only ``strict``
    writes."""
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


def differing_records(pairs: Pairs) -> tuple[int, int]:
    """The number of prompts whose gold differs, as far as their first rows show it, and the row number in
    ``a`` of the first (-1 without any)."""
    differs = np.zeros(len(pairs), bool)
    rows_a, rows_b = pairs.first_rows
    for column in ("gold", "shape"):
        values_a = pairs.a.run.columns.table[column][rows_a]
        values_b = pairs.b.run.columns.table[column][rows_b]
        differs |= (values_a != values_b) & (values_a != 0) & (values_b != 0)
    places = np.flatnonzero(differs)
    return len(places), int(rows_a[places[0]]) if len(places) else -1


Places = NDArray[np.int64]
"""Row numbers of a run, or places of its prompts."""

_ODD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass
class Prompts:
    """The prompts of a run, in the order of their keys; all arrays have an item for each.

    Attributes
    ----------
    keys
        Hash of task and prompt (uint64), ascending and distinct.
    first
        Number of the prompt's first row (int64).
    mean
        Mean of the metric over the samples that have a value (float64); NaN if none has.
    valued, scored, right
        How many of its samples have a value, have a score, and are right (int64).
    """

    run: Loaded
    keys: NDArray[np.uint64]
    first: Places
    mean: NDArray[np.float64]
    valued: Places
    scored: Places
    right: Places


def prompts_of(run: Loaded, tasks: Sequence[str]) -> Prompts:
    """Gather the rows of a run by prompt; ``tasks`` lists the tasks of all runs, which numbers them. Lines
    that repeat an id are further samples of its prompt."""
    table = run.columns.table
    numbers = np.array([tasks.index(name) for name in run.columns.tasks], np.uint64)
    # the hashes of an id differ from task to task
    of_task = numbers[table["task"]] if len(numbers) else np.zeros(0, np.uint64)
    each_row = _mixed(table["prompt"].astype(np.uint64) + _mixed(of_task + np.uint64(1)))
    keys, first, places = np.unique(each_row, return_index=True, return_inverse=True)

    def summed(values: NDArray[Any]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.bincount(places, values, len(keys)).astype(np.float64)
        return sums

    there = ~np.isnan(table["value"])
    valued = summed(there)
    with np.errstate(invalid="ignore"):
        # rounded, so that the order of a prompt's samples does not show
        mean = np.round(summed(np.where(there, table["value"], 0)) / valued, 12)
    scored, right = (
        summed(which).astype(np.int64) for which in (table["correct"] >= 0, table["correct"] > 0)
    )
    return Prompts(run, keys, first, mean, valued.astype(np.int64), scored, right)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijective hash of 64-bit numbers that spreads small differences over all bits (SplitMix64)."""
    with np.errstate(over="ignore"):
        values = values + _ODD
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
        return values ^ (values >> np.uint64(31))


@dataclass
class Pairs:
    """The prompts of a task that runs ``a`` and ``b`` have in common.

    Attributes
    ----------
    at_a, at_b
        Places of the same prompt in both runs, of prompts that have a value of the metric in all runs.
    left_out
        Counts of the prompts that form no pair.
    """

    a: Prompts
    b: Prompts
    task: str
    at_a: Places
    at_b: Places
    left_out: LeftOut

    def __len__(self) -> int:
        return len(self.at_a)

    @property
    def names(self) -> tuple[str, str]:
        return self.a.run.run.name, self.b.run.run.name

    @property
    def first_rows(self) -> tuple[Places, Places]:
        """The number of each prompt's first row in both runs."""
        return self.a.first[self.at_a], self.b.first[self.at_b]

    @property
    def gain(self) -> NDArray[np.int64]:
        """For each prompt 1 where ``a`` is right more often than ``b``, -1 where it is less often, else 0."""
        a, b, at_a, at_b = self.a, self.b, self.at_a, self.at_b
        gain: NDArray[np.int64] = np.sign(a.right[at_a] * b.scored[at_b] - b.right[at_b] * a.scored[at_a])
        return gain


def common_keys(runs: Sequence[Prompts]) -> NDArray[np.uint64]:
    """The sorted keys of the prompts that have a value in all runs."""
    common = runs[0].keys
    for run in runs:
        common = np.intersect1d(common, run.keys[run.valued > 0], assume_unique=True)
    return common


def pair(a: Prompts, b: Prompts, task: str, common: NDArray[np.uint64]) -> Pairs:
    """The pairs of a task among the prompts that have a value in all runs."""
    of_a, of_b = _of_task(a, task), _of_task(b, task)
    both, at_a, at_b = np.intersect1d(a.keys[of_a], b.keys[of_b], assume_unique=True, return_indices=True)
    at_a, at_b = of_a[at_a], of_b[at_b]
    lacks_a, lacks_b = a.valued[at_a] == 0, b.valued[at_b] == 0
    valued = ~lacks_a & ~lacks_b
    chosen = valued & np.isin(both, common, assume_unique=True)
    left_out = LeftOut(
        only_a=len(of_a) - len(both),
        only_b=len(of_b) - len(both),
        unscored_a=int((lacks_a & ~lacks_b).sum()),
        unscored_b=int((lacks_b & ~lacks_a).sum()),
        unscored_both=int((lacks_a & lacks_b).sum()),
        elsewhere=int(valued.sum() - chosen.sum()),
    )
    at_a, at_b = at_a[chosen], at_b[chosen]
    # in the order of the rows of ``a``, in which changed prompts are listed
    order = np.argsort(a.first[at_a], kind="stable")
    return Pairs(a, b, task, at_a[order], at_b[order], left_out)


def _of_task(prompts: Prompts, task: str) -> Places:
    """The places of the prompts of a task."""
    columns = prompts.run.columns
    number = columns.tasks.index(task) if task in columns.tasks else len(columns.tasks)
    return np.flatnonzero(columns.table["task"][prompts.first] == number)


_SHOWN_METRICS: Final = 50


@dataclass
class Comparing:
    """A comparison together with its matched runs, from which all flips can be read."""

    comparison: Comparison
    _matched: list[Pairs]

    def flips(self) -> Iterator[Flip]:
        """All prompts that one run has right more often than the other: for one pair of runs after the other,
        in the order of the first run's rows. The rows are read again and not kept in memory."""
        for (one, other), several in groupby(self._matched, lambda pairs: pairs.names):
            found = [*several]
            a, b = found[0].a, found[0].b
            at_a, at_b = (
                np.concatenate([getattr(pairs, side)[pairs.gain != 0] for pairs in found])
                for side in ("at_a", "at_b")
            )
            order = np.argsort(a.first[at_a])
            at_a, at_b = at_a[order], at_b[order]
            indices = b.run.columns.table["index"][b.first[at_b]].tolist()
            counts = [x.tolist() for x in (a.right[at_a], a.scored[at_a], b.right[at_b], b.scored[at_b])]
            first = rows_at(a.run, a.first[at_a].tolist())
            for score, index_b, *(right_a, n_a, right_b, n_b) in zip(first, indices, *counts, strict=True):
                right = one if right_a * n_b > right_b * n_a else other
                task = group_of(score.task)
                yield Flip(
                    task, score.id, one, other, right, right_a, n_a, right_b, n_b, score.index, index_b
                )


def comparing(
    runs: Sequence[RunLike],
    names: Sequence[str] | None = None,
    metric: str = "correct",
    level: float = LEVEL,
    bootstrap: int | None = None,
    seed: int = 0,
    max_flips: int | None = 100,
    allow_different: bool = False,
) -> Comparing:
    """`relfast.compare`, with an iterator over all flips (`Comparing.flips`)."""
    check_level(level)
    if bootstrap is not None and bootstrap < 1000:
        raise UsageError(f"bootstrap {bootstrap}: fewer than 1000 draws give no 95 % interval worth its name")
    loaded = load(runs, names, metric)
    _check_metric(loaded, metric)
    tasks = list(dict.fromkeys(name for run in loaded for name in run.columns.tasks))
    tasks.sort(key=lambda name: list(TASKS).index(name) if name in TASKS else len(TASKS))
    keys = [prompts_of(run, tasks) for run in loaded]
    common = common_keys(keys)
    matched = [pair(a, b, task, common) for a, b in combinations(keys, 2) for task in tasks]
    notes = _agreement(loaded, matched, metric, allow_different)
    matched_some = [pairs for pairs in matched if len(pairs)]
    if not matched_some:
        raise UsageError(_nothing_common(keys, metric))
    compared = [_compare(pairs, level, bootstrap, seed) for pairs in matched_some]
    corrected = holm([item.p for item in compared])
    compared = [replace(item, p_holm=p) for item, p in zip(compared, corrected, strict=True)]
    notes += _unmatched(matched, metric)
    notes += [f"{run.run.name}: {note}" for run in loaded for note in run.notes]
    sides, n_flips = tuple(run.run for run in loaded), sum(item.gained + item.lost for item in compared)
    comparison = Comparison(metric, level, sides, tuple(compared), n_flips, (), tuple(dict.fromkeys(notes)))
    result = Comparing(comparison, matched_some)
    if max_flips is None or max_flips > 0:
        result.comparison = replace(comparison, flips=tuple(islice(result.flips(), max_flips)))
    return result


def _check_metric(runs: Sequence[Loaded], metric: str) -> None:
    known = {name for run in runs for name in run.columns.metrics}
    if metric not in ("correct", "reward") and metric not in known:
        there = ", ".join(f"{name:.60}" for name in ["correct", "reward", *sorted(known)][:_SHOWN_METRICS])
        more = ", …" if len(known) + 2 > _SHOWN_METRICS else ""
        raise UsageError(f"no row has a number for metric {metric!r:.60}; there are: {there}{more}")


def _compare(pairs: Pairs, level: float, bootstrap: int | None, seed: int) -> TaskComparison:
    """The statistics of two runs' pairs of one task, with p not yet corrected by Holm."""
    values_a, values_b = pairs.a.mean[pairs.at_a], pairs.b.mean[pairs.at_b]
    differences = Differences.of(values_a, values_b)
    tested = (bootstrap and differences.bootstrap(bootstrap, seed, level)) or differences.tested(level)
    # if a value lies outside 0…1, the metric is a count: values that happen to be 0 and 1 are then no shares
    counts = not differences.bounded
    wins, losses = int((values_a > values_b).sum()), int((values_a < values_b).sum())
    return TaskComparison(
        task=pairs.task,
        a=pairs.a.run.run.name,
        b=pairs.b.run.run.name,
        prompts=differences.prompts,
        samples_a=int(pairs.a.valued[pairs.at_a].sum()),
        samples_b=int(pairs.b.valued[pairs.at_b].sum()),
        side_a=side_of(values_a, pairs.a.valued[pairs.at_a], level, counts=counts),
        side_b=side_of(values_b, pairs.b.valued[pairs.at_b], level, counts=counts),
        difference=differences.mean,
        error=differences.error,
        interval=tested.interval,
        interval_method=tested.method,
        p=tested.p,
        p_holm=tested.p,
        wins=wins,
        losses=losses,
        ties=len(values_a) - wins - losses,
        gained=int((pairs.gain > 0).sum()),
        lost=int((pairs.gain < 0).sum()),
        left_out=pairs.left_out,
    )


def side_of(values: NDArray[np.float64], samples: Places, level: float, *, counts: bool = False) -> Side:
    """A run's mean over prompts with its interval: for prompts of equally many samples, right or wrong, that
    of their share; else Student's. ``values`` has the mean of each prompt, ``samples`` their number, and
    ``counts`` says that the metric is a count, without an upper bound."""
    mean = float(values.mean())
    right = np.rint(values * samples)
    if not counts and len(set(samples.tolist())) == 1 and np.allclose(right, values * samples, atol=1e-9):
        kinds, times = np.unique(right.astype(np.int64), return_counts=True)
        n = int(samples[0])
        histogram = {(n, c): k for c, k in zip(kinds.tolist(), times.tolist(), strict=True)}
        return Side(mean, share_interval(histogram, level))
    alone = Differences.of(values, np.zeros(len(values)))
    # values without any variation tell nothing about the error: no interval
    interval = mean_interval(alone.mean, alone.error or None, alone.prompts, level)
    if interval is not None and alone.bounded and not counts:
        interval = Interval(max(interval.low, 0.0), min(interval.high, 1.0))
    return Side(mean, interval)


def _agreement(
    runs: Sequence[Loaded], matched: Sequence[Pairs], metric: str, allow_different: bool
) -> list[str]:
    """Notes on differences between the runs. Raises `UsageError` if these make the numbers incomparable and
    ``allow_different`` is false."""
    grave: list[str] = []
    unsigned = ", ".join(run.run.name for run in runs if run.run.signature is None)
    unknown = f"no summary beside {unsigned}: whether policy, scorers and versions agree is not known"
    notes = [unknown] if unsigned else []
    for a, b in combinations(runs, 2):
        forbids, to_note = differing_signatures(a, b, metric)
        grave += forbids + differing_policies(a, b)
        notes += to_note
    for pairs in matched:
        n, row = differing_records(pairs)
        if n:
            (score,) = rows_at(pairs.a.run, [row])
            grave.append(
                f"{n:,} records of {pairs.task} are not the same in {' and '.join(pairs.names)}:"
                f" their gold differs, first in id {score.id!r:.60}"
            )
    if grave and not allow_different:
        more = f" (and {len(grave) - 1} more)" if len(grave) > 1 else ""
        raise UsageError(f"{grave[0]}{more}; --allow-different compares them all the same")
    return [f"compared all the same: {text}" for text in grave] + notes


def _nothing_common(keys: Sequence[Prompts], metric: str) -> str:
    runs = [each.run for each in keys]
    for run in runs:
        if not len(run.columns):
            return f"{run.run.path or run.run.name} has no rows"
    shared = keys[0].keys
    for other in keys[1:]:
        shared = np.intersect1d(shared, other.keys, assume_unique=True)
    names = " and ".join(run.run.name for run in runs)
    if len(shared):
        return (
            f"{names} have {len(shared):,} prompts in common, none with a value of {metric!r} in all of them"
        )
    tasks = set.intersection(*(set(run.columns.tasks) for run in runs))
    more = f" and {len(tasks) - 3} more" if len(tasks) > 3 else ""
    why = f"no id of {', '.join(sorted(tasks)[:3])}{more}" if tasks else "no task"
    return f"{names} have {why} in common: they are no runs of the same records"


def _unmatched(matched: Sequence[Pairs], metric: str) -> list[str]:
    """Notes on the prompts that were left out, a line for each pair of runs and task."""
    notes: list[str] = []
    for pairs in matched:
        left, (a, b), task = pairs.left_out, pairs.names, pairs.task or "(unknown)"
        if not left.total:
            continue
        if left.unscored_both and not len(pairs) and metric != "correct":
            notes.append(f"{task}: no prompt has {metric} in both of {a} and {b}")
            continue
        parts = [
            (left.only_a, f"only in {a}"),
            (left.only_b, f"only in {b}"),
            (left.unscored_a, f"without a value in {a}"),
            (left.unscored_b, f"without a value in {b}"),
            (left.unscored_both, "without a value in both"),
            (left.elsewhere, "without a value in another run"),
        ]
        counts = ", ".join(f"{n:,} {what}" for n, what in parts if n)
        notes.append(f"{task}: {len(pairs):,} prompts; left out: {counts}")
    return notes
