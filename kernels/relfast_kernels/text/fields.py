"""What is kept of a line: its id, its responses, and a digest of the rest where Python scores it."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    FIELDS,
    IN_DATA,
    IN_SCRATCH,
    INTEGER,
    JOIN_ID,
    JOIN_ID_END,
    LIST,
    MAX_TOKENS,
    NOWHERE,
    OBJECT,
    RECORD_GOLD,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_LINE,
    RECORD_SAMPLE,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_TEXT_PLACE,
    SET_JOIN,
    SET_SEED,
    STATE_RECORDS,
    STATE_USED,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_START,
)
from relfast_kernels.text.asked import find_asked
from relfast_kernels.text.canonical import put_json
from relfast_kernels.text.entry import ENTRY_ANSWER, ENTRY_COUNTED, ENTRY_ID, ENTRY_INPUT, ENTRY_QUESTION
from relfast_kernels.text.failures import UNSURE
from relfast_kernels.text.find import copy
from relfast_kernels.text.json_scan import is_null
from relfast_kernels.text.json_strings import put_text
from relfast_kernels.text.messages import last_asked, put_parts
from relfast_kernels.text.prompt_ids import put_prompt_id
from relfast_kernels.text.row_digest import digest_row
from relfast_kernels.text.values import MAX_ID_DIGITS, put_value


@kernel
def put_id(data: Any, tape: Any, entry: Any, work: Any, scratch: Any, used: int) -> Any:
    """The JSON of a line's id: its place, start and end there, and what is used of the scratch space; a place
    of `UNSURE` for one that the exact way must read."""
    token = entry[ENTRY_ID]
    kind = tape[token, TOKEN_KIND]
    if entry[ENTRY_INPUT]:
        end = put_prompt_id(data, tape, entry[ENTRY_INPUT], entry[ENTRY_ANSWER], work.words, scratch, used)
        return (UNSURE, 0, 0, used) if end < 0 else (IN_SCRATCH, used, end, end)
    if is_null(data, tape, token):
        return NOWHERE, 0, 0, used
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    if kind == STRING:
        return IN_DATA, start - 1, end + 1, used
    if kind == ESCAPED:
        end = put_json(data, start, end, scratch, used)
        return IN_SCRATCH, used, end, end
    if kind == INTEGER and end - start <= MAX_ID_DIGITS and data[start] != 45:
        return IN_DATA, start, end, used
    if kind == LIST or kind == OBJECT:
        end = put_value(data, tape, token, scratch, used)
        if end >= 0:
            return IN_SCRATCH, used, end, end
    return UNSURE, 0, 0, used


@kernel
def find_known(data: Any, tape: Any, entry: Any, joined: Any, scratch: Any, to: int) -> int:
    """The gold record whose question a tool's row asks, or -1; ``scratch`` is work space from ``to`` on."""
    prompt = last_asked(data, tape, entry[ENTRY_QUESTION])
    if prompt == UNSURE or len(joined.asked) == 0:
        return -1
    escaped, first, last = put_response(data, tape, prompt, scratch, to)
    text = scratch if escaped else data
    return find_asked(joined.text, joined.asked, joined.lengths, joined.asked_slots, text, first, last)


@kernel
def find_record(data: Any, settings: Any, joined: Any, work: Any, scratch: Any, used: int, to: int) -> Any:
    """The gold record that a tool's row asks the question of, -1 where that is not asked for; and the JSON of
    the row's id, as `put_id` has it, which is then the record's. ``scratch`` is work space from ``to`` on."""
    entry = work.entry
    if settings[SET_JOIN] == 0 or entry[ENTRY_COUNTED] == 0 or entry[ENTRY_ANSWER] != 0:
        place, start, end, used = put_id(data, work.tape, entry, work, scratch, used)
        return -1, place, start, end, used
    known = find_known(data, work.tape, entry, joined, scratch, to)
    if known < 0:
        return -1, UNSURE, 0, 0, used
    gold = joined.records[known]
    if used + gold[JOIN_ID_END] - gold[JOIN_ID] > to:
        return -1, UNSURE, 0, 0, used
    end = copy(joined.text, gold[JOIN_ID], gold[JOIN_ID_END], scratch, used)
    return known, IN_SCRATCH, used, end, end


@kernel
def may_be_joined(settings: Any, work: Any, known: int) -> bool:
    """Whether a tool's row that was not scored has text where gold would be: should it be none, gold and id
    are those of the question."""
    answer = work.entry[ENTRY_ANSWER]
    asks = settings[SET_JOIN] != 0 and work.entry[ENTRY_COUNTED] != 0
    return bool(asks and known < 0 and answer != 0 and work.tape[answer, TOKEN_KIND] <= ESCAPED)


@kernel
def put_response(data: Any, tape: Any, token: int, scratch: Any, to: int) -> Any:
    """Text of a response without its escapes: whether it was written to ``scratch``, where it begins and
    ends."""
    if token < MAX_TOKENS:
        first, last = tape[token, TOKEN_START], tape[token, TOKEN_END]
        if tape[token, TOKEN_KIND] == STRING:
            return False, first, last
        return True, to, put_text(data, first, last, scratch, to)
    return True, to, put_parts(data, tape, token - MAX_TOKENS, scratch, to)


@kernel
def leave_fields(
    data: Any, n: int, number: int, settings: Any, table: Any, work: Any, id_place: int,
    id_start: int, id_end: int, value: Any, used: Any, records: Any, scratch: Any, state: Any,
) -> int:  # fmt: skip
    """Keep the responses of a line for Python, with a digest of all that its records have beside them and
    their id: `FIELDS`."""
    seed = np.uint64(settings[SET_SEED])
    digest = digest_row(data, table, work, seed, settings[SET_JOIN] != 0, value)
    for sample in range(n):
        row = records[state[STATE_RECORDS] + sample]
        escaped, first, last = put_response(data, work.tape, work.samples[sample], scratch, used)
        if escaped:
            used = last
        row[RECORD_TEXT], row[RECORD_TEXT_END] = first, last
        row[RECORD_TEXT_PLACE] = IN_SCRATCH if escaped else IN_DATA
        row[RECORD_LINE], row[RECORD_SAMPLE] = number, sample
        row[RECORD_ID], row[RECORD_ID_END], row[RECORD_ID_PLACE] = id_start, id_end, id_place
        row[RECORD_GOLD] = digest
    state[STATE_RECORDS] += n
    state[STATE_USED] = used
    return FIELDS
