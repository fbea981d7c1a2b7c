"""A paragraph as a renderer shows it: without emphasis, code marks, TeX and HTML markup, and struck-out text.

Letters come out in lower case, full-width and other compatibility forms folded. Nothing reaches across a
blank line, so each paragraph is undressed by itself.

`undress_up_to` copies runs of bytes that are shown as they are, and asks a function for each mark what it
shows. They pass on a `Dress`: how far the paragraph is undressed, and what is open there.
"""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Final, NamedTuple
from unicodedata import normalize

import numpy as np

import relfast_kernels.text.ascii as ascii
import relfast_kernels.text.form_table as table
from relfast_kernels.compiled.jit import kernel, step
from relfast_kernels.entry import Bytes, Ints32
from relfast_kernels.text.ascii import DIGITS, LETTERS, SPACES, byte_set, continues, is_alnum
from relfast_kernels.text.characters import decode, two_stages
from relfast_kernels.text.find import begins_with, copy, listed, put_point, skip, skip_back
from relfast_kernels.text.paragraphs import (
    BEGINS_FENCE,
    Fences,
    fence_at,
    is_feed,
    is_fenced,
    line_end,
    run_end,
)
from relfast_kernels.text.vectors import WIDTH, equal, first, load, lowered, store, within
from relfast_kernels.text.words import (
    ARROW,
    BOX,
    BREAK,
    CELL,
    DROPPED,
    FLAGS,
    LAYOUT,
    OPERATOR,
    PAINT,
    SAYS,
    STRUCK,
    WRAPPER,
    flags_of,
)

HASHES: Final = 1
"""The byte that stands for the ``####`` at the beginning of a line."""
FENCED: Final = 2
"""The byte that begins each line within a code fence."""


_DROP, _STRIKE, _DASH, _ARROW, _STOP, _SAME, _MARK, _PART = 0, -1, -2, -3, -4, -5, -6, -7
_MAX_TAG: Final = 80
_MAX_NAME: Final = 16
_MAX_COMMAND: Final = 20
_MAX_DEPTH: Final = 60
_MARKS_OF_ANSWER: Final = 4
"""Hashes that mark an answer."""
_UNSHOWN: Final = byte_set("()[]*#`~")
"""Characters that vanish with the backslash before them; those of `_BLANKS` become a blank."""
_BLANKS: Final = byte_set(",;:! ")
_SEEN, _UNSEEN = 0x2100, 0xFE00
"""Signs between these are seen, even if they say nothing beside a choice: arrows, ``⌊``, ``△``."""
_LETTERS: Final = byte_set("*_`$~&")
"""Marks that may also be letters of SMILES and TeX."""
_CLOSES: Final = byte_set(")]}")
_FACTOR_BEGINS: Final = byte_set(f"{digits}{ascii_letters}(+-[{{\\")
"""What stands before and after a star that multiplies."""
_SHOWN: Final = byte_set("".join(char for char in map(chr, range(32, 123)) if char not in "$&*<\\_`"))
"""What is shown as it is: printable ASCII that no markup begins or ends with."""


_RUNS: Final = (
    # first and last code point, what the first becomes, and after how many the results repeat
    (0x2460, 0x2468, 49, 9), (0x2474, 0x247C, 49, 9), (0x24F5, 0x24FD, 49, 9), (0x2776, 0x2792, 49, 10),
    (0xFF01, 0xFF5E, 33, 94), (0xFF21, 0xFF3A, 97, 26), (0x1D400, 0x1D6A3, 97, 26),
    (0x1D7CE, 0x1D7FF, 48, 10),
)  # fmt: skip
"""Runs of characters that are folded to other runs."""
_UNCASED: Final = 0x2000
"""From here on no letter that a text is written in has an upper case: behind Latin, Greek, Cyrillic."""
_ALIKE: Final = {
    _DROP: "ad 300-36f 61c 180e 200b-200f 202a-202e 2060-206f 20d0-20ff 2190-21ff 2234 2300-23ff 25a0-2775"
    " 277f 2789 2793-27bf 2b00-2bff fe00-fe0f feff 1f000-1faff e0000-e0fff",
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


_GA, _LEADS, _VOWELS, _TAILS = 0xAC00, 0x1100, 0x1161, 0x11A7
"""Hangul: the first syllable, leading consonant and vowel, and what is before the first trailing one."""
_N_LEADS, _N_VOWELS, _N_TAILS = 19, 21, 28


def _compositions() -> tuple[Ints32, Ints32, Ints32]:
    """Each letter with a mark that a word of the table has: its base, the mark, and both as one character."""
    letters = sorted({char for word in FLAGS for char in word if ord(char) < _GA})
    rows = [(*map(ord, normalize("NFD", char)), ord(char)) for char in letters]
    bases, marks, points = np.array([row for row in rows if len(row) == 3], np.int32).T.copy()
    return bases, marks, points


_BASES, _COMBINING, _COMPOSED = _compositions()


def _folds() -> Ints32:
    """What each code point is folded to (int32); `_SAME` for those that stay. `_MARK` and `_PART` may make
    one character with the one before; else the first is dropped, the second stays."""
    folds = np.full(0x110000, _SAME, np.int32)
    for point in range(0x80, _UNCASED):
        small = chr(point).lower()
        if small != chr(point) and len(small) == 1:
            folds[point] = ord(small)
    for begin, last, becomes, period in _RUNS:
        folds[begin : last + 1] = becomes + np.arange(last + 1 - begin) % period
    for becomes, alike in _ALIKE.items():
        for span in alike.split():
            begin, last = (int(point, 16) for point in (span + "-" + span).split("-")[:2])
            folds[begin : last + 1] = becomes
    folds[_COMBINING] = np.where(folds[_COMBINING] == _DROP, _MARK, _PART)
    folds[_VOWELS : _TAILS + _N_TAILS] = _PART
    return folds


_FOLDS, _PAGES = two_stages(_folds())


@kernel
def fold(point: int) -> int:
    """The character that one beyond ASCII is folded to; `_DROP` and the like if there is none."""
    found = int(_FOLDS[np.int64(_PAGES[point >> 8]) * 256 + (point & 255)])
    return point if found == _SAME else found


@kernel
def _in_case(point: int, folded: int) -> int:
    """What a character is folded to, ``folded`` in lower case, in its own case."""
    if point < _UNCASED:
        return folded if folded <= 0 or folded < ascii.BEYOND_ASCII else point
    is_wide = 0xFF21 <= point <= 0xFF3A
    is_styled = 0x1D400 <= point <= 0x1D6A3 and (point - 0x1D400) % 52 < 26
    return folded - 32 if is_wide or is_styled else folded


@kernel
def _composed(base: int, mark: int) -> int:
    """The character that two make ("o" and a diaeresis: "ö"); 0: none that the table needs."""
    if _VOWELS <= mark < _TAILS + _N_TAILS:
        if mark < _VOWELS + _N_VOWELS and _LEADS <= base < _LEADS + _N_LEADS:
            return _GA + ((base - _LEADS) * _N_VOWELS + mark - _VOWELS) * _N_TAILS
        syllable = base - _GA
        takes_tail = 0 <= syllable < _N_LEADS * _N_VOWELS * _N_TAILS and syllable % _N_TAILS == 0
        return base + mark - _TAILS if takes_tail and mark > _TAILS else 0
    for k in range(len(_BASES)):
        if _COMBINING[k] == mark and _BASES[k] == base:
            return int(_COMPOSED[k])
    return 0


(
    _TILDES,
    _COMMENT,
    _COMMENT_ENDS,
    _BOX_OPENS,
    _BOX_CLOSES,
    _BOX,
    _OPEN_BOX,
    _SHOWN_ARROW,
    _SHOWN_DASH,
    _SHOWN_STOP,
) = (
    np.frombuffer(mark.encode(), np.uint8)
    for mark in ("~~", "<!--", "-->", *table.BOX_TOKENS, "\\boxed{", "\\boxed", "->", " - ", ". ")
)
_ENTITIES: Final = np.frombuffer(b"lt;\ngt;\namp;\nnbsp;\nquot;\napos;\n#39;\n", np.uint8)
_ENTITY_BEGINS, _ENTITY_LETTERS, _ENTITY_MEANS = (
    np.frombuffer(each, np.uint8) for each in (b"lganqa#", b"ttppts9", b"<>& \"''")
)
_ENDS_NUMBER: Final = byte_set(".)")
_LIST_DIGITS: Final = 3
"""The most digits of a number that begins an item of a list."""
_TOKEN: Final = byte_set(f"{digits}{ascii_letters}+-./")
"""What ``\\boxed`` holds if no brace follows it: ``\\boxed 4``."""
_MAX_GROUP: Final = 80
"""Bytes of an argument that is not shown."""
_IN_OPTIONS: Final = ~byte_set("[]\n")
_OF_LENGTH: Final = byte_set(f"{digits}.+- ")
_MAX_LENGTH: Final = 12


@kernel
def _closing(text: Bytes, at: int, end: int, name: int, name_end: int) -> int:
    """The offset after the closing tag of the name text[name:name_end]; -1: there is none."""
    size = name_end - name
    while at + size + 3 <= end:
        if text[at] == ascii.LESS and text[at + 1] == ascii.SLASH and text[at + 2 + size] == ascii.GREATER:
            same = True
            for k in range(size):
                same &= text[at + 2 + k] | 32 == text[name + k] | 32
            if same:
                return at + size + 3
        at += 1
    return -1


@kernel
def _behind(text: Bytes, at: int, end: int, mark: Bytes) -> int:
    """The offset after the next occurrence of a mark; -1: there is none."""
    while at + len(mark) <= end:
        if begins_with(text, at, end, mark):
            return at + len(mark)
        at += 1
    return -1


@kernel
def _entity(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """The character that an HTML entity stands for, and the entity's bytes; 0: it is none."""
    stop = listed(text, at + 1, end, _ENTITIES, False)
    if stop == at + 1:
        return 0, 0
    for k in range(len(_ENTITY_LETTERS)):
        if text[stop - 2] | 32 == _ENTITY_LETTERS[k] and text[at + 1] | 32 == _ENTITY_BEGINS[k]:
            return int(_ENTITY_MEANS[k]), stop - at
    return 0, 0


@kernel
def _list_mark(text: Bytes, at: int, end: int) -> int:
    """The offset after the mark of a list or quotation at a line's start; ``at``: there is none."""
    byte = text[at]
    if byte == ascii.GREATER:
        return at + 1
    after = at + 1
    if byte == ascii.HYPHEN or byte == ascii.PLUS or byte == ascii.STAR:
        return after if after < end and SPACES[text[after]] else at
    if not DIGITS[byte]:
        return at
    after = skip(text, after, min(at + _LIST_DIGITS, end), DIGITS)
    if (
        after + 1 < end
        and (text[after] == ascii.DOT or text[after] == ascii.ROUND_CLOSE)
        and SPACES[text[after + 1]]
    ):
        rest = skip(text, after + 1, end, SPACES)
        return after + 1 if rest < end and not is_feed(text[rest]) else at
    return at


@kernel
def _multiplies(text: Bytes, first: int, stop: int, start: int, end: int) -> bool:
    """Whether the stars text[first:stop] are a sign between two factors and no mark of emphasis, which has no
    blanks on both sides: "4*2", "4 * (1)", "4 ** x"; not "**4** because"."""
    left, right = skip_back(text, start, first, SPACES), skip(text, stop, end, SPACES)
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
        left > start
        and not is_feed(text[left - 1])
        and text[left - 1] != ascii.STAR
        and first - left < _MAX_GROUP
    ):
        left -= 1
    return left == start or text[left - 1] != ascii.STAR


@kernel
def _held_end(text: Bytes, at: int, end: int) -> int:
    """Where that ends which a box without braces holds, a word or a command with its argument: ``\\boxed 4``,
    ``\\boxed\\text{4}``; ``at`` if braces follow."""
    if at == end or text[at] != ascii.BACKSLASH:
        return skip(text, at, end, _TOKEN)
    stop = skip(text, at + 1, end, LETTERS)
    if stop == at + 1 or stop == end or text[stop] != ascii.BRACE_OPEN:
        return at
    depth, stop = 1, stop + 1
    while stop < end and depth > 0 and not is_feed(text[stop]):
        depth += 1 if text[stop] == ascii.BRACE_OPEN else -1 if text[stop] == ascii.BRACE_CLOSE else 0
        stop += 1
    return stop if depth == 0 else at


@kernel
def skip_arguments(text: Bytes, at: int, end: int) -> int:
    """The offset after the arguments at ``at`` that are not shown: groups in brackets, and all groups in
    braces but the last of several (``{red}{4}``: before ``{4}``)."""
    while True:
        first = skip(text, at, end, SPACES)
        if first == end or (text[first] != ascii.BRACE_OPEN and text[first] != ascii.SQUARE_OPEN):
            return at
        closing = text[first] + 2  # as ASCII has them
        stop = first + 1
        while stop < end and text[stop] != closing and text[stop] != ascii.LF and stop - first < _MAX_GROUP:
            stop += 1
        if stop == end or text[stop] != closing:
            return at
        at = stop + 1
        behind = skip(text, at, end, SPACES)
        if closing == ascii.BRACE_CLOSE and behind < end and text[behind] == ascii.BRACE_OPEN:
            # of {a}{b}{4} the last one is shown
            depth, after = 1, behind + 1
            while after < end and depth > 0 and text[after] != ascii.LF and after - behind < _MAX_GROUP:
                depth += (
                    1 if text[after] == ascii.BRACE_OPEN else -1 if text[after] == ascii.BRACE_CLOSE else 0
                )
                after += 1
            after = skip(text, after, end, SPACES)
            if depth > 0 or after == end or text[after] != ascii.BRACE_OPEN:
                return behind


NO_END: Final = 1 << 60
PLAIN, SHOWN, MATHEMATICAL = range(3)
"""How much is undressed: all; what changes no letter (case, ``*``, ``_`` and the like are kept: SMILES); the
same without TeX commands that say of what kind their letters are."""


class Dress(NamedTuple):
    """How far a paragraph is undressed: the next byte that is read is text[at], the next one written out[to].

    ``begins``: nothing of the line is shown yet. ``depth``: how many braces are open; ``dressed``: a bit for
    each, set if it is not shown. ``may_strike``: what ends struck-out text or a comment may come. ``bare``:
    where a box without braces ends, or -1. ``boxes``: how many of `form_table.BOX_TOKENS` are open."""

    at: int
    to: int
    begins: bool
    depth: int
    dressed: int
    may_strike: bool
    bare: int
    boxes: int


@step
def _moved(dress: Dress, at: int, to: int, begins: bool) -> Dress:
    return Dress(at, to, begins, dress.depth, dress.dressed, dress.may_strike, dress.bare, dress.boxes)


@step
def _put(dress: Dress, size: int, byte: int, begins: bool, out: Bytes) -> Dress:
    """``byte`` is shown for the next ``size`` bytes of the text."""
    out[dress.to] = byte
    return _moved(dress, dress.at + size, dress.to + 1, begins)


@step
def _opened(dress: Dress, at: int, is_dressed: bool) -> Dress:
    """A brace is open, which is not shown if it ``is_dressed``."""
    held, depth = dress.dressed, dress.depth
    if depth < _MAX_DEPTH:
        held = held & ((1 << depth) - 1) | is_dressed << depth
    return Dress(at, dress.to, dress.begins, depth + 1, held, dress.may_strike, dress.bare, dress.boxes)


@step
def _unstruck(dress: Dress) -> Dress:
    """Nothing that ends struck-out text or a comment comes any more."""
    return Dress(dress.at, dress.to, dress.begins, dress.depth, dress.dressed, False, dress.bare, dress.boxes)


@kernel
def _line_begins(text: Bytes, start: int, end: int, fences: Fences, out: Bytes, dress: Dress) -> Dress:
    """Step over what begins a line and is not shown: a fence, blanks, marks of headings, lists and
    quotations."""
    at, to = dress.at, dress.to
    if at == start or is_feed(text[at - 1]):
        if BEGINS_FENCE[text[at]] and fence_at(text, at, end)[0] != 0:
            return _moved(dress, line_end(text, at, end), to, False)
        if fences.n > 0 and is_fenced(at, fences):
            out[to] = FENCED
            to += 1
    while at < end:
        after = at
        if SPACES[text[at]]:
            after = skip(text, at, end, SPACES)
        elif text[at] == ascii.HASH:
            stop = run_end(text, at, end)
            if stop == end or SPACES[text[stop]]:
                if stop - at == _MARKS_OF_ANSWER:
                    out[to] = HASHES
                    return _moved(dress, stop, to + 1, True)
                after = stop
        else:
            after = _list_mark(text, at, end)
        if after == at:
            break
        at = after
    return _moved(dress, at, to, True)


@kernel
def _marks_of(text: Bytes, at: int) -> np.uint64:
    """A bit for each place of the block at ``at`` that is not `_SHOWN`."""
    block = load(text, at)
    marks = (
        ~within(block, ascii.BLANK, ascii.LOWER_Z)
        | equal(block, ascii.DOLLAR)
        | equal(block, ascii.AMPERSAND)
    )
    marks |= equal(block, ascii.STAR) | equal(block, ascii.LESS) | equal(block, ascii.BACKSLASH)
    return marks | equal(block, ascii.UNDERSCORE) | equal(block, ascii.BACKTICK)


@step
def _copy_shown(text: Bytes, n: int, how: int, most: int, out: Bytes, dress: Dress) -> Dress:
    """Copy ``n`` bytes, at most a block; in lower case, if all is undressed."""
    at, to = dress.at, dress.to
    if to + WIDTH > min(len(out), most):  # a whole block is written: never beyond ``most``
        for k in range(n):
            byte = text[at + k]
            out[to + k] = byte | 32 if how == PLAIN and LETTERS[byte] else byte
    elif how == PLAIN:
        store(lowered(load(text, at)), out, to)
    else:
        store(load(text, at), out, to)
    return _moved(dress, at + n, to + n, False)


@kernel
def _joined(out: Bytes, begin: int, to: int, mark: int) -> tuple[int, int]:
    """Where the character before out[to] begins, and what it is with a mark (`_composed`)."""
    before = max(to - 1, begin)
    while before > begin and continues(out[before]):
        before -= 1
    if before == to:
        return to, 0
    base = int(out[before]) if before == to - 1 else decode(out, before, to)[0]
    return before, _composed(base, mark)


@kernel
def _characters(text: Bytes, end: int, how: int, most: int, begin: int, out: Bytes, dress: Dress) -> Dress:
    """Characters beyond ASCII: as many as are folded one by one, or one that is shown as some that are alike.
    ``begin``: where out begins."""
    at, to, begins = dress.at, dress.to, dress.begins
    stop = dress.bare if dress.bare > at else end
    while True:
        point, size = decode(text, at, end)
        folded = fold(point)
        if how != PLAIN:
            folded = point if folded <= 0 and _SEEN <= point < _UNSEEN else _in_case(point, folded)
        at += size
        if folded <= 0:
            break
        begins = begins and (folded == ascii.BLANK or folded == ascii.STAR)
        to = to if folded == ascii.STAR else put_point(out, to, folded)
        if begins or at >= stop or to >= most or text[at] < ascii.BEYOND_ASCII:
            return _moved(dress, at, to, begins)
    if folded <= _MARK:
        before, composed = _joined(out, begin, to, point) if how == PLAIN else (to, 0)
        if composed == 0 and folded == _PART:
            before, composed = to, point
        return _moved(dress, at, put_point(out, before, composed) if composed > 0 else to, begins)
    if folded == _STRIKE and to > begin:
        to -= 1
    elif folded == _DASH:
        to = copy(_SHOWN_DASH, 0, len(_SHOWN_DASH), out, to)
    elif folded == _ARROW:
        to = copy(_SHOWN_ARROW, 0, len(_SHOWN_ARROW), out, to)
    elif folded == _STOP:
        to = copy(_SHOWN_STOP, 0, len(_SHOWN_STOP), out, to)
    return _moved(dress, at, to, begins)


@kernel
def _underscores(text: Bytes, end: int, begin: int, out: Bytes, dress: Dress) -> Dress:
    """Emphasis, unless they are in a word or begin an index."""
    stop, to = run_end(text, dress.at, end), dress.to
    after = int(text[stop]) if stop < end else ascii.LF
    is_within = (
        to > begin
        and (is_alnum(out[to - 1]) or out[to - 1] >= ascii.BEYOND_ASCII)
        and (is_alnum(after) or after >= ascii.BEYOND_ASCII)
    )
    if after == ascii.BRACE_OPEN or is_within:
        return _put(dress, stop - dress.at, ascii.UNDERSCORE, dress.begins, out)
    return _moved(dress, stop, to, dress.begins)


@kernel
def _tildes(text: Bytes, end: int, out: Bytes, dress: Dress) -> Dress:
    """Struck-out text, or a blank of TeX."""
    if dress.at + 1 == end or text[dress.at + 1] != ascii.TILDE:
        return _put(dress, 1, ascii.BLANK, dress.begins, out)
    if dress.may_strike:
        behind = _behind(text, dress.at + 2, end, _TILDES)
        if behind >= 0:
            return _moved(dress, behind, dress.to, dress.begins)
        dress = _unstruck(dress)
    return _moved(dress, dress.at + 1, dress.to, dress.begins)


@kernel
def _command(text: Bytes, at: int, end: int, how: int, out: Bytes, dress: Dress) -> Dress:
    """A command of TeX, whose name begins at ``at``; ``dress`` is before its backslashes."""
    name_end = skip(text, at, min(at + _MAX_COMMAND, end), LETTERS)
    if name_end == at:
        return _escape(text, at, end, how, out, dress)
    flags, to = flags_of(text, at, name_end), dress.to
    if how == MATHEMATICAL and flags & SAYS:
        flags = 0
    if flags & BOX and how == PLAIN and not (flags & PAINT and _is_held(dress)):
        at = skip_arguments(text, name_end, end) if flags & PAINT else _skip_options(text, name_end, end)
        return _box(text, at, end, out, dress)
    if flags & (WRAPPER | PAINT):
        if flags & WRAPPER:
            brace = skip(text, name_end, end, SPACES)
            behind = brace if brace < end and text[brace] == ascii.BRACE_OPEN else name_end
        else:
            behind = skip_arguments(text, name_end, end)
        if behind < end and text[behind] == ascii.BRACE_OPEN:
            return _opened(dress, behind + 1, True)
        return _moved(dress, behind, to, dress.begins)
    if how != PLAIN:
        return _moved(dress, at, copy(text, dress.at, at, out, to), False)
    if flags & ARROW:
        to = copy(_SHOWN_ARROW, 0, len(_SHOWN_ARROW), out, to)
        return _moved(dress, name_end, to, dress.begins)
    if flags & DROPPED:
        return _put(dress, name_end - dress.at, ascii.BLANK, dress.begins, out)
    if not flags & OPERATOR and (at - dress.at) % 2 == 0:
        return _put(dress, at - dress.at, ascii.BLANK, dress.begins, out)  # it breaks the line before a word
    return _put(dress, at - dress.at, ascii.BACKSLASH, False, out)


@step
def _is_held(dress: Dress) -> bool:
    """Whether a brace is open that is shown, as of a box: colours within it paint a part of what it holds."""
    all_dressed = (1 << min(dress.depth, _MAX_DEPTH)) - 1
    return dress.bare > dress.at or dress.dressed & all_dressed != all_dressed


@kernel
def _skip_options(text: Bytes, at: int, end: int) -> int:
    """The offset after groups in brackets, if braces follow: ``\\framebox[2cm][c]{4}``; else ``at``."""
    stop = at
    while True:
        first = skip(text, stop, end, SPACES)
        if first < end and text[first] == ascii.BRACE_OPEN:
            return first
        if first == end or text[first] != ascii.SQUARE_OPEN:
            return at
        stop = skip(text, first + 1, min(first + _MAX_GROUP, end), _IN_OPTIONS)
        if stop == end or text[stop] != ascii.SQUARE_CLOSE:
            return at
        stop += 1


@kernel
def _box(text: Bytes, at: int, end: int, out: Bytes, dress: Dress) -> Dress:
    """A box, which holds what is at ``at``."""
    to = copy(_OPEN_BOX, 0, len(_OPEN_BOX), out, dress.to)
    at = skip(text, at, end, SPACES)
    stop, bare = _held_end(text, at, end), dress.bare
    if stop > at:
        bare = stop
        out[to] = ascii.BRACE_OPEN
        to += 1
    return Dress(at, to, False, dress.depth, dress.dressed, dress.may_strike, bare, dress.boxes)


@kernel
def _behind_length(text: Bytes, at: int, end: int) -> int:
    """The offset after a length in brackets, as a line break has it: ``[-0.5 em]``; else ``at``."""
    if at == end or text[at] != ascii.SQUARE_OPEN:
        return at
    unit = skip(text, at + 1, min(at + _MAX_LENGTH, end), _OF_LENGTH)
    stop = skip(text, unit, min(unit + 2, end), LETTERS)
    is_length = unit > at + 1 and stop == unit + 2 and stop < end and text[stop] == ascii.SQUARE_CLOSE
    return stop + 1 if is_length else at


@kernel
def _escape(text: Bytes, at: int, end: int, how: int, out: Bytes, dress: Dress) -> Dress:
    """What is no letter, at ``at`` behind one or more backslashes; ``dress`` is before them."""
    byte, size = int(text[at]) if at < end else ascii.LF, at - dress.at
    if how != PLAIN:
        return _moved(dress, at, copy(text, dress.at, at, out, dress.to), dress.begins)
    if is_feed(byte):
        return _put(dress, size, ascii.BLANK, dress.begins, out)
    if DIGITS[byte]:
        return _put(dress, size, ascii.BLANK, dress.begins, out)
    behind = _behind_length(text, at, end) if size > 1 else at
    if behind > at:
        return _put(dress, behind - dress.at, ascii.BLANK, dress.begins, out)
    if _UNSHOWN[byte]:
        return _moved(dress, at + 1, dress.to, dress.begins)
    if _BLANKS[byte]:
        return _put(dress, size + 1, ascii.BLANK, dress.begins, out)
    if byte == ascii.BRACE_OPEN or byte == ascii.BRACE_CLOSE:
        byte = ascii.ROUND_OPEN if byte == ascii.BRACE_OPEN else ascii.ROUND_CLOSE
        return _put(dress, size + 1, byte, dress.begins, out)
    if byte < ascii.BEYOND_ASCII:
        return _put(dress, size + 1, byte, False, out)
    return _moved(dress, at, dress.to, dress.begins)


@kernel
def _tag(text: Bytes, end: int, out: Bytes, dress: Dress) -> Dress:
    """A tag of HTML, a comment, or a mark around a box; only what is none of them stays where it is."""
    at = dress.at
    after = int(text[at + 1]) if at + 1 < end else ascii.LF
    if after == ascii.BAR and begins_with(text, at, end, _BOX_OPENS):
        to = copy(_BOX, 0, len(_BOX), out, dress.to)
        opened = _opened(_moved(dress, at, to, dress.begins), at + len(_BOX_OPENS), False)
        return Dress(
            opened.at, to, opened.begins, opened.depth, opened.dressed, opened.may_strike, opened.bare,
            opened.boxes + 1,
        )  # fmt: skip
    if after == ascii.BAR and begins_with(text, at, end, _BOX_CLOSES):
        out[dress.to] = ascii.BRACE_CLOSE
        at += len(_BOX_CLOSES)
        closes = dress.boxes > 0  # else it is a stray one
        depth, boxes = max(dress.depth - closes, 0), dress.boxes - closes
        return Dress(
            at, dress.to + 1, dress.begins, depth, dress.dressed, dress.may_strike, dress.bare, boxes
        )
    if after == ascii.BANG and dress.may_strike and begins_with(text, at, end, _COMMENT):
        behind = _behind(text, at + len(_COMMENT), end, _COMMENT_ENDS)
        return _moved(dress, behind, dress.to, dress.begins) if behind >= 0 else _unstruck(dress)
    name = at + 2 if after == ascii.SLASH else at + 1
    name_end = name
    while name_end < end and name_end - name < _MAX_NAME and is_alnum(text[name_end]):
        name_end += 1
    flags = flags_of(text, name, name_end) if name_end > name else 0
    stop = _tag_end(text, at, name_end, end) if flags & (LAYOUT | BREAK | CELL | STRUCK) else at
    if stop == at:
        return dress
    if flags & STRUCK and after != ascii.SLASH:
        behind = _closing(text, stop, end, name, name_end) if dress.may_strike else -1
        if behind < 0:
            dress = _unstruck(dress)
        else:
            stop = behind
    if flags & BREAK:
        return _put(dress, stop - at, ascii.LF, True, out)
    if flags & CELL and after != ascii.SLASH:
        return _put(dress, stop - at, ascii.BAR, dress.begins, out)
    return _moved(dress, stop, dress.to, dress.begins)


@kernel
def _tag_end(text: Bytes, at: int, name_end: int, end: int) -> int:
    """The offset after the tag at ``at``; ``at`` if it is not closed, or its name longer."""
    stop = name_end
    while stop < end and stop - at < _MAX_TAG and text[stop] != ascii.GREATER and text[stop] != ascii.LESS:
        if is_feed(text[stop]):
            return at
        stop += 1
    is_name = stop == name_end or not LETTERS[text[name_end]]
    return stop + 1 if stop < end and text[stop] == ascii.GREATER and is_name else at


@step
def _sign(text: Bytes, end: int, out: Bytes, dress: Dress) -> Dress:
    """A brace, or a byte that is shown, or a control character."""
    byte = int(text[dress.at])
    if byte == ascii.BRACE_OPEN:
        return _put(_opened(dress, dress.at, False), 1, byte, False, out)
    if byte == ascii.BRACE_CLOSE and dress.depth > 0:
        depth = dress.depth - 1
        is_shown = depth >= _MAX_DEPTH or dress.dressed >> depth & 1 == 0
        out[dress.to] = ascii.BRACE_CLOSE
        return Dress(
            dress.at + 1, dress.to + is_shown, dress.begins and not is_shown, depth, dress.dressed,
            dress.may_strike, dress.bare, dress.boxes,
        )  # fmt: skip
    if byte == ascii.BACKSPACE and dress.at + 1 < end and text[dress.at + 1] == ord("o"):
        return _put(dress, 1, ord("b"), False, out)  # the b of \\boxed, read as an escape
    if byte == ascii.TAB:
        return _put(dress, 1, ascii.BLANK, False, out)
    if byte >= ascii.BLANK and byte != ascii.DELETE:
        return _put(dress, 1, byte, False, out)
    return _moved(dress, dress.at + 1, dress.to, False)


@kernel
def _mark(text: Bytes, start: int, end: int, how: int, begin: int, out: Bytes, dress: Dress) -> Dress:
    """A byte of ASCII that may be markup. ``begin``: where ``out`` begins."""
    at = dress.at
    byte = int(text[at])
    if byte == ascii.BRACE_OPEN or byte == ascii.BRACE_CLOSE or byte == ascii.BAR:
        return _sign(text, end, out, dress)
    after = int(text[at + 1]) if at + 1 < end else ascii.LF
    if how != PLAIN and _LETTERS[byte] and not (byte == ascii.TILDE == after):
        return _put(dress, 1, byte, False, out)
    if byte == ascii.STAR:
        stop = run_end(text, at, end)
        if _multiplies(text, at, stop, start, end):
            return _put(dress, stop - at, byte, dress.begins, out)
        return _moved(dress, stop, dress.to, dress.begins)
    if byte == ascii.UNDERSCORE:
        return _underscores(text, end, begin, out, dress)
    if byte == ascii.BACKTICK or byte == ascii.DOLLAR:
        return _moved(dress, at + 1, dress.to, dress.begins)
    if byte == ascii.TILDE:
        return _tildes(text, end, out, dress)
    if byte == ascii.BACKSLASH:
        return _command(text, run_end(text, at, end), end, how, out, dress)
    if byte == ascii.LESS:
        dress = _tag(text, end, out, dress)
        if dress.at > at:
            return dress
    if byte == ascii.AMPERSAND:
        point, size = _entity(text, at, end)
        if point > 0:
            return _put(dress, size, point, dress.begins, out)
    return _sign(text, end, out, dress)


@kernel
def undress(text: Bytes, start: int, end: int, fences: Fences, out: Bytes, to: int) -> int:
    """Write the paragraph text[start:end] (UTF-8) to ``out`` from ``to`` on, without its markup.

    Returns
    -------
    int
        Where it ends; at most 2 (end - start) + 8 bytes are written, and what follows is overwritten.
    """
    return undress_up_to(text, start, end, fences, out, to, PLAIN, NO_END)[0]


@kernel
def undress_up_to(
    text: Bytes, start: int, end: int, fences: Fences, out: Bytes, to: int, how: int, most: int
) -> tuple[int, int, int]:
    """`undress` by ``how`` (`PLAIN` and the like), until more than ``most`` bytes are written.

    Returns
    -------
    (to, early, late)
        Where it ends in ``out``; and the offset in ``text`` of the byte at ``out[most]``: before and after
        markup that is not shown.
    """
    early = late = -1
    block, marks = start - WIDTH, np.uint64(0)  # of the block at ``block`` what is not shown
    begins = how == PLAIN or start == 0 or is_feed(text[start - 1])
    dress = Dress(start, to, begins, 0, 0, True, -1, 0)
    while dress.at < end:
        at = dress.at
        if dress.to >= most:
            early = at if early < 0 else early
            if dress.to > most:
                return dress.to, early, late if late >= 0 else early
            late = at
        if at == dress.bare:
            out[dress.to] = ascii.BRACE_CLOSE
            dress = Dress(
                at, dress.to + 1, dress.begins, dress.depth, dress.dressed, dress.may_strike, -1, dress.boxes
            )
            continue
        if dress.begins:
            dress = _line_begins(text, start, end, fences, out, dress)
            if dress.at > at:
                continue
        byte = text[at]
        if _SHOWN[byte]:
            if at >= block + WIDTH:
                block, marks = at, _marks_of(text, at)
            n = min(first(marks >> np.uint64(at - block)), block + WIDTH - at)
            n = min(n, dress.bare - at if dress.bare > at else end - at, max(most - dress.to, 1))
            dress = _copy_shown(text, n, how, most, out, dress)
        elif byte >= ascii.BEYOND_ASCII:
            dress = _characters(text, end, how, most, to, out, dress)
        elif is_feed(byte):
            dress = _put(dress, 1, ascii.LF, True, out)
        else:
            dress = _mark(text, start, end, how, to, out, dress)
    to = dress.to
    if dress.at == dress.bare or dress.boxes > 0:
        out[to] = ascii.BRACE_CLOSE
        to += 1
    if early < 0:
        early = end
    return to, early, end if to <= most or late < 0 else late
