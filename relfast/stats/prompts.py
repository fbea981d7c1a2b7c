"""Prompts from samples by machine code: no import of numpy, no sorting, and little memory."""

from __future__ import annotations

import ctypes
import mmap
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from relfast_kernels.layouts import (
    KIND_COLUMNS,
    KIND_COUNT,
    SAMPLE_BYTES,
    SAMPLE_FURTHER,
    VOTE_COLUMNS,
)

from relfast.stats.sums import ExactSum, units_of

UNIT: Final = "prompts"

_MOST: Final = 2**31 - 2
"""Samples that are counted: they are numbered in 32 bits."""

_KINDS: Final = 1 << 11


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


class Kind(NamedTuple):
    """What is counted of a prompt: its samples, how many are right; of several samples also how many answers
    are the most frequent ones, and how many of those are right."""

    samples: int
    right: int
    winners: int = 0
    winners_right: int = 0


def prompts_of(kinds: Mapping[Kind, int]) -> Prompts:
    """A task's prompts from their numbers by kind: the same sums to the last bit in any order."""
    histogram: dict[tuple[int, int], int] = {}
    majority: dict[int, list[int]] = {}
    for kind in sorted(kinds):
        samples, right, winners, winners_right = kind
        key, times = (samples, right), kinds[kind]
        histogram[key] = histogram.get(key, 0) + times
        if samples > 1:
            entry = majority.setdefault(samples, [0, 0])
            entry[0] += times
            if winners:
                entry[1] += times * (units_of(winners_right / winners) or 0)
    return Prompts(histogram, {n: [count, ExactSum.of(units)] for n, (count, units) in majority.items()})


def _zeros(size: int) -> ctypes.Array[ctypes.c_char]:
    """Memory that is taken only where it is touched, and given back with the last reference."""
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
            memory = self._memory[name] = _zeros(max(1, size))
        elif zeros:
            ctypes.memset(memory, 0, size)
        return memory

    def view(self, name: str, size: int) -> memoryview:
        """Just as many bytes of `room`."""
        return memoryview(self.room(name, size)).cast("B")[:size]


def _power_above(number: int) -> int:
    return 1 << number.bit_length()


def _functions() -> Mapping[str, Callable[..., int]] | None:
    """The machine code, if it is there."""
    from relfast_kernels.compiled import native  # most processes that count rows never come here

    return native.find(UNIT)


class KindCounter:
    """Counts prompts by kind, the samples of some prompts after those of others. All samples of a prompt have
    to come at once."""

    def __init__(self, functions: Mapping[str, Callable[..., int]]) -> None:
        self._functions = functions
        self._space = WorkSpace()
        self._kinds: dict[int, dict[Kind, int]] = {}
        self._repeated = (ctypes.c_int64 * SAMPLE_FURTHER)()
        self._start(_KINDS)

    def _start(self, n_kinds: int) -> None:
        self._n_kinds = n_kinds
        self._table = _zeros(8 * KIND_COLUMNS * n_kinds)

    def room(self, size: int) -> memoryview:
        """Memory for so many bytes of samples, which the next one that is asked for has too."""
        return self._space.view("samples", size)

    def add(self, samples: bytes | bytearray | memoryview) -> None:
        """Count the prompts of some samples; at most 2³¹ - 2 of them."""
        n, data = len(samples) // SAMPLE_BYTES, _address(samples)
        n_heads = _power_above(n + n // 2)
        heads, before = self._space.room("heads", 4 * n_heads, zeros=True), self._space.room("before", 4 * n)
        n_votes = _power_above(2 * self._functions["chain"](data, n, heads, n_heads, before) + 4)
        votes = self._space.room("votes", 8 * VOTE_COLUMNS * n_votes)
        chained = data, n, heads, n_heads, before, votes, n_votes
        table, repeated = bytes(self._table), bytes(self._repeated)
        while self._functions["count"](*chained, self._table, self._n_kinds, self._repeated) < 0:
            self._take(table)
            self._start(16 * self._n_kinds)
            table = bytes(self._table)
            ctypes.memmove(self._repeated, repeated, len(repeated))

    def result(self) -> tuple[dict[int, dict[Kind, int]], dict[int, int]]:
        """Prompts by kind, and those that stand on several lines, by task number. Ends the count."""
        self._take(bytes(self._table))
        return self._kinds, {task: k for task, k in enumerate(self._repeated) if k}

    def _take(self, table: bytes) -> None:
        numbers = array("q")
        numbers.frombytes(table)
        for row, count in enumerate(numbers[KIND_COUNT::KIND_COLUMNS]):
            if count:
                at = row * KIND_COLUMNS
                task, *kind, _ = numbers[at : at + KIND_COLUMNS]
                mine = self._kinds.setdefault(task, {})
                known = Kind(*kind)
                mine[known] = mine.get(known, 0) + count


def kind_counter() -> KindCounter | None:
    """A counter, or None where the machine code is missing (`relfast_kernels.compiled.native`)."""
    functions = _functions()
    return None if functions is None else KindCounter(functions)


def count_kinds(samples: bytes | bytearray) -> tuple[dict[int, dict[Kind, int]], dict[int, int]] | None:
    """Prompts by kind, and those that stand on several lines, by task number; None where the machine code is
    missing."""
    counter = kind_counter() if 0 < len(samples) // SAMPLE_BYTES <= _MOST else None
    if counter is None:
        return None
    counter.add(samples)
    return counter.result()


Divide = Callable[[bytes | bytearray], tuple[memoryview, Sequence[int]]]
"""Puts samples into shares: all of them, and where each share begins and the last one ends. They are where
those of the call before were."""


def divider(shares: int) -> Divide | None:
    """Divides samples into shares (a power of two) so that those of a prompt are in one, in their order.

    None where the machine code is missing.
    """
    functions = _functions()
    if functions is None:
        return None

    space = WorkSpace()

    def divide(samples: bytes | bytearray) -> tuple[memoryview, Sequence[int]]:
        divided, ends = space.view("divided", len(samples)), (ctypes.c_int64 * (shares + 1))()
        n = len(samples) // SAMPLE_BYTES
        functions["divide"](_address(samples), n, _address(divided), ends, shares + 1)
        return divided, list(ends)

    return divide


def _address(samples: bytes | bytearray | memoryview) -> bytes | ctypes.Array[ctypes.c_char]:
    return samples if isinstance(samples, bytes) else (ctypes.c_char * len(samples)).from_buffer(samples)
