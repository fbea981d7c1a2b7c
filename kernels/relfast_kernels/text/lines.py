"""Reading text records without decoding them: ids, responses and scores straight from a line's bytes.

A line is read in one structural pass that leaves tokens; `projection` finds its id and responses among them,
whatever the task, by a table of paths. Whatever else its records depend on is digested, and by the digest the
gold is found that Python has prepared once. A response to gold of a text task (REL-A, B1, C1) is scored here
by the extractor of the run's policy (`responses`), without its reasoning if that is asked for. The result is
a key per response; `relfast_kernels.text.rows` turns keys into rows by templates. Lines of other tasks, and
those with something that is not known here, are `FIELDS`. Every other line is marked `SLOW`: Python decodes
it. A line that is not `SLOW` has been read exactly as the JSON parsers and `re` would read it, which includes
that invalid JSON is not accepted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ALL_IDS_REPEAT,
    BLANK,
    ESCAPED,
    FAST,
    FIELDS,
    GOLD_ID,
    GOLD_ID_END,
    GOLD_TASK,
    GOLD_TEXT_AT,
    GOLD_TEXT_STOP,
    GOLD_UNKNOWN,
    HAS_ID_ONLY,
    ID_OF_GOLD,
    IN_DATA,
    IN_SCRATCH,
    INTEGER,
    LINE_ANSWER,
    LINE_DIGEST,
    LINE_END,
    LINE_GOLD,
    LINE_KIND,
    LINE_RECORD,
    LINE_REST,
    LINE_START,
    MAX_ID_DIGITS,
    NOWHERE,
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
    ROW_UNSEEN,
    SAYS_MORE,
    SCRATCH_PER_BYTE,
    SCRATCH_PER_LINE,
    SET_DETAILS,
    SET_FILTER,
    SET_JOIN,
    SET_PROMPTS,
    SET_SEED,
    SET_STRICT,
    SLOW,
    STATE_LINES,
    STATE_RECORDS,
    STATE_USED,
    STATE_WANTS,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_START,
    UNKNOWN,
    WANTS_NOTHING,
    WANTS_RECORDS,
    WANTS_SCRATCH,
)
from relfast_kernels.text.characters import is_utf8
from relfast_kernels.text.columns import (
    FORM_ANSWER,
    FORM_ANSWER_END,
    FORM_DEPENDS,
    FORM_FLAGS,
    FORM_QUESTION,
    FORM_QUESTION_END,
    HIDES_ROW,
    IS_BARE,
    MEMBER_BIT,
)
from relfast_kernels.text.find import BLANKS, LF, copy, digest, find_byte, skip
from relfast_kernels.text.json_scan import is_null, put_json, tokenise
from relfast_kernels.text.json_strings import put_text
from relfast_kernels.text.projection import (
    LEFT_OUT,
    OF_GOLD,
    UNSURE,
    find_members,
    question_of,
    read_row,
    walk,
)
from relfast_kernels.text.prompts import IS_ID, MAY_BE_COUNTER, counter_kind, hash_key, put_prompt
from relfast_kernels.text.responses import read_gold, score_as_published, score_strictly

_NO_ROOM = -1
"""In place of a line's kind: there is no room for its records."""
_ONE = 1
_OF_ID = ~np.uint64(0)
"""Start of the digest of a line that has only an id, by which its gold is joined, and responses."""


class Work(NamedTuple):
    """Work space of a scan, int64: ``tape``, tokens (MAX_TOKENS, TOKEN_COLUMNS); tokens of ``samples`` and of
    what paths lead to (``found``); members of a row (``fields``), its ``gold``; of two sets of taxa ``spans``
    (2, MAX_TAXA, 2) and ``slots`` (2, TAXA_SLOTS + 1); and ``patterns`` (PATTERN_WORK)."""

    tape: Any
    samples: Any
    found: Any
    fields: Any
    gold: Any
    spans: Any
    slots: Any
    patterns: Any


class Golds(NamedTuple):
    """Golds that Python has prepared: ``text``, their JSON and that of ids (uint8); ``rows`` of
    `GOLD_COLUMNS`; and a hash table, open addressing by the lowest bits, of ``digests`` and ``numbers`` of
    golds (from 1 on)."""

    text: Any
    rows: Any
    digests: Any
    numbers: Any


@kernel
def _put_id(data: Any, tape: Any, token: int, scratch: Any, used: Any) -> Any:
    """The JSON of a line's id: its place (`IN_DATA` …), start and end there, and the scratch space in use;
    the place is `UNSURE` if Python must read the id."""
    if token == OF_GOLD or is_null(data, tape, token):
        return NOWHERE, 0, 0, used
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    kind = tape[token, TOKEN_KIND]
    if kind == STRING:
        return IN_DATA, start - 1, end + 1, used
    if kind == ESCAPED:
        end = put_json(data, start, end, scratch, used)
        return IN_SCRATCH, used, end, end
    if kind == INTEGER and end - start <= MAX_ID_DIGITS and data[start] != 45:
        return IN_DATA, start, end, used
    return UNSURE, 0, 0, used


@kernel
def _digest_rest(data: Any, tape: Any, table: Any, fields: Any, depends: Any, seed: Any, value: Any) -> Any:
    """A digest (uint64) of the members of a row that ``depends`` has as bits, in the order of the table."""
    for k in range(table.members.shape[0]):
        if depends & table.members[k, MEMBER_BIT] != 0 and fields[k] != 0:
            token = fields[k]
            mixed = value ^ np.uint64(k * 8 + tape[token, TOKEN_KIND])
            value = digest(data, tape[token, TOKEN_START], tape[token, TOKEN_END], seed, mixed)
    return value


@kernel
def _digest_answer(data: Any, tape: Any, table: Any, work: Any, form: Any, seed: Any, value: Any) -> Any:
    """A digest (uint64, not 0) of the values that hold a row's task and answer, and of the kind of its
    question; 0 if no paths lead to them."""
    if form[FORM_ANSWER] == form[FORM_ANSWER_END]:
        return np.uint64(0)
    for path in range(form[FORM_ANSWER], form[FORM_ANSWER_END]):
        n = walk(data, tape, table, work.fields, 0, path, work.found)
        if n == UNSURE:
            return np.uint64(0)
        for k in range(n):
            token = work.found[k]
            mixed = value ^ np.uint64(8 * (path - form[FORM_ANSWER]) + tape[token, TOKEN_KIND])
            value = digest(data, tape[token, TOKEN_START], tape[token, TOKEN_END], seed, mixed)
    for path in range(form[FORM_QUESTION], form[FORM_QUESTION_END]):
        n = walk(data, tape, table, work.fields, 0, path, work.found)
        if n == UNSURE:
            return np.uint64(0)
        kind = tape[work.found[0], TOKEN_KIND] + 1 if n > 0 else 0
        value = digest(data, 0, 0, seed, value ^ np.uint64(kind))
    return (value & ~np.uint64(ROW_UNSEEN)) | np.uint64(_ONE)


@kernel
def _find_gold(golds: Any, value: Any) -> Any:
    """The number of the gold with a digest, or `GOLD_UNKNOWN`."""
    mask = len(golds.digests) - 1
    at = value & mask
    while golds.numbers[at] != 0:
        if golds.digests[at] == value:
            return golds.numbers[at] - 1
        at = (at + 1) & mask
    return GOLD_UNKNOWN


@kernel
def _gold_of(golds: Any, line: Any) -> Any:
    """The number of a line's gold, or `GOLD_UNKNOWN`."""
    gold = _find_gold(golds, line[LINE_DIGEST])
    return _find_gold(golds, line[LINE_ANSWER]) if gold < 0 and line[LINE_ANSWER] != 0 else gold


@kernel
def know_ids(ids: Any, ends: Any, numbers: Any, settings: Any, golds: Any) -> int:
    """Let lines that have nothing but their ids and responses find their golds; the number of ids.

    Parameters
    ----------
    ids : uint8
        The JSON of ids, one after the other.
    ends, numbers : int64, shape (n,)
        Where each ends, and the number of its gold; none of them may have been added before.
    """
    seed, mask = np.uint64(settings[SET_SEED]), len(golds.digests) - 1
    start: Any = 0
    for k in range(len(ends)):
        value = np.int64(digest(ids, start, ends[k], seed, _OF_ID) & ~np.uint64(ROW_UNSEEN))
        start = ends[k]
        at = value & mask
        while golds.numbers[at] != 0:
            at = (at + 1) & mask
        golds.digests[at], golds.numbers[at] = value, numbers[k] + 1
    return len(ends)


@kernel
def _project_line(
    data: Any, number: int, settings: Any, chosen: Any, table: Any, work: Any, lines: Any, records: Any,
    scratch: Any, state: Any,
) -> int:  # fmt: skip
    """Find the id and the responses of a line, and digest the rest; its kind, or `_NO_ROOM`."""
    start, end = lines[number, LINE_START], lines[number, LINE_END]
    if end > start and data[end - 1] == 13:
        end -= 1
    if not is_utf8(data, start, end):
        return SLOW
    at = skip(data, start, end, BLANKS)
    if at == end:
        return BLANK
    tape = work.tape
    if data[at] != 123 or tokenise(data, at, end, tape, 0) < 0:
        return SLOW
    members = find_members(data, tape, table, work.fields)
    n, form, token, given = read_row(data, chosen, settings[SET_FILTER] != 0, table, work, members)
    if n < 0:
        return BLANK if n == LEFT_OUT else SLOW
    if state[STATE_RECORDS] + n > records.shape[0]:
        return _NO_ROOM
    place, id_start, id_end, used = _put_id(data, tape, token, scratch, state[STATE_USED])
    if place == UNSURE:
        return SLOW
    source = data if place == IN_DATA else scratch
    depends, flags = table.forms[form, FORM_DEPENDS], table.forms[form, FORM_FLAGS]
    rest = ID_OF_GOLD if token == OF_GOLD else SAYS_MORE
    if members & depends == 0 and flags & IS_BARE != 0 and place != NOWHERE:
        rest = HAS_ID_ONLY
    question = 0
    if settings[SET_JOIN] != 0 and rest == SAYS_MORE:
        rest = ID_OF_GOLD  # gold may be found by the question, and the row has its id then
    if settings[SET_PROMPTS] != 0 and rest == SAYS_MORE:
        kind = counter_kind(data, tape, token) if given and place != NOWHERE else IS_ID
        if place == NOWHERE or kind != IS_ID or settings[SET_PROMPTS] == ALL_IDS_REPEAT:
            question = question_of(data, tape, table, work, table.forms[form])
            is_told = question > 0 and kind != MAY_BE_COUNTER
            if (place != NOWHERE and not is_told) or (place == NOWHERE and question != 0):
                rest, question = ID_OF_GOLD, 0
    seed, value = np.uint64(settings[SET_SEED]), np.uint64(form)
    if settings[SET_JOIN] != 0 and rest == HAS_ID_ONLY:
        value = digest(source, id_start, id_end, seed, _OF_ID)
    else:
        if settings[SET_JOIN] != 0 or rest == ID_OF_GOLD:
            value = digest(source, id_start, id_end, seed, value)
        value = _digest_rest(data, tape, table, work.fields, depends, seed, value)
    unseen = np.uint64(ROW_UNSEEN)
    value = value | unseen if flags & HIDES_ROW != 0 else value & ~unseen
    lines[number, LINE_DIGEST], lines[number, LINE_ANSWER] = np.int64(value), 0
    if rest != ID_OF_GOLD and settings[SET_JOIN] == 0:
        answer = _digest_answer(data, tape, table, work, table.forms[form], seed, ~np.uint64(form))
        lines[number, LINE_ANSWER] = np.int64(answer)
    lines[number, LINE_REST] = rest
    if question > 0:
        end = put_prompt(data, tape, question, source, id_start, id_end, scratch, used)
        source, place, id_start, id_end, used = scratch, IN_SCRATCH, used, end, end
    id_hash = np.int64(hash_key(source, id_start, id_end))
    for sample in range(n):
        row = records[state[STATE_RECORDS] + sample]
        token = work.samples[sample]
        first, last = tape[token, TOKEN_START], tape[token, TOKEN_END]
        row[RECORD_TEXT], row[RECORD_TEXT_END], row[RECORD_TEXT_PLACE] = first, last, IN_DATA
        if tape[token, TOKEN_KIND] == ESCAPED:
            last = put_text(data, first, last, scratch, used)
            row[RECORD_TEXT], row[RECORD_TEXT_END], row[RECORD_TEXT_PLACE] = used, last, IN_SCRATCH
            used = last
        row[RECORD_LINE], row[RECORD_SAMPLE] = number, sample
        row[RECORD_ID], row[RECORD_ID_END], row[RECORD_ID_PLACE] = id_start, id_end, place
        row[RECORD_HASH] = id_hash
    state[STATE_RECORDS] += n
    state[STATE_USED] = used
    return FIELDS


@kernel
def _take_gold(golds: Any, gold: int, settings: Any, work: Any, scratch: Any, used: int) -> int:
    """Read a gold into ``work.gold``; from where on scratch space is free then, or -1: left to Python."""
    row = golds.rows[gold]
    task = row[GOLD_TASK]
    if task < 0 or tokenise(golds.text, row[GOLD_TEXT_AT], row[GOLD_TEXT_STOP], work.tape, 0) < 0:
        return -1
    details, strict = settings[SET_DETAILS] != 0, settings[SET_STRICT] != 0
    return int(read_gold(golds.text, work.tape, 0, task, details, strict, work, scratch, used))


@kernel
def _score_record(
    data: Any, record: Any, task: int, settings: Any, golds: Any, work: Any, scratch: Any, used: int
) -> Any:  # fmt: skip
    """Score a record's text against the gold in ``work.gold``: whether it has its key then, and the offset
    from which scratch space is free."""
    begin, last = record[RECORD_TEXT], record[RECORD_TEXT_END]
    source = data if record[RECORD_TEXT_PLACE] == IN_DATA else scratch
    strict = settings[SET_STRICT] != 0
    beyond = used + 2 * (last - begin) + 8 if settings[SET_DETAILS] != 0 or strict else used
    if strict:
        return score_strictly(
            source, begin, last, task, settings, golds.text, work, scratch, used, beyond, record
        )
    return score_as_published(
        source, begin, last, task, settings, golds.text, work, scratch, used, beyond, record
    )


@kernel
def _room_for(line: Any, golds: Any, gold: int, used: int, scratch: Any) -> bool:
    """Whether a line's texts, and those of its gold, fit into the scratch space."""
    size = SCRATCH_PER_BYTE * (line[LINE_END] - line[LINE_START]) + SCRATCH_PER_LINE
    if gold >= 0:
        row = golds.rows[gold]
        size += 3 * (row[GOLD_TEXT_STOP] - row[GOLD_TEXT_AT]) + row[GOLD_ID_END] - row[GOLD_ID]
    return bool(used + size <= len(scratch))


@kernel
def _score_line(
    data: Any, line: Any, stop: int, settings: Any, golds: Any, work: Any, records: Any, scratch: Any,
    state: Any,
) -> bool:  # fmt: skip
    """Score the records of a line, up to ``stop``, if its gold is known: then it becomes `FAST`, else it
    stays `FIELDS`. False if there is no room for that."""
    gold, first = _gold_of(golds, line), line[LINE_RECORD]
    if gold < 0:
        return True
    used: Any = state[STATE_USED]
    if not _room_for(line, golds, gold, used, scratch):
        return False
    line[LINE_GOLD], row = gold, golds.rows[gold]
    if row[GOLD_ID] < row[GOLD_ID_END]:
        # the id, a digest of the same members as the gold's, is stored with the gold
        id_start, id_end = used, copy(golds.text, row[GOLD_ID], row[GOLD_ID_END], scratch, used)
        value = np.int64(hash_key(scratch, id_start, id_end))
        used = id_end
        for number in range(first, stop):
            record = records[number]
            record[RECORD_ID], record[RECORD_ID_END], record[RECORD_ID_PLACE] = id_start, id_end, IN_SCRATCH
            record[RECORD_HASH] = value
        state[STATE_USED] = used
    used = _take_gold(golds, gold, settings, work, scratch, used)
    if used < 0:
        return True
    for number in range(first, stop):
        done, used = _score_record(
            data, records[number], row[GOLD_TASK], settings, golds, work, scratch, used
        )
        if not done:
            return True
    state[STATE_USED] = used
    line[LINE_KIND] = FAST
    return True


@kernel
def judge_text(data: Any, settings: Any, golds: Any, work: Any, record: Any, scratch: Any) -> None:
    """Score a text against a gold that is given by its number.

    Parameters
    ----------
    data : uint8
        The text, UTF-8.
    record : int64, shape (RECORD_COLUMNS,)
        Where it is in ``data``, and its gold's number in place of its key. Key, vote and, with details, where
        taxa are in ``scratch`` are filled in; the key of a text that only Python can score is `UNKNOWN`.
    """
    gold = record[RECORD_KEY]
    record[RECORD_KEY] = UNKNOWN
    row = golds.rows[gold]
    size = len(data) + row[GOLD_TEXT_STOP] - row[GOLD_TEXT_AT]
    if SCRATCH_PER_BYTE * size + SCRATCH_PER_LINE > len(scratch):
        return
    taken = _take_gold(golds, gold, settings, work, scratch, 0)
    if taken >= 0:
        done, _ = _score_record(data, record, row[GOLD_TASK], settings, golds, work, scratch, taken)
        if not done:
            record[RECORD_KEY] = UNKNOWN


@kernel
def scan_lines(
    data: Any, lines: Any, settings: Any, chosen: Any, table: Any, golds: Any, work: Any, records: Any,
    scratch: Any, state: Any,
) -> Any:  # fmt: skip
    """Read the lines of a block, from the one on that ``state`` says.

    Parameters
    ----------
    data : uint8
        Whole lines; the last may lack its line feed.
    lines : int64, shape (m + 1, LINE_COLUMNS)
        Filled: a row per line, for m lines at most, and one more.
    settings : int64, shape (SET_SIZE,)
    chosen : uint8
        The filter of lm-evaluation-harness that is scored.
    table : projection.Table
    golds : Golds
    work : Work
    records : int64, shape (r, RECORD_COLUMNS)
        Filled: a row per response of the lines that are `FAST` or `FIELDS`.
    scratch : uint8
        Receives texts that records point to.
    state : int64, shape (STATE_SIZE,)
        Zeros at first. If it wants room for records or texts, call again with more, the old copied.

    Returns
    -------
    int
        How many lines have been read.
    """
    count = state[STATE_LINES]
    at = lines[count - 1, LINE_END] + 1 if count > 0 else 0
    state[STATE_WANTS] = WANTS_NOTHING
    while at < len(data) and count < lines.shape[0] - 1:
        row = lines[count]
        row[LINE_START], row[LINE_END] = at, find_byte(data, at, len(data), LF)
        row[LINE_RECORD], row[LINE_GOLD] = state[STATE_RECORDS], GOLD_UNKNOWN
        if not _room_for(row, golds, -1, state[STATE_USED], scratch):
            state[STATE_WANTS] = WANTS_SCRATCH
            break
        kind = _project_line(data, count, settings, chosen, table, work, lines, records, scratch, state)
        if kind == _NO_ROOM:
            state[STATE_WANTS] = WANTS_RECORDS
            break
        row[LINE_KIND] = kind
        if kind == FIELDS:
            _score_line(data, row, state[STATE_RECORDS], settings, golds, work, records, scratch, state)
        at = row[LINE_END] + 1
        count += 1
    lines[count, LINE_RECORD] = state[STATE_RECORDS]
    state[STATE_LINES] = count
    return count


@kernel
def score_lines(
    data: Any, lines: Any, start: int, settings: Any, golds: Any, work: Any, records: Any, scratch: Any,
    state: Any,
) -> Any:  # fmt: skip
    """Score the `FIELDS` lines from ``start`` on whose gold was not known when they were read; returns the
    first one for which there is no room, or the number of lines. See `scan_lines`."""
    count = start
    while count < lines.shape[0] - 1:
        row = lines[count]
        stop, waits = lines[count + 1, LINE_RECORD], row[LINE_KIND] == FIELDS and row[LINE_GOLD] < 0
        if waits and not _score_line(data, row, stop, settings, golds, work, records, scratch, state):
            break
        count += 1
    return count
