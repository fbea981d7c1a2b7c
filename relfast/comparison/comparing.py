"""Runs to a `Comparison`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from relfast.comparison.model import Comparison, Flip, Side, TaskComparison
from relfast.comparison.pairing import (
    Keyed,
    Pairs,
    common_keys,
    differing_policies,
    differing_records,
    differing_signatures,
    flipped,
    keyed,
    only_some,
    pair,
    unsigned,
)
from relfast.comparison.runs import Loaded, RunLike, load, rows_at
from relfast.errors import UsageError
from relfast.stats.intervals import LEVEL, Interval, mean_interval, share_interval
from relfast.stats.paired import Differences, holm
from relfast.stats.samples import group_of
from relfast.tasks import TASKS

_SHOWN_METRICS: Final = 50


@dataclass
class Comparing:
    """Runs that have been read and matched."""

    comparison: Comparison
    _runs: list[Loaded]
    _matched: list[tuple[int, int, str, Pairs]]

    def flips(self) -> Iterator[Flip]:
        """All pairs that one run has right and the other wrong, a pair of runs after the other, in the order
        of the first one's rows. Reads these rows again, and keeps none."""
        for at, other in dict.fromkeys((at, other) for at, other, _, _ in self._matched):
            a, b = self._runs[at], self._runs[other]
            found = [pairs for one, two, _, pairs in self._matched if (one, two) == (at, other)]
            chosen = [flipped(pairs, a.columns, b.columns) for pairs in found]
            rows_a = np.concatenate(
                [pairs.rows_a[changed] for pairs, changed in zip(found, chosen, strict=True)]
            )
            rows_b = np.concatenate(
                [pairs.rows_b[changed] for pairs, changed in zip(found, chosen, strict=True)]
            )
            order = np.argsort(rows_a)
            indices = b.columns.table["index"][rows_b[order]].tolist()
            for score, index_b in zip(rows_at(a, rows_a[order].tolist()), indices, strict=True):
                right = a.run.name if score.correct else b.run.name
                yield Flip(
                    group_of(score.task),
                    score.id,
                    score.sample,
                    a.run.name,
                    b.run.name,
                    right,
                    score.index,
                    index_b,
                )


def comparing(
    runs: Sequence[RunLike],
    *,
    names: Sequence[str] | None = None,
    metric: str = "correct",
    level: float = LEVEL,
    bootstrap: int | None = None,
    seed: int = 0,
    max_flips: int | None = 100,
    allow_different: bool = False,
) -> Comparing:
    """See `relfast.compare`."""
    if not 0 < level < 1:
        raise UsageError(f"level {level!r} is not between 0 and 1")
    if bootstrap is not None and bootstrap < 1000:
        raise UsageError(f"bootstrap {bootstrap}: fewer than 1000 draws give no 95 % interval worth its name")
    loaded = load(runs, names, metric)
    _check_metric(loaded, metric)
    tasks = list(dict.fromkeys(name for run in loaded for name in run.columns.tasks))
    tasks.sort(key=lambda name: list(TASKS).index(name) if name in TASKS else len(TASKS))
    keys = [keyed(run.columns, tasks) for run in loaded]
    common = common_keys(keys)
    chosen = list(combinations(range(len(loaded)), 2))
    matched = [
        (at, other, task, pair(keys[at], keys[other], task, common)) for at, other in chosen for task in tasks
    ]
    notes = _agreement(loaded, chosen, matched, metric, allow_different)
    matched_some = [item for item in matched if len(item[3].rows_a)]
    if not matched_some:
        raise UsageError(_nothing_common(loaded, keys, metric))
    compared = [
        _compare(loaded[at], loaded[other], task, found, level, bootstrap, seed)
        for at, other, task, found in matched_some
    ]
    corrected = holm([item.p for item in compared])
    compared = [replace(item, p_holm=p) for item, p in zip(compared, corrected, strict=True)]
    notes += _unmatched(loaded, matched, metric)
    comparison = Comparison(
        metric,
        level,
        tuple(run.run for run in loaded),
        tuple(compared),
        sum(item.gained + item.lost for item in compared),
        (),
        tuple(dict.fromkeys(notes)),
    )
    result = Comparing(comparison, loaded, matched_some)
    if max_flips is None or max_flips > 0:
        result.comparison = replace(comparison, flips=tuple(islice(result.flips(), max_flips)))
    return result


def _check_metric(runs: Sequence[Loaded], metric: str) -> None:
    known = {name for run in runs for name in run.columns.metrics}
    if metric not in ("correct", "reward") and metric not in known:
        there = ", ".join(f"{name:.60}" for name in ["correct", "reward", *sorted(known)][:_SHOWN_METRICS])
        more = ", …" if len(known) + 2 > _SHOWN_METRICS else ""
        raise UsageError(f"no row has a number for metric {metric!r:.60}; there are: {there}{more}")


def _compare(
    a: Loaded,
    b: Loaded,
    task: str,
    pairs: Pairs,
    level: float,
    bootstrap: int | None,
    seed: int,
) -> TaskComparison:
    ours, theirs = pairs.values(a.columns, b.columns)
    differences = Differences.of(pairs.prompts, ours, theirs)
    interval, method = differences.interval(level)
    if bootstrap is not None and (drawn := differences.bootstrap(bootstrap, seed, level)) is not None:
        interval, method = drawn, "bootstrap"
    p, p_method = differences.test(seed)
    right_a, right_b = pairs.values(a.columns, b.columns, "correct")
    changed = flipped(pairs, a.columns, b.columns)
    # a value of either run beyond 0…1: then the other's ones and noughts are no shares
    counts = not differences.bounded
    wins, losses = int((ours > theirs).sum()), int((ours < theirs).sum())
    return TaskComparison(
        task=task,
        a=a.run.name,
        b=b.run.name,
        prompts=differences.prompts,
        pairs=differences.pairs,
        side_a=side_of(pairs, ours, level, counts=counts),
        side_b=side_of(pairs, theirs, level, counts=counts),
        difference=differences.mean,
        error=differences.error,
        interval=interval,
        interval_method=method,
        p=p,
        p_method=p_method,
        p_holm=p,
        wins=wins,
        losses=losses,
        ties=len(ours) - wins - losses,
        gained=int((changed & (right_a == 1)).sum()),
        lost=int((changed & (right_b == 1)).sum()),
        left_out=pairs.left_out,
    )


def side_of(pairs: Pairs, values: NDArray[np.float64], level: float, *, counts: bool = False) -> Side:
    """A run's mean with its interval, clustered by prompt: Wilson's for right and wrong, else Student's.
    ``counts`` have no upper bound, whatever these values are."""
    mean = float(values.mean())
    if not counts and ((values == 0) | (values == 1)).all():
        _, places = np.unique(pairs.prompts, return_inverse=True)
        sizes = np.bincount(places)
        right = np.bincount(places, values).astype(np.int64)
        kinds, times = np.unique(np.stack([sizes, right], 1), axis=0, return_counts=True)
        histogram = {(int(n), int(c)): int(k) for (n, c), k in zip(kinds, times, strict=True)}
        return Side(mean, share_interval(histogram, level))
    alone = Differences.of(pairs.prompts, values, np.zeros(len(values)))
    # what never varies says nothing of how far off it may be
    interval = mean_interval(alone.mean, alone.error or None, alone.prompts, level)
    if interval is not None and alone.bounded and not counts:
        interval = Interval(max(interval.low, 0.0), min(interval.high, 1.0))
    return Side(mean, interval)


def _agreement(
    runs: Sequence[Loaded],
    chosen: Sequence[tuple[int, int]],
    matched: Sequence[tuple[int, int, str, Pairs]],
    metric: str,
    allow_different: bool,
) -> list[str]:
    """Notes on what differs between runs. Raises `UsageError` where that makes numbers incomparable."""
    grave: list[str] = []
    notes = unsigned(runs)
    for at, other in chosen:
        forbids, to_note = differing_signatures(runs[at], runs[other], metric)
        grave += forbids + differing_policies(runs[at], runs[other])
        notes += to_note
    for at, other, task, pairs in matched:
        n, row = differing_records(runs[at].columns, runs[other].columns, pairs)
        if n:
            (score,) = rows_at(runs[at], [row])
            grave.append(
                f"{n:,} records of {task} are not the same in {runs[at].run.name} and {runs[other].run.name}:"
                f" their gold differs, first in id {score.id!r:.60}"
            )
    if grave and not allow_different:
        more = f" (and {len(grave) - 1} more)" if len(grave) > 1 else ""
        raise UsageError(f"{grave[0]}{more}; --allow-different compares them all the same")
    return [f"compared all the same: {text}" for text in grave] + notes


def _nothing_common(runs: Sequence[Loaded], keys: Sequence[Keyed], metric: str) -> str:
    for run in runs:
        if not len(run.columns):
            return f"{run.run.path or run.run.name} has no rows"
    shared = keys[0].keys
    for other in keys[1:]:
        shared = np.intersect1d(shared, other.keys, assume_unique=True)
    names = " and ".join(run.run.name for run in runs)
    if len(shared):
        return (
            f"{names} have {len(shared):,} samples in common, none with a value of {metric!r} in all of them"
        )
    tasks = set.intersection(*(set(run.columns.tasks) for run in runs))
    why = "no task" if not tasks else f"no id and sample of {only_some(sorted(tasks))}"
    return f"{names} have {why} in common: they are no runs of the same records"


def _unmatched(
    runs: Sequence[Loaded], matched: Sequence[tuple[int, int, str, Pairs]], metric: str
) -> list[str]:
    """Notes on what was left out, a line for each pair of runs and task."""
    notes: list[str] = []
    for at, other, task, pairs in matched:
        left = pairs.left_out
        if not left.total:
            continue
        if left.unscored_both and not len(pairs.rows_a) and metric != "correct":
            both = f"{runs[at].run.name} and {runs[other].run.name}"
            notes.append(f"{task or '(unknown)'}: no sample has {metric} in both of {both}")
            continue
        a, b = runs[at].run.name, runs[other].run.name
        parts = [
            (left.only_a, f"only in {a}"),
            (left.only_b, f"only in {b}"),
            (left.unscored_a, f"without a value in {a}"),
            (left.unscored_b, f"without a value in {b}"),
            (left.unscored_both, "without a value in both"),
            (left.elsewhere, "without a value in another run"),
        ]
        said = ", ".join(f"{n:,} {what}" for n, what in parts if n)
        notes.append(f"{task or '(unknown)'}: {len(pairs.rows_a):,} pairs; left out: {said}")
    return notes
