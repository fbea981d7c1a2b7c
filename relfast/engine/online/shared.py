"""One scorer per set of options, shared by this process's reward functions and plain calls."""

from __future__ import annotations

import os
import threading
from collections import Counter
from typing import Final

from relfast.cores import default_workers
from relfast.engine.online.scorer import Scorer
from relfast.engine.online.shared_pool import POOL_VARIABLE, place_of
from relfast.keywords import AdapterKeywords

WORKERS: Final = 1
"""Workers of a process's reward functions where neither ``workers`` nor ``RELFAST_WORKERS`` says how many.

Trainers run many processes that score (verl eight, by default) on one machine, and kernels decide nearly all
of chemistry without a worker: one, started at the first need, is enough for the rest."""

_scorers: dict[str, Scorer] = {}
_lock = threading.Lock()


def _forget_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)


def shared_scorer(options: AdapterKeywords) -> Scorer:
    """This process's scorer with these options, made at the first call. Where ``RELFAST_POOL`` is set and
    ``workers`` is not given, it uses the workers that all processes which say so share.

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
                scorer = Scorer(**settled)
                place = place_of(os.environ.get(POOL_VARIABLE))
                if place is not None and "workers" not in options:
                    scorer.share_pool(place)
                _scorers[key] = scorer
    return scorer


def stats() -> dict[str, int]:
    """`relfast.Scorer.stats` summed over the scorers behind this process's reward functions."""
    total: Counter[str] = Counter()
    for scorer in list(_scorers.values()):
        total.update(scorer.stats())
    return dict(total)


def close() -> None:
    """End the workers behind this process's reward functions; they start anew when called again."""
    for scorer in list(_scorers.values()):
        scorer.close()
