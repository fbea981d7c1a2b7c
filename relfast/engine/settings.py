"""What a setting may be: checked where a `Job` is made, so that the command line, Python, the adapters and
the server all say the same line, before anything starts."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any, Final

from relfast.errors import UsageError

MAX_TIMEOUT: Final = 1_000_000.0
"""Longest deadline in seconds, eleven days: whoever wants more wants none. What Python can set the kernel's
timer to ends at 9·10⁹ s."""

MAX_WORKERS: Final = 10_000
MAX_COUNT: Final = 2**63 - 1
"""Largest count that the output's journal can hold."""


def timeout_of(value: Any) -> float:
    """Seconds a record may take; 0, None and infinity are no limit, which is 0.0.

    Raises
    ------
    UsageError
        It is no number, negative, not a number (NaN), or more than `MAX_TIMEOUT`.
    """
    if value is None or value == math.inf:
        return 0.0
    seconds = _number(value)
    if seconds is None or not 0 <= seconds <= MAX_TIMEOUT:
        limits = f"from 0 (no limit) to {MAX_TIMEOUT:,.0f}"
        raise UsageError(f"timeout must be seconds {limits}, not {value!r:.60}")
    return seconds


def count_of(name: str, value: Any, least: int = 0, most: int = MAX_COUNT) -> int:
    """A whole number from ``least`` to ``most``. Raises `UsageError`."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not (whole and least <= int(value) <= most):
        limits = f"from {least} on" if most == MAX_COUNT else f"from {least} to {most:,}"
        raise UsageError(f"{name} must be a whole number {limits}, not {value!r:.60}")
    return int(value)


def workers_of(value: Any) -> int | None:
    """A number of worker processes, or None for the default. Raises `UsageError`."""
    return None if value is None else count_of("workers", value, 0, MAX_WORKERS)


def choice_of(name: str, value: Any, choices: Collection[str]) -> str:
    """One of some names. Raises `UsageError`."""
    if not isinstance(value, str) or value not in choices:
        *others, last = map(repr, choices)
        raise UsageError(f"{name} must be {', '.join(others)} or {last}, not {value!r:.60}")
    return value


def flag_of(name: str, value: Any) -> bool:
    """A bool, and nothing that only looks like one (``"no"`` is true). Raises `UsageError`."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} must be True or False, not {value!r:.60}")
    return value


def share_of(name: str, value: Any) -> float:
    """A number from 0 to 1. Raises `UsageError`."""
    share = _number(value)
    if share is None or not 0 <= share <= 1:
        raise UsageError(f"{name} must be a number from 0 to 1, not {value!r:.60}")
    return share


def texts_of(name: str, value: Any) -> dict[str, str]:
    """A mapping of texts to texts. Raises `UsageError`."""
    texts = dict(value) if isinstance(value, Mapping) else None
    if texts is None or not all(isinstance(text, str) for pair in texts.items() for text in pair):
        raise UsageError(f"{name} must map texts to texts, not {value!r:.60}")
    return texts


def shard_of(value: Any) -> tuple[int, int] | None:
    """Part I (from 0) of N as a pair, or None for the whole. Raises `UsageError`."""
    if value is None:
        return None
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise UsageError(f"shard must be a pair (I, N), not {value!r:.60}")
    number, count = count_of("shard I", value[0]), count_of("shard N", value[1])
    if number >= count:
        raise UsageError(f"shard {number}/{count} does not exist: I counts from 0 to N-1")
    return number, count


def _number(value: Any) -> float | None:
    """A number that is one (of numpy too), or None; no bool and no NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = float(value)
    return None if math.isnan(number) else number
