"""Responses read by the kernel of their task's ``strict`` extractor, for rewards: one, or many at once.

A call costs as much as what is around it: a kernel is called by its bare address, with a work place that is
ready to be pointed to, and what can be told apart by a small number is one object for all.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final

from relfast_kernels.compiled import native
from relfast_kernels.layouts import (
    NOT_FOUND,
    PATTERN_WORK,
    READ_COLUMNS,
    READ_CUT,
    READ_PATTERNS,
    READ_SHIFT,
    READ_SIZE,
    READ_WORK,
    REASONS,
    TAXA_SHIFT,
    UNREAD,
)

from relfast.engine.text_work import lazy_buffer, numbers
from relfast.records import Extracted, Options
from relfast.tasks import TASKS
from relfast.tasks.base import Task, resolve
from relfast.tasks.reasoning import MAX_STRICT_CHARS, read_strictly

MAX_BYTES: Final = 4 * MAX_STRICT_CHARS
"""Of a text that ``strict`` reads."""

LONG_BYTES: Final = 1_000_000
"""From so many on, a kernel lets go of the interpreter's lock: in 2 ms, and other threads are not kept
waiting for longer than they wait for each other (5 ms, `sys.getswitchinterval`)."""

AT_ONCE: Final = 64
"""Responses that a kernel gets in one call: 2 kB each, they are still in the cache when it reads them."""

_ROOM: Final = 3 * MAX_BYTES + 512
_NUMBER: Final = (1 << TAXA_SHIFT) - 1
_TASK_BITS: Final = 4
FEW: Final = 16
"""Responses that cost less one by one than what a call with many is packed into."""

_TAXA_ROOM: Final = 1 << 13


Functions = Mapping[str, Callable[..., int]]
Kernel = tuple[int, Callable[..., Any]]
"""A task's number, and its ``value_of``."""
Claim = tuple[int, tuple[int, ...]]
"""A number, and taxa named beside it."""
Found = int | Claim | Extracted[Any] | None
"""What has been read of a response: a number that says it all, or with taxa, or what it says; None: ask its
extractor."""


class _Place:
    """What a kernel works with, for one thread at a time; and references to what it is called with."""

    __slots__ = (
        "_context",
        "all_named",
        "context",
        "failure",
        "named",
        "named_in_all",
        "number",
        "read",
        "result",
        "results",
        "work",
    )

    def __init__(self) -> None:
        self.work, patterns = lazy_buffer(_ROOM), lazy_buffer(8 * PATTERN_WORK)
        self.named = (ctypes.c_int64 * PATTERN_WORK).from_buffer(patterns)
        results, all_named = numbers(AT_ONCE), numbers(_TAXA_ROOM)
        self.read, self.named_in_all = _as_numbers(results), _as_numbers(all_named)
        self.results, self.all_named = ctypes.byref(results), ctypes.byref(all_named)
        self._context = context = numbers(READ_COLUMNS)
        for column, memory in (
            (READ_WORK, self.work),
            (READ_PATTERNS, patterns),
        ):
            context[column] = ctypes.addressof(memory)
        context[READ_SIZE] = _ROOM
        self.number = ctypes.c_int64()
        self.result, self.failure = ctypes.byref(self.number), ctypes.byref(ctypes.c_void_p())
        self.context = ctypes.byref(context)


class StrictReader:
    """Reads responses of the tasks whose `TextKernel` has ``value_of``. It may be called from any thread.

    Parameters
    ----------
    options
        With another policy than ``strict``, or without compiled ``functions``, it knows nothing.
    functions
        Those of the native unit ``text``, if they have been loaded.
    """

    def __init__(self, options: Options, functions: Functions | None = None) -> None:
        if functions is None:
            functions = native.find("text")
        self._reasoning = options.reasoning
        self._is_cut = READ_CUT if options.reasoning else 0
        self._kernels: dict[str, Kernel] = {}
        if not options.strict or functions is None:
            return
        self._read, self._read_many, self._read_much = (
            functions[name].__wrapped__  # type: ignore[attr-defined]
            for name in ("read", "read_many", "read_much")
        )
        self._places: list[_Place] = []
        self._shared: dict[int, Extracted[Any]] = {}
        self._kernels = {
            name: (task.text_kernel.number, resolve(task.text_kernel.value_of))
            for name, task in TASKS.items()
            if task.text_kernel is not None and task.text_kernel.value_of is not None
        }
        assert all(number < 1 << _TASK_BITS for number, _ in self._kernels.values())

    def read(self, task: Task, response: object) -> Extracted[Any] | None:
        """What the task's extractor would say, or None: it has to be asked."""
        kernel = self._kernels.get(task.name)
        return None if kernel is None or type(response) is not str else self.read_text(kernel, response)

    @property
    def tasks(self) -> list[Task]:
        """Those whose responses it reads."""
        return [TASKS[name] for name in self._kernels]

    def kernel_of(self, task: Task) -> Kernel:
        """What `read_text` wants for responses of one of its tasks."""
        return self._kernels[task.name]

    def read_text(self, kernel: Kernel, response: str) -> Extracted[Any] | None:
        """`read` for who knows the task."""
        return self.meaning(kernel, self.find(kernel, response))

    def meaning(self, kernel: Kernel, found: Found) -> Extracted[Any] | None:
        """What has been found; one object for all of a number, not to be changed."""
        if isinstance(found, tuple):
            return Extracted(kernel[1](*found))
        if not isinstance(found, int):
            return found
        known = self._shared.get(found << _TASK_BITS | kernel[0])
        if known is None:
            if found >= 0:
                known = Extracted(kernel[1](found, ()))
            else:
                known = Extracted(kernel[1](None, ()), found=False, reason=REASONS[NOT_FOUND - found])
            self._shared[found << _TASK_BITS | kernel[0]] = known
        return known

    def find(self, kernel: Kernel, response: str) -> Found:
        """`read_text` before anybody asks for its `meaning`."""
        is_cut = 0
        if self._is_cut or len(response) > MAX_STRICT_CHARS:
            is_cut = READ_CUT
            response, reason = read_strictly(response, self._reasoning)
            if reason is not None:
                return Extracted(kernel[1](None, ()), found=False, reason=reason)
        try:
            data = response.encode()
        except UnicodeEncodeError:
            return None
        n = len(data)
        places = self._places
        try:
            place = places.pop()
        except IndexError:  # as many as threads are in here
            place = _Place()
        if self._read(place.result, place.failure, data, n << READ_SHIFT | is_cut | kernel[0], place.context):
            raise RuntimeError("the kernel that reads responses failed")
        number = place.number.value
        found: Found = number
        if number > _NUMBER:
            found = number & _NUMBER, tuple(place.named[: number >> TAXA_SHIFT])
        places.append(place)
        return found

    def read_all(self, task: Task, responses: Sequence[object]) -> list[Extracted[Any] | None]:
        """`read` of many responses of one task, in their order."""
        kernel = self._kernels.get(task.name)
        if kernel is None:
            return [None] * len(responses)
        return [self.meaning(kernel, found) for found in self.find_all(kernel, responses)]

    def find_all(self, kernel: Kernel, responses: Sequence[object]) -> list[Found]:
        """`find` of many responses of one task, in their order; None of what is no text."""
        if self._is_cut or len(responses) <= FEW:
            return [self.find(kernel, response) if type(response) is str else None for response in responses]
        all_found: list[Found] = []
        for start in range(0, len(responses), AT_ONCE):
            all_found += self._many(kernel, responses[start : start + AT_ONCE])
        return all_found

    def _many(self, kernel: Kernel, responses: Sequence[object]) -> list[Found]:
        number = kernel[0]
        texts, at = _encoded(responses)
        n = len(texts)
        said: list[Found] = [None] * len(responses)
        if n < len(responses):
            for k in sorted(set(range(len(responses))).difference(at)):
                response = responses[k]
                if type(response) is str and len(response) > MAX_STRICT_CHARS:
                    said[k] = self.find(kernel, response)
        if not n:
            return said
        sizes = [*map(len, texts)]
        # one after the other, where the kernel is told of each by a number
        joined = b"".join(texts)
        start = ctypes.cast(ctypes.c_char_p(joined), ctypes.c_void_p).value or 0
        places = self._places
        try:
            place = places.pop()
        except IndexError:
            place = _Place()
        if (self._read_much if len(joined) > LONG_BYTES else self._read_many)(
            place.result,
            place.failure,
            struct.pack(f"{n}q", *accumulate(sizes[:-1], initial=start)),
            struct.pack(f"{n}q", *[size << READ_SHIFT | number for size in sizes]),
            ctypes.c_int64(n),  # a plain integer would be passed in 32 bits
            place.results,
            place.all_named,
            ctypes.c_int64(_TAXA_ROOM),
            place.context,
        ):
            raise RuntimeError("the kernel that reads responses failed")
        results = place.read[:n].tolist()
        found: list[Found] = [*results]
        kinds = set(results)
        one_by_one: list[int] = []
        if max(kinds) > _NUMBER:
            taxa, begin = place.named_in_all[: place.number.value].tolist(), 0
            for k, one in enumerate(results):
                if one > _NUMBER:
                    end = begin + (one >> TAXA_SHIFT)
                    found[k] = one & _NUMBER, tuple(taxa[begin:end])
                    begin = end
        if UNREAD in kinds:
            one_by_one = [k for k, one in enumerate(results) if one == UNREAD]
        places.append(place)
        for k in one_by_one:
            response = responses[at[k]]
            assert isinstance(response, str)
            found[k] = self.find(kernel, response)
        if n == len(responses):
            return found
        for k, one_found in zip(at, found, strict=True):
            said[k] = one_found
        return said


def _as_numbers(array: ctypes.Array[ctypes.c_int64]) -> memoryview:
    """An array that can be read many at a time."""
    return memoryview(array).cast("B").cast("q")


def _encoded(responses: Sequence[Any]) -> tuple[list[bytes], Sequence[int]]:
    """The bytes of responses that a kernel can be given many of, and their places."""
    try:
        if set(map(type, responses)) == {str} and max(map(len, responses)) <= MAX_STRICT_CHARS:
            return [*map(str.encode, responses)], range(len(responses))
    except UnicodeEncodeError:
        pass
    texts, at = [], []
    for k, response in enumerate(responses):
        with suppress(UnicodeEncodeError):
            if type(response) is str and len(response) <= MAX_STRICT_CHARS:
                texts.append(response.encode())
                at.append(k)
    return texts, at
