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

from collections.abc import Iterable
from string import ascii_letters, digits
from typing import Final
from unicodedata import normalize

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Buffer, Bytes
from relfast_kernels.tags.layouts import (
    EMPTY,
    FORM,
    LEFT_TO_PYTHON,
    NEARLY,
    ONLY_REASONING,
    PLAIN,
    SEVERAL,
    Answer,
    Responses,
)
from relfast_kernels.text.ascii import (
    BEYOND_ASCII,
    BLANKS,
    DIGITS,
    FULL_WIDTH,
    LATIN,
    LETTERS,
    SIGNS,
    byte_set,
    continues,
)
from relfast_kernels.text.characters import behind_word, skip_white, skip_white_back, struck_end
from relfast_kernels.text.find import (
    copy,
    find_byte,
    find_either,
    find_outside,
    listed,
    same_as,
    same_bytes,
    skip,
)
from relfast_kernels.text.form_table import BOX_TOKENS, BOXES, LANGUAGES, QUALIFIED, TAGS, WEAK
from relfast_kernels.text.reasoning import cut_reasoning

NEWLINE, _RETURN, _BLANK, _LESS, _GREATER, _AND, _SLASH, _BACKSLASH = map(ord, "\n\r <>&/\\")
_COMMA, _SEMICOLON, _STOP, _COLON, _EQUALS, _STAR, _MINUS, _UNDERSCORE = map(ord, ",;.:=*-_")
_TILDE, _TICK, _HASH, _ROUND, _SQUARE, _SQUARE_CLOSING, _CURLY, _CURLY_CLOSING = map(ord, "~`#([]{}")
_WIDE_COLON: Final = "：".encode()[-1]
"""The last byte of the full-width colon; it and full-width brackets begin with `FULL_WIDTH`."""
_NOTHING, _OPENS, _CLOSES, _LAYS_OUT, _BREAKS = range(5)
"""What `_tag` finds."""
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

_LABELS: Final = [label for language in LANGUAGES for label in language.labels.split()]
_WIDE_SCRIPTS: Final = "⺀"
"""From here on are scripts without blanks: Chinese, Japanese, Korean."""
_OF_LISTS: Final = "result results solutions corrected revised updated"


def _listed(words: Iterable[str]) -> Bytes:
    """Words as `listed` reads them: in each case, and as keyboards of macOS decompose them."""
    cases = {each for word in words for each in (word, word.title(), word.upper())}
    forms = {normalize(form, word) for word in cases for form in ("NFC", "NFD")}
    small = sorted({"".join(char.lower() if char.isascii() else char for char in form) for form in forms})
    return np.frombuffer("".join(f"{word}\n" for word in small).encode(), np.uint8)


_ANNOUNCES: Final = _listed(
    word
    for word in (*_LABELS, *_OF_LISTS.split())
    if word[0] < _WIDE_SCRIPTS and (word not in WEAK.split() or word in _OF_LISTS.split())
)
"""A line that announces a final list has one of these words, or "missing" and one of `_ISOMERS`: the labels
of all forms without those that are weak, and some that lists alone have."""
_WIDE_LABELS: Final = _listed(word for word in _LABELS if word[0] >= _WIDE_SCRIPTS)
"""Those of scripts without blanks."""
_WORDY: Final = LETTERS.copy()
_WORDY[LATIN : ord("\xe0")] = True  # letters of two bytes: Latin, Greek, Cyrillic, and marks on them
_WORDY[BEYOND_ASCII : ord("\xc0")] = True  # their second bytes
_BEGINS_WORD: Final = _WORDY & ~(np.arange(256) // 64 == 2)
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
_HASHES: Final = np.frombuffer(b"####\n", np.uint8)
_LINKS: Final = np.frombuffer(b"is\nare\nbe\n", np.uint8)
_JOINS: Final = np.frombuffer(b"or\nand\n", np.uint8)
_OPEN_END, _WITH_STOP, _WITH_COLON, _WITH_DIGIT = range(4)
"""How a line ends that may announce a list."""
_LONGEST_LINE: Final = 200
"""Bytes of the longest line that can announce a list."""
_LONGEST_JOINT: Final = 40
_FEW: Final = 5
"""The most words of a heading."""

_ORGANIC: Final = byte_set("BCNOPSFIbcnops*")
_BONDS: Final = byte_set("-=#$:~/\\.()0123456789@+%")
_ENDS: Final = byte_set(" \t\r\x0b\x0c\n`'\"$_")
_TRAILING: Final = byte_set(",;!")
_BULLETS: Final = byte_set("-+*>")
_BEHIND_NUMBER: Final = byte_set(".)]:")
_ESCAPED: Final = byte_set("\\#=_[]()")
"""What markdown may put a backslash before."""
_BETWEEN: Final = byte_set("\n\r,;")
"""What separates the molecules of a tag."""
_STOPS: Final = byte_set(".!?")
_TILDES: Final = byte_set("~")
_TURN: Final = np.frombuffer(b"<s>", np.uint8)
_BEGINS: Final = byte_set("<&\\")
_BEGINS[FULL_WIDTH] = True
"""The first bytes of tags' opening brackets."""
_LONGEST_ATOM: Final = 24
_BEHIND_NAME: Final = byte_set(" /")
_C, _B, _S, _L, _R, _I, _E = map(ord, "CBSlrie")
_BROKEN: Final = np.frombuffer(b"\\n", np.uint8)
_BREAK: Final = np.frombuffer(b"br\n", np.uint8)
_LAYOUT: Final = np.frombuffer(b"code\npre\nb\nstrong\ni\nem\ntt\np\nspan\nsamp\nkbd\nu\nmark\n", np.uint8)


@kernel
def _one_of(text: Bytes, at: int, end: int, some: Bytes) -> int:
    """The offset after the one of ``some`` words that stands at ``at``; ``at`` if none does."""
    return listed(text, at, end, some, False)


@kernel
def _is_one_of(text: Bytes, at: int, end: int, some: Bytes) -> bool:
    """Whether text[at:end] is one of ``some`` words."""
    return listed(text, at, end, some, True) > at


@kernel
def _tag(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """What tag begins at a bracket, and where it ends: an opening one, a closing one of any name, one of
    layout, a line break, or nothing."""
    k = _one_of(text, at, end, _OPENING)
    if k == at:
        return _NOTHING, at
    kind = _OPENS
    k = skip(text, k, end, BLANKS)
    if k < end and (text[k] == _SLASH or text[k] == _BACKSLASH):
        kind = _CLOSES
        k += 1
    name = skip(text, k, end, BLANKS)
    name_end = skip(text, name, min(name + 12, end), LETTERS)
    k = skip(text, name_end, end, _BEHIND_NAME)
    stop = _one_of(text, k, end, _CLOSING)
    if stop == k:
        return _NOTHING, at
    if kind == _OPENS and _is_one_of(text, name, name_end, _BREAK):
        return _BREAKS, stop
    if _is_one_of(text, name, name_end, _LAYOUT):
        return _LAYS_OUT, stop
    if kind == _OPENS and not _is_one_of(text, name, name_end, _SMILES):
        return _NOTHING, at
    return kind, stop


@kernel
def _trim(text: Bytes, at: int, end: int) -> tuple[int, int]:
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
            if _ENDS[byte] or _TRAILING[byte] or (byte == _STOP and end - at > 1):
                end -= 1
                continue
            k = end - 1
            while k > at and continues(text[k]):
                k -= 1
            if k == end - 1 or (
                _one_of(text, k, end, _UNSEEN) != end and _one_of(text, k, end, _QUOTES) != end
            ):
                break
            end = k
        if (
            end - at > 4
            and text[at] == _STAR
            and text[at + 1] == _STAR
            and text[end - 1] == _STAR
            and text[end - 2] == _STAR
        ):
            at += 2
            end -= 2
        elif end - at > 2 and _BULLETS[text[at]] and text[at + 1] == _BLANK:
            at += 2
        elif (
            end - at > 4
            and text[at] == _BACKSLASH
            and (text[at + 1] == _ROUND or text[at + 1] == _SQUARE)
            and text[end - 2] == _BACKSLASH
        ):
            at += 2
            end -= 2
        elif end - at > 3 and text[at] == _BACKSLASH and text[end - 1] == _CURLY_CLOSING:
            k = skip(text, at + 1, end, LETTERS)
            if k > at + 1 and text[k] == _CURLY:
                at = k + 1
                end -= 1
        else:
            # 1. 1) (1) [1]
            k = at
            opens = text[k] == _ROUND or text[k] == _SQUARE if k < end else False
            k += opens
            first_digit, k = k, skip(text, k, end, DIGITS)
            if k > first_digit and k + 1 < end and _BEHIND_NUMBER[text[k]] and text[k + 1] == _BLANK:
                at = k + 2
        if at == first and end == last:
            return at, end


@kernel
def _put(text: Bytes, at: int, end: int, out: Bytes, to: int) -> int:
    """Write a piece, without escapes and with dashes in ASCII; the offset after it."""
    while at < end:
        byte = text[at]
        if byte >= BEYOND_ASCII:
            k = _one_of(text, at, end, _DASHES)
            if k > at:
                byte, at = _MINUS, k - 1
            else:
                k = _one_of(text, at, end, _UNSEEN)
                if k > at:
                    at = k
                    continue
        elif byte == _BACKSLASH and at + 1 < end and _ESCAPED[text[at + 1]]:
            at += 1
            byte = text[at]
        out[to] = byte
        to += 1
        at += 1
    return to


@kernel
def n_atoms(text: Buffer, at: int, end: int) -> int:
    """How many atoms a run of SMILES letters has; -1 for anything else."""
    n = 0
    while at < end:
        byte = text[at]
        if byte == _SQUARE:
            k = at + 1
            stop = min(at + _LONGEST_ATOM, end)
            while k < stop and text[k] != _SQUARE_CLOSING and _BLANK < text[k] <= _TILDE:
                k += 1
            if k >= end or text[k] != _SQUARE_CLOSING or k == at + 1:
                return -1
            n += 1
            at = k + 1
        elif _ORGANIC[byte]:
            n += 1
            follows = text[at + 1] if at + 1 < end else _BLANK
            # Cl, Br, Si, Se
            two = (byte == _C and follows == _L) or (byte == _B and follows == _R)
            two |= byte == _S and (follows == _I or follows == _E)
            at += 2 if two else 1
        elif _BONDS[byte]:
            at += 1
        else:
            return -1
    return n


@kernel
def _read(text: Bytes, at: int, end: int, counts: bool, out: Bytes, to: int) -> tuple[int, int]:
    """Write the molecules of a tag's content, a newline after each; how many, 0 for anything
    else, and the offset after them. ``counts``: plain letters that are no molecule count as one that cannot
    be read."""
    n, start, begin = 0, to, at
    for k in range(at, end):
        counts = counts and (_PLAIN[text[k]] or _WHITE[text[k]])
    while at < end:
        k = at
        piece = to
        while k < end and not _BETWEEN[text[k]]:
            if text[k] == _LESS:
                kind, _ = _tag(text, k, end)
                if kind == _LAYS_OUT or kind == _BREAKS:
                    break
            if same_as(text, k, min(k + 2, end), _BROKEN) and (k + 2 == end or text[k + 2] == _BLANK):
                break
            k += 1
        first, last = _trim(text, at, k)
        at = k + 1
        if k < end and text[k] == _LESS:
            _, at = _tag(text, k, end)
        elif k < end and text[k] == _BACKSLASH:
            at = k + 2
        if first == last:
            continue
        to = _put(text, first, last, out, to)
        atoms = n_atoms(out, piece, to)
        if atoms < 1:
            is_fence = n == 0 and first >= 3 and text[first - 1] == _TICK and text[first - 2] == _TICK
            if not is_fence:
                if not counts:
                    return 0, start
                to = copy(text, begin, end, out, start)
                for k in range(start, to):
                    out[k] = _UNDERSCORE if _WHITE[out[k]] else out[k]
                out[to] = NEWLINE
                return 1, to + 1
            to = piece
            continue
        out[to] = NEWLINE
        to += 1
        n += 1
    return n, to


@kernel
def _announces(text: Bytes, at: int, end: int, whole: bool) -> bool:
    """Whether a line, or its part before a tag, announces a final list: it has a word that says so, and a
    colon or "are", or it is a short heading."""
    if end - at > _LONGEST_LINE:
        return False
    n, says, links, missing, closes = 0, False, False, False, _OPEN_END
    while at < end:
        byte = text[at]
        if not _BEGINS_WORD[byte]:
            wide_colon = byte == FULL_WIDTH and at + 2 < end and text[at + 2] == _WIDE_COLON
            if byte == _COLON or byte == _EQUALS or wide_colon:
                closes = _WITH_DIGIT if closes == _WITH_DIGIT else _WITH_COLON
            elif _STOPS[byte]:
                closes = _WITH_STOP if n > 0 else _OPEN_END
            elif DIGITS[byte]:
                closes = _WITH_DIGIT
            elif byte == _LESS:
                while at < end and text[at] != _GREATER:
                    at += 1
            elif byte >= BEYOND_ASCII and _one_of(text, at, end, _WIDE_LABELS) > at:
                says, closes = True, _OPEN_END
                n += 1
            at += 1
            continue
        stop = skip(text, at, end, _WORDY)
        says = says or _is_one_of(text, at, stop, _ANNOUNCES)
        says = says or (missing and _is_one_of(text, at, stop, _ISOMERS))
        missing = _is_one_of(text, at, stop, _MISSING)
        links = _is_one_of(text, at, stop, _LINKS)
        closes = _OPEN_END
        n += 1
        at = stop
    if not (says or missing):
        return False
    return closes == _WITH_COLON or links or (whole and closes == _OPEN_END and n <= _FEW)


@kernel
def _is_joined(text: Bytes, at: int, end: int) -> bool:
    """Whether nothing but a comma, a slash, "or" or "and" stands between two tags of one line."""
    joins = False
    if end - at > _LONGEST_JOINT:
        return False
    while at < end:
        byte = text[at]
        if byte == NEWLINE or byte >= BEYOND_ASCII or DIGITS[byte]:
            return False
        if LETTERS[byte]:
            stop = skip(text, at, end, LETTERS)
            if not _is_one_of(text, at, stop, _JOINS):
                return False
            joins = True
            at = stop
            continue
        joins |= byte == _COMMA or byte == _SLASH
        at += 1
    return joins


@kernel
def _is_bare(text: Bytes, at: int, end: int) -> bool:
    """Whether no word stands between the line of an unclosed tag and the next tag, or the end."""
    while at < end:
        byte = text[at]
        if (byte >= LATIN and byte != SIGNS and byte != FULL_WIDTH) or LETTERS[byte]:
            return False
        if _BEGINS[byte] and _tag(text, at, end)[0] == _OPENS:
            return True
        at += 1
    return True


@kernel
def _may_have_form(text: Bytes, at: int, end: int) -> bool:
    """Whether a box, a tag or a label may stand here: a word of one, or letters of another script."""
    while at < end:
        byte = text[at]
        if byte == _HASH and _one_of(text, at, end, _HASHES) > at:
            return True
        if byte >= LATIN and byte != SIGNS and byte < FULL_WIDTH:
            return True
        if not LETTERS[byte]:
            at += 1
            continue
        if _one_of(text, at, end, _FORMS) > at:
            return True
        at = skip(text, at, end, LETTERS)
    return False


@kernel
def _held(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """Where what an opening tag holds ends, which begins at ``at``, and where its closing tag ends (0: it has
    none): with the closing tag, before another one, with its line if it is not closed, or at a blank line."""
    last, line = at, -1
    blank = False
    while last < end:
        byte = text[last]
        if byte == NEWLINE:
            if blank:
                break
            blank = True
            line = last if line < 0 else line
        elif byte > _BLANK:
            blank = False
            if _BEGINS[byte]:
                kind, stop = _tag(text, last, end)
                if kind == _CLOSES:
                    return last, stop
                if kind == _OPENS:
                    break
                if kind == _LAYS_OUT:
                    last = stop
                    continue
        last += 1
    return last if line < 0 else line, 0


@kernel
def _take_one(out: Bytes, first: int, to: int, stop: int, found: int) -> tuple[int, bool]:
    """Keep, of ``found`` molecules in out[to:stop], the first one, moved to ``first``: the offset after it,
    and whether they differ."""
    several = False
    each = (stop - to) // found
    for k in range(to + each, stop):
        several |= out[k] != out[k - each]
    return copy(out, to, to + each, out, first), several


@kernel
def _announced(text: Bytes, at: int, end: int) -> bool:
    """Whether a line of text[at:end], which ends before a tag, announces a final list."""
    while at < end:
        line = find_byte(text, at, end, NEWLINE)
        if _announces(text, at, line, line < end):
            return True
        at = line + 1
    return False


@kernel
def read_strict(text: Bytes, start: int, end: int, one: bool, out: Bytes, to: int) -> tuple[int, int, int]:
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
        How many there are, the offset after them, and how they were read: `PLAIN`, `NEARLY`
        with letters that not every reader of molecules takes, `EMPTY` for a blank text, `SEVERAL`
        for two where one is asked for, `FORM` if another form may stand after the last tag.
    """
    first = to
    n = 0
    several = False
    at = behind = tilde = angle = start
    while at < end:
        byte = text[at]
        if byte == _TILDE and at + 1 < end and text[at + 1] == _TILDE:
            stop = at
            if at >= tilde:
                stop, tilde = struck_end(text, at, end)
            at = max(skip(text, at, end, _TILDES), stop)
            continue
        if not _BEGINS[byte]:
            at += 1
            continue
        kind, inside = _tag(text, at, end)
        if kind != _OPENS:
            stop = at
            begins_turn = at == start and same_as(text, at, min(at + len(_TURN), end), _TURN)
            if byte == _LESS and at >= angle and not begins_turn:
                stop, angle = struck_end(text, at, end)
            at = stop if stop > at else at + 1
            continue
        content, closed = _held(text, inside, end)
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
            to, more = _take_one(out, first, to, stop, found)
            several = more or (beside and (several or differs))
            n = 1
        elif n > 0 and _announced(text, behind, at):
            to = copy(out, to, stop, out, first)
            n = found
        else:
            to = stop
            n += found
        at = behind = closed if closed else content
    if one and _may_have_form(text, behind, end):
        return n, to, FORM
    if n == 0:
        return 0, first, EMPTY if skip_white(text, start, end) == end else PLAIN
    if several:
        return 0, first, SEVERAL
    for k in range(first, to):
        if out[k] != NEWLINE and not _PLAIN[out[k]]:
            return n, to, NEARLY
    return n, to, PLAIN


LONGEST: Final = 200_000
"""Bytes of the longest response that is read; a longer one is left to Python."""


@kernel
def next_tag(data: Buffer, at: int, end: int) -> tuple[int, int, int]:
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
def read_published(data: Bytes, start: int, end: int, one: bool, out: Bytes, to: int) -> tuple[int, int]:
    """Write what the tags of data[start:end] hold (`next_tag`), a newline after each.

    ``one``: no more than the first. Returns how many there are, -1 if one has letters beyond ASCII, and the
    offset after them.
    """
    n = 0
    first, stop, at = next_tag(data, start, end)
    while first >= 0:
        if find_outside(data, first, stop, 0, 0x7F) < stop:
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
def gather(responses: Responses) -> int:
    """Write golds and molecules of responses as `relfast_kernels.smiles.table.match_lists` reads them; the
    number of bytes written to ``out``, or -1 if there is no room."""
    data, store, out, one = responses.data, responses.store, responses.out, responses.one != 0
    to = 0
    n_read = 0
    for at in range(responses.n):
        start, end = responses.spans[at], responses.spans[at + 1]
        gold, reading = responses.known[responses.golds[at]], responses.told[at]
        reading.n = LEFT_TO_PYTHON
        if end - start > LONGEST:
            continue
        # tags take at most one byte more than the response
        if to + end - start + gold.given_end - gold.start + 1 > len(out):
            return -1
        tags_start = copy(store, gold.start, gold.end, out, to)
        begin, stop = start, end
        if responses.cuts:
            begin, stop, copied = cut_reasoning(data, start, end, out, tags_start)
            if copied:
                continue  # the rest of the response is in pieces
        how = PLAIN
        if responses.strict:
            n, tags_end, how = read_strict(data, begin, stop, one, out, tags_start)
        else:
            n, tags_end = read_published(data, begin, stop, one, out, tags_start)
        if n < 0 or how == FORM:
            continue
        if how == EMPTY and stop - begin < end - start and skip_white(data, start, end) < end:
            # not a blank response: nothing is left of it without its reasoning
            how = ONLY_REASONING
        reading.n, reading.start, reading.end, reading.how = n, tags_start, tags_end, how
        to = copy(store, gold.end, gold.given_end, out, tags_end)
        sizes = responses.sizes[n_read]
        sizes.gold, sizes.predicted, sizes.given = gold.n, n, gold.n_given
        n_read += 1
    return to


@kernel
def read_answer(answer: Answer) -> int:
    """Read an `Answer`; the number of bytes written to ``out``."""
    text, told = answer.text, answer.told
    to: int
    told.n, to, told.how = read_strict(text, 0, len(text), answer.one != 0, answer.out, 0)
    return to
