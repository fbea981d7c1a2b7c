"""Calls the maze kernels, and owns their work space.

Each thread has its own work space, 0.7 MB as long as responses are no longer than 16 kB, so that threads
are safe without the interpreter's lock. Kernels hold that lock for a whole call; therefore texts are scored
some at a time, and other threads run in between."""

from __future__ import annotations

import ctypes
import threading
from array import array
from collections.abc import Sequence
from typing import Any, Final

from relfast_kernels.compiled import native
from relfast_kernels.layouts import ITEM_COLUMNS, TOKEN_COLUMNS
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


class Machine:
    """The maze kernels with the work space of one thread, which grows as texts and mazes need."""

    def __init__(self) -> None:
        unit = native.functions(UNIT)
        self._judge, self._build, self._scan = unit["judge"], unit["build"], unit["scan"]
        self._spaces: dict[int, Any] = {}
        self.desk = array("q", bytes(8 * layouts.DESK_COLUMNS))
        self._desk = self.desk.buffer_info()[0]
        self._put(layouts.DESK.pairs, 16 * layouts.MAX_PAIRS)
        self._put(layouts.DESK.span, 24)
        self._make_room(_TEXT_BYTES)
        self._grow(_NUMBERS)

    def _put(self, place: int, size: int) -> None:
        """Allocate work space of ``size`` bytes, all zeros, and enter its address in the desk."""
        self._spaces[place] = space = (ctypes.c_char * size)()
        self.desk[place] = ctypes.addressof(space)

    def _make_room(self, size: int) -> None:
        """Ensure work space for texts of ``size`` bytes."""
        if 2 * size + 64 > self.desk[layouts.DESK.text_size]:
            size += size // 2
            rows = 2 * (size // layouts.SHORTEST_ITEM + 4)
            self._put(layouts.DESK.text, 2 * size + 64)
            self._put(layouts.DESK.items, 4 * ITEM_COLUMNS * rows)
            self._put(layouts.DESK.tape, 8 * TOKEN_COLUMNS * (size // 2 + 16))
            self.desk[layouts.DESK.text_size], self.desk[layouts.DESK.items_size] = 2 * size + 64, rows

    def _grow(self, n: int) -> int:
        """Ensure work space of ``n`` int32 for searches; returns how many there are."""
        if n > self.desk[layouts.DESK.numbers_size]:
            self._put(layouts.DESK.numbers, 4 * n)
            self.desk[layouts.DESK.numbers_size] = n
        return int(self.desk[layouts.DESK.numbers_size])

    def _give_back(self) -> None:
        """Give back work space for searches that is too large to be kept."""
        if self.desk[layouts.DESK.numbers_size] > _KEPT:
            self.desk[layouts.DESK.numbers_size] = 0
            self._grow(_NUMBERS)

    def judge(
        self, responses: Sequence[bytes], problems: Sequence[int], how: int = 0
    ) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
        """Find the plans in responses (UTF-8) and score them, each against the problem at the address in
        ``problems``: a row of `FOUND` and a row of `RATIO` (`relfast_kernels.maze.layouts`) per response."""
        n, sizes = len(responses), [*map(len, responses)]
        texts = (ctypes.c_char_p * n)(*responses)
        self._make_room(max(sizes, default=0))
        found, ratios = (
            array("q", bytes(8 * layouts.FOUND_COLUMNS * n)),
            array("d", bytes(8 * layouts.N_RATIOS * n)),
        )
        lengths, addresses = array("q", sizes), array("q", problems)
        inputs = lengths.buffer_info()[0], addresses.buffer_info()[0]
        results = found.buffer_info()[0], ratios.buffer_info()[0]
        at = 0
        while at < n:
            stop = min(at + _TEXTS_A_CALL, n)
            done = self._judge(ctypes.addressof(texts), *inputs, at, stop, how, *results, self._desk)
            if done < stop and done == at:
                self._grow(8 * self.desk[layouts.DESK.numbers_size])
            at = done
        self._give_back()
        whole, fractions = iter(found.tolist()), iter(ratios.tolist())
        found_rows = zip(*[whole] * layouts.FOUND_COLUMNS, strict=True)
        ratio_rows = zip(*[fractions] * layouts.N_RATIOS, strict=True)
        return [*zip(found_rows, ratio_rows, strict=True)]

    def build(self, structure: bytes, gold: bytes, target: bytes) -> tuple[int, Any]:
        """Build a problem (`relfast_kernels.maze.layouts`) from a maze (JSON), the gold plan, and the name of
        the person to rescue, for gold without a rescue: its size and numbers. If that fails, a `FLAW`,
        and the index of a gold item that is no action with the name of a door that cannot be read."""
        raw, about = structure + gold + target, array("q", bytes(24))
        ends = len(structure), len(structure) + len(gold), len(raw)
        self._make_room(len(raw))
        size = self._grow(_NUMBERS_A_BYTE * len(raw))
        ctypes.memmove(self.desk[layouts.DESK.text], raw, len(raw))
        while (n := self._build(*ends, about.buffer_info()[0], self._desk)) == layouts.NO_ROOM:
            size = self._grow(8 * size)
        numbers = array("i", ctypes.string_at(self.desk[layouts.DESK.numbers] + 4 * about[1], 4 * max(n, 0)))
        self._give_back()
        if n > 0:
            return n, numbers
        name = ctypes.string_at(self.desk[layouts.DESK.text] + about[0], max(0, about[1] - about[0]))
        return n, (about[0], name.decode("utf-8", "surrogatepass"))

    def plan(self, raw: bytes) -> tuple[bytes, tuple[int, int], list[list[int]]]:
        """The last plan of a text (UTF-8): the text, followed by the decoded forms of items with escapes; the
        plan's begin and end; and its items, none without a plan."""
        size, result, place = len(raw), array("q", bytes(8)), layouts.DESK
        self._make_room(size)
        text, items, span = self.desk[place.text], self.desk[place.items], self.desk[place.span]
        ctypes.memmove(text, raw, size)
        self._scan(text, size, span, 1, result.buffer_info()[0], self._desk)
        begin, end, _ = array("q", ctypes.string_at(span, 24))
        row = 4 * ITEM_COLUMNS
        first = items + row * (self.desk[place.items_size] // 2)
        flat = array("i", ctypes.string_at(first, row * result[0])).tolist()
        found = [flat[at : at + ITEM_COLUMNS] for at in range(0, len(flat), ITEM_COLUMNS)]
        return ctypes.string_at(text, 2 * size), (begin, end), found


class _Threads(threading.local):
    machine: Machine | None = None


_THREADS: Final = _Threads()


def machine() -> Machine:
    """The `Machine` of the calling thread."""
    if _THREADS.machine is None:
        _THREADS.machine = Machine()
    return _THREADS.machine
