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

from typing import Any, Final, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import BAD, ITEM_END, ITEM_KIND, ITEM_PARAM, ITEM_TEXT, RESCUE, START
from relfast_kernels.maze.judge import find_name, judge_plan
from relfast_kernels.maze.layouts import CUTS_REASONING, FOUND, IS_STRICT
from relfast_kernels.maze.search import Problem, Work
from relfast_kernels.text.characters import skip_white, struck_end
from relfast_kernels.text.find import BLANKS, DIGITS, copy, find_byte, line_start, listed, skip
from relfast_kernels.text.plans import NAME_AT, NAMES, accept, hash_bytes, scan
from relfast_kernels.text.reasoning import cut_reasoning

_WORDS: Final = np.frombuffer(b"then\nand\nnext\nstep\nfinally\nitem\n", np.uint8)
"""Words that only announce another item."""
_KINDS_OF_PLACE: Final = np.frombuffer(b"room\nkey\ndoor\n", np.uint8)

_NEWLINE, _SPACE, _TAB = 10, 32, 9
_MOST_QUOTED: Final = 120
"""Longest text in quotes, in bytes, that counts as an item."""
_LONGEST_TAG: Final = 40
_LATIN, _TIMES = 0xC3, 0x97

_WORD, _ENDS, _PARTS, _STRONG = 1, 2, 4, 8
_BYTES: Final = np.zeros(256, np.uint8)
"""Flags of each byte: it is a letter, digit or underscore (`_WORD`); ends an action's argument (`_ENDS`); may
stand between action and argument (`_PARTS`); is a separator even without any other (`_STRONG`)."""
for _byte in range(256):
    if (chr(_byte).isalnum() and _byte < 128) or _byte == 95:
        _BYTES[_byte] |= _WORD
for _byte in b" \t\r\n,;:|()[]{}<>*=\"'`\\\xe2":
    _BYTES[_byte] |= _ENDS
for _byte in b" \t\r\n,:|([{<>*=\"'`\\_#-\xe2":
    _BYTES[_byte] |= _PARTS
for _byte in b"\t,:|(<>*=\"'`\xe2":
    _BYTES[_byte] |= _STRONG


@kernel
def _lower(byte: int) -> int:
    return byte | 32 if 65 <= byte <= 90 else byte


@kernel
def _name(text: Any, at: int, end: int) -> Any:
    """The action whose name begins at ``at`` (`BAD`: none), and where the name ends."""
    first = _lower(text[at])
    for code in range(BAD):
        name, stop = NAME_AT[code], NAME_AT[code + 1]
        if NAMES[name] != first:
            continue
        k = at
        while name < stop and k < end:
            if NAMES[name] == 95:
                while k < end and (text[k] == _SPACE or text[k] == 95 or text[k] == 45 or text[k] == 92):
                    k += 1
            elif _lower(text[k]) != NAMES[name]:
                break
            else:
                k += 1
            name += 1
        if name == stop and (k == end or not _BYTES[text[k]] & _WORD or text[k] == 95):
            return code, k
    return BAD, at


@kernel
def _field(text: Any, at: int, end: int) -> int:
    """The end of a field name with its colon or equals sign (``target": ``, ``to =``, ``room_id:``); ``at``
    if there is no field name."""
    k = at
    while k < end and _BYTES[text[k]] & _WORD:
        k += 1
    if k == at:
        return at
    while k < end and (text[k] in (_SPACE, 34, 39, 96, 42)):
        k += 1
    return k + 1 if k < end and (text[k] == 58 or text[k] == 61) else at


@kernel
def _object(text: Any, at: int, end: int) -> int:
    """Where the argument begins that follows an action's name, which ends at ``at``; -1 if there is none."""
    strong = fields = lines = 0
    while at < end:
        byte = text[at]
        if byte == 60 and at + 1 < end and text[at + 1] == 47:
            # a closing tag such as </b>
            close = min(end, at + _LONGEST_TAG)
            while at < close and text[at] != 62 and text[at] != _NEWLINE:
                at += 1
            if at == close:
                return -1
            continue
        if _BYTES[byte] & _PARTS:
            strong += _BYTES[byte] & _STRONG
            lines += byte == _NEWLINE
            if lines > 3:
                return -1
            at += 3 if byte == 0xE2 else 1
            continue
        if not (_BYTES[byte] & _WORD or byte >= 128):
            return -1
        if _name(text, at, end)[0] != BAD:
            return -1
        stop = _field(text, at, end)
        if stop > at and fields < 2:
            fields += 1
            at = stop
            continue
        stop = at
        while stop < end and _BYTES[text[stop]] & _WORD and text[stop] != 95:
            stop += 1
        follows = text[stop] if stop < end else 0
        is_kind = listed(text, at, stop, _KINDS_OF_PLACE, True) > at
        if is_kind and (follows == _SPACE or follows == 95 or follows == 35):
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
    while stop < end and text[stop] != _NEWLINE and text[stop] not in (34, 39, 96):
        if _BYTES[text[stop]] & _WORD or text[stop] >= 128:
            return -1
        stop += 1
    return at


@kernel
def _in_lower_case(text: Any, at: int) -> int:
    """The byte at ``at`` in lower case, for letters of ASCII and Latin-1 ("É" is C3 89, "é" C3 A9)."""
    byte = int(text[at])
    if at > 0 and text[at - 1] == _LATIN and 0x80 <= byte < 0x9F and byte != _TIMES:
        return byte | 32
    return _lower(byte)


@kernel
def _is_known(names: Any, text: Any, begin: int, end: int) -> bool:
    """Whether text[begin:end] is the name of something in the maze."""
    return find_name(names, text, begin, end, hash_bytes(text, begin, end), 0, len(names.ends)) >= 0


@kernel
def _as_known(names: Any, text: Any, begin: int, end: int) -> bool:
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
def _item(text: Any, at: int, end: int, names: Any, item: Any) -> int:
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
        while longer > stop and (text[longer - 1] == _SPACE or text[longer - 1] == 46):
            longer -= 1
        if longer > stop and _as_known(names, text, begin, longer):
            stop = longer
    while stop > begin and (text[stop - 1] == 46 or text[stop - 1] == 33 or text[stop - 1] == 63):
        stop -= 1
    if stop == begin:
        return -1
    _as_known(names, text, begin, stop)
    item[ITEM_KIND], item[ITEM_TEXT], item[ITEM_PARAM], item[ITEM_END] = code, at, begin, stop
    return stop


@kernel
def _is_glue(text: Any, at: int, end: int) -> bool:
    """Whether text[at:end] may stand between items of a plan: marks, digits, field names, tags, "then"."""
    while at < end:
        byte = text[at]
        if not _BYTES[byte] & _WORD:
            if byte >= 128 and byte != 0xE2 and byte != 0xEF:
                return False
            at += 3 if byte == 0xE2 or byte == 0xEF else 1
            continue
        stop = at
        letters = False
        while stop < end and _BYTES[text[stop]] & _WORD:
            letters |= _lower(text[stop]) >= 97
            stop += 1
        while letters and 48 <= text[stop - 1] <= 57:
            stop -= 1
        before = text[at - 1]
        follows = text[stop] if stop < end else _NEWLINE
        if not letters or (stop == at + 1 and (follows == 41 or follows == 46 or follows == 93)):
            at = stop
            continue
        field = _field(text, at, end)
        if field > at:
            # the value of the field, if it is in quotes, belongs to the field
            k = skip(text, field, end, BLANKS)
            if k < end and (text[k] == 34 or text[k] == 39):
                close = k + 1
                while close < end and text[close] != text[k] and text[close] != _NEWLINE:
                    close += 1
                field = close + 1 if close < end and text[close] == text[k] else field
            at = field
            continue
        if (
            before == 60 or before == 47 or before == 92 or follows == 40 or follows == 62
            or (follows == 46 and stop + 1 < end and _BYTES[text[stop + 1]] & _WORD)
            or (follows == 46 and stop + 1 == end)
            or listed(text, at, stop, _WORDS, True) > at
        ):  # fmt: skip
            at = stop
            continue
        return False
    return True


@kernel
def _is_entry(text: Any, at: int, end: int) -> bool:
    """Whether a line begins like an entry of a list: with a number or a bullet."""
    while at < end and (text[at] == _SPACE or text[at] == 62):
        at += 1
    k = skip(text, at, end, DIGITS)
    if k > at:
        return k + 1 < end and (text[k] == 46 or text[k] == 41 or text[k] == 58)
    return at + 1 < end and text[at + 1] == _SPACE and (text[at] == 45 or text[at] == 42 or text[at] == 43)


@kernel
def _is_comment(text: Any, at: int, end: int) -> bool:
    return text[at] == 35 or (text[at] == 47 and at + 1 < end and text[at + 1] == 47)


@kernel
def _junk(text: Any, at: int, end: int, first_of_line: bool, work: Any, n: int) -> Any:
    """Append the entries of the list between ``at`` (the end of an item) and ``end`` that are no actions, as
    BAD items; return the number of items, and from where the list goes on (-1: it ends before ``end``)."""
    while True:
        # further texts in quotes, as in 'wait', 'wait'
        k = at
        while k < end and text[k] in (_SPACE, _TAB, 34, 39, 96, 41, 125):
            k += 1
        if k >= end or text[k] != 44:
            break
        k += 1
        while k < end and (text[k] <= _SPACE or _is_comment(text, k, end)):
            k = k + 1 if text[k] <= _SPACE else find_byte(text, k, end, _NEWLINE)
        if k >= end or (text[k] != 34 and text[k] != 39):
            break
        close = k + 1
        while close < end and text[close] != text[k] and text[close] != _NEWLINE and close - k < _MOST_QUOTED:
            close += 1
        if close >= end or text[close] != text[k]:
            break
        follows = skip(text, close + 1, end, BLANKS)
        if follows < end and text[follows] == 58:
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
        if text[begin] == 35 or _is_glue(text, begin, line):
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
def find_steps(text: Any, begin: int, end: int, names: Any, work: Any, plan: Any, span: Any) -> int:
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
        if not (byte == 115 or byte == 109 or byte == 112 or byte == 117 or byte == 114) or (
            at > begin and (_BYTES[text[at - 1]] & _WORD or text[at - 1] == 47)
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
def _read_anew(text: Any, names: Any, plan: Any, one: Any) -> None:
    """Read again those items of a list that are no action or name nothing in the maze, as actions in another
    form (``"Move to: B1"``, ``"move_to(B1)"``, ``"move_to: Room b1"``)."""
    for row in range(len(plan)):
        item = plan[row]
        end = item[ITEM_END]
        if item[ITEM_KIND] != BAD and _is_known(names, text, item[ITEM_PARAM], end):
            continue
        at = item[ITEM_TEXT]
        while at < end and not (_BYTES[text[at]] & _WORD and _lower(text[at]) >= 97):
            at += 1
        if at == end or not _is_glue(text, item[ITEM_TEXT], at):
            continue
        stop = _item(text, at, end, names, one)
        if stop >= 0 and _is_glue(text, stop, end):
            item[ITEM_KIND], item[ITEM_PARAM], item[ITEM_END] = one[ITEM_KIND], one[ITEM_PARAM], stop


@kernel
def last_plan(text: Any, end: int, n: int, names: Any, items: Any, span: Any) -> int:
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


MAX_STRICT = 1_000_000
"""Longest response, in bytes, that is read here under ``strict``; its limit is as many characters."""


class Desk(NamedTuple):
    """Work space for responses.

    ``text``: uint8, twice the size of a response; ``items``: int32, shape (2, n, ITEM_COLUMNS), with room for
    an item per three bytes and two more; ``work``: of a search; ``span``: int64, shape (1, 3).
    """

    text: Any
    items: Any
    work: Work
    span: Any


@kernel
def read_response(text: Any, problem: Problem, how: int, desk: Desk, found: Any, ratios: Any) -> bool:
    """Find the plan in a response (UTF-8) and score it; False if the work space is too small.

    Parameters
    ----------
    problem
        Completed by `relfast_kernels.maze.judge.settle`.
    how
        `CUTS_REASONING`, `IS_STRICT`.
    found : int64, shape (FOUND_COLUMNS,)
    ratios : float64, shape (N_RATIOS,)
        Receive the result; zeros if Python has to cut the reasoning, or a ``strict`` response is too long.
    """
    spare, items, span = desk.text, desk.items, desk.span
    found[:] = 0
    ratios[:] = 0.0
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
    if not judge_plan(problem, follow, spare, items[1][:n_items], desk.work, found, ratios):
        return False
    begin = end = first
    if n_items:
        begin, end = first + span[0, 0], first + span[0, 1]
        found[FOUND.vote] = span[0, 2]
    found[FOUND.begin], found[FOUND.end] = begin, end
    found[FOUND.certain] = 1
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
def fold(text: Any, begin: int, end: int) -> None:
    """Turn text[begin:end] in place into what a renderer shows, for ``strict``: typographic quotes and marks
    become ASCII, struck-out text and characters without width become blanks. All bytes keep their offsets."""
    at = tilde = angle = begin
    while at < end:
        byte = text[at]
        if byte == 126 or byte == 60:
            stop = at
            if at >= (tilde if byte == 126 else angle):
                stop, looked = struck_end(text, at, end)
                if byte == 126:
                    tilde = looked
                else:
                    angle = looked
            for k in range(at, stop):
                if text[k] != _NEWLINE:
                    text[k] = 32
            while at < end and text[at] == byte:
                at += 1
            at = max(at, stop)
        elif byte < 0xC2:
            at += 1
        else:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            if length < 4 and at + length <= end:
                point = (byte & 0x1F) << 6 | text[at + 1] & 0x3F
                if length == 3:
                    point = (byte & 0x0F) << 12 | (text[at + 1] & 0x3F) << 6 | text[at + 2] & 0x3F
                meant = _TABLE[point]
                if meant:
                    text[at] = meant
                    for k in range(at + 1, at + length):
                        text[k] = 32
            at += length
