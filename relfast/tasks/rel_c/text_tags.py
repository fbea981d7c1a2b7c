"""Texts at hand, packed as the kernel that reads tags finds responses in a block; and the answers to them."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterable, Mapping, Sequence
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
    data = [*map(str.encode, texts)]
    n = len(data)
    ends = [*accumulate(map(len, data), initial=0)]
    # zeros elsewhere: all texts are in the data
    records = _numbers(RECORD_COLUMNS * n)()
    view = memoryview(records).cast("B").cast("q")
    view[RECORD_TEXT::RECORD_COLUMNS] = array("q", ends[:-1])
    view[RECORD_TEXT_END::RECORD_COLUMNS] = array("q", ends[1:])
    return Block.of(b"".join(data), _NO_SCRATCH, records)


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
        self, answers: Iterable[Answer | None]
    ) -> tuple[list[JudgedText | None], dict[Answer, list[int]]]:
        """What is known of each, and the places of each that is not."""
        found: list[JudgedText | None] = []
        new: dict[Answer, list[int]] = {}
        get = self._known.get
        for at, answer in enumerate(answers):
            judged = None
            if answer is not None:
                judged = get(answer)
                if judged is None:
                    if answer in new:
                        new[answer].append(at)
                    else:
                        new[answer] = [at]
            found.append(judged)
        return found, new

    def keep(self, judged: Mapping[Answer, JudgedText]) -> None:
        """Remember some, but for lists without end."""
        if len(self._known) >= KNOWN:
            self._known.clear()
        for answer, one in judged.items():
            if len(answer[1]) <= MAX_KNOWN_CHARS:
                self._known[answer] = one

    def keep_one(self, answer: Answer, judged: JudgedText) -> None:
        """Remember one, likewise."""
        if len(answer[1]) <= MAX_KNOWN_CHARS:
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[answer] = judged
