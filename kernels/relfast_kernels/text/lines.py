r"""Reading text records without decoding them: fields, gold and answers straight from a line's bytes.

`line_ends` divides a block into lines, and `scan_lines` finds in them the records of the text tasks
(REL-A, B1, C1) in any dialect that `dialects` knows. A line is read in one structural pass that leaves
tokens, and strings in one form, UTF-8 without JSON's escapes. In that, cut down to what was said after
reasoning if asked for, the extractors of the run's policy read the answer (`responses`). What comes out is
a key per response, also of one that is not there (`failures`); `relfast_kernels.text.rows` turns keys into
rows by templates. Lines of other tasks, and those with something that is not known here, have `FIELDS`:
their responses, and a digest of gold and all the rest by which Python knows what it has decoded before.
Every other line is marked `SLOW` and takes the exact way. A line that is marked otherwise has been read
exactly as the JSON parsers and `re` would read it, including what must not be valid JSON.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    B1,
    BLANK,
    ESCAPED,
    FAST,
    FIRST_OTHER,
    GOLD_VALUE_SHIFT,
    IN_DATA,
    IN_SCRATCH,
    JOIN_ANSWER,
    JOIN_ANSWER_END,
    JOIN_TASK,
    LEFT,
    LINE_END,
    LINE_KIND,
    LINE_RECORD,
    LINE_START,
    NOWHERE,
    OBJECT,
    RECORD_BEFORE,
    RECORD_HASH,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_KEY,
    RECORD_LINE,
    RECORD_SAMPLE,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_TEXT_PLACE,
    SCRATCH_PER_BYTE,
    SCRATCH_PER_LINE,
    SEEN_IN_GOLD,
    SEQBENCH,
    SET_DETAILS,
    SET_DIALECT,
    SET_FIELDS,
    SET_FILTER,
    SET_JOIN,
    SET_LEAST,
    SET_STRICT,
    SET_TASK,
    SLOW,
    STATE_LEFT,
    STATE_LINES,
    STATE_RECORDS,
    STATE_USED,
    STATE_WANTS,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_START,
    WANTS_NOTHING,
    WANTS_RECORDS,
    WANTS_SCRATCH,
)
from relfast_kernels.text.characters import is_printable, is_utf8
from relfast_kernels.text.dialects import LEFT_OUT, read_entry
from relfast_kernels.text.entry import (
    ENTRY_ANSWER,
    ENTRY_ANSWER_STEP,
    ENTRY_DIALECT,
    ENTRY_QUESTION,
    ENTRY_SOURCE,
    ENTRY_TASK,
    ENTRY_TASK_STEP,
)
from relfast_kernels.text.failure_rows import leave_failures, put_failed, put_failure
from relfast_kernels.text.failures import NO_TEXT, UNSURE, how_many_failed
from relfast_kernels.text.fields import find_record, leave_fields, may_be_joined, put_response
from relfast_kernels.text.find import copy, hash_text
from relfast_kernels.text.gold import may_be_task, read_gold, task_number, task_of_gold
from relfast_kernels.text.join import NOT_THERE, find_gold
from relfast_kernels.text.json_scan import is_null, tokenise
from relfast_kernels.text.json_strings import put_text
from relfast_kernels.text.mapped import FIELD_OF_ANSWER, FIELD_OF_TASK, find_inside
from relfast_kernels.text.questions import may_show_taxa
from relfast_kernels.text.responses import (
    LEAVES_IT,
    NOT_DONE,
    score_as_published,
    score_strictly,
    shown_gold,
)
from relfast_kernels.text.values import is_plain_json
from relfast_kernels.text.vectors import WIDTH

_NO_ROOM, _NO_SCRATCH = -1, -2
"""Instead of a line's kind: its responses are more than there is room for, or its gold is longer."""


@kernel
def _score_line(
    data: Any, start: int, end: int, n_tokens: int, n: int, number: int, settings: Any, joined: Any,
    work: Any, id_place: int, id_start: int, id_end: int, value: Any, known: Any, used: Any,
    decoded: Any, records: Any, scratch: Any, state: Any,
) -> int:  # fmt: skip
    """Score the ``n`` responses of a line whose entry has been read: `FAST`, `SLOW` or `_NO_SCRATCH`. Its
    gold record is ``known`` where its question found it."""
    tape, entry, samples = work.tape, work.entry, work.samples
    details, strict = settings[SET_DETAILS] != 0, settings[SET_STRICT] != 0
    if settings[SET_FIELDS] != 0 or entry[ENTRY_DIALECT] == SEQBENCH:
        return SLOW
    # gold and task, of the row or of the record that it is joined with
    task: Any = -1
    token = entry[ENTRY_TASK]
    has_task = not is_null(data, tape, token)
    in_text = entry[ENTRY_TASK_STEP] != 0
    if in_text and (token != entry[ENTRY_ANSWER] or entry[ENTRY_ANSWER_STEP] == 0):
        return SLOW
    if has_task and not in_text:
        if tape[token, TOKEN_KIND] != STRING:
            return SLOW
        task = task_number(data, tape[token, TOKEN_START], tape[token, TOKEN_END])
        if task < 0:
            return SLOW
    token = entry[ENTRY_SOURCE]
    if token and tape[token, TOKEN_KIND] == ESCAPED:
        return SLOW
    if token and tape[token, TOKEN_KIND] == STRING:
        # the source of a trainer's own name is none
        task = task_number(data, tape[token, TOKEN_START], tape[token, TOKEN_END])
        has_task = task >= 0
        if not has_task and may_be_task(data, tape[token, TOKEN_START], tape[token, TOKEN_END]):
            return SLOW
    answer: Any = entry[ENTRY_ANSWER]
    has_answer = not is_null(data, tape, answer)
    in_scratch = joins = False
    answer_start = answer_end = 0
    id_text = data if id_place == IN_DATA else scratch
    if has_answer and not has_task and settings[SET_JOIN] != 0 and id_place != NOWHERE:
        # a gold record of that id would say the task
        found = find_gold(
            joined.text, joined.records, joined.slots, id_text, id_start, id_end, value, scratch, used
        )
        if found != NOT_THERE:
            return SLOW
    if not has_answer:
        if settings[SET_JOIN] == 0 or id_place == NOWHERE:
            return SLOW
        if known < 0:
            known = find_gold(
                joined.text, joined.records, joined.slots, id_text, id_start, id_end, value, scratch, used
            )
        if known < 0:
            return SLOW
        gold_record = joined.records[known]
        if not has_task:
            task = gold_record[JOIN_TASK]
            if task < 0 or task >= FIRST_OTHER:
                return SLOW
        # it may be longer than the line
        size = gold_record[JOIN_ANSWER_END] - gold_record[JOIN_ANSWER]
        if used + 3 * size + SCRATCH_PER_BYTE * (end - start) + SCRATCH_PER_LINE > len(scratch):
            return _NO_SCRATCH
        answer_start = used
        answer_end = copy(joined.text, gold_record[JOIN_ANSWER], gold_record[JOIN_ANSWER_END], scratch, used)
        used = answer_end
        in_scratch = joins = True
    elif tape[answer, TOKEN_KIND] == ESCAPED:
        answer_start = decoded
        answer_end = put_text(data, tape[answer, TOKEN_START], tape[answer, TOKEN_END], scratch, decoded)
        decoded = answer_end + WIDTH
        in_scratch = True
    if in_scratch:
        stop = tokenise(scratch, answer_start, answer_end, tape, n_tokens)
        if stop < 0 or not is_plain_json(scratch, tape, n_tokens, stop, answer_start, answer_end):
            return SLOW
        answer = n_tokens
        if not joins and entry[ENTRY_ANSWER_STEP]:
            answer = find_inside(scratch, tape, n_tokens, joined, FIELD_OF_ANSWER, entry[ENTRY_ANSWER_STEP])
        if in_text:
            token = find_inside(scratch, tape, n_tokens, joined, FIELD_OF_TASK, entry[ENTRY_TASK_STEP])
            if token == 0 or tape[token, TOKEN_KIND] != STRING:
                return SLOW
            task = task_number(scratch, tape[token, TOKEN_START], tape[token, TOKEN_END])
            if task < 0:
                return SLOW
    if answer == 0 or tape[answer, TOKEN_KIND] != OBJECT:
        return SLOW
    gold_data = scratch if in_scratch else data
    if task < 0:
        task = settings[SET_TASK]
        if task == SEEN_IN_GOLD:
            task = task_of_gold(gold_data, tape, answer)
        if task < 0 or task >= FIRST_OTHER:
            return SLOW
    used = read_gold(gold_data, tape, answer, task, details, strict, work, scratch, used)
    if used < 0:
        return SLOW

    if strict and task == B1:
        # gold may be places in the question's list, which a record that is joined can have too
        from_elsewhere = settings[SET_JOIN] != 0 and (not joins or entry[ENTRY_QUESTION] != 0)
        if from_elsewhere or may_show_taxa(data, tape, samples, n, start, end, joins):
            return SLOW
    least = settings.view(np.float64)[SET_LEAST]
    left: Any = state[STATE_LEFT]
    for sample in range(n):
        row = records[state[STATE_RECORDS] + sample]
        done: Any = NOT_DONE
        token = samples[sample]
        if token >= NO_TEXT:
            first, used = used, put_failure(data, tape, token, scratch, used, decoded)
            if used < 0:
                return SLOW
            put_failed(row, task, number, sample, id_place, id_start, id_end, value, first, used)
            continue
        if done == NOT_DONE:
            escaped, first, last = put_response(data, tape, token, scratch, decoded)
            beyond = used + 2 * (last - first) + 8 if details or strict else used
            text = scratch if escaped else data
            if strict:
                done, used = score_strictly(
                    text, first, last, task, details, least, gold_data, work, scratch, used, beyond, row,
                )  # fmt: skip
            else:
                done, used = score_as_published(
                    text, first, last, task, settings, gold_data, work, scratch, used, beyond, row
                )
            if done == NOT_DONE:
                return SLOW
            if done == LEAVES_IT:
                # what was decoded is gone with the line
                place = IN_DATA
                if escaped:
                    place, last = IN_SCRATCH, copy(scratch, first, last, scratch, used)
                    first, used = used, last
                row[RECORD_TEXT], row[RECORD_TEXT_END], row[RECORD_TEXT_PLACE] = first, last, place
                row[RECORD_KEY] = LEFT | task | shown_gold(task, work.gold) << GOLD_VALUE_SHIFT
                row[RECORD_BEFORE] = left
                left = state[STATE_RECORDS] + sample + 1
        row[RECORD_LINE], row[RECORD_SAMPLE] = number, sample
        row[RECORD_ID], row[RECORD_ID_END], row[RECORD_ID_PLACE] = id_start, id_end, id_place
        row[RECORD_HASH] = value
    state[STATE_LEFT] = left
    state[STATE_RECORDS] += n
    state[STATE_USED] = used
    return FAST


@kernel
def _scan_line(
    data: Any, start: int, end: int, number: int, settings: Any, joined: Any, work: Any,
    records: Any, scratch: Any, state: Any,
) -> int:  # fmt: skip
    """One line, its end excluded: its kind, or what there is no room for. Fills in the records of one that is
    `FAST` or has `FIELDS`."""
    if end > start and data[end - 1] == 13:
        end -= 1
    if not is_printable(data, start, end) and not is_utf8(data, start, end):
        return SLOW
    at = start
    while at < end and data[at] == 32:
        at += 1
    if at == end:
        return BLANK
    if data[at] != 123:
        return SLOW
    n_tokens = tokenise(data, at, end, work.tape, 0)
    if n_tokens < 0:
        return SLOW
    n = read_entry(
        data,
        work.tape,
        settings[SET_DIALECT],
        joined.chosen,
        settings[SET_FILTER] != 0,
        joined.paths,
        joined.steps,
        work.fields,
        work.entry,
        work.samples,
    )
    if n < 0:
        return BLANK if n == LEFT_OUT else SLOW
    if state[STATE_RECORDS] + n > records.shape[0]:
        return _NO_ROOM
    # texts without their escapes are needed for no longer than the line: at the end, where it stays warm
    decoded = len(scratch) - 3 * (end - start) - SCRATCH_PER_LINE // 2
    known, place, id_start, id_end, used = find_record(
        data, settings, joined, work, scratch, state[STATE_USED], decoded
    )
    if place == UNSURE:
        return SLOW
    value: Any = np.int64(hash_text(data if place == IN_DATA else scratch, id_start, id_end))
    n_failed = how_many_failed(work.samples, n)
    if n_failed == n:
        kind = leave_failures(
            data, n_tokens, n, number, settings, joined, work, len(joined.paths) > 0, known, place, id_start,
            id_end, value, used, decoded, records, scratch, state,
        )  # fmt: skip
        return int(kind)
    kind = _score_line(
        data, start, end, n_tokens, n, number, settings, joined, work, place, id_start, id_end, value,
        known, used, decoded, records, scratch, state,
    )  # fmt: skip
    # text that is no gold after all: then it is the question's
    if kind == SLOW and (n_failed > 0 or may_be_joined(settings, work, known)):
        return SLOW
    if kind == SLOW:
        kind = leave_fields(
            data, n, number, settings, len(joined.paths) > 0, work, place, id_start, id_end, value, used,
            records, scratch, state,
        )  # fmt: skip
    return kind


@kernel
def scan_lines(
    data: Any, lines: Any, settings: Any, joined: Any, work: Any, records: Any, scratch: Any,
    state: Any,
) -> Any:  # fmt: skip
    """Read the lines of a block, from the one on that ``state`` says.

    Parameters
    ----------
    data : uint8
        Whole lines; the last may lack its end.
    lines : int64, shape (m + 1, LINE_COLUMNS)
        A row per line, where it starts and ends; filled with what else there is to say, and one more.
    settings : int64, shape (SET_SIZE,)
    joined : Joined
    work : Work
    records : int64, shape (r, RECORD_COLUMNS)
        Filled: a row per response of the lines that are `FAST` or have `FIELDS`.
    scratch : uint8
        Texts that records point to are kept in it.
    state : int64, shape (STATE_SIZE,)
        Zeros at first. Where it wants room for records or texts, call again with more, the old copied.

    Returns
    -------
    int
        How many lines have been read.
    """
    count = state[STATE_LINES]
    state[STATE_WANTS] = WANTS_NOTHING
    while count < lines.shape[0] - 1:
        row = lines[count]
        start, end = row[LINE_START], row[LINE_END]
        row[LINE_RECORD] = state[STATE_RECORDS]
        if state[STATE_USED] + SCRATCH_PER_BYTE * (end - start) + SCRATCH_PER_LINE > len(scratch):
            state[STATE_WANTS] = WANTS_SCRATCH
            break
        kind = _scan_line(data, start, end, count, settings, joined, work, records, scratch, state)
        if kind < 0:
            state[STATE_WANTS] = WANTS_RECORDS if kind == _NO_ROOM else WANTS_SCRATCH
            break
        row[LINE_KIND] = kind
        count += 1
    lines[count, LINE_RECORD] = state[STATE_RECORDS]
    state[STATE_LINES] = count
    return count
