"""Records of responses that are not there: the JSON of their errors, and the task that their rows show."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    FAST,
    FIRST_OTHER,
    FORM_TASK_NUMBER,
    IN_DATA,
    JOIN_ANSWER,
    JOIN_TASK,
    KEY_FAILED,
    LIST,
    NO_NAME,
    NOWHERE,
    OBJECT,
    OF_OBJECT,
    OTHER_TASKS,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_HASH,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_KEY,
    RECORD_LINE,
    RECORD_PRED,
    RECORD_PRED_END,
    RECORD_SAMPLE,
    RECORD_VOTE,
    SEEN_IN_GOLD,
    SET_JOIN,
    SET_TASK,
    SLOW,
    STATE_RECORDS,
    STATE_USED,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    WORDS_AFTER,
    WORDS_BEFORE,
    WORDS_END,
    WORDS_KIND,
    WORDS_QUOTE,
)
from relfast_kernels.text.canonical import put_ascii, put_json
from relfast_kernels.text.characters import SPACE, classify, decode
from relfast_kernels.text.entry import (
    ENTRY_ANSWER,
    ENTRY_ANSWER_INSIDE,
    ENTRY_FORM,
    ENTRY_SOURCE,
    ENTRY_TASK,
    ENTRY_TASK_INSIDE,
)
from relfast_kernels.text.failures import UNSURE, is_false, words_of
from relfast_kernels.text.fields import may_be_joined
from relfast_kernels.text.find import begins_with, copy
from relfast_kernels.text.gold import may_be_task, task_number, task_of_gold
from relfast_kernels.text.join import NOT_THERE, find_gold
from relfast_kernels.text.json_scan import is_null, member, tokenise
from relfast_kernels.text.json_strings import put_text
from relfast_kernels.text.values import is_plain_json, put_value

MOST_CHARACTERS: Final = 500
"""Characters of a message that a row keeps: `relfast.records.unscored`."""
_ROOM: Final = 6 * MOST_CHARACTERS + 256
"""Bytes that an error's JSON takes at most beside the kind."""

_OTHERS: Final = np.frombuffer("".join(OTHER_TASKS).lower().encode(), np.uint8)
_OTHERS_AT: Final = np.cumsum([0, *map(len, OTHER_TASKS)])
_N_OTHERS: Final = len(OTHER_TASKS)

_KIND: Final = np.frombuffer(b'{"type":"', np.uint8)
_NOTHING: Final = np.frombuffer(b"None", np.uint8)
_MESSAGE: Final = np.frombuffer(b',"message":"', np.uint8)
_TYPE_NAME: Final = np.frombuffer(b"type", np.uint8)
_CODE_NAME: Final = np.frombuffer(b"code", np.uint8)
_MESSAGE_NAME: Final = np.frombuffer(b"message", np.uint8)
_ERROR_NAME: Final = np.frombuffer(b"error", np.uint8)


@kernel
def put_line(text: Any, at: int, end: int, out: Any, to: int) -> int:
    """Write UTF-8 as the inside of a JSON string on one line, its blanks one space each, no longer than
    `MOST_CHARACTERS`; where it ends."""
    n = 0
    waits = False
    while at < end and n < MOST_CHARACTERS:
        byte: Any = np.int64(text[at])
        length: Any = 1
        if byte < 0x80:
            blank = byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31
        else:
            point, length = decode(text, at, end)
            blank = classify(point) == SPACE
        if blank:
            waits = n > 0
            at += max(length, 1)
            continue
        if waits:
            out[to] = 32
            to += 1
            n += 1
            waits = False
            if n == MOST_CHARACTERS:
                break
        if byte < 0x80:
            to = put_ascii(out, to, byte)
            at += 1
        else:
            to = copy(text, at, at + max(length, 1), out, to)
            at += max(length, 1)
        n += 1
    return to


@kernel
def _text_among(data: Any, tape: Any, error: int, name: Any) -> int:
    """A member of an error that is text and not empty, or 0."""
    token = member(data, tape, error, name)
    if token == 0 or tape[token, TOKEN_KIND] > ESCAPED:
        return 0
    return token if tape[token, TOKEN_END] > tape[token, TOKEN_START] else 0


@kernel
def _put_message(data: Any, tape: Any, error: int, out: Any, to: int) -> int:
    """Write the text that is an error object's message; where it ends, or -1: only the exact way knows."""
    message = member(data, tape, error, _MESSAGE_NAME)
    if _text_among(data, tape, error, _MESSAGE_NAME) == 0:
        empty = message != 0 and tape[message, TOKEN_KIND] <= ESCAPED
        if is_null(data, tape, message) or is_false(data, tape, message) or empty:
            message = member(data, tape, error, _ERROR_NAME)
            if is_null(data, tape, message) or is_false(data, tape, message):
                return put_value(data, tape, error, out, to)
        elif tape[message, TOKEN_KIND] != OBJECT and tape[message, TOKEN_KIND] != LIST:
            return -1
    kind = tape[message, TOKEN_KIND]
    if kind <= ESCAPED:
        return put_text(data, tape[message, TOKEN_START], tape[message, TOKEN_END], out, to)
    if (kind != OBJECT and kind != LIST) or tape[message, TOKEN_NEXT] == message + 1:
        return -1
    return put_value(data, tape, message, out, to)


@kernel
def put_failure(data: Any, tape: Any, table: Any, sample: int, out: Any, to: int, aside: int) -> int:
    """Write the JSON of a failed sample's error; where it ends, or -1: only the exact way knows.

    ``out`` is work space from ``aside`` on, and has as many bytes there as the line and some more.
    """
    number, token = words_of(sample)
    words = table.words[number]
    kind = 0
    if number == OF_OBJECT:
        kind = _text_among(data, tape, token, _TYPE_NAME)
        if kind == 0:
            kind = _text_among(data, tape, token, _CODE_NAME)
    size = tape[kind, TOKEN_END] - tape[kind, TOKEN_START] if kind != 0 else 0
    # between them, texts of the line may wait to be compared
    if to + size + tape[0, TOKEN_END] - tape[0, TOKEN_START] + _ROOM > aside:
        return -1
    at = aside
    if number == OF_OBJECT:
        end = _put_message(data, tape, token, out, at)
        if end < 0:
            return -1
    else:
        end = copy(table.names, words[WORDS_BEFORE], words[WORDS_AFTER], out, at)
        if token != 0:
            if tape[token, TOKEN_KIND] <= ESCAPED:
                end = put_text(data, tape[token, TOKEN_START], tape[token, TOKEN_END], out, end)
            else:
                end = copy(data, tape[token, TOKEN_START], tape[token, TOKEN_END], out, end)
        elif words[WORDS_QUOTE] != 0:
            end = copy(_NOTHING, 0, len(_NOTHING), out, end)
        end = copy(table.names, words[WORDS_AFTER], words[WORDS_END], out, end)
    to = copy(_KIND, 0, len(_KIND), out, to)
    if kind != 0:
        # it brings its quotes
        to = put_json(data, tape[kind, TOKEN_START], tape[kind, TOKEN_END], out, to - 1)
    else:
        to = copy(table.names, words[WORDS_KIND], words[WORDS_BEFORE], out, to)
        out[to] = 34
        to += 1
    to = copy(_MESSAGE, 0, len(_MESSAGE), out, to)
    to = put_line(out, at, end, out, to)
    out[to] = 34
    out[to + 1] = 125
    return to + 2


@kernel
def name_number(data: Any, start: int, end: int) -> Any:
    """Number of a task name in any case, of those whose responses are not read here too, or -1."""
    task = task_number(data, start, end)
    if task >= 0:
        return task
    for k in range(_N_OTHERS):
        if end - start == _OTHERS_AT[k + 1] - _OTHERS_AT[k] and begins_with(
            data, start, end, _OTHERS[_OTHERS_AT[k] : _OTHERS_AT[k + 1]]
        ):
            return FIRST_OTHER + k
    return -1


@kernel
def _named(data: Any, tape: Any, entry: Any) -> Any:
    """The number of the task that a row names, `NO_NAME` where it names none, or `UNSURE`."""
    token = entry[ENTRY_TASK]
    if entry[ENTRY_TASK_INSIDE] != 0:
        return UNSURE
    if not is_null(data, tape, token):
        if tape[token, TOKEN_KIND] != STRING:
            return UNSURE
        # -1 is `UNSURE`: the job's own task may stand for a name that nobody knows
        return name_number(data, tape[token, TOKEN_START], tape[token, TOKEN_END])
    token = entry[ENTRY_SOURCE]
    if token == 0 or tape[token, TOKEN_KIND] > ESCAPED:
        return NO_NAME
    if tape[token, TOKEN_KIND] == ESCAPED:
        return UNSURE
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    task = name_number(data, start, end)
    if task >= 0:
        return task
    return UNSURE if may_be_task(data, start, end) else NO_NAME


@kernel
def _gold_object(data: Any, n_tokens: int, work: Any, scratch: Any, aside: int) -> Any:
    """The token of a row's gold, or of what it holds as JSON text, which is from ``n_tokens`` on and about
    ``scratch``; `UNSURE` where that is no object."""
    tape, answer = work.tape, work.entry[ENTRY_ANSWER]
    if work.entry[ENTRY_ANSWER_INSIDE] != 0:
        return UNSURE
    if tape[answer, TOKEN_KIND] == ESCAPED:
        end = put_text(data, tape[answer, TOKEN_START], tape[answer, TOKEN_END], scratch, aside)
        stop = tokenise(scratch, aside, end, tape, n_tokens)
        if stop < 0 or not is_plain_json(scratch, tape, n_tokens, stop, aside, end):
            return UNSURE
        answer = np.int64(n_tokens)
    return answer if tape[answer, TOKEN_KIND] == OBJECT else UNSURE


@kernel
def shown_task(
    data: Any, n_tokens: int, settings: Any, joined: Any, work: Any, known: int, id_place: int,
    id_start: int, id_end: int, value: Any, scratch: Any, used: int, aside: int,
) -> Any:  # fmt: skip
    """The number of the task that rows show of a line none of whose responses is there, `NO_NAME` where they
    show none, or `UNSURE`. ``scratch`` is work space from ``used`` and ``aside`` on."""
    tape, entry = work.tape, work.entry
    id_text = data if id_place == IN_DATA else scratch
    own = joined.table.forms[entry[ENTRY_FORM], FORM_TASK_NUMBER]
    if own >= 0:
        return UNSURE if joined.table.maps.shape[0] > 0 else own
    if may_be_joined(settings, work, known):
        # text that is no gold after all: then it is the question's, and the id too
        gold_token = _gold_object(data, n_tokens, work, scratch, aside)
        if gold_token == UNSURE or tape[gold_token, TOKEN_NEXT] == gold_token + 1:
            return UNSURE
    named = _named(data, tape, entry)
    if named != NO_NAME:
        return named
    answer = entry[ENTRY_ANSWER]
    joins = settings[SET_JOIN] != 0 and id_place != NOWHERE
    if joins and known < 0:
        known = find_gold(
            joined.text, joined.records, joined.slots, id_text, id_start, id_end, value, scratch, used
        )
        if known < 0 and known != NOT_THERE:
            return UNSURE
    if joins and known >= 0:
        gold = joined.records[known]
        # gold that is none says no task
        if not is_null(data, tape, answer) or joined.text[gold[JOIN_ANSWER]] != 123:
            return UNSURE
        return gold[JOIN_TASK] if gold[JOIN_TASK] >= 0 else UNSURE
    if is_null(data, tape, answer):
        return NO_NAME
    gold_token = _gold_object(data, n_tokens, work, scratch, aside)
    if gold_token == UNSURE:
        return UNSURE
    task: Any = settings[SET_TASK]
    if task == SEEN_IN_GOLD:
        task = task_of_gold(scratch if gold_token >= n_tokens else data, tape, gold_token)
    return task if task >= 0 else UNSURE


@kernel
def put_failed(
    row: Any, task: int, number: int, sample: int, id_place: int, id_start: int, id_end: int, value: Any,
    start: int, end: int,
) -> None:  # fmt: skip
    """Fill in the record of a response that is not there; the JSON of its error is scratch[start:end]."""
    row[RECORD_KEY] = KEY_FAILED | task
    row[RECORD_PRED], row[RECORD_PRED_END] = start, end
    row[RECORD_GOLD], row[RECORD_GOLD_END], row[RECORD_VOTE] = 0, 0, 0
    row[RECORD_LINE], row[RECORD_SAMPLE] = number, sample
    row[RECORD_ID], row[RECORD_ID_END], row[RECORD_ID_PLACE] = id_start, id_end, id_place
    row[RECORD_HASH] = value


@kernel
def leave_failures(
    data: Any, n_tokens: int, n: int, number: int, settings: Any, joined: Any, work: Any,
    known: int, id_place: int, id_start: int, id_end: int, value: Any, used: int, aside: int, records: Any,
    scratch: Any, state: Any,
) -> int:  # fmt: skip
    """Fill in the records of a line none of whose responses is there: `FAST`, or `SLOW`."""
    task = shown_task(
        data, n_tokens, settings, joined, work, known, id_place, id_start, id_end, value, scratch,
        used, aside,
    )  # fmt: skip
    if task == UNSURE:
        return SLOW
    last: Any = -1
    start = used
    for sample in range(n):
        if work.samples[sample] != last:
            last, start = work.samples[sample], used
            used = put_failure(data, work.tape, joined.table, last, scratch, start, aside)
            if used < 0:
                return SLOW
        put_failed(
            records[state[STATE_RECORDS] + sample], task, number, sample, id_place, id_start, id_end, value,
            start, used,
        )  # fmt: skip
    state[STATE_RECORDS] += n
    state[STATE_USED] = used
    return FAST
