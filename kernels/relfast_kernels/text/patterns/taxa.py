"""Which taxa a verdict comes with: `relfast.tasks.rel_b.taxa`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.patterns.lists import (
    ALL,
    BEHIND,
    CALLED,
    COUNTED,
    DASHED,
    EARLIER,
    FIRST_CALLED,
    LINES,
    LIST,
    MAX_STATEMENT,
    NO,
    ONE,
    OTHERS_BEFORE,
    TAXA,
    YES,
    cut_lines,
    is_made_of,
    lists,
    spell,
)
from relfast_kernels.text.patterns.machine import begins, fullmatch, has, match, number_of, search
from relfast_kernels.text.patterns.plain import (
    BLANKS,
    LINE_FEED,
    PIPE,
    any_alnum,
    find,
    find_back,
    members,
    plain,
    skip,
    skip_back,
)
from relfast_kernels.text.vectors import WIDTH, places_of

_LABEL, _NOT_A_LABEL, _OF_TAXA, _OR, _FINAL, _SENTENCE, _MORE, _ADDS, _ITEM, _HEADING = map(
    number_of,
    (
        "B_LABEL", "B_NOT_A_LABEL", "B_OF_TAXA", "B_OR", "B_FINAL", "B_SENTENCE", "B_MORE", "B_ADDS",
        "B_ITEM", "B_HEADING",
    ),
)  # fmt: skip
_BARE_NO, _BARE_LIST = map(number_of, ("B_BARE_NO", "B_BARE_LIST"))
_OPENS: Final = members(" [({|*-")
_OPENS_OR_NAMES: Final = members(" [({|*-:")
_BEFORE_LIST: Final = members(" \t.:,;-–—>)]}|/")
_AFTER_LIST: Final = members(" .*)]}|")
_AROUND_LIST: Final = members(" .*-[](){}|>")
_BULLETS: Final = members("-•·+[{(")
_PIPE: Final = members("|")
_OPEN, _CLOSE = 123, 125
_NO_PLACE: Final = np.uint64(0)
_LONGEST_HEADING: Final = 80


@kernel
def _labelled(text: Any, place: int, first: int, n_lines: int, of_a_no: int, n: int, work: Any) -> int:
    """Add what stands under a label of taxa, on its line or the lines after it."""
    begin = n
    last_group = n
    is_final = False
    for k in range(first, n_lines):
        start, end = work[place + 2 * k], work[place + 2 * k + 1]
        at = start
        while True:
            label = search(_LABEL, text, start, at, end, work)
            if label < 0:
                break
            label_end = work[1]
            at = label_end
            before = max(start, label - 30)
            if has(_NOT_A_LABEL, text, before, label, work) or has(OTHERS_BEFORE, text, before, label, work):
                continue
            if of_a_no != 0 and not has(_OF_TAXA, text, label, label_end, work):
                continue
            group = n
            rest = skip(text, label_end, end, _OPENS)
            found = match(LIST, text, rest, rest, end, work)
            if found >= 0:
                if begins(COUNTED, text, found, end, work) and _n_numbers(text, rest, found, work) == 1:
                    continue
                n = spell(text, rest, found, label, label_end, n, work)
            elif skip(text, label_end, end, _OPENS_OR_NAMES) == end:
                n = _items(text, place, k + 1, n_lines, n, work)
            else:
                continue
            if n > group and k + 1 < n_lines:
                next_line, next_end = work[place + 2 * k + 2], work[place + 2 * k + 3]
                if begins(_OR, text, next_line, next_end, work):
                    n = lists(text, next_line, next_end, ALL, n, work)
            if n > group:
                last_group = group
                is_final = has(_FINAL, text, before, label, work)
            break
    if is_final:
        for k in range(n - last_group):
            work[TAXA + begin + k] = work[TAXA + last_group + k]
        n = begin + n - last_group
    return n


@kernel
def _n_numbers(text: Any, start: int, end: int, work: Any) -> int:
    n = 0
    at = start
    while search(ONE, text, start, at, end, work) >= 0:
        n += 1
        at = work[1]
    return n


@kernel
def _next_sentence(text: Any, start: int, at: int, end: int, work: Any) -> Any:
    """Where the sentence at ``at`` ends, and where the next one begins: -1, if there is none."""
    found = search(_SENTENCE, text, start, at, end, work)
    if found < 0:
        return end, -1
    return found, work[1]


@kernel
def _stated(text: Any, place: int, n_lines: int, n: int, work: Any) -> int:
    """Add the first sentence of the verdict's line that lists taxa, and those that go on with it."""
    if n_lines == 0:
        return n
    begin = n
    start, end = work[place], work[place + 1]
    at = start
    while at >= 0:
        stop, following = _next_sentence(text, start, at, end, work)
        if n > begin and not begins(_MORE, text, at, stop, work):
            break
        n = lists(text, at, stop, ALL, n, work)
        at = following
    return _continued(text, place, n_lines, n, work) if n > begin else n


@kernel
def _goes_on(text: Any, start: int, end: int) -> bool:
    """Whether a line ends with a comma, "and" or "or"."""
    end = skip_back(text, start, end, BLANKS)
    if end > start and text[end - 1] == 44:
        return True
    if end - start >= 4 and text[end - 4] == 32 and text[end - 3] == 97 and text[end - 2] == 110:
        return text[end - 1] == 100  # type: ignore[no-any-return]
    return end - start >= 3 and text[end - 3] == 32 and text[end - 2] == 111 and text[end - 1] == 114


@kernel
def _continued(text: Any, place: int, n_lines: int, n: int, work: Any) -> int:
    """Add what the lines after the verdict's add to its list."""
    goes_on = _goes_on(text, work[place], work[place + 1])
    for k in range(1, n_lines):
        start, end = work[place + 2 * k], work[place + 2 * k + 1]
        adds = begins(_ADDS, text, start, end, work)
        if not (adds or goes_on or is_made_of(_BARE_LIST, text, start, end, work)):
            break
        before = n
        n = lists(text, start, end, ALL, n, work)
        goes_on = _goes_on(text, start, end) or (adds and n == before)
    return n


@kernel
def _heading(text: Any, start: int, end: int, work: Any) -> int:
    """The number of the first cell of a row that is a heading of taxa, or -1."""
    column = 0
    at = start
    while True:
        stop = find(text, at, end, PIPE)
        last = stop < 0
        if last:
            stop = end
        cell = skip(text, at, stop, BLANKS)
        cell_end = skip_back(text, cell, stop, BLANKS)
        if cell_end - cell <= _LONGEST_HEADING and has(_HEADING, text, cell, cell_end, work):
            return column
        if last:
            return -1
        column += 1
        at = stop + 1


@kernel
def _cell(text: Any, start: int, end: int, column: int) -> Any:
    """The span of a row's cell; empty, if it has none of that number."""
    at = start
    for _ in range(column):
        at = find(text, at, end, PIPE)
        if at < 0:
            return end, end
        at += 1
    stop = find(text, at, end, PIPE)
    if stop < 0:
        stop = end
    cell = skip(text, at, stop, BLANKS)
    return cell, skip_back(text, cell, stop, BLANKS)


@kernel
def _items(text: Any, place: int, first: int, n_lines: int, n: int, work: Any) -> int:
    """Add taxa at the heads of lines: a bare list, bullets, a table."""
    begin = n
    column = -1
    for k in range(first, n_lines):
        line, line_end = work[place + 2 * k], work[place + 2 * k + 1]
        start = skip(text, line, line_end, BLANKS)
        end = skip_back(text, start, line_end, BLANKS)
        if find(text, start + 1, end, PIPE) >= 0:
            row = skip(text, start, end, _PIPE)
            row_end = skip_back(text, row, end, _PIPE)
            if column < 0:
                column = _heading(text, row, row_end, work)
                if column >= 0:
                    continue
            if not any_alnum(text, start, end):
                continue
            cell, cell_end = _cell(text, row, row_end, max(column, 0))
            found = match(LIST, text, cell, cell, cell_end, work)
            if found >= 0:
                n = spell(text, cell, found, NO, NO, n, work)
            continue
        if match(_ITEM, text, line, line, line_end, work) >= 0:
            item, item_end = work[2], work[3]
            before = n
            n = spell(text, item, item_end, NO, NO, n, work)
            counted = begins(COUNTED, text, item_end, line_end, work)
            if counted and n - before > 1 and has(DASHED, text, item, item_end, work):
                n -= 1
                counted = False
            if not counted:
                continue
            n = before
        bullet = _BULLETS[text[start]] != 0
        if bullet or n == begin:
            before = n
            n = lists(text, line, line_end, FIRST_CALLED, n, work)
            if n > before:
                if not bullet:
                    break
                continue
        if n > begin:
            break
    return n


@kernel
def _called(text: Any, place: int, n_lines: int, n: int, work: Any) -> int:
    """Add the taxa of the first sentence that has any."""
    begin = n
    for k in range(1, n_lines):
        start, end = work[place + 2 * k], work[place + 2 * k + 1]
        at = start
        while at >= 0:
            stop, following = _next_sentence(text, start, at, end, work)
            n = lists(text, at, stop, ALL, n, work)
            if n > begin:
                return n
            at = following
    return n


@kernel
def _last_before(text: Any, place: int, n_lines: int, n: int, work: Any) -> int:
    begin = n
    n = _labelled(text, place, NO, n_lines, NO, n, work)
    k = n_lines - 1
    while n == begin and k >= 0:
        n = lists(text, work[place + 2 * k], work[place + 2 * k + 1], CALLED, n, work)
        k -= 1
    return n


@kernel
def _open_brace(text: Any, low: int, at: int) -> int:
    """Where the object begins that ``at`` is in, or -1."""
    depth = 0
    first = max(low, at - 2_000)
    stop = at
    while stop > first:
        start = max(first, stop - WIDTH)
        if places_of(text, start, _OPEN, _CLOSE) != _NO_PLACE:
            for k in range(stop - 1, start - 1, -1):
                if text[k] == _CLOSE:
                    depth += 1
                elif text[k] == _OPEN:
                    depth -= 1
                    if depth < 0:
                        return k
        stop = start
    return -1


@kernel
def _of_a_no(text: Any, high: int, line: int, end: int, to: int, n: int, work: Any) -> int:
    begin = n
    n_lines, to = cut_lines(text, line, min(high, line + MAX_STATEMENT), to, LINES, work)
    n = _labelled(text, LINES, NO, n_lines, YES, n, work)
    if n > begin:
        return n
    to += 1
    stop = plain(text, end, min(high, end + 200), to, work)
    line_end = find(text, to, stop, LINE_FEED)
    if line_end < 0:
        line_end = stop
    first = skip(text, to, line_end, _BEFORE_LIST)
    found = match(LIST, text, first, first, line_end, work)
    if found >= 0 and skip(text, found, line_end, _AFTER_LIST) == line_end:
        return spell(text, first, found, NO, NO, n, work)
    if n_lines > 1 and is_made_of(_BARE_NO, text, work[LINES], work[LINES + 1], work):
        first = skip(text, work[LINES + 2], work[LINES + 3], _AROUND_LIST)
        last = skip_back(text, first, work[LINES + 3], _AROUND_LIST)
        if fullmatch(LIST, text, first, last, work) >= 0:
            n = spell(text, first, last, NO, NO, n, work)
    return n


@kernel
def listed_taxa(
    text: Any, low: int, high: int, start: int, end: int, yes: int, to: int, n: int, work: Any
) -> int:
    """Add the taxa listed with the verdict at text[start:end] to the ``n`` in ``work``, from `TAXA` on."""
    begin = n
    line = max(max(find_back(text, low, start, LINE_FEED), _open_brace(text, low, start)) + 1, low)
    if yes == 0:
        return _of_a_no(text, high, line, end, to, n, work)
    n_lines, to = cut_lines(text, line, min(high, line + MAX_STATEMENT), to, LINES, work)
    to += 1
    n = _labelled(text, LINES, NO, n_lines, NO, n, work)
    if n > begin:
        return n
    if end < high and text[end] != 10:
        k = end
        while k < high and text[k] == 32:
            k += 1
        if k >= high or text[k] != 10:
            n_behind, _ = cut_lines(text, end, min(high, end + MAX_STATEMENT), to, BEHIND, work)
            n = _stated(text, BEHIND, n_behind, n, work)
    if n == begin:
        n = _stated(text, LINES, n_lines, n, work)
    if n == begin:
        n = _items(text, LINES, YES, n_lines, n, work)
    if n == begin:
        n = _called(text, LINES, n_lines, n, work)
    if n == begin and line > low:
        n_lines, _ = cut_lines(text, max(low, line - 2_000), line, to, EARLIER, work)
        n = _last_before(text, EARLIER, n_lines, n, work)
    return n
