"""Texts at hand, packed as the kernel that reads tags finds responses in a block; and the answers to them."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

from relfast_kernels.layouts import RECORD_COLUMNS, RECORD_TEXT, RECORD_TEXT_END

from relfast.tasks.block_rows import Block
from relfast.tasks.modules import MAX_TEXTS, JudgedText

KNOWN: Final = 10_000
"""Answers of which the outcome is kept; about 1 kB each. A GRPO step has 1,000 to 10,000 rollouts."""

MAX_KNOWN_CHARS: Final = 4_000
"""Longest answer that is kept: REL-C3's is a list of molecules as long as the model likes."""

_NO_SCRATCH: Final = (ctypes.c_char * 1)()

Answer = tuple[int, str]
"""The number of a gold, and what a response says, as it is written: all that an outcome depends on."""


def packed(texts: Sequence[str]) -> Block:
    """The texts as responses of a block, from 0 on. Raises `UnicodeEncodeError` for lone surrogates."""
    n = len(texts)
    joined = "".join(texts)
    data = joined.encode()
    ends = [*accumulate(map(len, texts if joined.isascii() else map(str.encode, texts)), initial=0)]
    # zeros elsewhere: all texts are in the data
    records = _numbers(RECORD_COLUMNS * n)()
    view = memoryview(records).cast("B").cast("q")
    view[RECORD_TEXT::RECORD_COLUMNS] = array("q", ends[:-1])
    view[RECORD_TEXT_END::RECORD_COLUMNS] = array("q", ends[1:])
    return Block.of(data, _NO_SCRATCH, records)


@lru_cache(MAX_TEXTS)
def _numbers(n: int) -> type[ctypes.Array[ctypes.c_int64]]:
    """The type of arrays of a length: to make one takes 50 µs."""
    return ctypes.c_int64 * n


class KnownAnswers:
    """What is known of answers. Thread-safe: each step is one of a dictionary, and who comes between two of
    them at most has an answer judged again."""

    def __init__(self) -> None:
        self._known: dict[Answer, JudgedText] = {}

    def get(self, answer: Answer) -> JudgedText | None:
        """What is known of one."""
        return self._known.get(answer)

    def split(
        self, answers: Sequence[Answer | None]
    ) -> tuple[list[JudgedText | None], dict[Answer, int], list[tuple[int, int]]]:
        """What is known of each; of those of which nothing is, each once with its first place; and the other
        places of these, with the first."""
        found: list[JudgedText | None] = [*map(self._known.get, answers)]  # type: ignore[arg-type]
        if not any(found) and None not in answers:
            all_new: dict[Answer, int] = dict(zip(answers, range(len(answers)), strict=True))  # type: ignore[arg-type]
            if len(all_new) == len(answers):
                return found, all_new, []
        new: dict[Answer, int] = {}
        again: list[tuple[int, int]] = []
        first_of = new.setdefault
        for at, (answer, judged) in enumerate(zip(answers, found, strict=True)):
            if judged is None and answer is not None:
                first = first_of(answer, at)
                if first != at:
                    again.append((at, first))
        return found, new, again

    def keep(self, answers: Iterable[Answer], judged: Iterable[JudgedText | None]) -> None:
        """Remember some, but for lists without end."""
        if len(self._known) >= KNOWN:
            self._known.clear()
        for answer, one in zip(answers, judged, strict=True):
            if one is not None and len(answer[1]) <= MAX_KNOWN_CHARS:
                self._known[answer] = one

    def keep_one(self, answer: Answer, judged: JudgedText) -> None:
        """Remember one, likewise."""
        if len(answer[1]) <= MAX_KNOWN_CHARS:
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[answer] = judged
