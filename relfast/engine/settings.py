"""Checks of single settings, made when a `Job` is made: the command line, Python, the trainers' adapters and
the server report a bad value with the same message, before anything starts."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import Final

from relfast_kernels.caches.cache import COMPILE_VARIABLE, OFF

from relfast.errors import UsageError
from relfast.formats.hints import why_unknown
from relfast.parameters import Whole, number_of
from relfast.support.cores import default_workers

MAX_TIMEOUT: Final = 1_000_000.0
"""Longest deadline in seconds, eleven days; a longer one is as good as none. Python can set the operating
system's timer to 9·10⁹ s at most."""

MAX_WORKERS: Final = 10_000

MAX_LINE_BYTES: Final = 16 * 2**20
"""Longest line read; the longest published record has 20 kB, the longest real response 500 kB."""


_BRACKETS: Final = re.compile(r"\[(-?[0-9]+|\*)\]")
_MAPS: Final = {
    "rewards": "task names to metrics, such as {'TASK': 'METRIC'}",
    "map": "fields to paths, such as {'response': 'choices.0.message.content'}",
}


def timeout_of(value: object) -> float:
    """The seconds that a record may take; 0.0 (no limit) for 0, None and infinity.

    Raises
    ------
    UsageError
        The value is no number, NaN, negative, or more than `MAX_TIMEOUT`.
    """
    if value is None or value == math.inf:
        return 0.0
    seconds = number_of(value)
    if seconds is None or not 0 <= seconds <= MAX_TIMEOUT:
        limits = f"from 0 (no limit) to {MAX_TIMEOUT:,.0f}"
        raise UsageError(f"timeout must be seconds {limits}, not {value!r:.60}")
    return seconds


def check_compiling() -> None:
    """Raise `UsageError` if ``RELFAST_COMPILE`` has a value that it may not have."""
    chosen = os.environ.get(COMPILE_VARIABLE)
    if chosen and chosen != OFF:
        raise UsageError(f"{COMPILE_VARIABLE} is {OFF}, or not set, not {chosen!r}")


def count_of(name: str, value: object, least: int = 0, most: int | None = None) -> int:
    """``value`` as a whole number from ``least`` to ``most``, both included. Raises `UsageError`."""
    return Whole(least, most).check(name, value)


def workers_of(value: object) -> int | None:
    """The number of worker processes: ``value``, else ``RELFAST_WORKERS``, else None. Raises `UsageError`."""
    return default_workers() if value is None else count_of("workers", value, 0, MAX_WORKERS)


def texts_of(name: str, value: object) -> dict[str, str]:
    """``value`` as a dict of texts to texts. Raises `UsageError`."""
    texts = dict(value) if isinstance(value, Mapping) else None
    if texts is None or not all(isinstance(text, str) for pair in texts.items() for text in pair):
        what = _MAPS.get(name, "texts to texts")
        raise UsageError(f"{name} must map {what}, not {value!r:.60}")
    return texts


def field_map_of(value: object) -> dict[str, str]:
    """``--map`` as a dict of fields to dotted paths, in which ``choices[0]`` becomes ``choices.0``. Raises
    `UsageError`, also for an unknown field."""
    field_map = texts_of("map", value)
    for name in field_map:
        if why := why_unknown(name):
            raise UsageError(f"map: {why}")
    return {name: _BRACKETS.sub(r".\1", path).removeprefix(".") for name, path in field_map.items()}


def shard_of(value: object) -> tuple[int, int] | None:
    """A shard as a pair (I, N), I from 0; None for the whole input. Raises `UsageError`."""
    if value is None:
        return None
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise UsageError(f"shard must be a pair (I, N), not {value!r:.60}")
    number, count = count_of("shard I", value[0]), count_of("shard N", value[1])
    if number >= count:
        raise UsageError(f"shard {number}/{count} does not exist: I counts from 0 to N-1")
    return number, count
