"""How many lines blocks have: readers tell it to what needs it before the blocks are done.

Large files are cut without being read: only workers see all the bytes of a block, and they count its lines
while they scan it. The rows of a block are numbered after all lines before it, so its worker needs the counts
of the blocks that others have begun: they stand in memory that all processes share. Who did not tell in time
(he died, or his disk is slow) is not waited for: the lines of his block are counted again.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections import deque
from struct import Struct
from threading import Lock
from typing import Final, NamedTuple

from relfast.engine.io.blocks import Block
from relfast.engine.io.cutting import lines_in
from relfast.errors import ReadError

_SLOT: Final = Struct("<Q")
_SLOTS: Final = 512
"""More than blocks are under way at a time."""

_BYTES: Final = _SLOTS * _SLOT.size
_COUNT_BITS: Final = 32
_WAIT_SECONDS: Final = 0.05
_LOOK_AGAIN_SECONDS: Final = 0.0002
_LINE_END: Final = 10
_PIECE: Final = 1 << 18
"""Bytes that are counted at a time: they stay where the processor has them at once."""


class LineCounts:
    """Counts by the number of a block, as far as they have been told.

    A slot is one word, number and count together, so that it is always whole.
    """

    def __init__(self, memory: mmap.mmap | bytearray) -> None:
        self._memory = memory

    def tell(self, block: Block) -> None:
        _SLOT.pack_into(self._memory, _place(block), (block.seq + 1) << _COUNT_BITS | block.n_lines)

    def of(self, block: Block, seconds: float = 0.0) -> int:
        """The lines of a block: known, told within some seconds, or counted here. Raises `ReadError`."""
        if block.n_lines >= 0:
            return block.n_lines
        until = time.monotonic() + seconds
        while True:
            (told,) = _SLOT.unpack_from(self._memory, _place(block))
            if told >> _COUNT_BITS == block.seq + 1:
                return int(told & (1 << _COUNT_BITS) - 1)
            if time.monotonic() >= until:
                assert block.path is not None
                return count_lines(block.path, block.start, block.end)
            time.sleep(_LOOK_AGAIN_SECONDS)


def _place(block: Block) -> int:
    return block.seq % _SLOTS * _SLOT.size


def count_lines(path: str, start: int, end: int) -> int:
    """Lines between two bytes of a file; the last may lack its end. Raises `ReadError`."""
    buffer = bytearray(_PIECE)
    n, at, last = 0, start, _LINE_END
    try:
        with open(path, "rb", buffering=0) as file:
            while at < end and (got := os.preadv(file.fileno(), [memoryview(buffer)[: end - at]], at)):
                n += lines_in(buffer, got)
                at, last = at + got, buffer[got - 1]
    except OSError as error:
        raise ReadError(error.strerror or str(error), file=path) from error
    if at < end:
        raise ReadError("it changed while it was read", file=path)
    return n + (last != _LINE_END)


class Before(NamedTuple):
    """What stands before a block: ``known`` lines, and after them those of ``blocks``."""

    known: int
    blocks: tuple[Block, ...]

    def lines(self, counts: LineCounts) -> int:
        """How many lines that is, which is the index of the block's first. Raises `ReadError`."""
        return self.known + sum(counts.of(block, _WAIT_SECONDS) for block in self.blocks)


class Order:
    """Blocks under way, in their order, and how many lines stand before them. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._index = 0
        self._blocks: deque[Block] = deque()

    def add(self, block: Block) -> None:
        """A block is begun; the first one ever has its index."""
        with self._lock:
            if block.first_index >= 0 and not self._blocks:
                self._index = block.first_index
            self._blocks.append(block)

    def before(self, block: Block) -> Before | None:
        """What stands before a block; None where its index is known."""
        if block.first_index >= 0:
            return None
        with self._lock:
            index, unknown = self._index, []
            for each in self._blocks:
                if each.seq >= block.seq:
                    break
                # those that are scored, only not yet their turn to be written, have told
                if (n_lines := each.n_lines) >= 0:
                    index += n_lines
                else:
                    unknown.append(each.without_data())
            return Before(index, tuple(unknown))

    def done(self, block: Block) -> None:
        """The first block, whose lines are known by now, is done: its place is known too."""
        with self._lock:
            self._blocks.popleft()
            if block.first_index < 0:
                place(block, self._index)
            self._index = block.first_index + block.n_lines


def place(block: Block, first_index: int) -> None:
    """Give a block the index of its first line."""
    block.first_index = first_index
    block.faults = {first_index + line: fault for line, fault in block.faults.items()}


def create_shared() -> int:
    """A descriptor of memory for processes to share, gone with the last of them; -1 where there is none. A
    limit on the size of files holds for such memory too."""
    descriptor = -1
    try:
        descriptor = os.memfd_create("relfast-line-counts")
        os.ftruncate(descriptor, _BYTES)
    except OSError:
        if descriptor >= 0:
            os.close(descriptor)
        return -1
    return descriptor


def open_shared(path: str) -> LineCounts:
    """The counts in the memory at a path; where that is refused, all blocks of others are counted here."""
    with contextlib.suppress(OSError, ValueError), open(path, "r+b") as file:
        return LineCounts(mmap.mmap(file.fileno(), _BYTES))
    return LineCounts(bytearray(_BYTES))
