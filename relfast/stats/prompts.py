"""Prompts from samples by machine code: no import of numpy, no sorting, and little memory."""

from __future__ import annotations

import ctypes
import mmap
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from relfast_kernels.layouts import (
    KIND_COLUMNS,
    SAMPLE_BYTES,
    SAMPLE_FURTHER,
    VOTE_COLUMNS,
)

from relfast.stats.sums import ExactSum, units_of

UNIT: Final = "prompts"

_MOST: Final = 2**31 - 2
"""Samples that are counted: they are numbered in 32 bits."""

_KINDS: Final = 1 << 9


class Prompts(NamedTuple):
    """A task's prompts.

    Attributes
    ----------
    histogram
        Prompts by (samples, right samples).
    majority
        Number of samples → (prompts, sum of majority scores), for prompts with several.
    """

    histogram: dict[tuple[int, int], int]
    majority: dict[int, list[float]]


def merged(parts: Iterable[Prompts]) -> Prompts:
    """Prompts of one task of which each stands in one part: the same as if all were counted together."""
    histogram: dict[tuple[int, int], int] = {}
    majority: dict[int, list[float]] = {}
    for part in parts:
        for key, times in part.histogram.items():
            histogram[key] = histogram.get(key, 0) + times
        for n_samples, (n_prompts, total) in part.majority.items():
            entry = majority.setdefault(n_samples, [0, ExactSum.of(0)])
            entry[0] += n_prompts
            entry[1] += total
    return Prompts(dict(sorted(histogram.items())), dict(sorted(majority.items())))


class Kind(NamedTuple):
    """What is counted of a prompt: its samples, how many are right; of several samples also how many answers
    are the most frequent ones, and how many of those are right."""

    samples: int
    right: int
    winners: int = 0
    winners_right: int = 0


def prompts_of(kinds: Mapping[Kind, int]) -> Prompts:
    """A task's prompts from their numbers by kind: the same sums to the last bit, whoever counted."""
    histogram: dict[tuple[int, int], int] = {}
    majority: dict[int, list[float]] = {}
    for kind in sorted(kinds):
        key, times = (kind.samples, kind.right), kinds[kind]
        histogram[key] = histogram.get(key, 0) + times
        if kind.samples > 1:
            entry = majority.setdefault(kind.samples, [0, ExactSum.of(0)])
            entry[0] += times
            if kind.winners:
                share = units_of(kind.winners_right / kind.winners) or 0
                entry[1] += ExactSum.of(times * share)
    return Prompts(histogram, majority)


def _zeros(size: int) -> ctypes.Array[ctypes.c_char]:
    """Memory that is taken only where it is touched, and given back when nobody refers to it."""
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return (ctypes.c_char * size).from_buffer(memory)


class WorkSpace:
    """Memory for one count after another: most of a count's time would be the system's, which has to find it
    and clear it, a page at a time."""

    def __init__(self) -> None:
        self._memory: dict[str, ctypes.Array[ctypes.c_char]] = {}

    def room(self, name: str, size: int, *, zeros: bool = False) -> ctypes.Array[ctypes.c_char]:
        """At least so many bytes, with anything in them unless they have to be ``zeros``."""
        memory = self._memory.get(name)
        if memory is None or len(memory) < size:
            memory = self._memory[name] = _zeros(size)
        elif zeros:
            ctypes.memset(memory, 0, size)
        return memory


def _power_above(number: int) -> int:
    return 1 << number.bit_length()


_loaded: list[Mapping[str, Callable[..., int]]] = []


def _functions() -> Mapping[str, Callable[..., int]] | None:
    """The machine code, looked for until it is there."""
    if not _loaded:
        from relfast_kernels.compiled import native  # most processes that count rows never come here

        functions = native.load(UNIT)
        if functions is None:
            return None
        _loaded.append(functions)
    return _loaded[0]


def count_kinds(
    samples: bytes | bytearray, space: WorkSpace | None = None
) -> tuple[dict[int, dict[Kind, int]], dict[int, int]] | None:
    """Prompts by kind, and those that stand on several lines, by task number.

    None where the machine code is missing (`relfast_kernels.compiled.native`).
    """
    n = len(samples) // SAMPLE_BYTES
    functions = _functions() if 0 < n <= _MOST else None
    if functions is None:
        return None
    data = _address(samples)
    n_heads = _power_above(n + n // 2)
    space = space or WorkSpace()
    heads, before = space.room("heads", 4 * n_heads, zeros=True), space.room("before", 4 * n)
    n_votes = _power_above(2 * functions["chain"](data, n, heads, n_heads, before) + 4)
    votes = space.room("votes", 8 * VOTE_COLUMNS * n_votes)
    n_kinds = _KINDS
    while True:
        kinds = space.room("kinds", 8 * KIND_COLUMNS * n_kinds, zeros=True)
        repeated = (ctypes.c_int64 * SAMPLE_FURTHER)()
        found = functions["count"](data, n, heads, n_heads, before, votes, n_votes, kinds, n_kinds, repeated)
        if found >= 0:
            break
        n_kinds *= 16
    table = _numbers(memoryview(kinds)[: 8 * KIND_COLUMNS * found])
    return _by_task(table), {task: k for task, k in enumerate(repeated) if k}


Divide = Callable[[bytes | bytearray], tuple[memoryview, Sequence[int]]]
"""Puts samples into shares: all of them, and where each share begins and the last one ends."""


def divider(shares: int) -> Divide | None:
    """Divides samples into shares (a power of two) so that those of a prompt are in one, in their order.

    None where the machine code is missing.
    """
    functions = _functions()
    if functions is None:
        return None

    def divide(samples: bytes | bytearray) -> tuple[memoryview, Sequence[int]]:
        divided, ends = (ctypes.c_char * len(samples))(), (ctypes.c_int64 * (shares + 1))()
        functions["divide"](_address(samples), len(samples) // SAMPLE_BYTES, divided, ends, shares + 1)
        return memoryview(divided).cast("B"), list(ends)

    return divide


def _address(samples: bytes | bytearray) -> bytes | ctypes.Array[ctypes.c_char]:
    return samples if isinstance(samples, bytes) else (ctypes.c_char * len(samples)).from_buffer(samples)


def _numbers(memory: Any) -> array[int]:
    numbers = array("q")
    numbers.frombytes(memory)
    return numbers


def _by_task(table: array[int]) -> dict[int, dict[Kind, int]]:
    found: dict[int, dict[Kind, int]] = {}
    for at in range(0, len(table), KIND_COLUMNS):
        task, *kind, count = table[at : at + KIND_COLUMNS]
        found.setdefault(task, {})[Kind(*kind)] = count
    return found
