"""The scorers of a process: one for each set of options, behind its reward functions."""

from __future__ import annotations

import os
import threading
from collections import Counter
from typing import Final

from relfast.engine.calls.scorer import Scorer
from relfast.engine.job import AdapterKeywords
from relfast.support.system import default_workers

WORKERS: Final = 1
"""Default number of workers of a process's reward functions, without ``workers`` and ``RELFAST_WORKERS``.

Trainers run many processes that score (verl eight, by default) on one machine, and kernels score nearly all
chemistry without a worker: one, started when first needed, is enough for the rest."""

_scorers: dict[str, Scorer] = {}
_lock = threading.Lock()


def shared_scorer(options: AdapterKeywords) -> Scorer:
    """This process's scorer with these options, made at the first call.

    Raises
    ------
    UsageError, UnknownTaskError
        An option that cannot be used.
    """
    key = repr(sorted(options.items()))
    scorer = _scorers.get(key)
    if scorer is None:
        with _lock:
            scorer = _scorers.get(key)
            if scorer is None:
                settled: AdapterKeywords = {"workers": default_workers(WORKERS), **options}
                scorer = _scorers[key] = Scorer(**settled)
    return scorer


def stats() -> dict[str, int]:
    """`relfast.Scorer.stats` summed over the scorers behind this process's reward functions."""
    total: Counter[str] = Counter()
    for scorer in list(_scorers.values()):
        total.update(scorer.stats())
    return dict(total)


def close() -> None:
    """End the workers behind this process's reward functions; a later call starts new ones."""
    for scorer in list(_scorers.values()):
        scorer.close()


def _renew() -> None:
    """In a forked child: a thread that does not exist here may have held the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew)
