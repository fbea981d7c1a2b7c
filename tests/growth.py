"""How work grows with its input: the test for linear time that holds on any machine, however busy."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Final

from seeds import SEED

FACTOR: Final = 8
"""From one size to the next; linear work grows as much, quadratic work 64 times."""

ENOUGH: Final = 50_000
"""At this size quadratic work takes seconds: more is tried by night only."""

_LIMIT: Final = (3 if SEED is None else 4) * FACTOR
"""At the sizes of the day what grows linearly is more of quadratic work: a lower limit notices as little of it."""

_LEAST_SECONDS: Final = 0.002
"""Less is taken as this: below it a clock measures caches and interrupts."""

_TRIES: Final = 5

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4
_TRIM_THRESHOLD: Final = 128 * 1024
_MMAP_MAX: Final = 65_536
"""glibc's `mallopt`: names, and what they are by default."""


def assert_linear(work: Callable[[int], Callable[[], object]], largest: int) -> None:
    """Assert that work takes time in proportion to its size.

    ``work(n)`` makes the work of size ``n``. Sizes go up by a factor of eight, so that quadratic work is noticed
    before it takes minutes: to ``largest`` under ``make fuzz``, to what is enough in the tests of every day. The least
    CPU time of this thread counts, and is measured again where it looks like too much.
    """
    if SEED is None:
        largest = min(largest, ENOUGH)
    sizes = (largest // FACTOR**2, largest // FACTOR, largest)
    with _memory_that_is_kept():
        for smaller, larger in itertools.pairwise(sizes):
            before, after = work(smaller), work(larger)
            ratios = []
            for _ in range(_TRIES):
                took = _seconds(after)
                # what passes whatever the smaller one takes needs no second clock
                is_clear = took < _LIMIT * _LEAST_SECONDS
                ratios.append(took / max(0.0 if is_clear else _seconds(before), _LEAST_SECONDS))
                if ratios[-1] < _LIMIT:
                    break
            assert min(ratios) < _LIMIT, f"{larger:,} takes {min(ratios):.0f} times as long as {smaller:,}"


@contextlib.contextmanager
def _memory_that_is_kept() -> Iterator[None]:
    """Where glibc can be told so: memory that was freed is not given back to the system.

    To get it anew, page by page, took nine tenths of the time of the largest work, and none of that of smaller
    ones: some 30 times as long for work that is linear.
    """
    try:
        libc = ctypes.CDLL(None)
        libc.mallopt, libc.malloc_trim  # noqa: B018
    except (OSError, AttributeError):
        yield
        return
    libc.mallopt(_M_MMAP_MAX, 0)
    libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        libc.mallopt(_M_MMAP_MAX, _MMAP_MAX)
        libc.mallopt(_M_TRIM_THRESHOLD, _TRIM_THRESHOLD)
        libc.malloc_trim(0)


def _seconds(work: Callable[[], object]) -> float:
    # a collection looks at all that earlier tests have left, which can take a second
    gc.disable()
    try:
        started = time.thread_time()
        work()
        return time.thread_time() - started
    finally:
        gc.enable()
