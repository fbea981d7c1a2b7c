"""Compares two or more runs of the same records: paired differences, clustered by prompt."""

from __future__ import annotations

from collections.abc import Sequence

from relfast.comparison.comparing import comparing
from relfast.comparison.model import Comparison
from relfast.comparison.runs import RunLike
from relfast.stats.intervals import LEVEL


def compare(
    *runs: RunLike,
    names: Sequence[str] | None = None,
    metric: str = "correct",
    level: float = LEVEL,
    bootstrap: int | None = None,
    seed: int = 0,
    max_flips: int | None = 100,
    allow_different: bool = False,
) -> Comparison:
    """Compare two or more runs on the prompts that they have in common.

    Parameters
    ----------
    *runs
        Files of scored rows, `Summary`s whose file of rows still exists, `ScoreBatch`es, or sequences of
        `Score`s.
    names
        Names of the runs; default: the names of their files without endings.
    metric
        ``correct``, ``reward`` or a metric of the rows.
    level
        Confidence level of the intervals.
    bootstrap
        Number of draws of a paired bootstrap over prompts, from which intervals are then made; None:
        closed-form intervals.
    seed
        Seed of the bootstrap.
    max_flips
        How many of the prompts that one run has right more often than the other are listed; None: all.
    allow_different
        Compare also runs of different policies, scorers or gold, with a note.

    Raises
    ------
    InputError
        A file holds no scored rows.
    UsageError
        The runs cannot be compared: nothing in common, or different policies, scorers, options or gold.
    """
    options = names, metric, level, bootstrap, seed, max_flips, allow_different
    return comparing(runs, *options).comparison


__all__ = ["Comparison", "compare", "comparing"]
