"""The tags of a block's responses, read by a kernel as the extractors read them."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.layouts import RECORD_COLUMNS, RECORD_TEXT_PLACE
from relfast_kernels.smiles.layouts import SIZE_COLUMNS
from relfast_kernels.tags.columns import (
    LEFT_TO_PYTHON,
    READ_EMPTY,
    READ_NEARLY,
    READ_ONLY_REASONING,
    READ_PLAIN,
    TOLD_COLUMNS,
    TOLD_EDGE,
    TOLD_EDGE_END,
    TOLD_END,
    TOLD_FROM,
    TOLD_HOW,
    TOLD_N,
    TOLD_START,
    TOLD_TO,
)

from relfast.tasks.block_rows import Block
from relfast.tasks.reasoning import BEGINNINGS
from relfast.tasks.rel_c.options import RelCOptions

UNIT: Final = "tags"

ROOM: Final = 1 << 20
"""Bytes for the texts of one call, at first."""

_MARKS: Final = array(
    "q", sorted(int.from_bytes(text.encode(), "little") for text in BEGINNINGS if text.isascii())
)
"""Of marks that begin with something else the kernel knows the first letter."""


_REASONS: Final = {READ_EMPTY: "empty", READ_ONLY_REASONING: "only_reasoning"}


class Golds(NamedTuple):
    """Golds as the kernel reads them: their columns and how many there are, their texts and the bytes of
    those."""

    columns: ctypes.Array[ctypes.c_int64]
    n: int
    texts: ctypes.Array[ctypes.c_char]
    n_bytes: int


class Tags(NamedTuple):
    """What was read.

    Attributes
    ----------
    n, start, end
        For each response its tags, `LEFT_TO_PYTHON` where the extractor must read it, and where they are.
    how
        How it was read: `READ_PLAIN` and the others of `relfast_kernels.tags.columns`.
    was_read
        Whether the kernel read it; ``n`` can still leave it.
    texts, n_bytes
        Golds, tags and given molecules, each ended by a newline.
    sizes
        `SIZE_COLUMNS` numbers for each response that was read.
    """

    n: list[int]
    start: list[int]
    end: list[int]
    how: list[int]
    was_read: list[bool]
    texts: ctypes.Array[ctypes.c_char]
    n_bytes: int
    sizes: ctypes.Array[ctypes.c_int64]


class TagReader:
    """Reads the tags of many responses; what it gives is good until it reads again."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., int]],
        options: RelCOptions,
        *,
        one: bool,
        plain_only: bool,
    ) -> None:
        self.gather = functions["gather"]
        self._strict, self._one, self._plain_only = options.strict, one, plain_only
        words = _words() if options.strict else b""
        cuts = options.strict or options.strip_reasoning
        self.setting = options.strict, cuts, one, _MARKS.buffer_info()[0], len(_MARKS), words, len(words)
        """What the kernel is told of how to read."""
        self._texts = (ctypes.c_char * ROOM)()

    @classmethod
    def open(cls, options: RelCOptions, *, one: bool, plain_only: bool = True) -> TagReader | None:
        """A reader of all tags, or of ``one``; None where the options or missing machine code do not allow
        it.

        ``plain_only``: under ``strict`` responses with other tags or none are left to Python. Of those that
        are not who asks has to look at `Tags.how`, and at what a tag holds before it is read as a molecule.
        """
        if options.reasoning:
            return None
        functions = native.load(UNIT)
        return None if functions is None else cls(functions, options, one=one, plain_only=plain_only)

    def read(self, block: Block, numbers: Sequence[int], golds: Sequence[int], known: Golds) -> Tags:
        """The tags of some records, each with the number of its gold."""
        n = len(numbers)
        told = array("q", bytes(8 * TOLD_COLUMNS * n))
        sizes = (ctypes.c_int64 * (SIZE_COLUMNS * n))()
        chosen, theirs = array("q", numbers), array("q", golds)
        while True:
            n_bytes = self.gather(
                *block.where, chosen.buffer_info()[0], theirs.buffer_info()[0], n, known.columns, known.n,
                known.texts, known.n_bytes, *self.setting, self._texts, len(self._texts),
                told.buffer_info()[0], sizes,
            )  # fmt: skip
            if n_bytes >= 0:
                break
            self._texts = (ctypes.c_char * (2 * len(self._texts)))()
        found = told[TOLD_N::TOLD_COLUMNS].tolist()
        was_read = [count != LEFT_TO_PYTHON for count in found]
        if self._strict:
            self._leave_denied(block, numbers, told, found)
        starts, ends = told[TOLD_START::TOLD_COLUMNS].tolist(), told[TOLD_END::TOLD_COLUMNS].tolist()
        how = told[TOLD_HOW::TOLD_COLUMNS].tolist()
        return Tags(found, starts, ends, how, was_read, self._texts, n_bytes, sizes)

    def _leave_denied(self, block: Block, numbers: Sequence[int], told: array[int], found: list[int]) -> None:
        """Leave those to Python of which the words before the tags may say that they are no answer, and those
        that are not wanted."""
        starts, ends, hows = (
            told[column::TOLD_COLUMNS].tolist() for column in (TOLD_EDGE, TOLD_EDGE_END, TOLD_HOW)
        )
        places = block.columns[RECORD_TEXT_PLACE::RECORD_COLUMNS]
        for at, (number, start, end, how) in enumerate(zip(numbers, starts, ends, hows, strict=True)):
            if self._plain_only and (how != READ_PLAIN or found[at] == 0):
                found[at] = LEFT_TO_PYTHON
            if end == start or found[at] < 0:
                continue
            view = block.view(places[number])
            if how == READ_NEARLY:
                is_denied = self._is_denied(view, *told[TOLD_COLUMNS * at : TOLD_COLUMNS * (at + 1)])
            else:
                is_denied = _says_no_answer(view[start:end].tobytes())
            if is_denied:
                found[at] = LEFT_TO_PYTHON

    def _is_denied(self, view: memoryview[int], *told: int) -> bool:
        """Whether what is around a tag that is not plain may say that it is no answer."""
        from relfast.tasks.rel_c.final_tags import EDGE, stands

        start, end = told[TOLD_EDGE], told[TOLD_EDGE_END]
        first, last = max(told[TOLD_FROM], start - 4 * EDGE), min(told[TOLD_TO], end + 4 * EDGE)
        # the first and the last letter may have been cut
        before, tag, behind = (
            str(view[slice(*span)], "utf-8", "ignore") for span in ((first, start), (start, end), (end, last))
        )
        return not stands(before + tag + behind, len(before), len(before) + len(tag), one=self._one)


@lru_cache(1024)
def _says_no_answer(line: bytes) -> bool:
    """Whether the words before the tags may say that they are no answer. It is asked of each response."""
    from relfast.tasks.rel_c.final_tags import says_no_answer

    return says_no_answer(line.decode())


def reason_of(how: int) -> str:
    """Why a response without a tag is no answer to ``strict``."""
    return _REASONS.get(how, "no_answer")


def _words() -> bytes:
    """What no plain tag holds, or begins with."""
    from relfast.tasks.rel_c.tags import EMPTY_WORDS, LABELS

    return "".join(f"{word}\n" for word in (*sorted(EMPTY_WORDS - {""}), *LABELS)).encode()
