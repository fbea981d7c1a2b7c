"""A paragraph as a renderer shows it: without emphasis, code marks, TeX and HTML markup, and struck-out text.

Letters come out in lower case, full-width and other compatibility forms folded. Nothing reaches across a
blank line, so each paragraph is undressed by itself.
"""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Any, Final

import numpy as np

import relfast_kernels.text.form_table as table
from relfast_kernels.compiled.jit import kernel, unsigned
from relfast_kernels.text.characters import decode, two_stages
from relfast_kernels.text.find import (
    DIGITS,
    LETTERS,
    begins_with,
    byte_set,
    copy,
    find_either,
    put_point,
    skip,
    skip_back,
)
from relfast_kernels.text.form_table import LANGUAGES

HASHES: Final = 1
"""The byte that stands for the ``####`` at the beginning of a line."""
FENCED: Final = 2
"""The byte that begins each line within a code fence."""
MAX_FENCES: Final = 512
"""The most code fences that are known: the last ones of a text."""

_DROP, _STRIKE, _DASH, _ARROW, _STOP = 0, -1, -2, -3, -4
_MAX_TAG: Final = 80
_MAX_NAME: Final = 16
_MAX_DEPTH: Final = 60
_MAX_INDENT: Final = 48
_UNSHOWN: Final = byte_set("()[]*#`~")
"""Characters that vanish with the backslash before them; those of `_BLANKS` become a blank."""
_BLANKS: Final = byte_set(",;:! ")
_SPACES: Final = byte_set(" \t")
_SEEN, _UNSEEN = 0x2100, 0xFE00
"""Signs between these are seen, even if they say nothing beside a choice: arrows, ``⌊``, ``△``."""
STAR, BACKSLASH, OPENING_BRACE, CLOSING_BRACE = map(ord, "*\\{}")
_LETTERS: Final = byte_set("*_`$~&")
"""Marks that may also be letters of SMILES and TeX."""
_CLOSES: Final = byte_set(")]}")
_FACTOR_BEGINS: Final = byte_set(f"{digits}{ascii_letters}(+-[{{\\")
"""What stands before and after a star that multiplies."""
_SHOWN: Final = byte_set("".join(char for char in map(chr, range(32, 123)) if char not in "$&*<\\_`"))
"""What is shown as it is: printable ASCII that no markup begins or ends with."""


@kernel
def is_alnum(byte: int) -> bool:
    """Whether a byte is an ASCII letter or digit."""
    return 48 <= byte <= 57 or 97 <= byte <= 122 or 65 <= byte <= 90


@kernel
def is_space(byte: int) -> bool:
    """Whether a byte is a blank within a line."""
    return byte == 32 or byte == 9


@kernel
def is_feed(byte: int) -> bool:
    """Whether a byte ends a line."""
    return 10 <= byte <= 13


_SAME: Final = -5
_RUNS: Final = (
    # first and last code point, what the first becomes, and after how many the results repeat
    (0xC0, 0xDE, 0xE0, 31), (0x400, 0x40F, 0x450, 16), (0x410, 0x42F, 0x430, 32),
    (0x2460, 0x2468, 49, 9), (0x2474, 0x247C, 49, 9), (0x24F5, 0x24FD, 49, 9), (0x2776, 0x2792, 49, 10),
    (0xFF01, 0xFF5E, 33, 94), (0xFF21, 0xFF3A, 97, 26), (0x1D400, 0x1D6A3, 97, 26),
    (0x1D7CE, 0x1D7FF, 48, 10),
)  # fmt: skip
"""Runs of characters that are folded to other runs."""
_ALIKE: Final = {
    _DROP: "ad 300-36f 61c 180e 200b-200f 202a-202e 2060-206f 20d0-20ff 2190-21ff 2234 2300-23ff 25a0-2775"
    " 277f 2789 2793-27bf 2b00-2bff fe00-fe0f feff 1f000-1faff e0000-e0fff",
    _SAME: "d7",
    _STRIKE: "335-338",
    _DASH: "2014-2015",
    _ARROW: "2192 21d2 2794 279c 27a1 27f6 27f9",
    _STOP: "3002 ff61",
    10: "85 2028-2029",
    32: "a0 2000-200a 202f 205f 3000",
    34: "ab bb 201c-201f 2033 300a-300f",
    39: "2018-201b 2032 2039-203a",
    42: "2022",
    44: "3001",
    45: "2010-2013 2212",
    58: "2236",
    91: "3010 3014",
    93: "3011 3015",
}
"""A character, or `_DROP` and the like → the code points that become it, in hexadecimal."""


def _folds() -> Any:
    """What each code point is folded to (int32); `_SAME` for those that stay."""
    folds = np.full(0x110000, _SAME, np.int32)
    for first, last, becomes, period in _RUNS:
        folds[first : last + 1] = becomes + np.arange(last + 1 - first) % period
    for becomes, alike in _ALIKE.items():
        for span in alike.split():
            first, last = (int(point, 16) for point in (span + "-" + span).split("-")[:2])
            folds[first : last + 1] = becomes
    return folds


_FOLDS, _PAGES = two_stages(_folds())


@kernel
def fold(point: int) -> int:
    """The character that one beyond ASCII is folded to; `_DROP` and the like if there is none."""
    found = int(_FOLDS[np.int64(_PAGES[point >> 8]) * 256 + (point & 255)])
    return point if found == _SAME else found


_TILDES, _COMMENT, _COMMENT_ENDS, _BOX_OPENS, _BOX_CLOSES, _BOX = (
    np.frombuffer(mark.encode(), np.uint8) for mark in ("~~", "<!--", "-->", *table.BOX_TOKENS, "\\boxed{")
)
_TOKEN: Final = byte_set(f"{digits}{ascii_letters}+-./")
"""What ``\\boxed`` holds if no brace follows it: ``\\boxed 4``."""
_MAX_GROUP: Final = 80
"""Bytes of an argument that is not shown."""


@kernel
def _line_end(text: Any, at: int, end: int) -> int:
    while at < end and not is_feed(text[at]):
        at += 1
    return at


@kernel
def _fence_at(text: Any, at: int, end: int) -> Any:
    """The number of fence marks (``~``: negative) of the line at ``at``, 0 for none; whether more follows."""
    steps = 0
    while at < end and (is_space(text[at]) or text[at] == 62) and steps < 40:
        at += 1
        steps += 1
    mark = int(text[at]) if at < end else 0
    if mark != 96 and mark != 126:
        return 0, False
    n = 0
    while at < end and text[at] == mark:
        at += 1
        n += 1
    if n < 3:
        return 0, False
    more = False
    while at < end and not is_feed(text[at]):
        if text[at] == 96 and mark == 96:
            return 0, False
        more |= not is_space(text[at])
        at += 1
    return (n if mark == 96 else -n), more


@kernel
def find_fences(text: Any, start: int, end: int, fences: Any) -> int:
    """Find a text's code fences, closed ones only: first and last byte of the lines between their
    marks go to ``fences``, a ring buffer of `MAX_FENCES` pairs; how many there are in all."""
    n, opened, begin = 0, 0, 0
    at = find_either(text, start, end, 96, 126)
    while at < end:
        run = at
        while at < end and text[at] == text[run]:
            at += 1
        if at - run >= 3:
            first = run
            while first > start and not is_feed(text[first - 1]) and run - first < _MAX_INDENT:
                first -= 1
            marks, more = _fence_at(text, first, end)
            at = _line_end(text, at, end)
            if marks != 0 and opened == 0:
                opened, begin = marks, at
            elif marks != 0 and not more and (marks >= opened > 0 or marks <= opened < 0):
                fences[2 * (n % MAX_FENCES)], fences[2 * (n % MAX_FENCES) + 1] = begin, first
                n += 1
                opened = 0
        at = find_either(text, at, end, 96, 126)
    return n


@kernel
def is_fenced(at: int, fences: Any, n: int) -> bool:
    """Whether a place of the text is in a code fence."""
    low, high = max(0, n - MAX_FENCES), n
    while low < high:
        middle = (low + high) // 2
        if fences[2 * (middle % MAX_FENCES)] <= at:
            low = middle + 1
        else:
            high = middle
    return low > max(0, n - MAX_FENCES) and at < fences[2 * ((low - 1) % MAX_FENCES) + 1]


@kernel
def paragraph_before(text: Any, start: int, end: int) -> Any:
    """Start and end of the last paragraph of text[start:end]; equal if there is none."""
    while end > start and (is_space(text[end - 1]) or is_feed(text[end - 1])):
        end -= 1
    at, feed, blank = end, -1, False
    while at > start:
        at -= 1
        byte = text[at]
        if is_feed(byte):
            pair = byte == 13 and at + 1 < end and text[at + 1] == 10
            if blank and feed >= 0 and not pair:
                return feed + 1, end
            if not pair:
                feed, blank = at, True
        elif not is_space(byte):
            blank = False
    return start, end


@kernel
def _closing(text: Any, at: int, end: int, name: int, name_end: int) -> int:
    """The offset after the closing tag of the name text[name:name_end]; -1: there is none."""
    size = name_end - name
    while at + size + 3 <= end:
        if text[at] == 60 and text[at + 1] == 47 and text[at + 2 + size] == 62:
            same = True
            for k in range(size):
                same &= text[at + 2 + k] | 32 == text[name + k] | 32
            if same:
                return at + size + 3
        at += 1
    return -1


@kernel
def _behind(text: Any, at: int, end: int, mark: Any) -> int:
    """The offset after the next occurrence of a mark; -1: there is none."""
    while at + len(mark) <= end:
        if begins_with(text, at, end, mark):
            return at + len(mark)
        at += 1
    return -1


@kernel
def _entity(text: Any, at: int, end: int) -> Any:
    """The character that an HTML entity stands for, and the entity's bytes; 0: it is none."""
    for size in range(3, 7):
        if at + size < end and text[at + size] == 59:
            one, two = text[at + 1] | 32, text[at + 2] | 32
            if size == 3 and two == 116:
                return (60 if one == 108 else 62 if one == 103 else 0), 4
            if size == 4 and one == 97 and two == 109:
                return 38, 5
            if size == 5 and one == 110 and two == 98:
                return 32, 6
            if size == 5 and one == 113 and two == 117:
                return 34, 6
            if (size == 5 and one == 97 and two == 112) or (
                text[at + 1] == 35 and text[at + size - 1] == 57 and text[at + 2] == 51
            ):
                return 39, size + 1
            return 0, 0
    return 0, 0


@kernel
def _list_mark(text: Any, at: int, end: int) -> int:
    """The offset after the mark of a list or quotation at a line's start; ``at``: there is none."""
    byte = text[at]
    if byte == 62:
        return at + 1
    after = at + 1
    if byte == 45 or byte == 43 or byte == 42:
        return after if after < end and is_space(text[after]) else at
    while after < end and after < at + 3 and 48 <= text[after] <= 57:
        after += 1
    if (
        48 <= byte <= 57
        and after + 1 < end
        and (text[after] == 46 or text[after] == 41)
        and is_space(text[after + 1])
    ):
        rest = skip(text, after + 1, end, _SPACES)
        return after + 1 if rest < end and not is_feed(text[rest]) else at
    return at


@kernel
def _multiplies(text: Any, first: int, stop: int, start: int, end: int) -> bool:
    """Whether the stars text[first:stop] are a sign between two factors and no mark of emphasis, which has no
    blanks on both sides: "4*2", "4 * (1)", "4 ** x"; not "**4** because"."""
    left, right = skip_back(text, start, first, _SPACES), skip(text, stop, end, _SPACES)
    if left == start or right == end or not (is_alnum(text[left - 1]) or _CLOSES[text[left - 1]]):
        return False
    if left < first and right > stop:
        return bool(_FACTOR_BEGINS[text[right]])
    if left < first or right > stop or stop - first > 2 or not DIGITS[text[left - 1]]:
        return False
    if DIGITS[text[right]]:
        return True
    # 4*(1), 4*x: unless it ends what an earlier star emphasises
    if not _FACTOR_BEGINS[text[right]] or stop - first > 1:
        return False
    while (
        left > start and not is_feed(text[left - 1]) and text[left - 1] != STAR and first - left < _MAX_GROUP
    ):
        left -= 1
    return left == start or text[left - 1] != STAR


@kernel
def _held_end(text: Any, at: int, end: int) -> int:
    """Where that ends which a box without braces holds, a word or a command with its argument: ``\\boxed 4``,
    ``\\boxed\\text{4}``; ``at`` if braces follow."""
    if at == end or text[at] != BACKSLASH:
        return skip(text, at, end, _TOKEN)
    stop = skip(text, at + 1, end, LETTERS)
    if stop == at + 1 or stop == end or text[stop] != OPENING_BRACE:
        return at
    depth, stop = 1, stop + 1
    while stop < end and depth > 0 and not is_feed(text[stop]):
        depth += 1 if text[stop] == OPENING_BRACE else -1 if text[stop] == CLOSING_BRACE else 0
        stop += 1
    return stop if depth == 0 else at


@kernel
def skip_arguments(text: Any, at: int, end: int) -> int:
    """The offset after the arguments at ``at`` that are not shown: groups in brackets, and all groups in
    braces but the last of several (``{red}{4}``: before ``{4}``)."""
    while True:
        first = skip(text, at, end, _SPACES)
        if first == end or (text[first] != 123 and text[first] != 91):
            return at
        closing = text[first] + 2
        stop = first + 1
        while stop < end and text[stop] != closing and text[stop] != 10 and stop - first < _MAX_GROUP:
            stop += 1
        if stop == end or text[stop] != closing:
            return at
        at = stop + 1
        behind = skip(text, at, end, _SPACES)
        if closing == 125 and behind < end and text[behind] == 123:
            # of {a}{b}{4} the last one is shown
            depth, after = 1, behind + 1
            while after < end and depth > 0 and text[after] != 10 and after - behind < _MAX_GROUP:
                depth += 1 if text[after] == OPENING_BRACE else -1 if text[after] == CLOSING_BRACE else 0
                after += 1
            after = skip(text, after, end, _SPACES)
            if depth > 0 or after == end or text[after] != 123:
                return behind


NO_END: Final = 1 << 60
PLAIN, SHOWN, MATHEMATICAL = range(3)
"""How much is undressed: all; what changes no letter (case, ``*``, ``_`` and the like are kept: SMILES); the
same without TeX commands that say of what kind their letters are."""


@kernel
def undress(text: Any, start: int, end: int, fences: Any, n_fences: int, out: Any, to: int) -> int:
    """Write the paragraph text[start:end] (UTF-8) to ``out`` from ``to`` on, without its markup.

    Returns
    -------
    int
        Where it ends; at most 2 (end - start) + 8 bytes are written.
    """
    return undress_up_to(text, start, end, fences, n_fences, out, to, PLAIN, NO_END)[0]  # type: ignore[no-any-return]


@kernel
def undress_up_to(
    text: Any, start: int, end: int, fences: Any, n_fences: int, out: Any, to: int, how: int, most: int
) -> Any:
    """`undress` by ``how`` (`PLAIN` and the like), until more than ``most`` bytes are written.

    Returns
    -------
    (to, early, late)
        Where it ends in ``out``; and the offset in ``text`` of the byte at ``out[most]``: before and after
        markup
        that is not shown.
    """
    first = to
    depth, dressed = 0, 0
    at = start
    begins = how == PLAIN or start == 0 or is_feed(text[start - 1])
    may_strike = True
    early, late, bare, boxes = -1, -1, -1, 0
    while at < end:
        if to >= most:
            early = at if early < 0 else early
            if to > most:
                return to, early, late if late >= 0 else early
            late = at
        if at == bare:  # \\boxed 4
            out[to] = CLOSING_BRACE
            to += 1
            bare = -1
            continue
        byte = int(text[at])
        if begins:
            if at == start or is_feed(text[at - 1]):
                marks, _ = _fence_at(text, at, end)
                if marks != 0:
                    at = _line_end(text, at, end)
                    begins = False
                    continue
                if n_fences > 0 and is_fenced(at, fences, n_fences):
                    out[to] = FENCED
                    to += 1
            if is_space(byte):
                at += 1
                continue
            if byte == 35:
                after = at
                while after < end and text[after] == 35:
                    after += 1
                if after == end or is_space(text[after]):
                    if after - at == 4:
                        out[to] = HASHES
                        to += 1
                    at = after
                    continue
            after = _list_mark(text, at, end)
            if after > at:
                at = after
                continue
        if _SHOWN[byte]:
            stop = bare if bare > at else end
            if most - to < stop - at:
                stop = at + max(most - to, 1)
            stop = skip(text, at, stop, _SHOWN)
            if how == PLAIN:
                for k in range(unsigned(stop - at)):
                    letter = text[unsigned(at) + k]
                    out[unsigned(to) + k] = letter + ((letter >= 65) & (letter <= 90)) * 32
            else:
                copy(text, at, stop, out, to)
            to += stop - at
            at = stop
            begins = False
            continue
        if is_feed(byte):
            out[to] = 10
            to += 1
            at += 1
            begins = True
            continue
        if byte >= 0x80:
            point, size = decode(text, at, end)
            at += size
            shown, point = point, fold(point)
            if how != PLAIN and point <= 0 and _SEEN <= shown < _UNSEEN:
                point = shown
            if point > 0:
                to = put_point(out, to, point)
                begins = begins and (point == 32 or point == 42)
                if point == 42:
                    to -= 1
            elif point == _STRIKE:
                to -= 1 if to > first else 0
            elif point == _DASH:
                out[to] = out[to + 2] = 32
                out[to + 1] = 45
                to += 3
            elif point == _ARROW:
                out[to] = 45
                out[to + 1] = 62
                to += 2
            elif point == _STOP:
                out[to] = 46
                out[to + 1] = 32
                to += 2
            continue
        after = int(text[at + 1]) if at + 1 < end else 10
        if how != PLAIN and _LETTERS[byte] and not (byte == 126 == after):
            out[to] = byte
            to += 1
            at += 1
            begins = False
            continue
        if byte == STAR:  # emphasis, unless it multiplies
            run = at
            while run < end and text[run] == STAR:
                run += 1
            if _multiplies(text, at, run, start, end):
                out[to] = byte
                to += 1
            at = run
            continue
        if byte == 95:
            run = at
            while run < end and text[run] == 95:
                run += 1
            next_one = int(text[run]) if run < end else 10
            if next_one == 123 or (
                to > first
                and (is_alnum(out[to - 1]) or out[to - 1] >= 0x80)
                and (is_alnum(next_one) or next_one >= 0x80)
            ):
                out[to] = 95
                to += 1
            at = run
            continue
        if byte == 96 or byte == 36:
            at += 1
            continue
        if byte == 126:
            if after == 126 and may_strike:
                behind = _behind(text, at + 2, end, _TILDES)
                may_strike = behind >= 0
                if may_strike:
                    at = behind
                    continue
            if after != 126:
                out[to] = 32
                to += 1
            at += 1
            continue
        if byte == 92:
            first_slash = at
            while at < end and text[at] == 92:
                at += 1
            after = int(text[at]) if at < end else 10
            name_end = skip(text, at, min(at + 20, end), LETTERS)
            if name_end > at:
                flags = flags_of(text, at, name_end)
                if how == MATHEMATICAL and flags & SAYS:
                    flags = 0
                if flags & WRAPPER:
                    brace = skip(text, name_end, end, _SPACES)
                    if brace < end and text[brace] == 123:
                        if depth < _MAX_DEPTH:
                            dressed = (dressed | 1 << depth) & ((1 << (depth + 1)) - 1)
                        depth += 1
                        name_end = brace + 1
                    at = name_end
                elif flags & PAINT:
                    at = skip_arguments(text, name_end, end)
                    if at < end and text[at] == 123:
                        if depth < _MAX_DEPTH:
                            dressed = (dressed | 1 << depth) & ((1 << (depth + 1)) - 1)
                        depth += 1
                        at += 1
                elif flags & BOX and how == PLAIN:
                    to = copy(_BOX, 0, len(_BOX) - 1, out, to)
                    at = skip(text, name_end, end, _SPACES)
                    stop = _held_end(text, at, end)
                    if stop > at:
                        bare = stop
                        out[to] = OPENING_BRACE
                        to += 1
                    begins = False
                elif how != PLAIN:
                    to = copy(text, first_slash, at, out, to)
                    begins = False
                elif flags & ARROW:
                    out[to] = 45
                    out[to + 1] = 62
                    to += 2
                    at = name_end
                elif flags & DROPPED:
                    out[to] = 32
                    to += 1
                    at = name_end
                else:
                    out[to] = 92
                    to += 1
                    begins = False
            elif how != PLAIN:
                to = copy(text, first_slash, at, out, to)
            elif _UNSHOWN[after]:
                at += 1
            elif _BLANKS[after] or is_feed(after):
                if not is_feed(after):
                    at += 1
                out[to] = 32
                to += 1
            elif after == 123 or after == 125:
                out[to] = 40 if after == 123 else 41
                to += 1
                at += 1
            elif after < 0x80:
                out[to] = after
                to += 1
                at += 1
                begins = False
            continue
        if byte == 60:
            name = at + 1
            closes = after == 47
            if closes:
                name += 1
            name_end = name
            while name_end < end and name_end - name < _MAX_NAME and is_alnum(text[name_end]):
                name_end += 1
            flags = flags_of(text, name, name_end) if name_end > name else 0
            if after == 124 and begins_with(text, at, end, _BOX_OPENS):
                to = copy(_BOX, 0, len(_BOX), out, to)
                boxes += 1
                depth += 1
                at += len(_BOX_OPENS)
                continue
            if after == 124 and begins_with(text, at, end, _BOX_CLOSES):
                out[to] = 125
                to += 1
                boxes -= 1
                depth -= 1 if depth > 0 else 0
                at += len(_BOX_CLOSES)
                continue
            if after == 33 and may_strike and begins_with(text, at, end, _COMMENT):
                behind = _behind(text, at + 4, end, _COMMENT_ENDS)
                may_strike = behind >= 0
                if may_strike:
                    at = behind
                    continue
            if flags & (LAYOUT | BREAK | CELL | STRUCK):
                stop = name_end
                while (
                    stop < end
                    and stop - at < _MAX_TAG
                    and text[stop] != 62
                    and text[stop] != 60
                    and not is_feed(text[stop])
                ):
                    stop += 1
                if (
                    stop < end
                    and text[stop] == 62
                    and (stop == name_end or not 97 <= text[name_end] | 32 <= 122)
                ):
                    behind = (
                        _closing(text, stop + 1, end, name, name_end)
                        if flags & STRUCK and not closes and may_strike
                        else -1
                    )
                    if flags & STRUCK and not closes and behind < 0:
                        may_strike = False
                    at = stop + 1 if behind < 0 else behind
                    if flags & BREAK:
                        out[to] = 10
                        to += 1
                        begins = True
                    elif flags & CELL and not closes:
                        out[to] = 124
                        to += 1
                    continue
        if byte == 38:
            point, size = _entity(text, at, end)
            if size > 0 and point > 0:
                out[to] = point
                to += 1
                at += size
                continue
        if byte == 123:
            if depth < _MAX_DEPTH:
                dressed &= (1 << depth) - 1
            depth += 1
        elif byte == 125 and depth > 0:
            depth -= 1
            if depth < _MAX_DEPTH and dressed >> depth & 1:
                at += 1
                continue
        if byte == 8 and after == 111:  # the b of \boxed, read as an escape
            out[to] = 98
            to += 1
        elif byte >= 32 and byte != 127:
            out[to] = byte
            to += 1
        elif byte == 9:
            out[to] = 32
            to += 1
        at += 1
        begins = False
    if at == bare or boxes > 0:
        out[to] = CLOSING_BRACE
        to += 1
    if early < 0:
        early = end
    return to, early, end if to <= most or late < 0 else late


(
    LABEL, QUALIFIED, QUALIFIER, LINK, AUXILIARY, FILLER, NOUN, CONCLUDES, CHOOSES, CHOOSES_BARE, FITS,
    JOINS, ADVERB, YES, NO,
    TAG, BOX, WRAPPER, DROPPED, ARROW, LAYOUT, BREAK, CELL, STRUCK, BE, IT, WEAK,
    PAINT, OPERATOR, COUNTS, POWER, ENDS, SAYS,
) = (1 << bit for bit in range(33))  # fmt: skip
"""Flags of a word; the bits from `ORDINAL_SHIFT` on are the number of an ordinal."""
ORDINAL_SHIFT: Final = 33
ORDINAL: Final = 15 << ORDINAL_SHIFT

_BITS: Final = (1 << 55) - 1
_FACTOR: Final = 131


def _hash(word: str) -> int:
    """The hash by which `flags_of` finds a word."""
    value = 1
    for byte in word.encode():
        value = (value & _BITS) * _FACTOR + byte
    return value


def _flags() -> dict[str, int]:
    """The flags of each word of `form_table`."""
    flags: dict[str, int] = {}
    for bit, words in (
        *((bit, getattr(language, name)) for language in LANGUAGES for bit, name in (
            (LABEL, "labels"), (LINK, "links"), (JOINS, "joins"), (FILLER, "fillers"),
            (ENDS, "ends"))),
        (QUALIFIED, table.QUALIFIED), (QUALIFIER, table.QUALIFIERS), (AUXILIARY, table.AUXILIARIES),
        (NOUN | FILLER, table.NOUNS), (CONCLUDES | FILLER, table.CONCLUDING), (CHOOSES, table.CHOOSING),
        (CHOOSES_BARE, table.CHOOSING_BARE), (FITS, table.FITTING), (ADVERB, table.ADVERBS), (YES,
        table.YES), (NO, table.NO),
        (TAG, table.TAGS), (BOX, table.BOXES), (WRAPPER, table.WRAPPERS), (DROPPED, table.DROPPED), (ARROW,
        table.ARROWS), (PAINT, table.PAINTS), (OPERATOR, table.OPERATORS), (COUNTS, table.COUNTING),
        (POWER, table.POWERS), (SAYS, table.SAYING),
        (LAYOUT, table.LAYOUT), (BREAK, table.BREAKS), (CELL, table.CELLS), (STRUCK, table.STRUCK), (BE,
        "be"),
        (IT, "it that"), (WEAK, table.WEAK),
    ):  # fmt: skip
        for word in words.split():
            flags[word] = flags.get(word, 0) | bit
    for number, word in enumerate(table.ORDINALS.split(), 1):
        flags[word] = flags.get(word, 0) | number << ORDINAL_SHIFT
    return flags


FLAGS: Final = _flags()
"""Word → its flags."""

_SLOTS: Final = 1024


def _slots() -> tuple[Any, Any]:
    """`FLAGS` as a hash table: keys and values."""
    keys, values = np.zeros(_SLOTS, np.int64), np.zeros(_SLOTS, np.int64)
    assert 2 * len(FLAGS) < _SLOTS
    for word, flags in FLAGS.items():
        key = _hash(word)
        at = (key ^ key >> 20) % _SLOTS
        while keys[at]:
            assert keys[at] != key
            at = (at + 1) % _SLOTS
        keys[at], values[at] = key, flags
    return keys, values


_KEYS, _VALUES = _slots()


@kernel
def flags_of(text: Any, start: int, end: int) -> int:
    """The flags of the word text[start:end], ignoring the case of ASCII letters; 0: not in the table."""
    key = 1
    for at in range(start, end):
        byte = int(text[at])
        if 65 <= byte <= 90:
            byte += 32
        key = (key & _BITS) * _FACTOR + byte
    at = (key ^ key >> 20) & (_SLOTS - 1)
    while _KEYS[at] != 0:
        if _KEYS[at] == key:
            return int(_VALUES[at])
        at = (at + 1) & (_SLOTS - 1)
    return 0
