"""Finds the plan in a response, and has it scored.

Only ``strict`` reads plans that are not a list of texts (`find_steps`): successive calls, lines, objects or
table cells. An item is the name of an action, in upper or lower case and with any mark between its words,
and behind a separator the action's argument: ``move_to: B1``, ``move_to("B1")``, ``"action": "move_to",
"target": "B1"``, or two cells. Items belong to one plan if only marks, digits, field names and tags stand
between them. If an item begins its line, the rest of the line and indented lines below it are remarks,
which are skipped. A line that is an entry of the same list but no action stays in the plan, as an illegal
item. A ``start`` opens a new plan. Sentences are not interpreted. Takes linear time.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints, Ints32
from relfast_kernels.layouts import BAD, ITEM_END, ITEM_KIND, ITEM_PARAM, ITEM_TEXT, MAX_STRICT, RESCUE, START
from relfast_kernels.maze.judge import find_name, judge_plan
from relfast_kernels.maze.layouts import CUTS_REASONING, IS_STRICT, Desk, Score
from relfast_kernels.maze.search import MazeProblem, NameTables, Work
from relfast_kernels.text.ascii import (
    BEYOND_ASCII,
    BLANKS,
    DIGITS,
    FOUR_BYTES,
    FULL_WIDTH,
    LATIN,
    SIGNS,
    THREE_BYTES,
    TWO_BYTES,
)
from relfast_kernels.text.characters import skip_white, struck_end
from relfast_kernels.text.find import (
    copy,
    find_byte,
    line_start,
    listed,
    skip,
)
from relfast_kernels.text.plans import NAME_AT, NAMES, accept, hash_bytes, scan
from relfast_kernels.text.reasoning import cut_reasoning

_WORDS: Final = np.frombuffer(b"then\nand\nnext\nstep\nfinally\nitem\n", np.uint8)
"""Words that only announce another item."""
_KINDS_OF_PLACE: Final = np.frombuffer(b"room\nkey\ndoor\n", np.uint8)

_NEWLINE, _SPACE, _TAB = map(ord, "\n \t")
_APOSTROPHE, _BACKSLASH, _BACKTICK, _BRACE, _BRACKET, _COLON, _COMMA, _DOT = map(ord, "'\\`}]:,.")
_EQUALS, _EXCLAMATION, _GREATER, _HASH, _HYPHEN, _LESS, _M, _OPENING = map(ord, "=!>#-<m(")
_P, _PARENTHESIS, _PLUS, _QUESTION, _QUOTE, _R, _S, _SLASH = map(ord, 'p)+?"rs/')
_STAR, _TILDE, _U, _UNDERSCORE, _UPPER_A, _UPPER_Z, _ZERO, _NINE = map(ord, "*~u_AZ09")
_TO_LOWER: Final = 32
"""Bytes, and the bit of a lower-case letter."""
_MOST_QUOTED: Final = 120
"""Longest text in quotes, in bytes, that counts as an item."""
_LONGEST_TAG: Final = 40
_LAST_CAPITAL, _TIMES = "ß×".encode()[1::2]

_WORD, _ENDS, _PARTS, _STRONG = 1, 2, 4, 8
_BYTES: Final = np.zeros(256, np.uint8)
"""Flags of each byte: it is a letter, digit or underscore (`_WORD`); ends an action's argument (`_ENDS`); may
stand between action and argument (`_PARTS`); is a separator even without any other (`_STRONG`)."""
for _byte in range(256):
    if (chr(_byte).isalnum() and _byte < BEYOND_ASCII) or _byte == _UNDERSCORE:
        _BYTES[_byte] |= _WORD
for _byte in b" \t\r\n,;:|()[]{}<>*=\"'`\\\xe2":
    _BYTES[_byte] |= _ENDS
for _byte in b" \t\r\n,:|([{<>*=\"'`\\_#-\xe2":
    _BYTES[_byte] |= _PARTS
for _byte in b"\t,:|(<>*=\"'`\xe2":
    _BYTES[_byte] |= _STRONG


@kernel
def _lower(byte: int) -> int:
    return byte | _TO_LOWER if _UPPER_A <= byte <= _UPPER_Z else byte


@kernel
def _name(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """The action whose name begins at ``at`` (`BAD`: none), and where the name ends."""
    first = _lower(text[at])
    for code in range(BAD):
        name, stop = NAME_AT[code], NAME_AT[code + 1]
        if NAMES[name] != first:
            continue
        k = at
        while name < stop and k < end:
            if NAMES[name] == _UNDERSCORE:
                while k < end and (
                    text[k] == _SPACE or text[k] == _UNDERSCORE or text[k] == _HYPHEN or text[k] == _BACKSLASH
                ):
                    k += 1
            elif _lower(text[k]) != NAMES[name]:
                break
            else:
                k += 1
            name += 1
        if name == stop and (k == end or not _BYTES[text[k]] & _WORD or text[k] == _UNDERSCORE):
            return code, k
    return BAD, at


@kernel
def _field(text: Bytes, at: int, end: int) -> int:
    """The end of a field name with its colon or equals sign (``target": ``, ``to =``, ``room_id:``); ``at``
    if there is no field name."""
    k = at
    while k < end and _BYTES[text[k]] & _WORD:
        k += 1
    if k == at:
        return at
    while k < end and (text[k] in (_SPACE, _QUOTE, _APOSTROPHE, _BACKTICK, _STAR)):
        k += 1
    return k + 1 if k < end and (text[k] == _COLON or text[k] == _EQUALS) else at


@kernel
def _object(text: Bytes, at: int, end: int) -> int:
    """Where the argument begins that follows an action's name, which ends at ``at``; -1 if there is none."""
    strong = fields = lines = 0
    while at < end:
        byte = text[at]
        if byte == _LESS and at + 1 < end and text[at + 1] == _SLASH:
            # a closing tag such as </b>
            close = min(end, at + _LONGEST_TAG)
            while at < close and text[at] != _GREATER and text[at] != _NEWLINE:
                at += 1
            if at == close:
                return -1
            continue
        if _BYTES[byte] & _PARTS:
            strong += _BYTES[byte] & _STRONG
            lines += byte == _NEWLINE
            if lines > 3:
                return -1
            at += 3 if byte == SIGNS else 1
            continue
        if not (_BYTES[byte] & _WORD or byte >= BEYOND_ASCII):
            return -1
        if _name(text, at, end)[0] != BAD:
            return -1
        stop = _field(text, at, end)
        if stop > at and fields < 2:
            fields += 1
            at = stop
            continue
        stop = at
        while stop < end and _BYTES[text[stop]] & _WORD and text[stop] != _UNDERSCORE:
            stop += 1
        follows = text[stop] if stop < end else 0
        is_kind = listed(text, at, stop, _KINDS_OF_PLACE, True) > at
        if is_kind and (follows == _SPACE or follows == _UNDERSCORE or follows == _HASH):
            at = stop
            continue
        break
    if at >= end or (lines and not fields):
        return -1
    if strong:
        return at
    # only a blank separates the argument: it counts if no other word is on the line
    stop = at
    while stop < end and not _BYTES[text[stop]] & _ENDS:
        stop += 1
    while stop < end and text[stop] != _NEWLINE and text[stop] not in (_QUOTE, _APOSTROPHE, _BACKTICK):
        if _BYTES[text[stop]] & _WORD or text[stop] >= BEYOND_ASCII:
            return -1
        stop += 1
    return at


@kernel
def _in_lower_case(text: Bytes, at: int) -> int:
    """The byte at ``at`` in lower case, for letters of ASCII and Latin-1 ("É" is C3 89, "é" C3 A9)."""
    byte = int(text[at])
    if at > 0 and text[at - 1] == LATIN and BEYOND_ASCII <= byte < _LAST_CAPITAL and byte != _TIMES:
        return byte | _TO_LOWER
    return _lower(byte)


@kernel
def _is_known(names: NameTables, text: Bytes, begin: int, end: int) -> bool:
    """Whether text[begin:end] is the name of something in the maze."""
    return find_name(names, text, begin, end, hash_bytes(text, begin, end), 0, len(names.ends)) >= 0


@kernel
def _as_known(names: NameTables, text: Bytes, begin: int, end: int) -> bool:
    """Whether text[begin:end] is the name of something in the maze in any case (``b1`` for ``B1``); it is
    rewritten in place as the maze has it."""
    if _is_known(names, text, begin, end):
        return True
    first = 0
    for thing in range(len(names.ends)):
        stop = names.ends[thing]
        if stop - first == end - begin:
            k = 0
            while k < end - begin and _in_lower_case(names.text, first + k) == _in_lower_case(
                text, begin + k
            ):
                k += 1
            if k == end - begin:
                copy(names.text, first, stop, text, begin)
                return True
        first = stop
    return False


@kernel
def _item(text: Bytes, at: int, end: int, names: NameTables, item: Ints32) -> int:
    """Read the item that begins at ``at`` into ``item``, and return its end; -1 if there is no item."""
    code, stop = _name(text, at, end)
    if code == BAD or stop == end:
        return -1
    begin = _object(text, stop, end)
    if begin < 0:
        return -1
    stop = begin
    while stop < end and not _BYTES[text[stop]] & _ENDS:
        stop += 1
    if code == RESCUE:
        # a person's name may have several words
        longer = stop
        while (
            longer < end
            and longer - begin < 80
            and (text[longer] == _SPACE or not _BYTES[text[longer]] & _ENDS)
        ):
            longer += 1
        while longer > stop and (text[longer - 1] == _SPACE or text[longer - 1] == _DOT):
            longer -= 1
        if longer > stop and _as_known(names, text, begin, longer):
            stop = longer
    while stop > begin and (
        text[stop - 1] == _DOT or text[stop - 1] == _EXCLAMATION or text[stop - 1] == _QUESTION
    ):
        stop -= 1
    if stop == begin:
        return -1
    _as_known(names, text, begin, stop)
    item[ITEM_KIND], item[ITEM_TEXT], item[ITEM_PARAM], item[ITEM_END] = code, at, begin, stop
    return stop


@kernel
def _is_glue(text: Bytes, at: int, end: int) -> bool:
    """Whether text[at:end] may stand between items of a plan: marks, digits, field names, tags, "then"."""
    while at < end:
        byte = text[at]
        if not _BYTES[byte] & _WORD:
            if byte >= BEYOND_ASCII and byte != SIGNS and byte != FULL_WIDTH:
                return False
            at += 3 if byte == SIGNS or byte == FULL_WIDTH else 1
            continue
        stop = at
        letters = False
        while stop < end and _BYTES[text[stop]] & _WORD:
            letters |= _lower(text[stop]) > _BACKTICK
            stop += 1
        while letters and _ZERO <= text[stop - 1] <= _NINE:
            stop -= 1
        before = text[at - 1]
        follows = text[stop] if stop < end else _NEWLINE
        if not letters or (stop == at + 1 and follows in (_PARENTHESIS, _DOT, _BRACKET)):
            at = stop
            continue
        field = _field(text, at, end)
        if field > at:
            # the value of the field, if it is in quotes, belongs to the field
            k = skip(text, field, end, BLANKS)
            if k < end and (text[k] == _QUOTE or text[k] == _APOSTROPHE):
                close = k + 1
                while close < end and text[close] != text[k] and text[close] != _NEWLINE:
                    close += 1
                field = close + 1 if close < end and text[close] == text[k] else field
            at = field
            continue
        if (
            before in (_LESS, _SLASH, _BACKSLASH)
            or follows in (_OPENING, _GREATER)
            or (follows == _DOT and stop + 1 < end and _BYTES[text[stop + 1]] & _WORD)
            or (follows == _DOT and stop + 1 == end)
            or listed(text, at, stop, _WORDS, True) > at
        ):
            at = stop
            continue
        return False
    return True


@kernel
def _is_entry(text: Bytes, at: int, end: int) -> bool:
    """Whether a line begins like an entry of a list: with a number or a bullet."""
    while at < end and (text[at] == _SPACE or text[at] == _GREATER):
        at += 1
    k = skip(text, at, end, DIGITS)
    if k > at:
        return k + 1 < end and (text[k] == _DOT or text[k] == _PARENTHESIS or text[k] == _COLON)
    return (
        at + 1 < end
        and text[at + 1] == _SPACE
        and (text[at] == _HYPHEN or text[at] == _STAR or text[at] == _PLUS)
    )


@kernel
def _is_comment(text: Bytes, at: int, end: int) -> bool:
    return text[at] == _HASH or (text[at] == _SLASH and at + 1 < end and text[at + 1] == _SLASH)


@kernel
def _junk(text: Bytes, at: int, end: int, first_of_line: bool, work: Ints32, n: int) -> tuple[int, int]:
    """Append the entries of the list between ``at`` (the end of an item) and ``end`` that are no actions, as
    BAD items; return the number of items, and from where the list goes on (-1: it ends before ``end``)."""
    while True:
        # further texts in quotes, as in 'wait', 'wait'
        k = at
        while k < end and text[k] in (_SPACE, _TAB, _QUOTE, _APOSTROPHE, _BACKTICK, _PARENTHESIS, _BRACE):
            k += 1
        if k >= end or text[k] != _COMMA:
            break
        k += 1
        while k < end and (text[k] <= _SPACE or _is_comment(text, k, end)):
            k = k + 1 if text[k] <= _SPACE else find_byte(text, k, end, _NEWLINE)
        if k >= end or (text[k] != _QUOTE and text[k] != _APOSTROPHE):
            break
        close = k + 1
        while close < end and text[close] != text[k] and text[close] != _NEWLINE and close - k < _MOST_QUOTED:
            close += 1
        if close >= end or text[close] != text[k]:
            break
        follows = skip(text, close + 1, end, BLANKS)
        if follows < end and text[follows] == _COLON:
            break
        work[n, ITEM_KIND], work[n, ITEM_TEXT], work[n, ITEM_PARAM], work[n, ITEM_END] = (
            BAD,
            k + 1,
            k + 1,
            close,
        )
        n += 1
        at = close
    line = find_byte(text, at, end, _NEWLINE)
    if line == end:
        return n, at if _is_glue(text, at, end) else -1
    said = at
    while said < line and not _is_comment(text, said, line):
        said += 1
    if not first_of_line and not _is_glue(text, at, said):
        return n, -1
    while line < end:
        begin = line + 1
        line = find_byte(text, begin, end, _NEWLINE)
        if line == end:
            # this is the line of the next item, or the last line
            break
        if text[begin] == _TAB or (text[begin] == _SPACE and begin + 1 < line and text[begin + 1] == _SPACE):
            continue
        if text[begin] == _HASH or _is_glue(text, begin, line):
            continue
        if not (first_of_line and _is_entry(text, begin, line)):
            return n, -1
        work[n, ITEM_KIND], work[n, ITEM_TEXT], work[n, ITEM_PARAM], work[n, ITEM_END] = (
            BAD,
            begin,
            begin,
            line,
        )
        n += 1
    return n, begin


@kernel
def find_steps(
    text: Bytes, begin: int, end: int, names: NameTables, work: Ints32, plan: Ints32, span: Ints
) -> int:
    """Find the last plan in text[begin:end] that begins with a start and has at least two items; return its
    number of items, 0 without one.

    Parameters
    ----------
    text : uint8
        UTF-8, folded by `fold`. Names in it are changed in place to the maze's spelling.
    names
        The `NameTables` of the maze.
    work, plan : int32, shape (n, ITEM_COLUMNS)
        Work space, and the items of the plan.
    span : int64, shape (3,)
        Begin, end and vote of the plan.
    """
    found = n = 0
    last = opened = begin
    first_of_line = False
    at = begin
    while at < end:
        byte = _lower(text[at])
        if not (byte == _S or byte == _M or byte == _P or byte == _U or byte == _R) or (
            at > begin and (_BYTES[text[at - 1]] & _WORD or text[at - 1] == _SLASH)
        ):
            at += 1
            continue
        stop = _item(text, at, end, names, work[n])
        if stop < 0:
            at += 1
            continue
        kind, param = work[n, ITEM_KIND], work[n, ITEM_PARAM]
        goes_on = False
        if n > 0:
            known = n
            n, place = _junk(text, last, at, first_of_line, work, n)
            goes_on = kind != START and place >= 0 and _is_glue(text, place, at)
            if not goes_on and known > 1:
                span[0], span[1], found = opened, last, n
                span[2] = accept(text, work[:n], plan)
        if not goes_on:
            n, opened = 0, at
        if goes_on or kind == START:
            work[n, ITEM_KIND], work[n, ITEM_TEXT] = kind, at
            work[n, ITEM_PARAM], work[n, ITEM_END] = param, stop
            n += 1
        line = line_start(text, last, at)
        first_of_line = (line > last or last == begin) and _is_glue(text, line, at)
        last = at = stop
    if n > 0:
        known = n
        n, _ = _junk(text, last, end, first_of_line, work, n)
        if known > 1:
            span[0], span[1], found = opened, last, n
            span[2] = accept(text, work[:n], plan)
    return found


@kernel
def _read_anew(text: Bytes, names: NameTables, plan: Ints32, one: Ints32) -> None:
    """Read again those items of a list that are no action or name nothing in the maze, as actions in another
    form (``"Move to: B1"``, ``"move_to(B1)"``, ``"move_to: Room b1"``)."""
    for row in range(len(plan)):
        item = plan[row]
        end = item[ITEM_END]
        if item[ITEM_KIND] != BAD and _is_known(names, text, item[ITEM_PARAM], end):
            continue
        at = item[ITEM_TEXT]
        while at < end and not (_BYTES[text[at]] & _WORD and _lower(text[at]) > _BACKTICK):
            at += 1
        if at == end or not _is_glue(text, item[ITEM_TEXT], at):
            continue
        stop = _item(text, at, end, names, one)
        if stop >= 0 and _is_glue(text, stop, end):
            item[ITEM_KIND], item[ITEM_PARAM], item[ITEM_END] = one[ITEM_KIND], one[ITEM_PARAM], stop


@kernel
def last_plan(text: Bytes, end: int, n: int, names: NameTables, items: Ints32, span: Ints) -> int:
    """Choose the plan of a folded text, given the last list that `relfast_kernels.text.plans.scan` found:
    steps behind the list that begin with a start; or else such steps before it, if the list itself does not
    begin with a start; or else the list. Returns the number of items.

    Parameters
    ----------
    n
        Number of items of the list, which are in ``items[1]``; its span is ``span[0]``.
    items : int32, shape (2, n, ITEM_COLUMNS)
        Work space; ``items[1]`` receives the plan.
    """
    plan = items[1]
    one = items[0, len(items[0]) - 1]
    if n == 0:
        return find_steps(text, 0, end, names, items[0], plan, span[0])
    _read_anew(text, names, plan[:n], one)
    first = span[0, 0]
    steps = find_steps(text, span[0, 1], end, names, items[0], plan, span[0])
    if steps == 0 and plan[0, ITEM_KIND] != START:
        steps = find_steps(text, 0, first, names, items[0], plan, span[0])
    if steps > 0:
        return steps
    span[0, 2] = accept(text, plan[:n], plan)
    return n


@kernel
def read_response(text: Bytes, problem: MazeProblem, how: int, desk: Desk, score: Score) -> bool:
    """Find the plan in a response (UTF-8) and score it; False if the work space is too small.

    ``problem`` has been completed by `relfast_kernels.maze.judge.settle`. ``how``: `CUTS_REASONING`,
    `IS_STRICT`. ``score`` comes in as zeros, and stays so if Python has to cut the reasoning, or a ``strict``
    response is too long.
    """
    spare, items, span = desk.text, desk.items, desk.span
    first, last = 0, len(text)
    strict = how & IS_STRICT != 0
    if how & CUTS_REASONING:
        if strict and last > MAX_STRICT:
            return True
        first, last, copied = cut_reasoning(text, 0, last, spare, 0)
        if copied:
            return True
        if strict and skip_white(text, first, last) == last:
            return True
    size = last - first
    copy(text, first, last, spare, 0)
    if strict:
        fold(spare, 0, size)
    n_items, _ = scan(spare[: 2 * size], 0, size, items[0], items[1], span, strict)
    if strict:
        n_items = last_plan(spare, size, n_items, problem.names, items, span)
    follow = strict and problem.solved
    work = Work(desk.numbers, desk.pairs)
    if not judge_plan(problem, follow, spare, items[1][:n_items], work, score):
        return False
    begin = end = first
    if n_items:
        begin, end = first + span[0, 0], first + span[0, 1]
        score.vote = span[0, 2]
    score.begin, score.end, score.certain = begin, end, 1
    return True


_FOLDED: Final = {
    '"': "“”„‟«»「」『』＂",
    "'": "‘’‚‛＇",
    " ": "\u200b\u200c\u200d\u2060\ufeff\u00ad\u00a0\u2007\u202f\u3000\ufe0f",
    ".": "\u20e3",
    **dict(zip(":,()[]_;,", "：，（）［］＿；、", strict=True)),
    "[": "［【",
    "]": "］】",
}
_TABLE: Final = np.zeros(0x10000, np.uint8)
"""Code point → the ASCII character that replaces it; 0: none does."""
for _meant, _written in _FOLDED.items():
    for _one in _written:
        _TABLE[ord(_one)] = ord(_meant)


@kernel
def fold(text: Bytes, begin: int, end: int) -> None:
    """Turn text[begin:end] in place into what a renderer shows, for ``strict``: typographic quotes and marks
    become ASCII, struck-out text and characters without width become blanks. All bytes keep their offsets."""
    at = tilde = angle = begin
    while at < end:
        byte = text[at]
        if byte == _TILDE or byte == _LESS:
            stop = at
            if at >= (tilde if byte == _TILDE else angle):
                stop, looked = struck_end(text, at, end)
                if byte == _TILDE:
                    tilde = looked
                else:
                    angle = looked
            for k in range(at, stop):
                if text[k] != _NEWLINE:
                    text[k] = _SPACE
            while at < end and text[at] == byte:
                at += 1
            at = max(at, stop)
        elif byte < TWO_BYTES:
            at += 1
        else:
            length = 2 if byte < THREE_BYTES else 3 if byte < FOUR_BYTES else 4
            if length < 4 and at + length <= end:
                point = (byte & 0x1F) << 6 | text[at + 1] & 0x3F
                if length == 3:
                    point = (byte & 0x0F) << 12 | (text[at + 1] & 0x3F) << 6 | text[at + 2] & 0x3F
                meant = _TABLE[point]
                if meant:
                    text[at] = meant
                    for k in range(at + 1, at + length):
                        text[k] = _SPACE
            at += length
