"""Tables that the text kernel reads ``strict`` responses by: words, and texts that it has asked about."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Mapping
from typing import Final

from relfast_kernels.layouts import (
    FORM_DIGIT,
    MEMO_BITS,
    MEMO_BYTES,
    MEMO_COLUMNS,
    MEMO_END,
    MEMO_HASH,
    MEMO_SLOTS,
    MEMO_START,
    MEMO_TEXTS,
    SAYS_FORM,
    SAYS_KNOWN,
    SAYS_VALUE,
    STEM_MARK,
    WORD_FACTOR,
    WORD_SLOTS,
)

from relfast.stats.samples import hash_id

_MASK: Final = (1 << 64) - 1
_WORD_COLUMNS: Final = 3


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def word_table(words: Mapping[str, int]) -> ctypes.Array[ctypes.c_int64]:
    """Words with their flags as `relfast_kernels.text.word_table` finds them; a stem ends with a star."""
    table = (ctypes.c_int64 * (_WORD_COLUMNS * WORD_SLOTS))()
    assert 2 * len(words) < WORD_SLOTS
    for word, flags in words.items():
        letters = word.rstrip("*").encode().ljust(16, b"\0")
        first = int.from_bytes(letters[:8], "little")
        second = STEM_MARK & _MASK if word.endswith("*") else int.from_bytes(letters[8:16], "little")
        assert len(letters) == 16
        mixed = ((first * WORD_FACTOR & _MASK ^ second) * WORD_FACTOR & _MASK) >> 40
        at = mixed % WORD_SLOTS
        while table[_WORD_COLUMNS * at + 2]:
            at = (at + 1) % WORD_SLOTS
        table[_WORD_COLUMNS * at] = _signed(first)
        table[_WORD_COLUMNS * at + 1] = _signed(second)
        table[_WORD_COLUMNS * at + 2] = flags
    return table


def _of_form(bits: int, text: str) -> int:
    """What is said of a text's form: its only digit is another there."""
    (digit,) = (int(character) for character in text if "0" <= character <= "9")
    return bits + FORM_DIGIT - ord("0") - digit if bits & SAYS_VALUE == digit else bits


class TextMemo:
    """Texts with what a function says of them, where a kernel finds them. Full, it forgets all.

    A form of texts, which ``form_of`` gives for each of them, is kept in their place.

    A kernel may read it while a text is learnt, by one thread at a time: nothing that stands there changes,
    and what is half written it does not know. When all is forgotten, ``slots`` and ``texts`` are new ones.
    """

    def __init__(self, says: Callable[[str], int], form_of: Callable[[str], str | None]) -> None:
        self._says, self._form_of = says, form_of
        self._begin()

    def _begin(self) -> None:
        self.slots = (ctypes.c_int64 * (MEMO_COLUMNS * MEMO_SLOTS)).from_buffer(
            mmap.mmap(-1, 8 * MEMO_COLUMNS * MEMO_SLOTS)
        )
        self._bytes = mmap.mmap(-1, MEMO_BYTES)
        self.texts = (ctypes.c_char * MEMO_BYTES).from_buffer(self._bytes)
        self._n = self._used = 0

    def learn(self, text: bytes) -> bool:
        """Have a text (UTF-8) looked at and kept; whether all others had to be forgotten for it."""
        about = text.decode()
        form = self._form_of(about)
        kind = SAYS_KNOWN
        if form is not None:
            text, kind = form.encode(), SAYS_KNOWN | SAYS_FORM
        if forgets := self._n == MEMO_TEXTS or self._used + len(text) > MEMO_BYTES:
            self._begin()
        value = hash_id(text)
        signed = _signed(value)
        at = (signed ^ (signed >> 32)) & (MEMO_SLOTS - 1)
        while self.slots[at * MEMO_COLUMNS + MEMO_END]:
            place = at * MEMO_COLUMNS
            known = self._bytes[self.slots[place + MEMO_START] : self.slots[place + MEMO_END]]
            is_kind = self.slots[place + MEMO_BITS] & SAYS_FORM == kind & SAYS_FORM
            if self.slots[place + MEMO_HASH] == signed and known == text and is_kind:
                return forgets
            at = (at + 1) % MEMO_SLOTS
        # of the text itself, which the extractor is about to be asked of
        bits = self._says(about)
        if form is not None:
            bits = _of_form(bits, about)
        # an empty text would be an end of 0
        start, self._used = max(self._used, 1), max(self._used, 1) + len(text)
        self._bytes[start : self._used] = text
        self._n += 1
        place = at * MEMO_COLUMNS
        self.slots[place + MEMO_HASH], self.slots[place + MEMO_START] = signed, start
        self.slots[place + MEMO_BITS] = bits | kind
        self.slots[place + MEMO_END] = self._used
        return forgets
