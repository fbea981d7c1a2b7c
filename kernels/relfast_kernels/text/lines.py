r"""Reading text records without decoding them: fields, gold and answers straight from a line's bytes.

`scan_lines` finds, in a block of JSON lines, the records of the text tasks (REL-A, B1, C1) in any dialect
that `dialects` knows. A line is read in one structural pass that leaves tokens, and strings in one form,
UTF-8 without JSON's escapes. In that, cut down to what was said after reasoning if asked for, the extractors
of the ``reference`` policy read the answer. What comes out is a key per response;
`relfast_kernels.text.rows` turns keys into rows by templates. Every other line is marked `SLOW` and takes the
exact way. A line that is marked otherwise has been read exactly as the JSON parsers and `re` would read it,
including what must not be valid JSON.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    B1,
    BLANK,
    C1,
    ESCAPED,
    FAST,
    FLOAT,
    IN_DATA,
    IN_SCRATCH,
    INTEGER,
    JOIN_ANSWER,
    JOIN_ANSWER_END,
    JOIN_TASK,
    LINE_END,
    LINE_KIND,
    LINE_RECORD,
    LINE_START,
    NO_TASK,
    NOWHERE,
    OBJECT,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_HASH,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_LINE,
    RECORD_SAMPLE,
    SCRATCH_PER_BYTE,
    SCRATCH_PER_LINE,
    SEEN_IN_GOLD,
    SET_DETAILS,
    SET_DIALECT,
    SET_FILTER,
    SET_JOIN,
    SET_STRIP,
    SET_TASK,
    SLOW,
    STATE_AT,
    STATE_LINES,
    STATE_RECORDS,
    STATE_USED,
    STATE_WANTS,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    TOKEN_TEXT,
    TOKEN_TEXT_END,
    WANTS_NOTHING,
    WANTS_RECORDS,
    WANTS_SCRATCH,
)
from relfast_kernels.text.canonical import put_json
from relfast_kernels.text.characters import is_ascii, is_printable, is_tame, is_utf8
from relfast_kernels.text.dialects import (
    ENTRY_ANSWER,
    ENTRY_ID,
    ENTRY_INPUT,
    ENTRY_SOURCE,
    ENTRY_TASK,
    LEFT_OUT,
    read_entry,
)
from relfast_kernels.text.find import begins_with, copy, find_byte, hash_text, same_as
from relfast_kernels.text.join import find_gold
from relfast_kernels.text.json_scan import is_null, member, tokenise
from relfast_kernels.text.prompt_ids import put_prompt_id
from relfast_kernels.text.reasoning import cut_reasoning
from relfast_kernels.text.rel_a import score_choice
from relfast_kernels.text.rel_b import gold_label, gold_taxa, score_taxa
from relfast_kernels.text.rel_c import gold_tag, score_tag
from relfast_kernels.text.vectors import WIDTH

MAX_ID_DIGITS = 18
"""Digits of a number that every JSON parser keeps exactly."""

_LF = 10

_TARGET = np.frombuffer(b"target", np.uint8)
_LABEL = np.frombuffer(b"label", np.uint8)
_TAXA = np.frombuffer(b"taxa", np.uint8)
_SMILES = np.frombuffer(b"smiles", np.uint8)
_MISSING_SMILES = np.frombuffer(b"missing_smiles", np.uint8)
_REL = np.frombuffer(b"rel-", np.uint8)
_REALIGN = np.frombuffer(b"realign", np.uint8)
_SEQBENCH = np.frombuffer(b"seqbench", np.uint8)

_NO_ROOM, _NO_SCRATCH = -1, -2
"""Instead of a line's kind: its responses are more than there is room for, or its gold is longer."""

GOLD_VALUE, GOLD_TAXA, GOLD_TEXT, GOLD_TEXT_END = range(4)
GOLD_SIZE: Final = 4
"""What is known of a line's gold: its panel or label, how many taxa, where in the scratch space they are."""


class Work(NamedTuple):
    """Work space of a scan, all int64 but ``words``: tokens (MAX_TOKENS, TOKEN_COLUMNS), their numbers
    (MAX_TOKENS), fields of a row, its entry and its gold; for two sets of taxa, spans (2, MAX_TAXA, 2) and
    slots (2, TAXA_SLOTS + 1); and ``words`` (PROMPTS_SIZE, uint64)."""

    tape: Any
    samples: Any
    fields: Any
    entry: Any
    gold: Any
    spans: Any
    slots: Any
    words: Any


class Joined(NamedTuple):
    """Gold records to join with, see `relfast_kernels.text.join`: text, records, slots; and the filter that
    is scored (uint8)."""

    text: Any
    records: Any
    slots: Any
    chosen: Any


@kernel
def _task_number(data: Any, start: int, end: int) -> Any:
    """Number of a task name in any case, or -1: ``REL-A1`` … ``REL-A7``, ``REL-B1``, ``REL-C1``."""
    if end - start != 6 or data[start + 3] != 45:
        return -1
    if (data[start] | 32) != 114 or (data[start + 1] | 32) != 101 or (data[start + 2] | 32) != 108:
        return -1
    letter = data[start + 4] | 32
    digit = np.int64(data[start + 5])
    if letter == 97 and 49 <= digit <= 55:
        return digit - 49
    if digit == 49 and letter == 98:
        return B1
    if digit == 49 and letter == 99:
        return C1
    return -1


@kernel
def _may_be_task(data: Any, start: int, end: int) -> bool:
    """Whether a name may be that of a task."""
    if not is_ascii(data, start, end):
        return True
    return (
        begins_with(data, start, end, _REL)
        or begins_with(data, start, end, _REALIGN)
        or begins_with(data, start, end, _SEQBENCH)
    )


@kernel
def _task_of_gold(data: Any, tape: Any, token: int) -> int:
    """The task whose gold an object is, as `relfast.tasks.infer_task` finds it, or `NO_TASK`."""
    if not is_null(data, tape, member(data, tape, token, _LABEL)):
        return C1 if is_null(data, tape, member(data, tape, token, _TAXA)) else B1
    if not is_null(data, tape, member(data, tape, token, _SMILES)):
        return NO_TASK
    if not is_null(data, tape, member(data, tape, token, _MISSING_SMILES)):
        return NO_TASK
    return NO_TASK if is_null(data, tape, member(data, tape, token, _TARGET)) else 0


@kernel
def _read_gold(
    data: Any, tape: Any, token: int, task: int, details: bool, work: Any, out: Any, to: int
) -> int:
    """Read what a task's gold says into ``work.gold``, taxa into the second set; where what is written for
    details ends, or -1: the exact way must read it."""
    value: Any = -1
    n_taxa: Any = 0
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
                value = np.int64(data[start]) - 48
        elif same_as(data, name, name_end, _LABEL):
            if kind != STRING:
                return -1
            value = gold_tag(data, start, end) if task == C1 else gold_label(data, start, end)
            if task == C1 and value < 0:
                value = 2  # a label that nothing equals
        elif task == B1 and same_as(data, name, name_end, _TAXA):
            to = first
            n_taxa, to = gold_taxa(data, tape, at, work.spans[1], work.slots[1], out, to if details else -1)
            if n_taxa < 0:
                return -1
            if not details:
                to = first
        at = tape[at, TOKEN_NEXT]
    if value < 0 or (task == B1 and value == 1 and n_taxa == 0):
        return -1
    if task == B1 and details and to == first:
        out[to] = 91
        out[to + 1] = 93
        to += 2
    gold = work.gold
    gold[GOLD_VALUE], gold[GOLD_TAXA], gold[GOLD_TEXT], gold[GOLD_TEXT_END] = value, n_taxa, first, to
    return to


@kernel
def _is_plain_json(data: Any, tape: Any, first: int, stop: int, start: int, end: int) -> bool:
    """Whether orjson reads text between whose tokens nothing else stands: no control characters, and no
    number that it may refuse."""
    bad = False
    for at in range(np.uint64(start), np.uint64(end)):
        bad |= data[at] < 32
    if bad:
        return False
    for token in range(first, stop):
        if tape[token, TOKEN_KIND] == FLOAT:
            return False
    return True


@kernel
def _scan_line(
    data: Any, start: int, end: int, number: int, settings: Any, joined: Any, work: Any, records: Any,
    scratch: Any, state: Any,
) -> int:  # fmt: skip
    """One line, its end excluded: its kind, or what there is no room for. Fills in a `FAST` one's records."""
    if end > start and data[end - 1] == 13:
        end -= 1
    if not is_printable(data, start, end) and not is_utf8(data, start, end):
        return SLOW
    tape = work.tape
    at = start
    while at < end and data[at] == 32:
        at += 1
    if at == end:
        return BLANK
    if data[at] != 123:
        return SLOW
    # strings without their escapes are needed for no longer than the line: at the end, where it stays warm
    decoded = len(scratch) - 3 * (end - start) - SCRATCH_PER_LINE // 2
    n_tokens = tokenise(data, at, end, tape, 0, scratch, decoded)
    if n_tokens < 0:
        return SLOW
    entry, samples = work.entry, work.samples
    n = read_entry(
        data,
        tape,
        settings[SET_DIALECT],
        joined.chosen,
        settings[SET_FILTER] != 0,
        work.fields,
        entry,
        samples,
    )
    if n < 0:
        return BLANK if n == LEFT_OUT else SLOW
    if state[STATE_RECORDS] + n > records.shape[0]:
        return _NO_ROOM
    used = state[STATE_USED]
    details = settings[SET_DETAILS] != 0

    # the id, as JSON
    token = entry[ENTRY_ID]
    place = IN_DATA
    id_start = id_end = 0
    if entry[ENTRY_INPUT]:
        place, id_start = IN_SCRATCH, used
        id_end = put_prompt_id(data, tape, entry[ENTRY_INPUT], entry[ENTRY_ANSWER], work.words, scratch, used)
        used = id_end
    elif is_null(data, tape, token):
        place = NOWHERE
    elif tape[token, TOKEN_KIND] == STRING:
        id_start, id_end = tape[token, TOKEN_START] - 1, tape[token, TOKEN_END] + 1
    elif tape[token, TOKEN_KIND] == ESCAPED:
        place, id_start = IN_SCRATCH, used
        id_end = put_json(data, tape[token, TOKEN_START], tape[token, TOKEN_END], scratch, used)
        used = id_end
    elif tape[token, TOKEN_KIND] == INTEGER:
        id_start, id_end = tape[token, TOKEN_START], tape[token, TOKEN_END]
        if id_end - id_start > MAX_ID_DIGITS or data[id_start] == 45:
            return SLOW
    else:
        return SLOW
    id_text = data if place == IN_DATA else scratch
    value: Any = np.int64(hash_text(id_text, id_start, id_end))

    # gold and task, of the row or of the record that it is joined with
    task: Any = -1
    token = entry[ENTRY_TASK]
    has_task = not is_null(data, tape, token)
    if has_task:
        if tape[token, TOKEN_KIND] != STRING:
            return SLOW
        task = _task_number(data, tape[token, TOKEN_START], tape[token, TOKEN_END])
        if task < 0:
            return SLOW
    token = entry[ENTRY_SOURCE]
    if token and tape[token, TOKEN_KIND] == ESCAPED:
        return SLOW
    if token and tape[token, TOKEN_KIND] == STRING:
        # the source of a trainer's own name is none
        task = _task_number(data, tape[token, TOKEN_START], tape[token, TOKEN_END])
        has_task = task >= 0
        if not has_task and _may_be_task(data, tape[token, TOKEN_START], tape[token, TOKEN_END]):
            return SLOW
    answer: Any = entry[ENTRY_ANSWER]
    has_answer = not is_null(data, tape, answer)
    in_scratch = False
    answer_start = answer_end = beyond = used
    if not has_answer or (not has_task and settings[SET_JOIN] != 0):
        if settings[SET_JOIN] == 0 or place == NOWHERE or has_answer:
            return SLOW
        known = find_gold(
            joined.text, joined.records, joined.slots, id_text, id_start, id_end, value, scratch, used
        )
        if known < 0:
            return SLOW
        gold_record = joined.records[known]
        if not has_task:
            task = gold_record[JOIN_TASK]
            if task < 0:
                return SLOW
        # it may be longer than the line
        size = gold_record[JOIN_ANSWER_END] - gold_record[JOIN_ANSWER]
        if used + 3 * size + SCRATCH_PER_BYTE * (end - start) + SCRATCH_PER_LINE > len(scratch):
            return _NO_SCRATCH
        answer_end = copy(joined.text, gold_record[JOIN_ANSWER], gold_record[JOIN_ANSWER_END], scratch, used)
        used = beyond = answer_end
        in_scratch = True
    elif tape[answer, TOKEN_KIND] == ESCAPED:
        answer_start, answer_end = tape[answer, TOKEN_TEXT], tape[answer, TOKEN_TEXT_END]
        beyond = len(scratch) - 2 * (answer_end - answer_start) - 2 * WIDTH
        in_scratch = True
    if in_scratch:
        # where its strings are written does not matter: gold's have no escapes, or take the exact way
        stop = tokenise(scratch, answer_start, answer_end, tape, n_tokens, scratch, beyond)
        if stop < 0 or not _is_plain_json(scratch, tape, n_tokens, stop, answer_start, answer_end):
            return SLOW
        answer = n_tokens
    if tape[answer, TOKEN_KIND] != OBJECT:
        return SLOW
    gold_data = scratch if in_scratch else data
    if task < 0:
        task = settings[SET_TASK]
        if task == SEEN_IN_GOLD:
            task = _task_of_gold(gold_data, tape, answer)
        if task < 0:
            return SLOW
    used = _read_gold(gold_data, tape, answer, task, details, work, scratch, used)
    if used < 0:
        return SLOW
    gold = work.gold

    for sample in range(n):
        token = samples[sample]
        first, last = tape[token, TOKEN_START], tape[token, TOKEN_END]
        beyond = used + 2 * (last - first) + 8 if details else used
        escaped = tape[token, TOKEN_KIND] == ESCAPED
        if escaped:
            first, last = tape[token, TOKEN_TEXT], tape[token, TOKEN_TEXT_END]
        text = scratch if escaped else data
        if not is_ascii(text, first, last) and not is_tame(text, first, last):
            return SLOW
        if settings[SET_STRIP] != 0:
            first, last, copied = cut_reasoning(text, first, last, scratch, beyond)
            if first < 0:
                return SLOW
            if copied:
                text = scratch
        row = records[state[STATE_RECORDS] + sample]
        if task < B1:
            done = score_choice(text, first, last, task, gold[GOLD_VALUE], details, row)
        elif task == C1:
            done = score_tag(text, first, last, gold[GOLD_VALUE], details, row)
        else:
            done, to = score_taxa(
                text, first, last, gold[GOLD_VALUE], gold_data, gold[GOLD_TAXA], work.spans, work.slots,
                scratch, used if details else -1, row,
            )  # fmt: skip
            if details:
                used = to
                row[RECORD_GOLD], row[RECORD_GOLD_END] = gold[GOLD_TEXT], gold[GOLD_TEXT_END]
        if not done:
            return SLOW
        row[RECORD_LINE], row[RECORD_SAMPLE] = number, sample
        row[RECORD_ID], row[RECORD_ID_END], row[RECORD_ID_PLACE] = id_start, id_end, place
        row[RECORD_HASH] = value
    state[STATE_RECORDS] += n
    state[STATE_USED] = used
    return FAST


@kernel
def scan_lines(
    data: Any, n: int, lines: Any, settings: Any, joined: Any, work: Any, records: Any, scratch: Any,
    state: Any,
) -> Any:  # fmt: skip
    """Read the lines of a block, from where ``state`` says on.

    Parameters
    ----------
    data : uint8, shape (n,)
        Whole lines; the last may lack its end.
    lines : int64, shape (m + 1, LINE_COLUMNS)
        Filled: a row per line, at most m, and one more.
    settings : int64, shape (SET_SIZE,)
    joined : Joined
    work : Work
    records : int64, shape (r, RECORD_COLUMNS)
        Filled: a row per response of the lines that are `FAST`.
    scratch : uint8
        Texts that records point to are kept in it.
    state : int64, shape (STATE_SIZE,)
        Zeros at first. Where it wants room for records or texts, call again with more, the old copied.

    Returns
    -------
    int
        How many lines.
    """
    at = state[STATE_AT]
    count = state[STATE_LINES]
    state[STATE_WANTS] = WANTS_NOTHING
    while at < n and count < lines.shape[0] - 1:
        end = find_byte(data, at, n, _LF)
        row = lines[count]
        row[LINE_START], row[LINE_END], row[LINE_RECORD] = at, end, state[STATE_RECORDS]
        if state[STATE_USED] + SCRATCH_PER_BYTE * (end - at) + SCRATCH_PER_LINE > len(scratch):
            state[STATE_WANTS] = WANTS_SCRATCH
            break
        kind = _scan_line(data, at, end, count, settings, joined, work, records, scratch, state)
        if kind < 0:
            state[STATE_WANTS] = WANTS_RECORDS if kind == _NO_ROOM else WANTS_SCRATCH
            break
        row[LINE_KIND] = kind
        count += 1
        at = end + 1
    lines[count, LINE_RECORD] = state[STATE_RECORDS]
    state[STATE_AT], state[STATE_LINES] = at, count
    return count
