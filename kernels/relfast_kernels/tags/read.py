"""Read the molecules in a response's ``<smiles>`` tags, as the published scorer and as ``strict`` do.

Some responses are left to Python: those whose tags hold letters beyond ASCII, with reasoning in mid-text, or
with another form of answer.

Under ``strict`` a tag's name stands in either case, its brackets as they are or escaped (HTML, markdown,
JSON, full-width). A tag reaches to any closing tag; without one, to the end of its line, if no word
stands between that and the next tag; never across a blank line.
Its content counts without the markup that a renderer removes, marks of lists and a final stop: one run of
SMILES letters, or several of them separated by commas and lines. A tag with any other content does not count.
Of one molecule the last tag counts; of a set all tags after the last line that announces a final list, or
all. No other word is looked at. Linear time.
"""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.smiles.layouts import SIZE_COLUMNS, SIZES
from relfast_kernels.tags.layouts import GOLD, HOW, LEFT_TO_PYTHON, TOLD
from relfast_kernels.text.characters import behind_word, skip_white, skip_white_back, struck_end
from relfast_kernels.text.find import (
    BLANKS,
    DIGITS,
    LETTERS,
    byte_set,
    copy,
    find_byte,
    find_either,
    find_outside,
    listed,
    same_bytes,
    skip,
)
from relfast_kernels.text.form_table import BOX_TOKENS, BOXES, LANGUAGES, QUALIFIED, TAGS
from relfast_kernels.text.reasoning import cut_reasoning

NEWLINE, _RETURN, _LESS, _GREATER = map(ord, "\n\r<>")
_NAME: Final = np.frombuffer(b"smiles", np.uint8)

_WHITE: Final = byte_set("\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f ")
_PLAIN: Final = byte_set(ascii_letters + digits + "@+-[]()=#/%")
"""White space, and the letters of a plain molecule."""

_OPENING: Final = np.frombuffer(b"<\n&lt;\n&#60;\n\\<\n\\u003c\n\xef\xbc\x9c\n", np.uint8)
_CLOSING: Final = np.frombuffer(b">\n&gt;\n&#62;\n\\>\n\\u003e\n\xef\xbc\x9e\n", np.uint8)
"""How brackets may be written, in lower case."""
_SMILES: Final = np.frombuffer(b"smiles\n", np.uint8)

_UNSEEN: Final = np.frombuffer(
    "\u200b\n\u200c\n\u200d\n\u2060\n\ufeff\n\u00ad\n\u200e\n\u200f\n\u00a0\n\u3000\n".encode(), np.uint8
)
_QUOTES: Final = np.frombuffer("“\n”\n‘\n’\n«\n»\n「\n」\n•\n·\n。\n，\n".encode(), np.uint8)
"""What is stripped from both ends besides ASCII."""
_DASHES: Final = np.frombuffer("\u2010\n\u2011\n\u2012\n\u2013\n\u2212\n\uff0d\n".encode(), np.uint8)

_ANNOUNCES: Final = np.frombuffer(
    b"final\nanswer\nanswers\nsolution\nsolutions\nresult\nresults\ncorrected\nrevised\nupdated\nrespuesta\nantwort\n",
    np.uint8,
)
"""A line that announces a final list has one of these words, or "missing" and one of `_ISOMERS`."""
_ELSEWHERE: Final = np.frombuffer("答案\n答え\n回答\n정답\nОтвет\nответ\néponse\n".encode(), np.uint8)
_MISSING: Final = np.frombuffer(b"missing\n", np.uint8)
_ISOMERS: Final = np.frombuffer(
    b"isomers\nmolecules\ncompounds\nstructures\nsmiles\nones\nare\nconstitutional\nstructural\n", np.uint8
)
_WORDS_OF_FORMS: Final = " ".join(
    (BOXES, BOX_TOKENS[0].strip("<|>"), TAGS, QUALIFIED, *(one.labels for one in LANGUAGES))
)
_FORMS: Final = np.frombuffer(
    "".join(f"{word}\n" for word in _WORDS_OF_FORMS.split() if word.isascii()).encode(),
    np.uint8,
)
"""Beginnings of words of another form of answer."""
_LINKS: Final = np.frombuffer(b"is\nare\nbe\n", np.uint8)
_JOINS: Final = np.frombuffer(b"or\nand\n", np.uint8)
_LONGEST_LINE: Final = 200
"""Bytes of the longest line that can announce a list."""
_FEW: Final = 5
"""The most words of a heading."""

_ORGANIC: Final = byte_set("BCNOPSFIbcnops*")
_BONDS: Final = byte_set("-=#$:~/\\.()0123456789@+%")
_ENDS: Final = byte_set(" \t\r\x0b\x0c\n`'\"$_")
_BEHIND_NAME: Final = byte_set(" /")
_LAYOUT: Final = np.frombuffer(b"code\npre\nb\nstrong\ni\nem\ntt\np\nspan\nsamp\nkbd\nu\nmark\n", np.uint8)


@kernel
def _one_of(text: Any, at: int, end: int, some: Any) -> int:
    """The offset after the one of ``some`` words that stands at ``at``; ``at`` if none does."""
    return listed(text, at, end, some, False)


@kernel
def _is_one_of(text: Any, at: int, end: int, some: Any) -> bool:
    """Whether text[at:end] is one of ``some`` words."""
    return listed(text, at, end, some, True) > at


@kernel
def _tag(text: Any, at: int, end: int) -> Any:
    """What tag begins at a bracket, and where it ends: 1 for an opening tag, 2 for a closing one of any name,
    3 for one of layout, 4 for a line break; 0 for anything else."""
    k = _one_of(text, at, end, _OPENING)
    if k == at:
        return 0, at
    kind = 1
    k = skip(text, k, end, BLANKS)
    if k < end and (text[k] == 47 or text[k] == 92):
        kind = 2
        k += 1
    name = skip(text, k, end, BLANKS)
    name_end = skip(text, name, min(name + 12, end), LETTERS)
    k = skip(text, name_end, end, _BEHIND_NAME)
    stop = _one_of(text, k, end, _CLOSING)
    if stop == k:
        return 0, at
    if kind == 1 and name_end - name == 2 and text[name] | 32 == 98 and text[name + 1] | 32 == 114:
        return 4, stop
    if _is_one_of(text, name, name_end, _LAYOUT):
        return 3, stop
    if kind == 1 and not _is_one_of(text, name, name_end, _SMILES):
        return 0, at
    return kind, stop


@kernel
def _trim(text: Any, at: int, end: int) -> Any:
    """Start and end of a piece without the punctuation and markup around its molecule."""
    while True:
        first, last = at, end
        while at < end:
            k = _one_of(text, at, end, _UNSEEN)
            k = _one_of(text, at, end, _QUOTES) if k == at else k
            if k == at and not _ENDS[text[at]]:
                break
            at = k if k > at else at + 1
        while end > at:
            byte = text[end - 1]
            if _ENDS[byte] or byte == 44 or byte == 59 or byte == 33 or (byte == 46 and end - at > 1):
                end -= 1
                continue
            k = end - 1
            while k > at and text[k] & 0xC0 == 0x80:
                k -= 1
            if k == end - 1 or (
                _one_of(text, k, end, _UNSEEN) != end and _one_of(text, k, end, _QUOTES) != end
            ):
                break
            end = k
        if (
            end - at > 4
            and text[at] == 42
            and text[at + 1] == 42
            and text[end - 1] == 42
            and text[end - 2] == 42
        ):
            at += 2
            end -= 2
        elif (
            end - at > 2
            and (text[at] == 45 or text[at] == 43 or text[at] == 42 or text[at] == 62)
            and text[at + 1] == 32
        ):
            at += 2
        elif (
            end - at > 4
            and text[at] == 92
            and (text[at + 1] == 40 or text[at + 1] == 91)
            and text[end - 2] == 92
        ):
            at += 2
            end -= 2
        elif end - at > 3 and text[at] == 92 and text[end - 1] == 125:
            k = skip(text, at + 1, end, LETTERS)
            if k > at + 1 and text[k] == 123:
                at = k + 1
                end -= 1
        else:
            # 1. 1) (1) [1]
            k = at
            opens = text[k] == 40 or text[k] == 91 if k < end else False
            k += opens
            first_digit, k = k, skip(text, k, end, DIGITS)
            if k > first_digit and k + 1 < end and text[k] in (46, 41, 93, 58) and text[k + 1] == 32:
                at = k + 2
        if at == first and end == last:
            return at, end


@kernel
def _put(text: Any, at: int, end: int, out: Any, to: int) -> int:
    """Write a piece, without escapes and with dashes in ASCII; the offset after it."""
    while at < end:
        byte = text[at]
        if byte >= 128:
            k = _one_of(text, at, end, _DASHES)
            if k > at:
                byte, at = 45, k - 1
            else:
                k = _one_of(text, at, end, _UNSEEN)
                if k > at:
                    at = k
                    continue
        elif byte == 92 and at + 1 < end and text[at + 1] in (92, 35, 61, 95, 91, 93, 40, 41):
            at += 1
            byte = text[at]
        out[to] = byte
        to += 1
        at += 1
    return to


@kernel
def n_atoms(text: Any, at: int, end: int) -> int:
    """How many atoms a run of SMILES letters has; -1 for anything else."""
    n = 0
    while at < end:
        byte = text[at]
        if byte == 91:
            k = at + 1
            while k < end and text[k] != 93 and text[k] > 32 and text[k] < 127 and k - at < 24:
                k += 1
            if k >= end or text[k] != 93 or k == at + 1:
                return -1
            n += 1
            at = k + 1
        elif _ORGANIC[byte] or byte == 83:
            n += 1
            follows = text[at + 1] if at + 1 < end else 0
            # Cl, Br, Si, Se
            two = (byte == 67 and follows == 108) or (byte == 66 and follows == 114)
            two |= byte == 83 and (follows == 105 or follows == 101)
            at += 2 if two else 1
        elif _BONDS[byte]:
            at += 1
        else:
            return -1
    return n


@kernel
def _read(text: Any, at: int, end: int, counts: bool, out: Any, to: int) -> Any:
    """Write the molecules of a tag's content, a newline after each; how many, 0 for anything
    else, and the offset after them. ``counts``: plain letters that are no molecule count as one that cannot
    be read."""
    n, start, begin = 0, to, at
    for k in range(at, end):
        counts = counts and (_PLAIN[text[k]] or _WHITE[text[k]])
    while at < end:
        k = at
        piece = to
        while k < end and text[k] != NEWLINE and text[k] != 13 and text[k] != 44 and text[k] != 59:
            if text[k] == 60:
                kind, _ = _tag(text, k, end)
                if kind == 3 or kind == 4:
                    break
            if text[k] == 92 and k + 1 < end and text[k + 1] == 110 and (k + 2 == end or text[k + 2] == 32):
                break
            k += 1
        first, last = _trim(text, at, k)
        at = k + 1
        if k < end and text[k] == 60:
            _, at = _tag(text, k, end)
        elif k < end and text[k] == 92:
            at = k + 2
        if first == last:
            continue
        to = _put(text, first, last, out, to)
        atoms = n_atoms(out, piece, to)
        if atoms < 1:
            is_fence = n == 0 and first >= 3 and text[first - 1] == 96 and text[first - 2] == 96
            if not is_fence:
                if not counts:
                    return 0, start
                to = copy(text, begin, end, out, start)
                for k in range(start, to):
                    out[k] = 95 if _WHITE[out[k]] else out[k]
                out[to] = NEWLINE
                return 1, to + 1
            to = piece
            continue
        out[to] = NEWLINE
        to += 1
        n += 1
    return n, to


@kernel
def _announces(text: Any, at: int, end: int, whole: bool) -> bool:
    """Whether a line, or its part before a tag, announces a final list: it has a word that says so, and a
    colon or "are", or it is a short heading."""
    if end - at > _LONGEST_LINE:
        return False
    n, says, links, missing, closes = 0, False, False, False, 0
    while at < end:
        byte = text[at]
        if not LETTERS[byte]:
            if byte == 58 or byte == 61 or (byte == 0xEF and at + 2 < end and text[at + 2] == 0x9A):
                closes = 3 if closes == 3 else 2
            elif byte == 46 or byte == 33 or byte == 63:
                closes = 1 if n > 0 else 0
            elif 48 <= byte <= 57:
                closes = 3
            elif byte == 60:
                while at < end and text[at] != 62:
                    at += 1
            elif byte >= 128 and _one_of(text, at, end, _ELSEWHERE) > at:
                says, closes = True, 0
                n += 1
            at += 1
            continue
        stop = skip(text, at, end, LETTERS)
        says |= _is_one_of(text, at, stop, _ANNOUNCES) or (missing and _is_one_of(text, at, stop, _ISOMERS))
        missing = _is_one_of(text, at, stop, _MISSING)
        links = _is_one_of(text, at, stop, _LINKS)
        closes = 0
        n += 1
        at = stop
    if not (says or missing):
        return False
    return closes == 2 or links or (whole and closes == 0 and n <= _FEW)


@kernel
def _is_joined(text: Any, at: int, end: int) -> bool:
    """Whether nothing but a comma, a slash, "or" or "and" stands between two tags of one line."""
    joins = False
    if end - at > 40:
        return False
    while at < end:
        byte = text[at]
        if byte == NEWLINE or byte >= 128 or 48 <= byte <= 57:
            return False
        if LETTERS[byte]:
            stop = skip(text, at, end, LETTERS)
            if not _is_one_of(text, at, stop, _JOINS):
                return False
            joins = True
            at = stop
            continue
        joins |= byte == 44 or byte == 47
        at += 1
    return joins


@kernel
def _is_bare(text: Any, at: int, end: int) -> bool:
    """Whether no word stands between the line of an unclosed tag and the next tag, or the end."""
    while at < end:
        byte = text[at]
        if (byte >= 0xC3 and byte != 0xE2 and byte != 0xEF) or LETTERS[byte]:
            return False
        if (byte == 60 or byte == 38 or byte == 92 or byte == 0xEF) and _tag(text, at, end)[0] == 1:
            return True
        at += 1
    return True


@kernel
def _may_have_form(text: Any, at: int, end: int) -> bool:
    """Whether a box, a tag or a label may stand here: a word of one, or letters of another script."""
    while at < end:
        byte = text[at]
        if byte == 35 and at + 4 <= end and text[at + 1] == 35 and text[at + 2] == 35 and text[at + 3] == 35:
            return True
        if byte >= 0xC3 and byte != 0xE2 and byte < 0xEF:
            return True
        if not LETTERS[byte]:
            at += 1
            continue
        if _one_of(text, at, end, _FORMS) > at:
            return True
        at = skip(text, at, end, LETTERS)
    return False


@kernel
def read_strict(text: Any, start: int, end: int, one: bool, out: Any, to: int) -> Any:
    """Write the molecules of text[start:end] (UTF-8 without reasoning), a newline after each.

    Parameters
    ----------
    one
        Whether only the last molecule is asked for; else all of the final list.
    out : uint8
        Receives them from ``to`` on; never more bytes than the text has and one.

    Returns
    -------
    (n, to, how)
        How many there are, the offset after them, and how they were read: `HOW.plain`, `HOW.nearly`
        with letters that not every reader of molecules takes, `HOW.empty` for a blank text, `HOW.several`
        for two where one is asked for, `HOW.form` if another form may stand after the last tag.
    """
    first = to
    n = 0
    several = False
    at = behind = tilde = angle = start
    while at < end:
        byte = text[at]
        if byte == 126 and at + 1 < end and text[at + 1] == 126:
            stop = at
            if at >= tilde:
                stop, tilde = struck_end(text, at, end)
            while at < end and text[at] == 126:
                at += 1
            at = max(at, stop)
            continue
        if byte != 60 and byte != 38 and byte != 92 and byte != 0xEF:
            at += 1
            continue
        kind, inside = _tag(text, at, end)
        if kind != 1:
            stop = at
            begins_turn = at == start and end - at > 2 and text[at + 1] == 115 and text[at + 2] == 62  # <s>
            if byte == 60 and at >= angle and not begins_turn:
                stop, angle = struck_end(text, at, end)
            at = stop if stop > at else at + 1
            continue
        # go to its closing tag, to another tag or to a blank line
        last = line = inside
        closed, blank = 0, False
        has_line = False
        while last < end:
            byte = text[last]
            if byte == NEWLINE:
                if blank:
                    break
                blank = True
                if not has_line:
                    line, has_line = last, True
            elif byte > 32:
                blank = False
                if byte == 60 or byte == 38 or byte == 92 or byte == 0xEF:
                    kind, stop = _tag(text, last, end)
                    if kind == 1 or kind == 2:
                        closed = stop if kind == 2 else 0
                        break
                    if kind == 3:
                        last = stop
                        continue
            last += 1
        content = last if closed else (line if has_line else last)
        if not closed and not _is_bare(text, content, end):
            at = inside
            continue
        found, stop = _read(text, inside, content, closed > 0 and not one, out, to)
        if found == 0:
            at = closed if closed else inside
            continue
        if one:
            beside = n > 0 and _is_joined(text, behind, at)
            differs = n > 0 and not same_bytes(out, first, to, out, to, stop)
            several = (several or differs) if beside else False
            each = (stop - to) // found
            for k in range(to + each, stop):
                several |= out[k] != out[k - each]
            stop = to + each
            for k in range(stop - to):
                out[first + k] = out[to + k]
            to, n = first + stop - to, 1
        else:
            if n > 0:
                k = behind
                while k < at:
                    line = find_byte(text, k, at, NEWLINE)
                    if _announces(text, k, line, line < at):
                        for place in range(stop - to):
                            out[first + place] = out[to + place]
                        stop = first + stop - to
                        n = 0
                        break
                    k = line + 1
            n += found
            to = stop
        at = behind = closed if closed else content
    if one and _may_have_form(text, behind, end):
        return n, to, HOW.form
    if n == 0:
        return 0, first, HOW.empty if skip_white(text, start, end) == end else HOW.plain
    if several:
        return 0, first, HOW.several
    for k in range(first, to):
        if out[k] != NEWLINE and not _PLAIN[out[k]]:
            return n, to, HOW.nearly
    return n, to, HOW.plain


LONGEST: Final = 200_000
"""Bytes of the longest response that is read; a longer one is left to Python."""


@kernel
def next_tag(data: Any, at: int, end: int) -> Any:
    """What the next tag from ``at`` on holds, as the published scorer finds it: where it begins and ends,
    without white space around it, and from where on the one after it is; (-1, -1, ``end``): there is none."""
    at = find_byte(data, at, end, _LESS)
    while at < end:
        inside = behind_word(data, at + 1, end, _NAME) + 1
        if 0 < inside <= end and data[inside - 1] == _GREATER:
            first = skip_white(data, inside, end)
            stop = find_either(data, first, end, _LESS, NEWLINE)
            stop = find_byte(data, first, stop, _RETURN)
            if stop > first:
                return first, skip_white_back(data, first, stop), stop
            # the pattern gives back white space other than ends of lines
            for k in range(inside, first):
                if data[k] != NEWLINE and data[k] != _RETURN:
                    return first, first, first
        at = find_byte(data, at + 1, end, _LESS)
    return -1, -1, end


@kernel
def read_published(data: Any, start: int, end: int, one: bool, out: Any, to: int) -> Any:
    """Write what the tags of data[start:end] hold (`next_tag`), a newline after each.

    ``one``: no more than the first. Returns how many there are, -1 if one has letters beyond ASCII, and the
    offset after them.
    """
    n = 0
    first, stop, at = next_tag(data, start, end)
    while first >= 0:
        if find_outside(data, first, stop, 0, 127) < stop:
            return -1, to
        to = copy(data, first, stop, out, to)
        out[to] = NEWLINE
        to += 1
        n += 1
        if one:
            break
        first, stop, at = next_tag(data, at, end)
    return n, to


@kernel
def gather(
    data: Any, spans: Any, golds: Any, known: Any, store: Any, strict: bool, cuts: bool, one: bool, out: Any,
    told: Any, sizes: Any,
) -> int:  # fmt: skip
    """Write golds and molecules of responses as `relfast_kernels.smiles.table.match_lists` reads them.

    Parameters
    ----------
    data : uint8
        Responses, one after the other.
    spans : int64, shape (m + 1,)
        Where each begins, and the last one ends.
    golds : int64, shape (m,)
        The row in ``known`` of each one's gold.
    known : int64, shape (k, GOLD_COLUMNS)
        Golds: where in ``store`` (uint8) their texts are, and those of what the question gave.
    strict, cuts, one
        Whether to read tags as ``strict`` does; to cut reasoning first; to take one molecule instead of all.
    out : uint8
        For each response that is read the texts of its gold, of its tags and of what was given, each text
        ended by a newline.
    told : int64, shape (m, TOLD_COLUMNS)
        For each response the number of molecules or `LEFT_TO_PYTHON`, where they are in ``out``, and how it
        was read.
    sizes : int64, shape (SIZE_COLUMNS * m,)
        `SIZE_COLUMNS` for each response that is read, one after the other.

    Returns
    -------
    int
        Bytes written to ``out``; -1 if there is no room.
    """
    to = 0
    n_read = 0
    for place in range(len(golds)):
        start, end = spans[place], spans[place + 1]
        gold = known[golds[place]]
        reading = told[place]
        reading[TOLD.n] = LEFT_TO_PYTHON
        if end - start > LONGEST:
            continue
        # tags take at most one byte more than the response
        if to + end - start + gold[GOLD.given_end] - gold[GOLD.start] + 1 > len(out):
            return -1
        tags_start = copy(store, gold[GOLD.start], gold[GOLD.end], out, to)
        begin, stop = start, end
        if cuts:
            begin, stop, copied = cut_reasoning(data, start, end, out, tags_start)
            if copied:
                continue  # the rest of the response is in pieces
        how = HOW.plain
        if strict:
            n, tags_end, how = read_strict(data, begin, stop, one, out, tags_start)
        else:
            n, tags_end = read_published(data, begin, stop, one, out, tags_start)
        if n < 0 or how == HOW.form:
            continue
        if how == HOW.empty and stop - begin < end - start and skip_white(data, start, end) < end:
            # not a blank response: nothing is left of it without its reasoning
            how = HOW.only_reasoning
        reading[TOLD.n], reading[TOLD.start], reading[TOLD.end] = n, tags_start, tags_end
        reading[TOLD.how] = how
        to = copy(store, gold[GOLD.end], gold[GOLD.given_end], out, tags_end)
        size = SIZE_COLUMNS * n_read
        sizes[size + SIZES.gold], sizes[size + SIZES.predicted] = gold[GOLD.n], n
        sizes[size + SIZES.given] = gold[GOLD.n_given]
        n_read += 1
    return to
