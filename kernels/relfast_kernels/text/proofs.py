"""What the words and numbers of a sentence prove about it, for `relfast_kernels.text.rel_a_strict`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    WORD_ALARM,
    WORD_KNOWN,
    WORD_LINKS,
    WORD_OF_OR,
    WORD_OF_PLAIN,
    WORD_OFFERS,
    WORD_OPENS,
)
from relfast_kernels.text.characters import LETTER, SPACE, SYMBOL, classify, decode
from relfast_kernels.text.find import find_byte
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.word_table import flags_of

_NUMBER_WORDS: Final = (
    b"one two three four five six seven eight nine first second third fourth fifth sixth seventh eighth ninth"
).split()
_ENDINGS: Final = np.array([int.from_bytes(word, "little") for word in _NUMBER_WORDS], np.uint64)
_SIZES: Final = np.array([len(word) for word in _NUMBER_WORDS], np.uint64)
_EIGHT: Final = np.uint64(8)

_NTH_IN_CHINESE: Final = 0x7B2C
"""第, behind which numbers may be Chinese ones."""
_FIRST_SIGN, _LAST_SIGN = 0x2000, 0x2BFF
"""Among these are signs that `re` takes for letters: numbers in circles."""

NAMELESS, QUIET, PLAIN_WORDS, WORDY, FAR, NOT_OR, NAMED = 1, 2, 4, 8, 16, 32, 64

IF_NAMELESS, IF_PLAIN, IF_OTHER = 1, 2, 3
"""What is asked of a text, so that no more of it is read than decides that: whether it is `NAMELESS`, with
what goes with it, or `NAMED`; whether it has `PLAIN_WORDS`; whether it is `WORDY`, and neither `NAMELESS` nor
`FAR`. Other proofs may be missing where the answer is no, no, and yes."""

_LEFT_OF_WORD, _RIGHT_OF_WORD = 1, 2
_SIDES: Final = np.zeros(256, np.uint8)
"""Whether a word can stand right of a byte, or left of it, and is a word of its own to every rule."""
for _byte in b' ($*"{-=+^|:;,':
    _SIDES[_byte] |= _LEFT_OF_WORD
for _byte in b' .,:;!?)}$*"=+-^|_':
    _SIDES[_byte] |= _RIGHT_OF_WORD


@kernel
def _is_number_word(text: Any, start: int, end: int) -> bool:
    """Whether letters end with a number word."""
    if end - start < 3:
        return False
    # how they end
    last, before = text[end - 1], text[end - 2]
    may = False
    if last == 101:
        may = before == 110 or before == 101 or before == 118
    elif last == 116:
        may = before == 104 or before == 115
    elif last == 100:
        may = before == 110 or before == 114
    else:
        may = (
            (last == 111 and before == 119)
            or (last == 114 and before == 117)
            or (last == 120 and before == 105)
            or (last == 110 and before == 101)
            or (last == 104 and before == 116)
        )
    if not may:
        return False
    size = min(end - start, 8)
    tail = np.uint64(0)
    for k in range(size):
        tail = tail << _EIGHT | np.uint64(text[end - 1 - k])
    # as many bytes as there are, the last one highest
    for n in range(len(_ENDINGS)):
        shorter = np.int64(size) - np.int64(_SIZES[n])
        if shorter >= 0 and tail >> np.uint64(8 * shorter) == _ENDINGS[n]:
            return True
    return False


@kernel
def _is_letter(byte: Any) -> bool:
    return bool(97 <= byte <= 122)


@kernel
def _skip_number(text: Any, at: int, end: int) -> int:
    while at < end and is_digit(text[at]):
        at += 1
    return at


@kernel
def _goes_on(text: Any, at: int, end: int) -> bool:
    """Whether a number that ends at ``at`` is part of a longer one or of a formula: "3.5", "2 + 3"."""
    if at + 1 >= end:
        return False
    if (text[at] == 46 or text[at] == 44 or text[at] == 58) and is_digit(text[at + 1]):
        return True
    if text[at] == 32:
        at += 1
    if text[at] != 61 and text[at] != 43 and text[at] != 47 and text[at] != 94:
        return False
    at += 1
    if at < end and text[at] == 32:
        at += 1
    return at < end and is_digit(text[at])


@kernel
def _stands_alone(text: Any, start: int, end: int, at: int, after: int) -> bool:
    """Whether digits are a number that names a choice, whatever stands around them."""
    if after - at > 9:
        return False
    if at > start:
        byte = text[at - 1]
        if _is_letter(byte) or byte == 95 or byte == 46 or byte == 44 or byte == 43 or byte == 45:
            return False
        if byte == 32 and at - 1 > start and text[at - 2] == 108:
            return False  # "panel 3"
    if after == end:
        return True
    byte = text[after]
    return not (_is_letter(byte) or byte == 95 or byte == 46 or byte == 44)


@kernel
def _is_no_choice(text: Any, start: int, end: int, at: int, after: int) -> bool:
    """Whether digits are part of a word or of a longer number, whatever stands around that: "15.0", "x2"."""
    following = text[after] if after < end else np.uint8(32)
    # "2nd", and a digit on a keycap
    if following >= 0x80 or following == 110 or following == 114 or following == 115 or following == 116:
        return False
    if at > start:
        byte = text[at - 1]
        if byte == 46 or byte == 44 or byte == 95:
            return True
        if _is_letter(byte):
            # "answer5", "option5", "choice5", "panel5"
            return not (byte == 101 or byte == 108 or byte == 110 or byte == 114)
        if byte == 32 and at - 1 > start and text[at - 2] == 108:
            return False  # "panel 3"
    if following == 46 or following == 44:
        return after + 1 < end and is_digit(text[after + 1])
    return _is_letter(following) or following == 95


@kernel
def look(text: Any, start: int, end: int, words: Any, question: int) -> int:
    """What words and numbers of a text prove about it, as far as that answers a question.

    `NAMELESS`: it names no choice. `QUIET`: if so, it neither takes anything back nor answers a question.
    `PLAIN_WORDS`: it has no words but those of a bare answer. `WORDY`: it has a word, or a formula, that no
    bare answer has. `FAR`: its one number is no choice's, and it offers no other. `NOT_OR`: it is not "or"
    and the like. `NAMED`: it names a choice.
    """
    proved = NAMELESS | QUIET | PLAIN_WORDS
    at = start
    first = True
    links = tags = False
    n_near = n_far = 0
    # words within a tag are dropped
    if question == IF_OTHER and find_byte(text, start, end, 60) < end:
        question = 0
    while at < end:
        if question == IF_NAMELESS:
            if not proved & NAMELESS:
                break
        elif question == IF_PLAIN:
            if not proved & PLAIN_WORDS:
                break
        elif question == IF_OTHER and n_near > 0 and proved & (NAMELESS | WORDY) == WORDY:
            break
        byte = text[at]
        if not _is_letter(byte):
            if is_digit(byte):
                after = _skip_number(text, at, end)
                proved |= NOT_OR
                if not _is_no_choice(text, start, end, at, after):
                    proved &= ~NAMELESS
                if _stands_alone(text, start, end, at, after):
                    proved |= NAMED
                left = 32 if at == start else text[at - 1]
                if _SIDES[left] & _LEFT_OF_WORD and left != 44 and _goes_on(text, after, end):
                    proved |= WORDY
                if after - at > 1 and after - at < 9 and byte != 48:
                    n_far += 1
                else:
                    n_near += 1
                at = after
                continue
            elif byte >= 0x80:
                point, length = decode(text, at, end)
                kind = classify(point)
                if kind == LETTER and not _FIRST_SIGN <= point <= _LAST_SIGN:
                    # no pattern has it but as what is no word of its own
                    proved = proved & ~PLAIN_WORDS | NOT_OR
                    n_near += 1
                    if point == _NTH_IN_CHINESE:
                        proved &= ~NAMELESS
                elif kind != SYMBOL:
                    proved &= ~(NAMELESS | QUIET)
                    n_near += 1
                    if kind != SPACE:
                        proved &= ~PLAIN_WORDS
                at += max(length, 1)
                continue
            elif byte == 39:
                proved &= ~QUIET
            elif byte == 60 and at + 1 < end and (text[at + 1] == 47 or _is_letter(text[at + 1])):
                tags = True
            at += 1
            continue
        begin = at
        while at < end and _is_letter(text[at]):
            at += 1
        flags = flags_of(text, begin, at, words)
        if flags & WORD_ALARM or (first and flags & WORD_OPENS):
            proved &= ~QUIET
        if not flags & WORD_OF_PLAIN:
            proved &= ~PLAIN_WORDS
        if not flags & WORD_OF_OR:
            proved |= NOT_OR
        if flags & WORD_OFFERS:
            n_near += 1
        elif _is_number_word(text, begin, at):
            proved &= ~NAMELESS
            n_near += 1
        if (
            not flags & WORD_KNOWN
            and not links
            and (begin == start or _SIDES[text[begin - 1]] & _LEFT_OF_WORD)
            and (at == end or _SIDES[text[at]] & _RIGHT_OF_WORD)
        ):
            proved |= WORDY
        # "not … sure", "every … but" are phrases with any word between
        links = flags & WORD_LINKS != 0
        first = False
    if n_far == 1 and n_near == 0:
        proved |= FAR
    return proved & ~(WORDY | FAR) if tags else proved
