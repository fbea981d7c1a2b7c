"""Reading text records without decoding them: ids, responses and scores straight from a line's bytes.

A line is read in one structural pass that leaves tokens; `projection` finds its id and responses among them,
whatever the task, by a table of paths. Whatever else its records depend on is digested, and by the digest the
gold is found that Python has prepared once. A response to gold of a text task (REL-A, B1, C1) is scored here
by the extractor of the run's policy (`responses`), without its reasoning if that is asked for. The result is
a key per response; `relfast_kernels.text.entries` turns keys into rows by templates. Lines of other tasks,
and those with something that is not known here, are `FIELDS`. Every other line is marked `SLOW`: Python
decodes it. A line that is not `SLOW` has been read exactly as the JSON parsers and `re` would read it, which
includes that invalid JSON is not accepted."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel, step
from relfast_kernels.entry import Bytes, Ints
from relfast_kernels.layouts import (
    ALL_IDS_REPEAT,
    B1,
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
    HELD_END,
    HELD_GOLD,
    HELD_GOLD_END,
    HELD_ID,
    HELD_LAST,
    HELD_LINE,
    HELD_SHAPE,
    HELD_START,
    HELD_SUM,
    ID_OF_GOLD,
    ID_OF_PROMPT,
    IN_DATA,
    IN_HELD,
    IN_SCRATCH,
    INTEGER,
    LINE_ASKED,
    LINE_DIGEST,
    LINE_END,
    LINE_GOLD,
    LINE_HELD,
    LINE_KIND,
    LINE_RECORD,
    LINE_REST,
    LINE_SAID,
    LINE_SHAPE,
    LINE_START,
    MAX_ID_DIGITS,
    PROMPT_OF_GOLD,
    RECORD_ESCAPED,
    RECORD_HASH,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_KEY,
    RECORD_LINE,
    RECORD_SAMPLE,
    RECORD_TEXT,
    RECORD_TEXT_END,
    ROW_UNSEEN,
    SAYS_MORE,
    SCRATCH_PER_BYTE,
    SCRATCH_PER_LINE,
    SET_DETAILS,
    SET_IS_GOLD,
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
from relfast_kernels.text.alignment import settle_taxa
from relfast_kernels.text.ascii import BLANKS, BRACE_OPEN, CR, HYPHEN, LF, TILDE
from relfast_kernels.text.characters import is_utf8
from relfast_kernels.text.find import copy, digest, find_byte, find_outside, skip
from relfast_kernels.text.json_scan import is_null, put_json, put_text, tokenise
from relfast_kernels.text.layouts import (
    BY_NAME,
    GOLD_HOLDER,
    GOLD_TOKEN,
    GOLD_WRITTEN,
    Golds,
    Held,
    Judging,
    Naming,
    Response,
    Room,
    Said,
    Scan,
    Work,
)
from relfast_kernels.text.projection import (
    LEFT_OUT,
    OF_GOLD,
    UNSURE,
    asked_of,
    find_members,
    has_any,
    is_text,
    question_of,
    read_row,
    walk,
)
from relfast_kernels.text.prompts import (
    IS_ID,
    MAY_BE_COUNTER,
    begin_prompt_id,
    counter_kind,
    end_prompt_id,
    hash_key,
    put_prompt,
    put_value,
)
from relfast_kernels.text.responses import (
    needs_taxa,
    put_gold,
    put_taxa,
    read_gold,
    read_prepared,
    score_as_published,
    score_strictly,
)
from relfast_kernels.text.said import find_said
from relfast_kernels.text.steps import Span, Table
from relfast_kernels.text.vectors import WIDTH

_NO_ROOM = -1
"""In place of a line's kind: there is no room for its records."""
_ONE = 1
_OF_ID = ~np.uint64(0)
"""Start of the digest of a line that has only an id, by which its gold is joined, and responses."""


@kernel
def _put_id(data: Bytes, tape: Ints, token: int, scratch: Bytes, used: int) -> Any:
    """Write the JSON of a line's id, nothing if it has none; the offset after it, or `UNSURE`: Python must
    read the id."""
    if token == OF_GOLD or is_null(data, tape, token):
        return used
    start, end, kind = tape[token, TOKEN_START], tape[token, TOKEN_END], tape[token, TOKEN_KIND]
    if kind == STRING:
        return copy(data, start - 1, end + 1, scratch, used)
    if kind == ESCAPED:
        return put_json(data, start, end, scratch, used)
    if kind == INTEGER and end - start <= MAX_ID_DIGITS and data[start] != HYPHEN:
        return copy(data, start, end, scratch, used)
    return UNSURE


@kernel
def _digest_rest(
    data: Bytes, tape: Ints, table: Table, depends: Span, seed: np.uint64, value: np.uint64
) -> Any:  # fmt: skip
    """A digest (uint64) of those members of a row on which the rest of its records depends."""
    for k in range(depends.start, depends.end):
        token = table.fields[table.numbers[k]]
        if token != 0:
            mixed = value ^ np.uint64(k * 8 + tape[token, TOKEN_KIND])
            value = digest(data, tape[token, TOKEN_START], tape[token, TOKEN_END], seed, mixed)
    return value


@kernel
def _find_gold(golds: Golds, value: int) -> Any:
    """The number of the gold with a digest, or `GOLD_UNKNOWN`."""
    mask = len(golds.digests) - 1
    at = value & mask
    while golds.numbers[at] != 0:
        if golds.digests[at] == value:
            return golds.numbers[at] - 1
        at = (at + 1) & mask
    return GOLD_UNKNOWN


@kernel
def digest_id(text: Bytes, start: int, end: int, seed: np.uint64) -> Any:
    """A digest (int64) of the JSON of an id, by which a line that has nothing else but responses finds its
    gold."""
    return np.int64(digest(text, start, end, seed, _OF_ID) & ~np.uint64(ROW_UNSEEN))


@kernel
def _held_slot(held: Held, value: int) -> Any:
    """The slot of the first row that has an id with this digest, or the free one where it belongs."""
    mask = len(held.slots) - 1
    at = value & mask
    while held.slots[at] != 0 and held.rows[held.slots[at] - 1, HELD_ID] != value:
        at = (at + 1) & mask
    return at


@kernel
def _last_held(held: Held, value: int) -> Any:
    """The last row that has an id with this digest, or `UNKNOWN`."""
    first = held.slots[_held_slot(held, value)] - 1
    return held.rows[first, HELD_LAST] if first >= 0 else UNKNOWN


@kernel
def rehash_held(held: Held) -> int:
    """Fill the empty hash table of the rows."""
    for row in range(held.n):
        if held.rows[row, HELD_LAST] >= 0:
            held.slots[_held_slot(held, held.rows[row, HELD_ID])] = row + 1
    return held.n


@kernel
def hold_lines(scan: Scan) -> int:
    """Append the `FIELDS` lines from ``scan.start`` to ``scan.stop`` of a gold file to the rows that are
    held, which have room for all; how many there are then.

    `LINE_HELD` is filled: the last row before with the same id, if its line is another, or `UNKNOWN`.
    """
    held, n = scan.joined, scan.joined.n
    used, seed = held.rows[n - 1, HELD_GOLD_END] if n > 0 else 0, np.uint64(scan.settings[SET_SEED])
    for number in range(scan.start, scan.stop):
        line = scan.lines[number]
        if line[LINE_KIND] != FIELDS:
            continue
        row = held.rows[n]
        row[HELD_START], row[HELD_END] = scan.base + line[LINE_START], scan.base + line[LINE_END]
        row[HELD_ID], row[HELD_SUM] = (
            line[LINE_DIGEST],
            digest_id(scan.data, line[LINE_START], line[LINE_END], seed),
        )
        row[HELD_LINE], row[HELD_LAST], line[LINE_HELD] = scan.first_line + number, n, UNKNOWN
        row[HELD_SHAPE], row[HELD_GOLD] = line[LINE_SHAPE], used
        used = copy(scan.scratch, line[LINE_GOLD], line[LINE_REST], held.text, used)
        row[HELD_GOLD_END] = used
        slot = _held_slot(held, line[LINE_DIGEST])
        if held.slots[slot] == 0:
            held.slots[slot] = n + 1
        else:
            first = held.rows[held.slots[slot] - 1]
            if held.rows[first[HELD_LAST], HELD_SUM] != row[HELD_SUM]:
                line[LINE_HELD] = first[HELD_LAST]
            first[HELD_LAST], row[HELD_LAST] = n, -1
        n += 1
    return n


@kernel
def _rest_of(
    data: Bytes, settings: Ints, table: Table, work: Work, number: int, token: int, given: bool, has_id: bool
) -> Any:  # fmt: skip
    """What a line has besides id and responses (`SAYS_MORE` …), and the token of the text that tells its
    prompt besides its id, or as its id; 0: none does."""
    form, prompts, tape = table.forms[number], settings[SET_PROMPTS], work.tape
    if form.is_bare != 0 and has_id and not has_any(table, form.depends):
        return HAS_ID_ONLY, 0
    if settings[SET_JOIN] != 0:
        return ID_OF_GOLD, 0  # gold may be found by the question, and the row has its id then
    if token == OF_GOLD:
        asked = 0
        if form.digests_prompt != 0 and prompts != ALL_IDS_REPEAT:
            n = walk(data, tape, table, 0, form.digested.start, work.found)
            asked = int(work.found[0]) if n == 1 and is_text(tape, work.found[0]) else 0
        return ID_OF_PROMPT if asked > 0 else ID_OF_GOLD, asked
    if prompts == 0:
        return SAYS_MORE, 0
    kind = counter_kind(data, tape, token) if given and has_id else IS_ID
    if has_id and kind == IS_ID and prompts != ALL_IDS_REPEAT:
        return SAYS_MORE, 0
    question = question_of(data, tape, table, form, work.found)
    if not has_id:
        rest = SAYS_MORE if question == 0 else PROMPT_OF_GOLD if question > 0 else ID_OF_GOLD
        return rest, max(question, 0)
    if question > 0 and kind != MAY_BE_COUNTER:
        return SAYS_MORE, question
    return ID_OF_GOLD, 0


@kernel
def _room_for(line: Ints, golds: Golds, gold: int, used: int, scratch: Bytes) -> bool:
    """Whether a line's texts, and those of its gold, fit into the scratch space."""
    size = SCRATCH_PER_BYTE * (line[LINE_END] - line[LINE_START]) + SCRATCH_PER_LINE
    if gold >= 0:
        row = golds.rows[gold]
        size += 3 * (row[GOLD_TEXT_STOP] - row[GOLD_TEXT_AT]) + row[GOLD_ID_END] - row[GOLD_ID]
    return bool(used + size <= len(scratch))


@kernel
def _question(scan: Scan, form: int, used: int) -> Response:
    """The question by which taxa are settled (`settle_taxa`): a text in the scratch space from ``used`` on.
    Only one with escapes has lines, so any other shows no alignment; nor is it looked at if gold says that
    its taxa are names."""
    data, tape, scratch, end = scan.data, scan.work.tape, scan.scratch, used
    if scan.work.gold[GOLD_WRITTEN] != BY_NAME:
        token = asked_of(data, tape, scan.table, scan.table.forms[form], scan.work.found)
        if token == UNSURE:
            end = used - 1
        elif token > 0 and tape[token, TOKEN_KIND] == ESCAPED:
            end = put_text(data, tape[token, TOKEN_START], tape[token, TOKEN_END], scratch, used)
    return Response(scratch, used, end)


@step
def _take_said(scan: Scan, number: int, form: int, used: Any) -> Any:
    """Read the gold of a line from where it stands, if Python has prepared one of its shape: from where on
    scratch space is free then, or `UNKNOWN`. In place of its digest the line gets its form."""
    work, settings, line, scratch = scan.work, scan.settings, scan.lines[number], scan.scratch
    said = Said(scan.data, scan.table, work, scratch, used + 2 * (line[LINE_END] - line[LINE_START]))
    shape, in_scratch, used = find_said(said, form, used, np.uint64(settings[SET_SEED]))
    line[LINE_SHAPE] = np.int64(shape)
    gold = _find_gold(scan.golds, int(np.int64(shape))) if shape != 0 else GOLD_UNKNOWN
    if gold < 0:
        return UNKNOWN
    task, source, tape = scan.golds.rows[gold, GOLD_TASK], scan.data, work.tape
    if in_scratch:
        source, tape = scratch, work.said
    taken = int(read_gold(source, tape, work.gold[GOLD_TOKEN], task, settings, work, scratch, used))
    if taken >= 0 and needs_taxa(task, settings, work):
        question = _question(scan, form, taken)
        if not settle_taxa(source, question, work, scratch, max(taken, question.end)):
            return UNKNOWN
    if taken >= 0:
        line[LINE_GOLD], line[LINE_DIGEST], line[LINE_SAID] = (
            gold,
            form,
            IN_SCRATCH if in_scratch else IN_DATA,
        )
    return taken


@step
def _put_said(scan: Scan, form: int, shape: np.uint64, in_scratch: bool, used: int) -> tuple[int, int]:
    """Write the JSON of the gold that `find_said` has found in a gold file's line: where it begins and
    ends."""
    work, settings, scratch = scan.work, scan.settings, scan.scratch
    source, tape, token = scan.data, work.tape, int(work.gold[GOLD_TOKEN])
    if shape == 0:
        return used, used
    if in_scratch:
        source, tape = scratch, work.said
    end = put_gold(source, tape, token, scratch, used + 1)
    if settings[SET_STRICT] == 0 or read_gold(source, tape, token, B1, settings, work, scratch, end) < 0:
        return used + 1, end
    if not needs_taxa(B1, settings, work):
        return used + 1, end
    return used, put_taxa(source, _question(scan, form, end + 1), work, scratch, used, end)


@step
def _take_held(scan: Scan, number: int, used: Any) -> Any:
    """Read the gold of a line that is joined with a gold file's row, if Python has prepared one of its shape:
    from where on scratch space is free then, or `UNKNOWN`."""
    work, line, held = scan.work, scan.lines[number], scan.joined
    if line[LINE_HELD] < 0 or held.rows[line[LINE_HELD], HELD_SHAPE] == 0:
        return UNKNOWN
    row = held.rows[line[LINE_HELD]]
    line[LINE_SHAPE] = row[HELD_SHAPE]
    gold = _find_gold(scan.golds, int(row[HELD_SHAPE]))
    if gold < 0:
        return UNKNOWN
    start, end = row[HELD_GOLD], row[HELD_GOLD_END]
    has_room = _room_for(line, scan.golds, GOLD_UNKNOWN, used + 3 * (end - start), scan.scratch)
    if not has_room:
        return UNKNOWN
    task = scan.golds.rows[gold, GOLD_TASK]
    taken = int(read_prepared(held.text, start, end, task, scan.settings, work, scan.scratch, used))
    if taken >= 0:
        line[LINE_GOLD], line[LINE_SAID] = gold, IN_HELD
    return taken


@step
def _put_prompt_id(scan: Scan, number: int, form: int, asked: int, has_id: bool, used: Any) -> Any:
    """Write the key of a prompt that is told by a digest of a text, whose token is ``asked``, with the gold
    that `_take_said` has read: where it starts and ends. Both are 0 if it has read none (``used`` is
    `UNKNOWN`), or only Python knows the gold's JSON."""
    data, work, scratch, line = scan.data, scan.work, scan.scratch, scan.lines[number]
    if used < 0:
        return 0, 0
    tape, of_form = work.tape, scan.table.forms[form]
    source, of_gold, token = scratch, work.said, int(work.gold[GOLD_TOKEN])
    if line[LINE_SAID] == IN_DATA or (of_form.digests_prompt != 0 and of_form.first_counts != 0):
        source, of_gold, token = data, tape, int(work.gold[GOLD_HOLDER])
    start = begin_prompt_id(data, tape, asked, scratch, used)
    end = put_value(source, of_gold, token, scratch, start) if token > 0 else UNKNOWN
    if end < 0:
        line[LINE_GOLD] = GOLD_UNKNOWN
        return 0, 0
    return start, end_prompt_id(scratch, used, start, start, end, has_id, work.patterns)


@step
def _digest_line(scan: Scan, number: int, form: int, rest: Any, id_start: int, id_end: int) -> None:
    """Digest what the records of a line depend on."""
    settings, table, line = scan.settings, scan.table, scan.lines[number]
    seed, unseen = np.uint64(settings[SET_SEED]), np.uint64(ROW_UNSEEN)
    value, of_form = np.uint64(form), table.forms[form]
    if settings[SET_JOIN] != 0 and rest == HAS_ID_ONLY:
        of_id = digest_id(scan.scratch, id_start, id_end, seed)
        value, line[LINE_HELD] = np.uint64(of_id), _last_held(scan.joined, of_id)
    else:
        if settings[SET_JOIN] != 0 or rest >= ID_OF_GOLD:
            value = digest(scan.scratch, id_start, id_end, seed, value)
        value = _digest_rest(scan.data, scan.work.tape, table, of_form.depends, seed, value)
    hidden = unseen if of_form.hides_row != 0 else np.uint64(0)
    line[LINE_DIGEST] = np.int64(value & ~unseen | hidden)
    if id_start == id_end and of_form.asked.start < of_form.asked.end:
        asked = _digest_rest(scan.data, scan.work.tape, table, of_form.asked, seed, np.uint64(form))
        line[LINE_ASKED] = np.int64(asked & ~unseen | hidden | np.uint64(_ONE))


@kernel
def _project_line(scan: Scan, number: int, plain: int) -> int:
    """Find the id and the responses of a line, which is printable ASCII up to ``plain``, and digest the rest;
    its kind, or `_NO_ROOM`."""
    data, settings, table, work = scan.data, scan.settings, scan.table, scan.work
    lines, records, scratch, state = scan.lines, scan.records, scan.scratch, scan.state
    start, end = lines[number, LINE_START], lines[number, LINE_END]
    if end > start and data[end - 1] == CR:
        end -= 1
    if not is_utf8(data, plain, end):
        return SLOW
    at = skip(data, start, end, BLANKS)
    if at == end:
        return BLANK
    tape = work.tape
    if data[at] != BRACE_OPEN or tokenise(data, at, end, tape, 0) < 0:
        return SLOW
    find_members(data, tape, table)
    n, form, token, given = read_row(data, settings, scan.chosen, table, work)
    if n < 0:
        return BLANK if n == LEFT_OUT else SLOW
    if state[STATE_RECORDS] + n > records.shape[0]:
        return _NO_ROOM
    id_start = state[STATE_USED]
    id_end = used = _put_id(data, tape, token, scratch, id_start)
    if id_end == UNSURE:
        return SLOW
    if settings[SET_IS_GOLD] != 0:
        seed = np.uint64(settings[SET_SEED])
        lines[number, LINE_DIGEST] = digest_id(scratch, id_start, id_end, seed)
        said = Said(data, table, work, scratch, used + 2 * (lines[number, LINE_END] - start))
        free = used
        shape, in_scratch, used = find_said(said, form, used, seed)
        lines[number, LINE_SHAPE] = np.int64(shape)
        lines[number, LINE_GOLD], lines[number, LINE_REST] = _put_said(
            scan, form, shape, in_scratch, max(used, free)
        )
        state[STATE_USED] = lines[number, LINE_REST]
        return SLOW if id_start == id_end else FIELDS
    rest, asked = _rest_of(data, settings, table, work, form, token, given, id_end > id_start)
    taken, joins = UNKNOWN, settings[SET_JOIN] != 0
    if rest != ID_OF_GOLD and not joins:
        taken = _take_said(scan, number, form, used)
    if rest > ID_OF_GOLD:
        id_start, id_end = _put_prompt_id(scan, number, form, asked, rest == ID_OF_PROMPT, taken)
        taken, asked, rest = id_end if id_end > 0 else UNKNOWN, 0, ID_OF_GOLD
        if taken >= 0:
            rest = SAYS_MORE
    if taken < 0:
        _digest_line(scan, number, form, rest, id_start, id_end)
        taken = _take_held(scan, number, used) if joins else taken
    lines[number, LINE_REST], used = rest, max(used, taken)
    if asked > 0:
        key_end = put_prompt(data, tape, asked, id_start, id_end, scratch, used)
        id_start, id_end, used = used, key_end, key_end
    id_hash = np.int64(hash_key(scratch, id_start, id_end)) if rest < ID_OF_GOLD else np.int64(0)
    for sample in range(n):
        row = records[state[STATE_RECORDS] + sample]
        token = work.samples[sample]
        row[RECORD_TEXT], row[RECORD_TEXT_END] = tape[token, TOKEN_START], tape[token, TOKEN_END]
        row[RECORD_ESCAPED] = tape[token, TOKEN_KIND] == ESCAPED
        row[RECORD_LINE], row[RECORD_SAMPLE] = number, sample
        row[RECORD_ID], row[RECORD_ID_END], row[RECORD_HASH] = id_start, id_end, id_hash
    state[STATE_RECORDS] += n
    state[STATE_USED] = used
    return FIELDS


@kernel
def _take_gold(golds: Golds, gold: int, settings: Ints, work: Work, scratch: Bytes, used: int) -> int:
    """Read a gold into ``work.gold``; from where on scratch space is free then, or -1: left to Python."""
    row = golds.rows[gold]
    start, end, task = row[GOLD_TEXT_AT], row[GOLD_TEXT_STOP], row[GOLD_TASK]
    if task < 0:
        return -1
    return int(read_prepared(golds.text, start, end, task, settings, work, scratch, used))


@kernel
def _score_record(
    data: Bytes, record: Ints, task: int, settings: Ints, gold_text: Bytes, work: Work, scratch: Bytes,
    used: int,
) -> Any:  # fmt: skip
    """Score a record's text against the gold in ``work.gold``: whether it has its key then, and the offset
    from which scratch space is free."""
    source, begin, last = data, record[RECORD_TEXT], record[RECORD_TEXT_END]
    strict = settings[SET_STRICT] != 0
    beyond = used + 2 * (last - begin) + 8 if settings[SET_DETAILS] != 0 or strict else used
    if record[RECORD_ESCAPED] != 0:
        # for the time of scoring: the next text comes into the same pages, which are in the cache
        source, begin, last = scratch, beyond, put_text(data, begin, last, scratch, beyond)
        beyond = last + WIDTH
    response, room = Response(source, begin, last), Room(scratch, used, beyond)
    if strict:
        return score_strictly(response, task, settings, work, room, record)
    return score_as_published(response, task, settings, gold_text, work, room, record)


@kernel
def _score_line(scan: Scan, line: Ints, stop: int) -> bool:
    """Score the records of a line, up to ``stop``, if its gold is known: then it becomes `FAST`, else it
    stays `FIELDS`. False if there is no room for that."""
    data, settings, golds, work = scan.data, scan.settings, scan.golds, scan.work
    records, scratch, state = scan.records, scan.scratch, scan.state
    # a gold that has been read from the line is in ``work`` already
    gold, first = line[LINE_GOLD], line[LINE_RECORD]
    is_taken = gold >= 0
    if not is_taken:
        gold = _find_gold(golds, line[LINE_ASKED]) if line[LINE_ASKED] != 0 else GOLD_UNKNOWN
        gold = _find_gold(golds, line[LINE_DIGEST]) if gold < 0 else gold
    if gold < 0:
        return True
    used = state[STATE_USED]
    if not _room_for(line, golds, gold, used, scratch):
        return False
    line[LINE_GOLD], row = gold, golds.rows[gold]
    if line[LINE_REST] >= ID_OF_GOLD and row[GOLD_ID] < row[GOLD_ID_END]:
        id_start, id_end = used, copy(golds.text, row[GOLD_ID], row[GOLD_ID_END], scratch, used)
        value = np.int64(hash_key(scratch, id_start, id_end))
        used = id_end
        for number in range(first, stop):
            record = records[number]
            record[RECORD_ID], record[RECORD_ID_END], record[RECORD_HASH] = id_start, id_end, value
        state[STATE_USED] = used
    if not is_taken:
        used = _take_gold(golds, gold, settings, work, scratch, used)
    if used < 0:
        return True
    gold_text = golds.text
    if is_taken:
        place = line[LINE_SAID]
        gold_text = data if place == IN_DATA else scratch if place == IN_SCRATCH else scan.joined.text
    for number in range(first, stop):
        done, used = _score_record(
            data, records[number], row[GOLD_TASK], settings, gold_text, work, scratch, used
        )
        if not done:
            if is_taken:  # by its digests Python prepares its gold, and scores the response
                number, form = int(records[first, RECORD_LINE]), int(line[LINE_DIGEST])
                if line[LINE_SAID] != IN_HELD:
                    _digest_line(scan, number, form, line[LINE_REST], 0, 0)
                line[LINE_GOLD] = GOLD_UNKNOWN
            return True
    state[STATE_USED] = used
    line[LINE_KIND] = FAST
    return True


@kernel
def judge_text(judging: Judging) -> int:
    """Score a text against a gold that is given by its number."""
    text, record, golds, scratch = judging.text, judging.record, judging.golds, judging.scratch
    gold = record[RECORD_KEY]
    record[RECORD_KEY], record[RECORD_TEXT_END] = UNKNOWN, len(text)
    row = golds.rows[gold]
    size = len(text) + row[GOLD_TEXT_STOP] - row[GOLD_TEXT_AT]
    if SCRATCH_PER_BYTE * size + SCRATCH_PER_LINE > len(scratch):
        return 0
    settings, work = judging.settings, judging.work
    taken = _take_gold(golds, gold, settings, work, scratch, 0)
    if taken >= 0:
        done, _ = _score_record(text, record, row[GOLD_TASK], settings, golds.text, work, scratch, taken)
        if not done:
            record[RECORD_KEY] = UNKNOWN
    return 0


@kernel
def name_taxa(naming: Naming) -> int:
    """Write the JSON of a gold of REL-B1 with the taxa that ``strict`` compares; its size, or 0 if it is left
    as it is."""
    gold, question, work, out = naming.gold, naming.question, naming.work, naming.out
    tape, settings = work.said, naming.settings
    if tokenise(gold, 0, len(gold), tape, 0) < 0:
        return 0
    if read_gold(gold, tape, 0, B1, settings, work, out, 0) < 0 or not needs_taxa(B1, settings, work):
        return 0
    end = copy(gold, 0, len(gold), out, 1)
    return int(put_taxa(gold, Response(question, 0, len(question)), work, out, 0, end))


@kernel
def scan_lines(scan: Scan) -> int:
    """Read the lines of a block, from the one on that ``scan.state`` says; how many have been read."""
    data, lines, state = scan.data, scan.lines, scan.state
    count = state[STATE_LINES]
    at = lines[count - 1, LINE_END] + 1 if count > 0 else 0
    state[STATE_WANTS] = WANTS_NOTHING
    while at < len(data) and count < scan.stop:
        row = lines[count]
        plain = find_outside(data, at, len(data), ord(" "), TILDE)
        row[LINE_START], row[LINE_END] = at, find_byte(data, plain, len(data), LF)
        row[LINE_RECORD], row[LINE_GOLD], row[LINE_HELD] = state[STATE_RECORDS], GOLD_UNKNOWN, UNKNOWN
        row[LINE_DIGEST], row[LINE_SHAPE], row[LINE_ASKED] = 0, 0, 0
        # so that there still is room for scoring when its id, its texts and its gold's taxa are there
        spare = 6 * (row[LINE_END] - row[LINE_START]) + SCRATCH_PER_LINE
        if not _room_for(row, scan.golds, -1, state[STATE_USED] + spare, scan.scratch):
            state[STATE_WANTS] = WANTS_SCRATCH
            break
        kind = _project_line(scan, count, plain)
        if kind == _NO_ROOM:
            state[STATE_WANTS] = WANTS_RECORDS
            break
        row[LINE_KIND] = kind
        if kind == FIELDS and scan.settings[SET_IS_GOLD] == 0:
            _score_line(scan, row, state[STATE_RECORDS])
        at = row[LINE_END] + 1
        count += 1
    lines[count, LINE_RECORD] = state[STATE_RECORDS]
    state[STATE_LINES] = count
    return int(count)


@kernel
def score_lines(scan: Scan) -> int:
    """Score the `FIELDS` lines from ``scan.start`` to ``scan.stop`` whose gold was not known when they were
    read; returns the first one for which there is no room, or ``scan.stop``."""
    lines, count = scan.lines, scan.start
    while count < scan.stop:
        row = lines[count]
        stop, waits = lines[count + 1, LINE_RECORD], row[LINE_KIND] == FIELDS and row[LINE_GOLD] < 0
        if waits and not _score_line(scan, row, stop):
            break
        count += 1
    return count
