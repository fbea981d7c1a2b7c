"""Scoring: a response against its gold, under either policy, gives the key of the response's row."""

from __future__ import annotations

from typing import Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Buffer, Bytes, Ints
from relfast_kernels.layouts import (
    B1,
    C1,
    CORRECT,
    CUTS,
    ESCAPED,
    FOUND,
    GOLD_VALUE_SHIFT,
    INTEGER,
    IS_CUT,
    LIST,
    MAX_STRICT,
    N_CHOICES,
    NO_PANEL,
    PRED_VALUE_SHIFT,
    REASON_SHIFT,
    REASONS,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_KEY,
    RECORD_VOTE,
    SET_DETAILS,
    SET_STRICT,
    SET_STRIP,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.alignment import settle_taxa
from relfast_kernels.text.answers import OUTSIDE, SEVERAL, find_value
from relfast_kernels.text.ascii import (
    BRACE_CLOSE,
    BRACE_OPEN,
    COMMA,
    GREATER,
    HASH,
    SQUARE_CLOSE,
    SQUARE_OPEN,
    ZERO,
)
from relfast_kernels.text.characters import behind_word, digit_at, is_word, skip_white
from relfast_kernels.text.find import copy, find_digit, find_label_open, find_word, put_number, same_as
from relfast_kernels.text.json_scan import tokenise
from relfast_kernels.text.layouts import (
    BY_NAME,
    BY_PLACE,
    GOLD_TAXA,
    GOLD_TEXT,
    GOLD_TEXT_END,
    GOLD_VALUE,
    GOLD_WRITTEN,
    UNSAID,
    Response,
    Room,
    Work,
)
from relfast_kernels.text.reasoning import cut_reasoning
from relfast_kernels.text.rel_b import (
    GOLD,
    MAX_GOLD,
    NO,
    YES,
    close_list,
    digits_value,
    gold_label,
    gold_taxa,
    open_list,
    score_claim,
    score_taxa,
)
from relfast_kernels.text.values import CHOICE, VERDICT

_ANSWER, _WER = np.frombuffer(b"answer", np.uint8), np.frombuffer(b"wer", np.uint8)
_HIGHEST = 1_000
"""In place of all higher numbers, none of which is a panel."""
MAX_DIGITS: Final = 4_300
"""The most digits that Python's ``int`` takes; the published scorer raises ValueError at more."""
NO_CHOICE, TOO_LONG = -1, -2


@kernel
def _number_behind(data: Bytes, at: int, end: int) -> int:
    """The number of a choice behind "Answer", a "#" and white space: from 1 on, 0 for any that is none;
    `NO_CHOICE` if no number stands there, `TOO_LONG` if it has more than `MAX_DIGITS` digits."""
    at = skip_white(data, at, end)
    if at < end and data[at] == HASH:
        at += 1
    at = skip_white(data, at, end)
    digit, length = digit_at(data, at, end)
    if digit < 0:
        return NO_CHOICE
    number = 0
    n_digits = 0
    while digit >= 0:
        number = min(10 * number + digit, _HIGHEST)
        n_digits += 1
        at += length
        digit, length = digit_at(data, at, end)
    if n_digits > MAX_DIGITS:
        return TOO_LONG
    return number if number <= N_CHOICES else 0


@kernel
def find_choice(data: Buffer, start: int, end: int) -> int:
    """The panel (from 0) that the published scorer of REL-A reads: the number after the first "Answer", else
    the first lone digit from 1 to 8, else a lone 0. `NO_CHOICE` if nothing names one; `TOO_LONG`."""
    # "answer" has an s, which may be ſ if case is ignored; "wer" has no such letter
    at = find_word(data, start, end, _WER)
    while at < end:
        for first in range(max(start, at - 4), at - 2):
            if behind_word(data, first, end, _ANSWER) == at + len(_WER):
                behind = _number_behind(data, at + len(_WER), end)
                if behind != NO_CHOICE:
                    return behind if behind < 0 else max(behind - 1, 0)
        at = find_word(data, at + 1, end, _WER)
    panel = NO_CHOICE
    at = find_digit(data, start, end)
    while at < end:
        number = int(data[at]) - ZERO
        alone = number <= N_CHOICES and not (at > start and is_word(data, at - 1, start))
        if alone and not (at + 1 < end and is_word(data, at + 1, start)):
            if number > 0:
                return number - 1
            panel = 0
        at = find_digit(data, at + 1, end)
    return panel


_EMPTY, _ONLY_REASONING = REASONS.index("empty"), REASONS.index("only_reasoning")
_NO_ANSWER, _SEVERAL, _OUTSIDE = map(REASONS.index, ("no_answer", "several_answers", "out_of_range"))


@kernel
def score_as_published(
    response: Response, task: int, settings: Ints, gold_data: Bytes, work: Work, room: Room, row: Ints
) -> tuple[bool, int]:
    """Score a response as ``reference`` does.

    Parameters
    ----------
    row
        A record: its key, its vote, and for details its taxa are filled in.

    Returns
    -------
    (done, used)
        Whether the row has its key; else only Python can score it.
    """
    text, first, last = response
    scratch, used, beyond = room
    if settings[SET_STRIP] == CUTS:
        first, last, copied = cut_reasoning(text, first, last, scratch, beyond)
        if copied:
            text = scratch
    gold = work.gold
    details = settings[SET_DETAILS] != 0
    if task == B1:
        done, to = score_taxa(text, first, last, gold_data, work, scratch, used if details else -1, row)
        if details:
            used = to
            row[RECORD_GOLD], row[RECORD_GOLD_END] = gold[GOLD_TEXT], gold[GOLD_TEXT_END]
        return done, used
    if task == C1:
        found = find_label(text, first, last)
        number = found + 1
        if found == LONG_YES or (details and gold[GOLD_VALUE] > 1):
            return False, used
    else:
        found = find_choice(text, first, last)
        number = max(found, 0)
        if found == TOO_LONG:
            return False, used
    _put(row, task, number, shown_gold(task, gold), found >= 0, 0, details)
    return True, used


@kernel
def shown_gold(task: int, gold: Ints) -> int:
    """Gold's panel or label as a key numbers it."""
    return int(gold[GOLD_VALUE]) if task < B1 else int(gold[GOLD_VALUE]) + 1


@kernel
def _put(row: Ints, task: int, number: int, gold: int, found: bool, reason: int, details: bool) -> None:
    """Fill in key and vote of a chosen panel or a label, both numbered as in details."""
    key = task | reason << REASON_SHIFT
    vote = 0
    if found:
        key |= FOUND
        vote = number + 2 if task < B1 else number + 1
    if number == gold:
        key |= CORRECT
    if details:
        key |= number << PRED_VALUE_SHIFT | gold << GOLD_VALUE_SHIFT
    row[RECORD_KEY], row[RECORD_VOTE] = key, vote


@kernel
def _read_value(
    text: Bytes, first: int, last: int, task: int, scratch: Bytes, free: int, numbers: Ints
) -> tuple[int, int]:
    """A choice or a label as details number it, and the index in `REASONS` of why there is none, or 0."""
    kind = CHOICE if task < B1 else VERDICT
    value, _, _, _ = find_value(text, first, last, kind, scratch, free, numbers)
    number = max(value, 0)
    if task < B1:
        number = value - 1 if value > 0 else NO_PANEL
    if value > 0:
        return number, 0
    return number, _SEVERAL if value == SEVERAL else _OUTSIDE if value == OUTSIDE else _NO_ANSWER


@kernel
def score_strictly(
    response: Response, task: int, settings: Ints, work: Work, room: Room, row: Ints
) -> tuple[bool, int]:
    """Score a response as ``strict`` does; see `score_as_published`."""
    text, first, last = response
    scratch, used, beyond = room
    if last - first > MAX_STRICT:
        return False, used
    details = settings[SET_DETAILS] != 0
    blank = skip_white(text, first, last) == last
    if settings[SET_STRIP] != IS_CUT:
        first, last, copied = cut_reasoning(text, first, last, scratch, beyond)
        if copied:
            text, beyond = scratch, last
    reason = 0
    if blank:
        reason = _EMPTY
    elif skip_white(text, first, last) == last:
        reason = _ONLY_REASONING
    if task == B1:
        rest, free = Response(text, first, last), Room(scratch, used, beyond)
        return score_claim(rest, reason, settings, work, free, row)
    number = NO_PANEL if task < B1 else 0
    if reason == 0:
        number, reason = _read_value(text, first, last, task, scratch, beyond, work.patterns)
    _put(row, task, number, shown_gold(task, work.gold), reason == 0, reason, details)
    return True, used


NO_LABEL, LONG_YES = -1, 2
"""Labels of `find_label` beside 0 for "No" and 1 for "Yes"."""


@kernel
def find_label(data: Buffer, start: int, end: int) -> int:
    """The label that the published scorer of REL-C1 reads: 1 for the first ``<Yes>``, 0 for the first
    ``<No>``, `LONG_YES` for ``<Yeſ>``, which equals no gold but its own spelling; `NO_LABEL` for none."""
    at = find_label_open(data, start, end)
    while at < end:
        word = skip_white(data, at + 1, end)
        yes = behind_word(data, word, end, YES)
        stop = max(yes, behind_word(data, word, end, NO))
        if stop > 0:
            behind = skip_white(data, stop, end)
            if behind < end and data[behind] == GREATER:
                return 0 if yes < 0 else 1 if yes - word == len(YES) else LONG_YES
        at = find_label_open(data, at + 1, end)
    return NO_LABEL


@kernel
def gold_tag(data: Bytes, start: int, end: int) -> int:
    """1 for the label ``Yes``, 0 for ``No``, -1 for any other."""
    return 1 if same_as(data, start, end, _YES) else 0 if same_as(data, start, end, _NO) else -1


_TARGET, _LABEL, _TAXA, _TAXA_AS, _NAME, _INDEX, _YES, _NO, _NULL = (
    np.frombuffer(word, np.uint8)
    for word in (b"target", b"label", b"taxa", b"taxa_as", b"name", b"index", b"Yes", b"No", b"null")
)


@kernel
def put_gold(data: Bytes, tape: Ints, token: int, out: Bytes, to: int) -> int:
    """Write those members of an object that `read_gold` reads, as an object; the offset after it."""
    first = to
    at = token + 1
    while at < tape[token, TOKEN_NEXT]:
        start, end = tape[at, TOKEN_START], tape[at, TOKEN_END]
        value, at = at + 1, int(tape[at + 1, TOKEN_NEXT])
        if (
            same_as(data, start, end, _TARGET)
            or same_as(data, start, end, _LABEL)
            or same_as(data, start, end, _TAXA)
            or same_as(data, start, end, _TAXA_AS)
        ):
            quote = 1 if tape[value, TOKEN_KIND] <= ESCAPED else 0
            out[to] = COMMA if to > first else BRACE_OPEN
            to = copy(data, start - 1, tape[value, TOKEN_END] + quote, out, to + 1)
    if to == first:
        out[to] = BRACE_OPEN
        to += 1
    out[to] = BRACE_CLOSE
    return to + 1


@kernel
def read_gold(
    data: Bytes,
    tape: Ints,
    token: int,
    task: int,
    settings: Ints,
    work: Work,
    out: Bytes,
    to: int,
) -> int:
    """Read a task's gold as it is written into ``work.gold``, and its taxa into the second set; where the
    JSON that is written for details ends, or -1: left to Python."""
    details, strict = settings[SET_DETAILS] != 0, settings[SET_STRICT] != 0
    value = -1
    n_taxa = 0
    written = UNSAID
    first = to
    at = token + 1
    stop = tape[token, TOKEN_NEXT]
    while at < stop:
        name, name_end = tape[at, TOKEN_START], tape[at, TOKEN_END]
        at += 1
        kind, start, end = tape[at, TOKEN_KIND], tape[at, TOKEN_START], tape[at, TOKEN_END]
        if task < B1:
            if same_as(data, name, name_end, _TARGET):
                if kind != INTEGER or end != start + 1:
                    return -1
                value = int(data[start]) - ZERO
                if strict and value >= N_CHOICES:
                    return -1
        elif same_as(data, name, name_end, _LABEL):
            if kind != STRING:
                return -1
            value = gold_tag(data, start, end) if task == C1 else gold_label(data, start, end)
            if task == C1 and value < 0:
                if strict:
                    return -1
                value = 2  # no answer equals this label
        elif task == B1 and same_as(data, name, name_end, _TAXA):
            to = first
            n_taxa, to = gold_taxa(data, tape, at, work.spans[1], work.slots[1], out, to if details else -1)
            if n_taxa < 0:
                return -1
            if not details:
                to = first
        elif task == B1 and strict and same_as(data, name, name_end, _TAXA_AS):
            if kind == ESCAPED:
                return -1
            written = UNSAID
            if kind == STRING:
                as_name, as_place = same_as(data, start, end, _NAME), same_as(data, start, end, _INDEX)
                written = BY_NAME if as_name else BY_PLACE if as_place else UNSAID
        at = tape[at, TOKEN_NEXT]
    if value < 0 or (task == B1 and value == 1 and n_taxa == 0):
        return -1
    if task == B1 and details and to == first:
        to = close_list(out, open_list(out, to))
    gold = work.gold
    gold[GOLD_VALUE], gold[GOLD_TAXA], gold[GOLD_TEXT], gold[GOLD_TEXT_END] = value, n_taxa, first, to
    gold[GOLD_WRITTEN] = written
    return to


@kernel
def needs_taxa(task: int, settings: Ints, work: Work) -> bool:
    """Whether the taxa of the gold that `read_gold` has read must be settled: those of a yes, under
    ``strict``."""
    return bool(task == B1 and settings[SET_STRICT] != 0 and work.gold[GOLD_VALUE] == 1)


@kernel
def read_prepared(
    data: Bytes, start: int, end: int, task: int, settings: Ints, work: Work, out: Bytes, to: int
) -> int:
    """`read_gold` of a gold's own JSON (`GOLD_COLUMNS`), with the taxa that it says are compared."""
    tape = work.said
    if tokenise(data, start, end, tape, 0) < 0:
        return -1
    has_taxa = tape[0, TOKEN_KIND] == LIST
    taken = read_gold(data, tape, 1 if has_taxa else 0, task, settings, work, out, to)
    if taken >= 0 and needs_taxa(task, settings, work):
        at = int(tape[1, TOKEN_NEXT]) if has_taxa else 0
        if tape[at, TOKEN_KIND] != LIST:
            return -1
        n = int(tape[at, TOKEN_NEXT]) - at - 1
        if n > MAX_GOLD:
            return -1
        for k in range(n):
            work.patterns[GOLD + k] = digits_value(
                data, tape[at + 1 + k, TOKEN_START], tape[at + 1 + k, TOKEN_END]
            )
        work.gold[GOLD_TAXA] = n
    return taken


@kernel
def put_taxa(gold: Bytes, question: Response, work: Work, out: Bytes, begin: int, end: int) -> int:
    """Complete the JSON of a gold that `read_gold` has read, out[begin + 1:end], with its taxa as ``strict``
    compares them, or null if only Python can tell them; where it ends. See `settle_taxa`."""
    is_settled = settle_taxa(gold, question, work, out, max(end, question.end))
    out[begin], out[end] = SQUARE_OPEN, COMMA
    if not is_settled:
        end = copy(_NULL, 0, len(_NULL), out, end + 1)
    else:
        end = open_list(out, end + 1)
        for k in range(work.gold[GOLD_TAXA]):
            end = put_number(out, end, work.patterns[GOLD + k])
            out[end] = COMMA
            end += 1
        end = close_list(out, end)
    out[end] = SQUARE_CLOSE
    return end + 1
