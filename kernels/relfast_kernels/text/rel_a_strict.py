"""The choice that a response to REL-A settles on by the rule of `relfast.tasks.rel_a.strict`.

What single lines and sentences say is looked up: `Tables.memo` has it from the extractor itself. Here stands
how a response is taken apart, what its last statement needs of the sentences before it, and which of those
cannot matter, whatever they say. A sentence that nothing is known of is handed back, and known the next time.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    MEMO_BITS,
    MEMO_END,
    MEMO_HASH,
    MEMO_START,
    NO_PANEL,
    REASONS,
    SAYS_BOXED,
    SAYS_CONCLUDES,
    SAYS_CORRECTS,
    SAYS_DESCRIBED,
    SAYS_FINAL,
    SAYS_NAMES,
    SAYS_NO_MORE,
    SAYS_OR,
    SAYS_PLACE,
    SAYS_PLAIN,
    SAYS_PLAIN_SHIFT,
    SAYS_QUIET,
    SAYS_REPLACES,
    SAYS_SKIMMED,
    SAYS_STATED,
    SAYS_VALUE,
    SAYS_VALUE_SHIFT,
    UNKNOWN,
    WORD_ALARM,
    WORD_KNOWN,
    WORD_LINKS,
    WORD_OF_PLAIN,
    WORD_OFFERS,
    WORD_OPENS,
)
from relfast_kernels.text.characters import SPACE, SYMBOL, classify, decode
from relfast_kernels.text.find import find_byte, hash_text, same_bytes
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.word_table import flags_of
from relfast_kernels.text.words import is_blank, skip_white

_MAX_TEXT: Final = 60_000
_MAX_PLAIN: Final = 80
_MAX_NEIGHBOURS: Final = 6
_MAX_FIRST: Final = 100
MAX_KEY: Final = 240
"""Bytes of a line or sentence that is looked up."""
_MAX_ROW: Final = 4_000
"""Bytes of a line that is taken apart."""
_MAX_QUIET: Final = 12

_NO_ANSWER: Final = REASONS.index("no_answer")
_SEVERAL: Final = REASONS.index("several_answers")
_OUT_OF_RANGE: Final = REASONS.index("out_of_range")
_BEYOND: Final = 15
"""A number that is no choice's, in place of a value."""

_MISSED: Final = -1

_ENDINGS: Final = np.frombuffer(
    b"one two three four five six seven eight nine "
    b"first second third fourth fifth sixth seventh eighth ninth ",
    np.uint8,
)


class Tables(NamedTuple):
    """What is known of words and of texts: ``words`` as `relfast_kernels.text.word_table` has them; ``memo``
    (MEMO_SLOTS, MEMO_COLUMNS, int64) with texts in ``memo_text`` (uint8); ``missed`` (2, int64) is filled
    with where a text that should be known stands in the work space."""

    words: Any
    memo: Any
    memo_text: Any
    missed: Any


@kernel
def _lowered(text: Any, start: int, end: int, out: Any, to: int) -> int:
    """Write a text in lower case, its curved apostrophes straight; where it ends."""
    at = start
    while at < end:
        byte = text[at]
        if 65 <= byte <= 90:
            byte |= 32
        elif byte == 0xE2 and at + 2 < end and text[at + 1] == 0x80 and text[at + 2] == 0x99:
            byte = 39
            at += 2
        out[to] = byte
        to += 1
        at += 1
    return to


@kernel
def _is_tame(text: Any, start: int, end: int) -> bool:
    """Whether all is ASCII, or symbols that no rule knows: no letters, digits, blanks, ends of sentences."""
    at = start
    while at < end:
        if text[at] < 0x80:
            at += 1
            continue
        point, length = decode(text, at, end)
        if length == 0 or classify(point) != SYMBOL:
            return False
        if point == 0x2026 or point == 0x3002 or point >= 0xFF00:
            return False
        at += length
    return True


@kernel
def _count(text: Any, start: int, end: int) -> int:
    """Characters of UTF-8."""
    n = 0
    for at in range(start, end):
        n += text[at] & 0xC0 != 0x80
    return n


@kernel
def _says(text: Any, start: int, end: int, tables: Any) -> Any:
    """What is known of a text, or `_MISSED`; then the place is noted."""
    if end - start <= MAX_KEY:
        value = np.int64(hash_text(text, start, end))
        memo = tables.memo
        mask = memo.shape[0] - 1
        at = (value ^ (value >> 32)) & mask
        while memo[at, MEMO_END] != 0:
            if memo[at, MEMO_HASH] == value and same_bytes(
                text, start, end, tables.memo_text, memo[at, MEMO_START], memo[at, MEMO_END]
            ):
                return memo[at, MEMO_BITS]
            at = (at + 1) & mask
        tables.missed[0], tables.missed[1] = start, end
    return np.int64(_MISSED)


@kernel
def _is_number_word(text: Any, start: int, end: int) -> bool:
    """Whether letters end with a number word."""
    last = text[end - 1]
    # letters they end with
    if last != 101 and last != 111 and last != 114 and last != 120 and not (last == 110 or last == 116):
        last -= 100
        if last != 0 and last != 4:
            return False
    at = 0
    first = 0
    while at < len(_ENDINGS):
        if _ENDINGS[at] == 32:
            size = at - first
            if size <= end - start:
                same = True
                for k in range(size):
                    if text[end - size + k] != _ENDINGS[first + k]:
                        same = False
                        break
                if same:
                    return True
            first = at + 1
        at += 1
    return False


@kernel
def _is_letter(byte: Any) -> bool:
    return 97 <= byte <= 122


_NAMELESS, _QUIET, _PLAIN_WORDS, _WORDY, _FAR = 1, 2, 4, 8, 16

_LEFT_OF_WORD, _RIGHT_OF_WORD = 1, 2
_SIDES: Final = np.zeros(256, np.uint8)
"""Whether a word can stand right of a byte, or left of it, and is a word of its own to every rule."""
for _byte in b' ($*"{-=+^|:;,':
    _SIDES[_byte] |= _LEFT_OF_WORD
for _byte in b' .,:;!?)}$*"=+-^|_':
    _SIDES[_byte] |= _RIGHT_OF_WORD


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
def _look(text: Any, start: int, end: int, words: Any) -> int:
    """What words and numbers of a text prove about it.

    `_NAMELESS`: it names no choice. `_QUIET`: if so, it neither takes anything back nor answers a question.
    `_PLAIN_WORDS`: it has no words but those of a bare answer. `_WORDY`: it has a word, or a formula, that no
    bare answer has. `_FAR`: its one number is no choice's, and it offers no other.
    """
    proved = _NAMELESS | _QUIET | _PLAIN_WORDS
    at = start
    first = True
    links = tags = False
    n_near = n_far = 0
    while at < end:
        byte = text[at]
        if not _is_letter(byte):
            if is_digit(byte):
                proved &= ~_NAMELESS
                after = _skip_number(text, at, end)
                left = 32 if at == start else text[at - 1]
                if _SIDES[left] & _LEFT_OF_WORD and left != 44 and _goes_on(text, after, end):
                    proved |= _WORDY
                if after - at > 1 and after - at < 9 and byte != 48:
                    n_far += 1
                else:
                    n_near += 1
                at = after
                continue
            elif byte >= 0x80:
                point, length = decode(text, at, end)
                kind = classify(point)
                if kind != SYMBOL:
                    proved &= ~(_NAMELESS | _QUIET)
                    n_near += 1
                    if kind != SPACE:
                        proved &= ~_PLAIN_WORDS
                at += max(length, 1)
                continue
            elif byte == 39:
                proved &= ~_QUIET
            elif byte == 60 and at + 1 < end and (text[at + 1] == 47 or _is_letter(text[at + 1])):
                tags = True
            at += 1
            continue
        begin = at
        while at < end and _is_letter(text[at]):
            at += 1
        flags = flags_of(text, begin, at, words)
        if flags & WORD_ALARM or (first and flags & WORD_OPENS):
            proved &= ~_QUIET
        if not flags & WORD_OF_PLAIN:
            proved &= ~_PLAIN_WORDS
        if flags & WORD_OFFERS:
            n_near += 1
        elif _is_number_word(text, begin, at):
            proved &= ~_NAMELESS
            n_near += 1
        if (
            not flags & WORD_KNOWN
            and not links
            and (begin == start or _SIDES[text[begin - 1]] & _LEFT_OF_WORD)
            and (at == end or _SIDES[text[at]] & _RIGHT_OF_WORD)
        ):
            proved |= _WORDY
        # "not … sure", "every … but" are phrases with any word between
        links = flags & WORD_LINKS != 0
        first = False
    if n_far == 1 and n_near == 0:
        proved |= _FAR
    # words within a tag are dropped
    return proved & ~(_WORDY | _FAR) if tags else proved


@kernel
def _row_of(text: Any, start: int, end: int) -> Any:
    """A line without blanks around it."""
    while start < end and is_blank(text[start]):
        start += 1
    while end > start and is_blank(text[end - 1]):
        end -= 1
    return start, end


@kernel
def _ends_blank(text: Any, start: int, end: int) -> bool:
    """Whether a line that has no ASCII blanks around it has others."""
    if text[start] >= 0x80 and skip_white(text, start, end) > start:
        return True
    at = end - 1
    while text[at] & 0xC0 == 0x80 and at > start:
        at -= 1
    return text[at] >= 0x80 and skip_white(text, at, end) > at


@kernel
def _without_bullet(text: Any, start: int, end: int) -> int:
    """Where a line (without blanks around it) begins after its bullet or number; -1: only Python can say."""
    if start >= end or text[start] == 43:
        return start
    at = start
    while at < end and (text[at] == 32 or text[at] == 9 or text[at] == 62):
        at += 1
    after = at
    if at < end:
        byte = text[at]
        if byte >= 0x80:
            return -1
        mark = -1
        if byte == 45 or byte == 42 or byte == 43:
            mark = at + 1
        elif 97 <= byte <= 104:
            if at + 1 < end and (text[at + 1] == 46 or text[at + 1] == 41):
                mark = at + 2
        else:
            k = at + 1 if byte == 40 else at
            digits = k
            while k < end and k < digits + 2 and is_digit(text[k]):
                k += 1
            if k > digits and k < end and (text[k] == 46 or text[k] == 41):
                mark = k + 1
        if mark >= 0:
            k = mark
            while k < end and is_blank(text[k]):
                k += 1
            if k > mark and (k < end or byte == 45 or byte == 42 or byte == 43):
                after = k
    for k in range(after, end):
        byte = text[k]
        if byte != 42 and byte != 95 and byte != 96 and byte != 32:
            return after
    return start


@kernel
def _can_be_cut(text: Any, start: int, end: int) -> bool:
    """Whether a line has only characters that are followed here, and neither "no." nor "e.g."."""
    for at in range(start, end - 2):
        if text[at + 2] == 46 and text[at] == 110 and text[at + 1] == 111:
            return False
        if text[at + 1] == 46 and text[at] == 101 and text[at + 2] == 103:
            return False
    return bool(_is_tame(text, start, end))


@kernel
def _sentence_start(text: Any, start: int, end: int) -> Any:
    """Where the last sentence of text[start:end] begins, ``end`` being the end of one; -1: a run of marks is
    too long to follow."""
    found = start
    at = start
    while at < end:
        byte = text[at]
        if byte != 46 and byte != 33 and byte != 63 and byte != 59:
            at += 1
            continue
        first = at
        while at < end and (text[at] == 46 or text[at] == 33 or text[at] == 63 or text[at] == 59):
            at += 1
        dots = at - first >= 3 and text[at - 1] == 46 and text[at - 2] == 46 and text[at - 3] == 46
        k = at
        while k < end and k < at + 4 and (
            text[k] == 34 or text[k] == 39 or text[k] == 41 or text[k] == 93 or text[k] == 42
            or text[k] == 95 or text[k] == 96 or text[k] == 126
        ):  # fmt: skip
            k += 1
        if k < end and is_blank(text[k]):
            at = k
        elif not dots:
            continue
        while at < end and is_blank(text[at]):
            at += 1
        if at - first > 40:
            return -1
        if at < end:
            found = at
    return found


@kernel
def _beside(bits: int, final: int, panel_first: bool, same_line: bool) -> int:
    """What a sentence before the final one does to it: 1 it goes on, 0 nothing more, 2 both state a choice,
    -1 cannot be said."""
    stays = 1 if same_line else 0
    if not bits & SAYS_NAMES:
        if same_line:
            return -1 if not bits & SAYS_QUIET else 1
        return 1 if bits & SAYS_OR else 0
    if bits & SAYS_SKIMMED:
        return stays
    if bits & SAYS_PLACE and final & SAYS_PLAIN and panel_first:
        return -1
    if not bits & SAYS_STATED:
        return stays
    value, chosen = bits >> SAYS_VALUE_SHIFT & SAYS_VALUE, final >> SAYS_VALUE_SHIFT & SAYS_VALUE
    if value == chosen:
        return -1 if value == _BEYOND else 1
    if bits & SAYS_NO_MORE or value == _BEYOND:
        return 0
    if bits & SAYS_DESCRIBED:
        return -1
    if not same_line and (not bits & SAYS_PLAIN or (bits & SAYS_BOXED != 0) != (final & SAYS_BOXED != 0)):
        return 0
    if final & SAYS_REPLACES and not (bits & SAYS_CONCLUDES and final & SAYS_CONCLUDES):
        return 0
    if final & SAYS_CONCLUDES and not bits & SAYS_CONCLUDES:
        return 0
    return 2


@kernel
def _answer(value: int) -> Any:
    if value == 0:
        return NO_PANEL, _SEVERAL
    if value == _BEYOND:
        return NO_PANEL, _OUT_OF_RANGE
    return value - 1, 0


@kernel
def _line_before(text: Any, start: int, end: int) -> int:
    """Where the line begins that ends at ``end``."""
    at = end
    while at > start and text[at - 1] != 10:
        at -= 1
    return at


@kernel
def read_choice(text: Any, start: int, end: int, tables: Any, scratch: Any, to: int) -> Any:
    """The choice of text[start:end], UTF-8 of tame characters (`relfast_kernels.text.characters`) without
    reasoning, not all white space.

    Parameters
    ----------
    tables : Tables
        ``missed`` is filled where a text is not known.
    scratch : uint8
        Work space from ``to`` on: twice the bytes of the text, and 512.

    Returns
    -------
    (number, reason)
        The panel, 0-based, and 0; or `NO_PANEL` and the place in `REASONS` of why there is none; or `UNKNOWN`
        and 0: only Python can say.
    """
    words = tables.words
    tables.missed[0] = tables.missed[1] = 0
    if end - start > _MAX_TEXT:
        # the beginning of what is left may be anywhere in a line
        return UNKNOWN, 0
    stop = _lowered(text, start, end, scratch, to)
    text, start, end = scratch, to, stop
    whole_end = end
    while end > start and is_blank(text[end - 1]):
        end -= 1
    if text[end - 1] >= 0x80 and not _is_tame(text, max(start, end - 4), end):
        return UNKNOWN, 0

    begin = _line_before(text, start, end)
    if not _is_tame(text, begin, end):
        return UNKNOWN, 0
    # a first line that is nothing but an answer
    last = min(whole_end, start + 4 * _MAX_FIRST)
    first = find_byte(text, start, last, 10)
    opens = False
    if first < last and _look(text, start, first, words) & _PLAIN_WORDS:
        bits = _says(text, start, first, tables)
        if bits == _MISSED:
            return UNKNOWN, 0
        opens = bits >> SAYS_PLAIN_SHIFT & SAYS_VALUE != 0
    # a last line that is nothing but an answer
    plain: Any = np.int64(0)
    if _count(text, begin, end) <= _MAX_PLAIN and _look(text, begin, end, words) & _PLAIN_WORDS:
        bits = _says(text, begin, end, tables)
        if bits == _MISSED:
            return UNKNOWN, 0
        plain = bits >> SAYS_PLAIN_SHIFT & SAYS_VALUE
    number: Any = UNKNOWN
    reason: Any = 0
    if not opens:
        number, reason = _walk(text, start, end, tables)
        if plain == 0 or number == plain - 1:
            return number, reason
    # it counts if the line above it names none
    if plain != 0 and tables.missed[1] == 0 and _is_plain_end(text, start, begin, tables):
        return plain - 1, 0
    return (UNKNOWN, 0) if opens or tables.missed[1] != 0 else (number, reason)


@kernel
def _is_plain_end(text: Any, start: int, begin: int, tables: Any) -> bool:
    """Whether the line above an answer's, which begins at ``begin``, neither names a choice nor is "or"; not
    so either where that is not known, noted as `_says` does."""
    above = begin
    while above > start and is_blank(text[above - 1]):
        above -= 1
    if above == start:
        return True
    line = _line_before(text, start, above)
    if not _is_tame(text, line, above):
        tables.missed[1] = tables.missed[0] + 1  # nothing to be known
        return False
    if _count(text, line, above) > _MAX_PLAIN:
        return True
    proved = _look(text, line, above, tables.words)
    if proved & _NAMELESS and proved & _WORDY:
        return True
    bits = _says(text, line, above, tables)
    return bits != _MISSED and not bits & (SAYS_NAMES | SAYS_OR)


@kernel
def _walk(text: Any, start: int, end: int, tables: Any) -> Any:
    """The choice that is stated last, as `read_choice` gives it."""
    words = tables.words
    final: Any = np.int64(0)
    stop = end
    line_end = end
    n_quiet = 0
    row = row_end = 0
    # the final statement
    while final == 0:
        line = _line_before(text, start, line_end)
        row, row_end = _row_of(text, line, line_end)
        if row == row_end:
            if line == start:
                return UNKNOWN, 0
            line_end = line - 1
            continue
        if row_end - row > _MAX_ROW or not _can_be_cut(text, row, row_end):
            return UNKNOWN, 0
        row = _without_bullet(text, row, row_end)
        if row < 0:
            return UNKNOWN, 0
        stop = row_end
        while stop > row:
            begin = _sentence_start(text, row, stop)
            if begin < 0:
                return UNKNOWN, 0
            unit, unit_end = _row_of(text, begin, stop)
            if unit_end == unit or _is_item(text, unit, unit_end, stop < row_end):
                stop = begin
                continue
            proved = _look(text, unit, unit_end, words)
            if not (proved & _NAMELESS and proved & _QUIET):
                bits = _says(text, unit, unit_end, tables)
                if bits == _MISSED:
                    return UNKNOWN, 0
                if bits & SAYS_FINAL:
                    final = bits
                    break
                if not bits & SAYS_QUIET:
                    return UNKNOWN, 0
            n_quiet += 1
            if n_quiet > _MAX_QUIET:
                return UNKNOWN, 0
            stop = begin
        if final != 0:
            break
        if line == start:
            return UNKNOWN, 0
        line_end = line - 1

    begin = _sentence_start(text, row, stop)
    unit, unit_end = _row_of(text, begin, stop)
    value = final >> SAYS_VALUE_SHIFT & SAYS_VALUE
    whole = begin == row and stop == row_end
    if final & SAYS_CORRECTS or (final & SAYS_CONCLUDES and not whole):
        return _answer(value)
    panel_first = (
        unit_end - unit >= 5 and text[unit] == 112 and text[unit + 1] == 97 and text[unit + 2] == 110
    )
    # what stands before it on its line
    sure = True
    n = 0
    while begin > row and n < _MAX_NEIGHBOURS:
        stop = begin
        begin = _sentence_start(text, row, stop)
        if begin < 0:
            return UNKNOWN, 0
        unit, unit_end = _row_of(text, begin, stop)
        if unit_end == unit or _is_item(text, unit, unit_end, True):
            continue
        n += 1
        proved = _look(text, unit, unit_end, words)
        if proved & _NAMELESS:
            sure = sure and proved & _QUIET != 0
            continue
        bits = _says(text, unit, unit_end, tables)
        if bits == _MISSED:
            return UNKNOWN, 0
        done = _beside(bits, final, panel_first, True)
        if done == 0:
            return _answer(value)
        if done < 0 or (done == 2 and not sure):
            return UNKNOWN, 0
        if done == 2:
            return _answer(0)
    if not (whole and final & SAYS_PLAIN):
        return _answer(value)
    return _lines_before(text, start, _line_before(text, start, line_end) - 1, final, panel_first, tables)


@kernel
def _lines_before(text: Any, start: int, line_end: int, final: int, panel_first: bool, tables: Any) -> Any:
    """The choice of a final statement that is all of its line, by the lines that end before ``line_end``."""
    value = final >> SAYS_VALUE_SHIFT & SAYS_VALUE
    # the first sentence that may be the end of what belongs to the statement
    unsure = unsure_end = 0
    n = 0
    while line_end > start and n < _MAX_NEIGHBOURS:
        line = _line_before(text, start, line_end)
        row, row_end = _row_of(text, line, line_end)
        line_end = line - 1
        if row == row_end:
            continue
        n += 1
        after = _without_bullet(text, row, row_end)
        if after < 0 or _ends_blank(text, row, row_end):
            return UNKNOWN, 0
        begin = -1
        if row_end - row <= _MAX_ROW and _can_be_cut(text, row, row_end):
            begin = _sentence_start(text, after, row_end)
        proved = _look(text, after if begin < 0 else begin, row_end, tables.words)
        if begin >= 0 and ((proved & _NAMELESS and proved & _WORDY) or (proved & _FAR and value <= 8)):
            return _answer(value)
        # what is not all of a short line, or more than an answer, states nothing beside the statement
        other = proved & (_NAMELESS | _WORDY) != 0 or begin > after
        if other or _count(text, after, row_end) > _MAX_PLAIN:
            if unsure_end == 0:
                unsure, unsure_end = begin, row_end
            continue
        if begin < 0:
            return UNKNOWN, 0
        bits = _says(text, after, row_end, tables)
        if bits == _MISSED:
            return UNKNOWN, 0
        done = _beside(bits, final, panel_first, False)
        if done == 2 and unsure_end != 0:
            if unsure < 0:
                return UNKNOWN, 0
            bits = _says(text, unsure, unsure_end, tables)
            if bits == _MISSED or _beside(bits, final, panel_first, False) & 1:
                return UNKNOWN, 0
            return _answer(value)
        if done == 2:
            return _answer(0)
        if done == 0:
            return _answer(value)
        if done < 0:
            return UNKNOWN, 0
    return _answer(value)


@kernel
def _is_item(text: Any, start: int, end: int, before_more: bool) -> bool:
    """Whether a piece is the number of a list's item in the middle of a line."""
    if not before_more or end - start < 2 or end - start > 3 or text[end - 1] != 46:
        return False
    return is_digit(text[start]) and is_digit(text[end - 2])
