"""Calls the maze kernels, and owns their work space; actions such as ``"move_to: F6"``, and how plans are
found in a response.

Each thread has its own work space, 0.7 MB as long as responses are no longer than 16 kB, so that threads
are safe without the interpreter's lock. Kernels hold that lock for a whole call; therefore texts are scored
some at a time, and other threads run in between."""

from __future__ import annotations

import ctypes
import threading
from array import array
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from relfast_kernels.compiled import native
from relfast_kernels.entry import rows_of
from relfast_kernels.layouts import ACTIONS, BAD, ITEM_COLUMNS, TOKEN_COLUMNS
from relfast_kernels.maze import layouts

UNIT: Final = "maze"

_TEXT_BYTES: Final = 1 << 14
_NUMBERS: Final = 1 << 17
"""Initial work space: for responses of 16 kB and searches of 20,000 states. Larger work space is kept, that
for searches up to `_KEPT`."""

_KEPT: Final = 1 << 21
"""Int32 of work space for searches (8 MB) that a thread keeps: new memory costs more than building in it."""

_NUMBERS_A_BYTE: Final = 6
"""Work space of a search, in int32 per byte of maze: more than published mazes need; else it grows."""

_TEXTS_A_CALL: Final = 32
"""Responses that are scored per call of the kernel, after which another thread may run: 1 ms."""


_SCORE_BYTES: Final = ctypes.sizeof(cast(Any, layouts.Score))


class Machine:
    """The maze kernels with the work space of one thread, which grows as texts and mazes need."""

    def __init__(self) -> None:
        unit = native.functions(UNIT)
        self._judge, self._build, self._scan = unit["judge"], unit["build"], unit["scan"]
        self.desk: Any = layouts.Desk(
            pairs=(ctypes.c_int64 * 2 * layouts.MAX_PAIRS)(), span=(ctypes.c_int64 * 3 * 1)()
        )
        self._make_room(_TEXT_BYTES)
        self._grow(_NUMBERS)
        self._building: Any = layouts.Building(desk=self.desk)
        self._scanning: Any = layouts.Scanning(desk=self.desk)
        self._judging: Any = layouts.Judging(texts=b"", desk=self.desk)
        self._have_room(_TEXTS_A_CALL)

    def _make_room(self, size: int) -> None:
        """Ensure work space for texts of ``size`` bytes."""
        if 2 * size + 64 > self.desk.text_size:
            size += size // 2
            rows = size // layouts.SHORTEST_ITEM + 4
            self.desk.put(
                text=(ctypes.c_char * (2 * size + 64))(),
                items=(ctypes.c_int32 * ITEM_COLUMNS * rows * 2)(),
                tape=(ctypes.c_int64 * TOKEN_COLUMNS * (size // 2 + 16))(),
            )

    def _grow(self, n: int) -> int:
        """Ensure work space of ``n`` int32 for searches; returns how many there are."""
        if n > self.desk.n_numbers:
            self.desk.put(numbers=(ctypes.c_int32 * n)())
        return int(self.desk.n_numbers)

    def _give_back(self) -> None:
        """Give back work space for searches that is too large to be kept."""
        if self.desk.n_numbers > _KEPT:
            self.desk.put(numbers=(ctypes.c_int32 * _NUMBERS)())

    def judge(
        self, responses: Sequence[bytes], problems: Sequence[int], how: int = 0
    ) -> Sequence[layouts.Score]:
        """Find the plans in responses (UTF-8) and score them, each against the problem at the address in
        ``problems``."""
        n, judging = len(responses), self._judging
        if n > judging.n:
            self._have_room(2 * n)
        longest = start = 0
        for row, response, problem in zip(self._responses, responses, problems, strict=False):
            size = len(response)
            row.start, row.end, row.problem = start, start + size, problem
            start += size
            longest = max(longest, size)
        self._make_room(longest)
        judging.texts = responses[0] if n == 1 else b"".join(responses)
        ctypes.memset(self._scores, 0, _SCORE_BYTES * n)
        done, judging.how = 0, how
        while done < n:
            judging.start, judging.stop = done, min(done + _TEXTS_A_CALL, n)
            now = self._judge(judging)
            if now == done:
                self._grow(8 * self.desk.n_numbers)
            done = now
        self._give_back()
        copy: Any = layouts.Score
        return [copy.from_buffer_copy(score) for score in self._scores[:n]]

    def _have_room(self, n: int) -> None:
        """Have room for so many responses and their scores."""
        self._responses: Any = rows_of(layouts.Response, n)
        self._scores: Any = rows_of(layouts.Score, n)
        self._judging.put(responses=self._responses, scores=self._scores)

    def build(self, structure: bytes, gold: bytes, target: bytes) -> tuple[int, Any]:
        """Build a problem (`relfast_kernels.maze.layouts`) from a maze (JSON), the gold plan, and the name of
        the person to rescue, for gold without a rescue: its size and numbers. If that fails, a `FLAW`,
        and the index of a gold item that is no action with the name of a door that cannot be read."""
        raw, building, told = structure + gold + target, self._building, self._building.told
        building.structure, building.gold = len(structure), len(structure) + len(gold)
        building.end = len(raw)
        self._make_room(len(raw))
        size = self._grow(_NUMBERS_A_BYTE * len(raw))
        ctypes.memmove(self.desk.text, raw, len(raw))
        while (n := self._build(building)) == layouts.NO_ROOM:
            size = self._grow(8 * size)
        numbers = array("i", self._bytes_of(self.desk.numbers, told.offset, max(n, 0)))
        self._give_back()
        if n > 0:
            return n, numbers
        name = self._bytes_of(self.desk.text, told.begin, told.end - told.begin)
        return n, (told.index, name.decode("utf-8", "surrogatepass"))

    @staticmethod
    def _bytes_of(memory: Any, start: int, n: int) -> bytes:
        """The bytes of ``n`` items of an array from ``start`` on."""
        return bytes(memoryview(memory)[start : start + n])

    def plan(self, raw: bytes) -> tuple[bytes, tuple[int, int], list[list[int]]]:
        """The last plan of a text (UTF-8): the text, followed by the decoded forms of items with escapes; the
        plan's begin and end; and its items, none without a plan."""
        scanning, desk = self._scanning, self.desk
        scanning.size = len(raw)
        self._make_room(len(raw))
        ctypes.memmove(desk.text, raw, len(raw))
        self._scan(scanning)
        begin, end, _ = desk.span[0]
        found = [item[:] for item in desk.items[1][: scanning.told.n_items]]
        return self._bytes_of(desk.text, 0, 2 * len(raw)), (begin, end), found


class _Threads(threading.local):
    machine: Machine | None = None


_THREADS: Final = _Threads()


def machine() -> Machine:
    """The `Machine` of the calling thread."""
    if _THREADS.machine is None:
        _THREADS.machine = Machine()
    return _THREADS.machine


CODES: Final = {name: code for code, name in enumerate(ACTIONS)}
"""The kernels' code of each action."""

MAX_BYTES: Final = 1 << 29
"""Longest response that is read, in bytes: the kernel counts twice as many in 32 bits. Readers of files
refuse lines far shorter than this."""


class Action(NamedTuple):
    """An action and its parameter: a room, a key or a person."""

    name: str
    parameter: str

    def __str__(self) -> str:
        return f"{self.name}: {self.parameter}"


def as_action(item: object) -> Action | None:
    """The action given as ``"action: param"`` or as a pair ``(action, param)``; None for anything else."""
    if isinstance(item, str):
        name, _, parameter = item.partition(":")
        name, parameter = name.strip(), parameter.strip()
    elif isinstance(item, Sequence) and len(item) == 2:
        name, parameter = (part.strip() if isinstance(part, str) else _number(part) for part in item)
    else:
        return None
    return Action(name, parameter) if name in CODES and parameter else None


def _number(value: object) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def encode(text: str) -> bytes:
    """The text as UTF-8, lone surrogates included; empty if it is longer than `MAX_BYTES`."""
    raw = text.encode("utf-8", "surrogatepass")
    return raw if len(raw) <= MAX_BYTES else b""


def parse_actions(text: object) -> list[str] | None:
    """The last plan in a text, as ``"action: param"`` strings; None if there is none.

    A plan is a list of ``'action: param'`` strings or of ``('action', 'param')`` pairs (tuples or lists),
    quoted and escaped as in Python or JSON, within prose, a code fence or one more list. The last list with
    at least one of the six actions counts. Items that are no action stay in it. Never raises; takes linear
    time.

    >>> parse_actions("First ['start: A1'], or better: [('start', 'A1'), ('rescue', 'Bob')]")
    ['start: A1', 'rescue: Bob']
    """
    if not isinstance(text, str):
        return None
    data, _, items = machine().plan(encode(text))
    return [_write(data, item) for item in items] or None


def last_plan(text: str) -> tuple[int, int] | None:
    """Begin and end, in characters, of the plan that `parse_actions` finds; None without a plan."""
    raw = encode(text)
    _, span, items = machine().plan(raw)
    if not items:
        return None
    begin, end = (len(raw[:place].decode("utf-8", "surrogatepass")) for place in span)
    return begin, end


def _write(data: bytes, item: Sequence[int]) -> str:
    kind, _, begin, end, _ = item
    text = data[begin:end].decode("utf-8", "surrogatepass")
    return f"{ACTIONS[kind]}: {text}" if kind != BAD else text


def as_plan(actions: Any) -> list[Action | None] | None:
    """The actions of a plan given as text or list (None for an item that is no action); None if neither."""
    items = parse_actions(actions) if isinstance(actions, str) else actions
    return [as_action(item) for item in items] if isinstance(items, Sequence) else None
