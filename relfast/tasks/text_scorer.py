"""Scoring REL-A, REL-B1 and REL-C1 with the kernels of `relfast_kernels.text`: how golds are passed to
them, how their result keys become outcomes, and `TextScorer`, which scores single texts.

What the kernels cannot score (gold of an unusual form; a lone surrogate under ``strict``) is left to the
task's ordinary scorer.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

import orjson
from relfast_kernels import layouts
from relfast_kernels.compiled import native
from relfast_kernels.entry import Int, Spare, rows_of
from relfast_kernels.text.layouts import Golds, Judging, Naming, Work

from relfast.records import Options, Outcome
from relfast.support.system import lazy_memory
from relfast.tasks.base import MAX_TEXTS, KernelScorer, Task, TextKernel, resolve
from relfast.tasks.reasoning import read_strictly, strip_reasoning, utf8


def numbers(n: int) -> ctypes.Array[ctypes.c_int64]:
    """An array of n int64 zeros."""
    return (ctypes.c_int64 * n)()


def in_rows(columns: int, memory: ctypes.Array[Any]) -> Any:
    """The same memory as rows of so many int64."""
    kind: Any = Int * columns
    return rows_of(kind, ctypes.sizeof(memory) // ctypes.sizeof(kind), memory)


def work_space() -> Work:
    """Work space of a kernel, allocated when touched."""
    arrays = {}
    for name, field in Work.held.items():
        kind: Any = Int
        for size in reversed(field.shape):
            kind *= size
        arrays[name] = kind.from_buffer(lazy_memory(ctypes.sizeof(kind)))
    return Work(**arrays)


# golds


def _naming() -> Any:
    settings = numbers(layouts.SET_SIZE)
    settings[layouts.SET_STRICT] = True
    return Naming(question=b"", gold=b"", settings=settings, work=work_space(), out=(ctypes.c_char * 1)())


_NAMING: Final = Spare[Any](_naming)


def needs_question(task: Task, options: Options) -> bool:
    """Whether the options' policy needs the question to read the task's gold."""
    return options.strict and "question" in task.strict_needs


def gold_text(answer: object) -> bytes:
    """The JSON of those fields of gold that the kernel reads; for unusable gold ``0``, which it rejects."""
    if not isinstance(answer, Mapping):
        return b"0"
    try:
        return orjson.dumps({name: answer[name] for name in layouts.GOLD_FIELDS if name in answer})
    except (TypeError, ValueError, RecursionError):
        return b"0"


def compared_text(text: bytes, question: object) -> bytes:
    """A `gold_text` with what a policy that needs the question compares
    (`relfast_kernels.layouts.GOLD_COLUMNS`)."""
    naming = _NAMING.take()
    naming.gold = text
    naming.question = utf8(question) if isinstance(question, str) and ">" in question else b""
    room = 2 * naming.n_question + 20 * naming.n_gold + 64
    if room > naming.n_out:
        naming.out = (ctypes.c_char * (2 * room))()
    size = native.functions("text")["name_taxa"](naming)
    compared: bytes = naming.out[:size] if size else text
    if room <= _MOST_KEPT:
        _NAMING.append(naming)
    return compared


def least_measure(options: Options, kernels: Sequence[TextKernel]) -> int:
    """The smallest score of a right answer (`TextKernel.least`) as the bits of a float64, or 0."""
    for kernel in kernels:
        if kernel.least is not None:
            return int.from_bytes(struct.pack("<d", getattr(options, kernel.least)), "little")
    return 0


_MOST_KEPT: Final = 1 << 18
"""Bytes of room to settle a gold's taxa that are kept for the next one."""

_ROW: Final = struct.Struct(f"{layouts.GOLD_COLUMNS}q")


class PreparedGolds:
    """A store of numbered golds in the layout that kernels read; ``view`` is what they get.

    Parameters
    ----------
    most, most_bytes
        Maximum number of golds, and maximum bytes of their JSON.
    slots
        Size of the hash table that finds golds by digest, a power of two; the caller fills the table.
    """

    def __init__(self, most: int, most_bytes: int, slots: int = 1) -> None:
        sizes = most_bytes, most * _ROW.size, slots * 8, slots * 8
        text, rows, *others = map(lazy_memory, sizes)
        self._text, self._rows = (memoryview(part).cast("B") for part in (text, rows))
        self.digests, self.numbers = (memoryview(part).cast("B").cast("q") for part in others)
        self.n = self.used = 0
        self._most, self._most_bytes = most, most_bytes
        digests, numbers = (rows_of(Int, slots, part) for part in others)
        self.view = Golds(
            text=text, rows=in_rows(layouts.GOLD_COLUMNS, rows), digests=digests, numbers=numbers
        )

    def has_room(self, n: int) -> bool:
        """Whether there is room for ``n`` more golds of usual size."""
        return self.n + n <= self._most and self.used <= self._most_bytes // 2

    def add(self, task: int, text: bytes, id: bytes = b"") -> int:
        """Store a gold: the number of its task, its JSON, and the JSON of the id in its rows. Returns the
        gold's number; -1 if there is no room."""
        begin = self.used
        middle, end = begin + len(text), begin + len(text) + len(id)
        if end > self._most_bytes or self.n == self._most:
            return -1
        self._text[begin:end] = text + id
        _ROW.pack_into(self._rows, _ROW.size * self.n, task, begin, middle, middle, end)
        self.n, self.used = self.n + 1, end
        return self.n - 1


# the kernel's result keys

_COUNT_SHIFTS: Final = (layouts.TP_SHIFT, layouts.PRED_SHIFT, layouts.GOLD_SHIFT)


def outcome_of(kernel: TextKernel, key: int, *, strict: bool, details: bool) -> Outcome:
    """The outcome that a kernel's result key encodes, without its vote; lists in its details are empty."""
    metrics: dict[str, Any] = {}
    shown: dict[str, Any] = {}
    if kernel.metrics is not None:
        counts = (key >> shift & layouts.KEY_COUNT for shift in _COUNT_SHIFTS)
        metrics = resolve(kernel.metrics)(bool(key & layouts.GOLD_YES), *counts)
    if strict:
        metrics["reason"] = layouts.REASONS[key >> layouts.REASON_SHIFT & layouts.KEY_REASON]
    if details:
        values = (
            key >> shift & layouts.KEY_VALUE for shift in (layouts.PRED_VALUE_SHIFT, layouts.GOLD_VALUE_SHIFT)
        )
        shown = resolve(kernel.details)(*values)
    return Outcome(bool(key & layouts.CORRECT), metrics, shown, found=bool(key & layouts.FOUND))


# scoring single texts

MOST_GOLDS: Final = 1 << 14
MOST_BYTES: Final = 1 << 23
MOST_KNOWN: Final = 1 << 12
"""Maximum golds, bytes of their JSON, and cached outcomes: gold may hold any number."""

MOST_ASKED: Final = 1 << 9
LONGEST: Final = 1 << 15
"""Maximum golds whose last question is kept, and characters of such a question."""

SCRATCH: Final = 1 << 24
"""Bytes of work space; scoring a text takes up to sixteen times its size."""

LONG: Final = 1_000_000
"""Texts longer than this many bytes are scored without the GIL. Shorter ones take at most 2 ms, less than
other threads wait for each other anyway (5 ms, `sys.getswitchinterval`)."""


class _Desk:
    """Memory and arguments for calls of the kernel by one thread at a time."""

    __slots__ = ("arguments", "judging", "rows", "scratch", "text")

    def __init__(self, settings: ctypes.Array[ctypes.c_int64], golds: PreparedGolds) -> None:
        record, scratch = numbers(layouts.RECORD_COLUMNS), lazy_memory(SCRATCH)
        declared: Any = Judging
        self.judging = judging = declared(
            text=b"", record=record, settings=settings, golds=golds.view, work=work_space(), scratch=scratch
        )
        # both are quicker than what the struct itself has, by 60 and by 200 ns a call
        here, failure = ctypes.byref(judging), ctypes.byref(judging, declared.failure.offset)
        self.arguments = here, failure, here
        self.text = ctypes.c_char_p.from_buffer(judging, declared.at_text.offset)
        self.rows, self.scratch = memoryview(record).cast("B").cast("q"), memoryview(scratch).cast("B")


class TextScorer(KernelScorer):
    """The `KernelScorer` of a task that has a `TextKernel`. ``functions``: those of the native unit ``text``.
    Outcomes always have details (``shows`` is ignored), and there is no limit ``longest``."""

    def __init__(self, task: Task, options: Options, functions: Mapping[str, Callable[..., int]]) -> None:
        kernel = task.text_kernel
        assert kernel is not None
        self._kernel, self._options = kernel, options
        self._score_short, self._score_long = (
            functions[name].__wrapped__  # type: ignore[attr-defined]
            for name in ("judge", "judge_long")
        )
        cuts = options.strict or options.strip_reasoning
        self._cuts_in_python = cuts and bool(options.reasoning)
        """Reasoning is cut in Python, as the kernel does not know the user's own marks of reasoning."""
        self._settings = settings = numbers(layouts.SET_SIZE)
        settings[layouts.SET_STRIP] = (
            layouts.IS_CUT if self._cuts_in_python else layouts.CUTS if cuts else layouts.KEEPS
        )
        settings[layouts.SET_DETAILS], settings[layouts.SET_STRICT] = True, options.strict
        settings[layouts.SET_LEAST] = least_measure(options, [kernel])
        self._needs_question = needs_question(task, options)
        self._list_fields = [name for name, value in resolve(kernel.details)(0, 0).items() if value == []]
        """Fields of the details that are lists; the kernel writes them as JSON."""
        self._golds = PreparedGolds(MOST_GOLDS, MOST_BYTES)
        self._adding = threading.Lock()
        read = [name for name in layouts.GOLD_FIELDS if name in task.gold.keys[0]]
        self._field = read[0] if len(read) == 1 else None
        """The field of gold that the kernel reads, if it reads only one: a shortcut to find known golds."""
        self._by_value: dict[str | int, int] = {}
        self._numbers: dict[bytes, int] = {}
        self._asked: dict[bytes, tuple[object, int]] = {}
        self._known: dict[Any, Outcome] = {}
        self._desks: list[_Desk] = []

    @classmethod
    def open(cls, task: Task, options: Options, *, shows: bool, longest: int) -> Self | None:
        functions = native.find("text")
        return None if functions is None else cls(task, options, functions)

    @property
    def is_full(self) -> bool:
        return not self._golds.has_room(MAX_TEXTS)

    def prepare(self, answer: object, question: object) -> int:
        if type(answer) is not dict:
            return -1
        value = answer.get(self._field)
        known = self._by_value.get(value) if type(value) is str or type(value) is int else None
        if known is not None:
            return known
        # whatever is wrong with this gold, the task's scorer reports it in a row
        text = gold_text(answer)
        if self._needs_question:
            return self._prepare_with_question(text, question)
        number = self._add(text)
        if self._field and number >= 0 and (type(value) is str or type(value) is int):
            self._by_value[value] = number
        return number

    def _prepare_with_question(self, text: bytes, question: object) -> int:
        """`prepare` for a policy that needs the question. The last one of each gold is known: a step has
        several rollouts of it."""
        known = self._asked.get(text)
        is_usual = question is None or (type(question) is str and len(question) <= LONGEST)
        if known is not None and is_usual and known[0] == question:
            return known[1]
        number = self._add(compared_text(text, question))
        if is_usual:
            if len(self._asked) >= MOST_ASKED:
                self._asked = {}
            self._asked[text] = question, number
        return number

    def _add(self, text: bytes) -> int:
        """The number of the gold with this JSON, stored now if it is new; -1 if there is no room."""
        number = self._numbers.get(text)
        if number is None:
            with self._adding:
                number = self._numbers.get(text, -1)
                if number < 0:
                    number = self._golds.add(self._kernel.number, text)
                    if number >= 0:
                        self._numbers[text] = number
        return number

    def score(self, golds: Sequence[int], texts: Sequence[str]) -> list[Outcome | None]:
        # calling the kernel once per text is as fast as one call for all
        return [*map(self._score, golds, texts)]

    def _score(self, gold: int, text: str) -> Outcome | None:
        """The outcome of one text; None if the task's scorer must score it."""
        if self._cuts_in_python:
            marks = self._options.reasoning
            if self._options.strict:
                text, why = read_strictly(text, marks)
                if why is not None:
                    return None
            else:
                text = strip_reasoning(text, marks)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            if self._options.strict:
                return None  # no answer, as the task's scorer says without looking at it
            data = utf8(text)
        try:
            desk = self._desks.pop()
        except IndexError:  # every desk is in use by another thread
            desk = _Desk(self._settings, self._golds)
        rows, size = desk.rows, len(data)
        rows[layouts.RECORD_KEY], desk.text.value, desk.judging.n_text = gold, data, size
        if (self._score_short if size <= LONG else self._score_long)(*desk.arguments):
            raise RuntimeError("the kernel that scores responses failed")
        key = rows[layouts.RECORD_KEY]
        outcome = self._known.get(key)
        if outcome is None and key >= 0:
            outcome = self._outcome(desk)
        self._desks.append(desk)
        return outcome

    def _outcome(self, desk: _Desk) -> Outcome:
        """The outcome of the result that the kernel left in ``desk``; cached by key and listed texts."""
        rows = desk.rows
        key = rows[layouts.RECORD_KEY]
        known_as: Any = key
        listed = b""
        if self._list_fields:
            listed = bytes(desk.scratch[rows[layouts.RECORD_PRED] : rows[layouts.RECORD_PRED_END]])
            known_as = key, listed
            known = self._known.get(known_as)
            if known is not None:
                return known
        outcome = outcome_of(self._kernel, key, strict=self._options.strict, details=True)
        outcome.vote = rows[layouts.RECORD_VOTE] if outcome.found else None
        for name in self._list_fields:
            outcome.details[name] = orjson.loads(listed)
        if len(self._known) >= MOST_KNOWN:
            self._known = {}
        self._known[known_as] = outcome
        return outcome
