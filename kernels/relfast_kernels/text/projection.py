"""Finding a row's id and responses by a table of paths: this knows no dialect and no tool.

The table is that of `relfast.formats.table`, and this does with tokens what `relfast.formats.reading` does
with decoded rows, as far as it goes: a row with anything else in it, or with a reason why a response is
missing, is left to Python (`UNSURE`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints
from relfast_kernels.layouts import (
    ESCAPED,
    INTEGER,
    LIST,
    LITERAL,
    OBJECT,
    SET_FILTER,
    SET_IS_GOLD,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.columns import (
    A_LIST,
    AN_OBJECT,
    ASKS_UNSEEN,
    EACH,
    FIRST_COUNTS,
    FLAT,
    FORM_FILTER,
    FORM_FLAGS,
    FORM_GUARDS,
    FORM_GUARDS_END,
    FORM_ID,
    FORM_ID_END,
    FORM_NUMBER,
    FORM_NUMBER_END,
    FORM_PROMPT,
    FORM_PROMPT_END,
    FORM_QUESTION,
    FORM_QUESTION_END,
    FORM_RESPONSE,
    FORM_SAID,
    FORM_SAID_END,
    FORM_STATUS,
    FORM_STATUS_END,
    HAS_OR_NOT,
    INDEX,
    IS,
    IS_ABSENT,
    IS_LIST,
    IS_NULL,
    IS_OBJECT,
    IS_THERE,
    LONGEST_MEMBER,
    MEMBER_BIT,
    MEMBER_NAME,
    NAME,
    NAME_OR_INDEX,
    NOT_EMPTY,
    NUMBERS_JOIN,
    OPTIONAL,
    SAID_ERROR,
    SAID_INSTEAD,
    SAID_ITEMS,
    SAID_ITEMS_END,
    SAID_LAST,
    SAID_REASON,
    SAID_SAYS,
    SAID_SAYS_END,
    SAY_HOW,
    SAY_PATH,
    SAYS_MESSAGE,
    SAYS_TEXT,
    SAYS_TEXTS,
    STEP_INDEX,
    STEP_KIND,
    STEP_LACKS,
    STEP_MEMBER,
    STEP_NAME,
    STEP_NAME_END,
    STEP_WORD,
    STEP_WORD_END,
    TEST_ASKS,
    TEST_EACH,
    TEST_PATH,
    UNDECIDED,
    WAY_FORM,
    WAY_MEMBERS,
    WAY_TESTS,
    WAY_TESTS_END,
)
from relfast_kernels.text.find import same_as, same_bytes
from relfast_kernels.text.json_scan import is_null, member, named
from relfast_kernels.text.layouts import Table, Work

UNSURE: Final = -1
"""In place of a text's token, or of a number of texts: only Python can tell."""

_REFUSAL = np.frombuffer(b"refusal", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)
_TYPE = np.frombuffer(b"type", np.uint8)
_OUTPUT_TEXT = np.frombuffer(b"output_text", np.uint8)
_ROLE = np.frombuffer(b"role", np.uint8)
_ASSISTANT = np.frombuffer(b"assistant", np.uint8)
_CONTENT = np.frombuffer(b"content", np.uint8)
_MESSAGE = np.frombuffer(b"message", np.uint8)
_CHANNEL = np.frombuffer(b"channel", np.uint8)
_PHASE = np.frombuffer(b"phase", np.uint8)
_FINISH_REASON = np.frombuffer(b"finish_reason", np.uint8)
_STOP_REASON = np.frombuffer(b"stop_reason", np.uint8)
_THOUGHT = np.frombuffer(b"thought", np.uint8)


@kernel
def is_text(tape: Ints, token: int) -> Any:
    """Whether a token is a string."""
    return token > 0 and tape[token, TOKEN_KIND] <= ESCAPED


@kernel
def is_empty(tape: Ints, token: int) -> Any:
    """Whether a string is empty."""
    return tape[token, TOKEN_START] == tape[token, TOKEN_END]


LEFT_OUT: Final = -2
"""In place of a number of responses: the row is of a filter that is not scored."""
OF_GOLD: Final = -2
"""In place of an id's token: the id comes with the gold, which is found by what the record depends on."""

_ONE: Final = 1


@kernel
def find_members(data: Bytes, tape: Ints, table: Table, fields: Ints) -> Any:
    """The members of a row that have bits, as a set; ``fields`` gets the last value (a token) of each that
    the table knows."""
    for k in range(table.members.shape[0]):
        fields[k] = 0
    found: Any = np.int64(0)
    at = 1
    while at < tape[0, TOKEN_NEXT]:
        start, end = tape[at, TOKEN_START], tape[at, TOKEN_END]
        length = end - start
        if length <= LONGEST_MEMBER:
            for k in range(table.of_length[length], table.of_length[length + 1]):
                name = table.members[k, MEMBER_NAME]
                if table.names[name] == data[start] and same_bytes(
                    table.names, name, name + length, data, start, end
                ):
                    fields[k] = at + 1
                    found |= table.members[k, MEMBER_BIT]
                    break
        at = tape[at + 1, TOKEN_NEXT]
    return found


# ---- paths


@kernel
def _item(tape: Ints, items: int, index: Any) -> int:
    """The token of a list's item, counted from the end if ``index`` is negative; 0: there is none."""
    at = items + 1
    if index < 0:
        while at < tape[items, TOKEN_NEXT]:
            index += 1
            at = tape[at, TOKEN_NEXT]
        if index < 0:
            return 0
        at = items + 1
    while at < tape[items, TOKEN_NEXT]:
        if index == 0:
            return at
        index -= 1
        at = tape[at, TOKEN_NEXT]
    return 0


@kernel
def _is_word(data: Bytes, tape: Ints, token: int, names: Bytes, step: Ints) -> int:
    """Whether a value is the word of a step (1 or 0), or `UNSURE`."""
    kind = tape[token, TOKEN_KIND]
    if token == 0:
        return 0
    if kind == LIST or (kind == ESCAPED and step[STEP_INDEX] == 0):
        return UNSURE
    if kind != (LITERAL if step[STEP_INDEX] != 0 else STRING):
        return 0
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    return 1 if same_bytes(data, start, end, names, step[STEP_WORD], step[STEP_WORD_END]) else 0


@kernel
def _is_there(data: Bytes, tape: Ints, token: int) -> int:
    """Whether a value is truthy (1 or 0): not null, false or empty; `UNSURE` for numbers."""
    kind = tape[token, TOKEN_KIND]
    if is_null(data, tape, token):
        return 0
    if kind <= ESCAPED:
        return 0 if is_empty(tape, token) else 1
    if kind == OBJECT or kind == LIST:
        return 1 if tape[token, TOKEN_NEXT] > token + 1 else 0
    if kind != LITERAL or data[tape[token, TOKEN_START]] < 97:
        return UNSURE
    return 1 if data[tape[token, TOKEN_START]] == 116 else 0


@kernel
def _one_step(data: Bytes, tape: Ints, token: int, names: Bytes, step: Ints) -> int:
    """The token that a step leads to; -1 if there is nothing, -2 for `UNSURE`.

    Token 0 is the row itself.
    """
    kind, there = step[STEP_KIND], tape[token, TOKEN_KIND]
    if there == OBJECT:
        if kind == AN_OBJECT or kind == FLAT:
            return token
        if kind == EACH or kind == A_LIST or kind == INDEX:
            return -1
        found = named(data, tape, token, names, step[STEP_NAME], step[STEP_NAME_END])
        if kind == NAME or kind == NAME_OR_INDEX:
            return found if found > 0 else -1
        if kind == OPTIONAL:
            return found if found > 0 else token
        if kind == HAS_OR_NOT and _is_there(data, tape, found) == 0:
            denied = named(data, tape, token, names, step[STEP_WORD], step[STEP_WORD_END])
            is_false = tape[denied, TOKEN_KIND] == LITERAL and data[tape[denied, TOKEN_START]] == ord("f")
            return token if denied > 0 and is_false else -1
        has = _is_word(data, tape, found, names, step) if kind == IS else _is_there(data, tape, found)
        if has == UNSURE:
            return -2
        return token if (has == 1) != (step[STEP_LACKS] != 0) else -1
    if there == LIST:
        if kind == INDEX or (kind == NAME_OR_INDEX and step[STEP_LACKS] != 0):
            found = _item(tape, token, step[STEP_INDEX])
            return found if found > 0 else -1
        return token if kind == A_LIST else -1
    return token if kind == FLAT or kind == OPTIONAL else -1


@kernel
def walk(data: Bytes, tape: Ints, table: Table, fields: Ints, token: int, path: int, out: Ints) -> int:
    """Follow a path from a value on: how many values it leads to, their tokens in ``out``; or `UNSURE`."""
    step, stop = table.paths[path, 0], table.paths[path, 1]
    n = 1
    out[0] = token
    if token == 0 and step < stop and table.steps[step, STEP_MEMBER] >= 0:
        out[0] = fields[table.steps[step, STEP_MEMBER]]
        if out[0] == 0:
            return 0
        step += 1
    while step < stop and n > 0:
        kind = table.steps[step, STEP_KIND]
        used, m = n, 0
        for k in range(used):
            value = out[k]
            if (kind == EACH or kind == FLAT) and tape[value, TOKEN_KIND] == LIST:
                at = value + 1
                while at < tape[value, TOKEN_NEXT]:
                    out[used + m] = at
                    m += 1
                    at = tape[at, TOKEN_NEXT]
                continue
            found = _one_step(data, tape, value, table.names, table.steps[step])
            if found == -2:
                return UNSURE
            if found >= 0:
                out[used + m] = found
                m += 1
        for k in range(m):
            out[k] = out[used + k]
        n = m
        step += 1
    return n


@kernel
def _first(
    data: Bytes, tape: Ints, table: Table, fields: Ints, path: int, stop: int, null_too: bool, out: Ints
) -> int:  # fmt: skip
    """The token of the first value of some paths that is not null (with ``null_too``: that is there); 0:
    none; or `UNSURE`."""
    while path < stop:
        n = walk(data, tape, table, fields, 0, path, out)
        if n == UNSURE:
            return UNSURE
        for k in range(n):
            if null_too or not is_null(data, tape, out[k]):
                return int(out[k])
        path += 1
    return 0


# ---- why texts ended


@kernel
def _is_plain_end(data: Bytes, tape: Ints, table: Table, token: int) -> bool:
    """Whether a finish reason is one of those with which a text counts as it is."""
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    if tape[token, TOKEN_KIND] == STRING:
        for k in range(1, table.ends.shape[0]):
            if same_bytes(data, start, end, table.names, table.ends[k, 0], table.ends[k, 1]):
                return True
    return False


@kernel
def _end_at(data: Bytes, tape: Ints, table: Table, fields: Ints, root: int, path: int, out: Ints) -> int:
    """Whether a finish reason stands at a path (1 or 0); `UNSURE` if Python must read what it means."""
    n = walk(data, tape, table, fields, root, path, out)
    if n <= 0 or is_null(data, tape, out[0]):
        return UNSURE if n < 0 else 0
    token = int(out[0])
    if tape[token, TOKEN_KIND] != LIST:
        return 1 if _is_plain_end(data, tape, table, token) else UNSURE
    at = token + 1
    while at < tape[token, TOKEN_NEXT]:
        if not is_null(data, tape, at) and not _is_plain_end(data, tape, table, at):
            return UNSURE
        at = tape[at, TOKEN_NEXT]
    return 1


@kernel
def has_ended(data: Bytes, tape: Ints, table: Table, fields: Ints, out: Ints) -> int:
    """Whether a row says why its text ended (1 or 0); `UNSURE` as in `_end_at`."""
    found = 0
    for path in range(table.ends[0, 0], table.ends[0, 1]):
        says = _end_at(data, tape, table, fields, 0, path, out)
        if says == UNSURE:
            return UNSURE
        found |= says
    return found


# ---- chats


@kernel
def said_in(data: Bytes, tape: Ints, table: Table, message: int) -> int:
    """The token of a chat message's text, or `UNSURE`: also if it is empty, or may be reasoning.

    One pass over the members, which are few; names of equal length are compared.
    """
    content = 0
    at = message + 1
    while at < tape[message, TOKEN_NEXT]:
        start, end, value = tape[at, TOKEN_START], tape[at, TOKEN_END], at + 1
        size = end - start
        if size == len(_CONTENT):
            if same_as(data, start, end, _CONTENT):
                content = value
            elif not is_null(data, tape, value) and (
                same_as(data, start, end, _REFUSAL)
                or same_as(data, start, end, _CHANNEL)
                or same_as(data, start, end, _THOUGHT)
            ):
                return UNSURE
        elif size == len(_TYPE):
            if same_as(data, start, end, _TYPE) and not _is(data, tape, value, _MESSAGE):
                return UNSURE
        elif size == len(_PHASE):
            if same_as(data, start, end, _PHASE):
                return UNSURE
        elif size == len(_FINISH_REASON) or size == len(_STOP_REASON):
            is_reason = same_as(data, start, end, _FINISH_REASON) or same_as(data, start, end, _STOP_REASON)
            if is_reason and not is_null(data, tape, value) and not _is_plain_end(data, tape, table, value):
                return UNSURE
        at = tape[value, TOKEN_NEXT]
    text = content
    if not is_text(tape, content):
        if content == 0 or tape[content, TOKEN_KIND] != LIST:
            return UNSURE
        text = _part_of(data, tape, content)
    return UNSURE if text == UNSURE or is_empty(tape, text) else text


@kernel
def _is(data: Bytes, tape: Ints, token: int, word: Bytes) -> bool:
    """Whether a value is a text without escapes, and this word."""
    return tape[token, TOKEN_KIND] == STRING and same_as(
        data, tape[token, TOKEN_START], tape[token, TOKEN_END], word
    )


@kernel
def _part_of(data: Bytes, tape: Ints, content: int) -> int:
    """The token of the text of a content given in parts, of which just one is text; or `UNSURE`."""
    found = UNSURE
    at = content + 1
    while at < tape[content, TOKEN_NEXT]:
        if tape[at, TOKEN_KIND] != OBJECT:
            return UNSURE
        kind, text = member(data, tape, at, _TYPE), member(data, tape, at, _TEXT)
        if member(data, tape, at, _THOUGHT) != 0:
            return UNSURE
        if kind != 0:
            if tape[kind, TOKEN_KIND] != STRING or _is(data, tape, kind, _REFUSAL):
                return UNSURE
            if not _is(data, tape, kind, _TEXT) and not _is(data, tape, kind, _OUTPUT_TEXT):
                text = 0
        if is_text(tape, text):
            if found != UNSURE:
                return UNSURE
            found = text
        at = tape[at, TOKEN_NEXT]
    return found


@kernel
def last_said(data: Bytes, tape: Ints, table: Table, messages: int) -> int:
    """The token of the text of the assistant's last message in a list of messages, or `UNSURE`."""
    last = 0
    at = messages + 1
    while at < tape[messages, TOKEN_NEXT]:
        role = member(data, tape, at, _ROLE)
        if role == 0 or tape[role, TOKEN_KIND] != STRING:
            return UNSURE
        if same_as(data, tape[role, TOKEN_START], tape[role, TOKEN_END], _ASSISTANT):
            last = at
        at = tape[at, TOKEN_NEXT]
    return said_in(data, tape, table, last) if last else UNSURE


@kernel
def samples_in(data: Bytes, tape: Ints, table: Table, response: int, samples: Ints) -> int:
    """How many samples a response field has: a text, messages, or a list of those; or `UNSURE`."""
    if is_text(tape, response):
        samples[0] = response
        return 1
    if response == 0 or tape[response, TOKEN_KIND] != LIST:
        return UNSURE
    at = response + 1
    if at < tape[response, TOKEN_NEXT] and tape[at, TOKEN_KIND] == OBJECT:
        samples[0] = last_said(data, tape, table, response)
        return 1 if samples[0] > 0 else UNSURE
    n = 0
    while at < tape[response, TOKEN_NEXT]:
        text = at
        if tape[at, TOKEN_KIND] > ESCAPED:
            is_list = tape[at, TOKEN_KIND] == LIST and tape[at, TOKEN_NEXT] > at + 1
            text = last_said(data, tape, table, at) if is_list else UNSURE
        if text < 0:
            return UNSURE
        samples[n] = text
        n += 1
        at = tape[at, TOKEN_NEXT]
    return n if n > 0 else UNSURE


# ---- forms


@kernel
def _meets(data: Bytes, tape: Ints, table: Table, fields: Ints, test: int, stop: int, out: Ints) -> int:
    """Whether a row meets some conditions (1 or 0), or `UNSURE`."""
    while test < stop:
        asks, each = table.tests[test, TEST_ASKS], table.tests[test, TEST_EACH]
        if asks == UNDECIDED:
            return UNSURE
        n = walk(data, tape, table, fields, 0, table.tests[test, TEST_PATH], out)
        if n == UNSURE:
            return UNSURE
        kind = tape[out[0], TOKEN_KIND] if n > 0 else -1
        if not (
            (asks == IS_THERE and n > 0)
            or (asks == IS_ABSENT and n == 0)
            or (asks == IS_OBJECT and kind == OBJECT)
            or (asks == IS_LIST and kind == LIST)
            or (asks == IS_NULL and n > 0 and is_null(data, tape, out[0]))
        ):
            return 0
        if each >= 0:
            items = out[0]
            at = items + 1
            while at < tape[items, TOKEN_NEXT]:
                n = walk(data, tape, table, fields, at, each, out)
                if n <= 0:
                    return n
                at = tape[at, TOKEN_NEXT]
        test += 1
    return 1


@kernel
def form_of(data: Bytes, tape: Ints, table: Table, fields: Ints, members: Any, out: Ints) -> int:
    """The number of a row's form, or `UNSURE`."""
    ways = table.ways
    for way in range(ways.shape[0]):
        if members & ways[way, WAY_MEMBERS] != ways[way, WAY_MEMBERS]:
            continue
        meets = _meets(data, tape, table, fields, ways[way, WAY_TESTS], ways[way, WAY_TESTS_END], out)
        if meets != 0:
            return int(ways[way, WAY_FORM]) if meets == 1 else UNSURE
    return UNSURE


@kernel
def _is_success(data: Bytes, tape: Ints, token: int) -> bool:
    """Whether a status is missing, null, or a number that means success (200 to 299)."""
    if is_null(data, tape, token):
        return True
    start = tape[token, TOKEN_START]
    return bool(
        tape[token, TOKEN_KIND] == INTEGER and tape[token, TOKEN_END] == start + 3 and data[start] == 50
    )


# ---- responses


@kernel
def _text_of(data: Bytes, tape: Ints, table: Table, fields: Ints, item: int, source: Ints, out: Ints) -> int:
    """The token of a sample's text, by the first way to read it that applies, or `UNSURE`."""
    for way in range(source[SAID_SAYS], source[SAID_SAYS_END]):
        how = table.says[way, SAY_HOW]
        n = walk(data, tape, table, fields, item, table.says[way, SAY_PATH], out)
        if n == UNSURE:
            return UNSURE
        last = int(out[n - 1]) if n > 0 else 0
        if how == SAYS_MESSAGE:
            # an empty path leads to the sample, which is never the row
            if last > 0 and tape[last, TOKEN_KIND] == OBJECT:
                return said_in(data, tape, table, last)
        elif how == SAYS_TEXT:
            if is_text(tape, last):
                return last
        elif how == SAYS_TEXTS:
            texts = 0
            for k in range(n):
                if is_text(tape, out[k]):
                    texts += 1
                    last = int(out[k])
            if texts > 0:
                return last if texts == 1 else UNSURE
        else:
            return last if is_text(tape, last) else UNSURE
    return UNSURE


@kernel
def _sample(data: Bytes, tape: Ints, table: Table, fields: Ints, item: int, source: Ints, out: Ints) -> int:
    """The token of a sample's text, or `UNSURE`."""
    error = source[SAID_ERROR]
    if error >= 0:
        # an error of the sample, or else of the row
        for root in (item, 0):
            n = walk(data, tape, table, fields, root, error, out)
            if n == UNSURE or (n > 0 and not is_null(data, tape, out[0])):
                return UNSURE
    reason = source[SAID_REASON]
    if reason >= 0:
        for root in (item, 0):
            if _end_at(data, tape, table, fields, root, reason, out) == UNSURE:
                return UNSURE
    text = _text_of(data, tape, table, fields, item, source, out)
    if text == UNSURE or (reason >= 0 and is_empty(tape, text)):
        return UNSURE
    if source[SAID_INSTEAD] >= 0:
        again = _first(data, tape, table, fields, source[SAID_INSTEAD], source[SAID_INSTEAD] + 1, False, out)
        text = UNSURE if again == UNSURE else again if is_text(tape, again) else text
    return text


@kernel
def _responses(
    data: Bytes, tape: Ints, table: Table, fields: Ints, form: Ints, samples: Ints, out: Ints
) -> int:
    """How many responses a row has, with their texts' tokens in ``samples``; or `UNSURE`."""
    path = form[FORM_RESPONSE]
    if path >= 0:
        token = _first(data, tape, table, fields, path, path + 1, True, out)
        if token == UNSURE:
            return UNSURE
        n = samples_in(data, tape, table, token, samples)
        empty = n == 1 and form[FORM_FLAGS] & NOT_EMPTY != 0 and is_empty(tape, samples[0])
        return UNSURE if empty else n
    for k in range(form[FORM_SAID], form[FORM_SAID_END]):
        source = table.said[k]
        for items in range(source[SAID_ITEMS], source[SAID_ITEMS_END]):
            n = walk(data, tape, table, fields, 0, items, samples)
            if n == UNSURE:
                return UNSURE
            if n > 0 and source[SAID_LAST] != 0:
                samples[0] = samples[n - 1]
                n = 1
            for sample in range(n):
                samples[sample] = _sample(data, tape, table, fields, samples[sample], source, out)
                if samples[sample] <= 0:
                    return UNSURE
            if n > 0:
                return n
    return UNSURE


@kernel
def _find_id(data: Bytes, tape: Ints, table: Table, fields: Ints, form: Ints, out: Ints) -> Any:
    """The token of a row's id, 0 for none, `OF_GOLD`, or `UNSURE`; and whether the tool gave the id."""
    flags = form[FORM_FLAGS]
    path, stop = form[FORM_ID], form[FORM_ID_END]
    own_id = _first(data, tape, table, fields, path, stop, flags & FIRST_COUNTS != 0, out)
    if own_id == 0 and flags & NUMBERS_JOIN != 0:
        return OF_GOLD, False
    path, stop = form[FORM_PROMPT], form[FORM_PROMPT_END]
    n_there = 0
    for k in range(path, stop):
        n = walk(data, tape, table, fields, 0, k, out)
        if n == UNSURE:
            return UNSURE, False
        n_there += n > 0 and not is_null(data, tape, out[0])
    if path < stop and n_there == stop - path and (own_id == 0 or flags & FIRST_COUNTS != 0):
        return OF_GOLD, False
    if own_id != 0:
        return own_id, False
    return _first(data, tape, table, fields, form[FORM_NUMBER], form[FORM_NUMBER_END], False, out), True


@kernel
def question_of(data: Bytes, tape: Ints, table: Table, work: Work, form: Ints) -> int:
    """The token of a row's question if that is a text, 0 if there is none, or `UNSURE`."""
    if form[FORM_FLAGS] & ASKS_UNSEEN != 0:
        return UNSURE
    path, stop = form[FORM_QUESTION], form[FORM_QUESTION_END]
    token = int(_first(data, tape, table, work.fields, path, stop, False, work.found))
    if token <= 0:
        return token
    if not is_text(tape, token):
        return UNSURE
    return 0 if is_empty(tape, token) else token


@kernel
def read_row(data: Bytes, settings: Ints, chosen: Bytes, table: Table, work: Work, members: Any) -> Any:
    """Find the form of a row, whose token is 0, its id and, unless it is one of a gold file, its responses.

    Parameters
    ----------
    settings : int64, shape (SET_SIZE,)
    chosen : uint8
        The filter that is scored, if ``settings`` say that there is one.
    work
        ``fields`` are those that `find_members` has filled in, for ``members``; ``samples`` get the token
        of each response, a string.

    Returns
    -------
    (n, form, id, given)
        How many responses (0 in a gold file), `UNSURE` or `LEFT_OUT`; the form's number; the id's token, 0 or
        `OF_GOLD`; and whether it is the tool's own.
    """
    tape, fields, samples, out = work.tape, work.fields, work.samples, work.found
    number = form_of(data, tape, table, fields, members, out)
    if number == UNSURE:
        return UNSURE, 0, 0, False
    form = table.forms[number]
    is_gold = settings[SET_IS_GOLD] != 0
    if form[FORM_FILTER] >= 0 and not is_gold:
        name = fields[form[FORM_FILTER]]
        kind = tape[name, TOKEN_KIND]
        if name != 0 and kind <= ESCAPED:
            if kind == ESCAPED or settings[SET_FILTER] == 0:
                return UNSURE, number, 0, False
            if not same_bytes(data, tape[name, TOKEN_START], tape[name, TOKEN_END], chosen, 0, len(chosen)):
                return LEFT_OUT, number, 0, False
    for path in range(form[FORM_GUARDS], form[FORM_GUARDS_END]):
        n = walk(data, tape, table, fields, 0, path, out)
        if n == UNSURE or (n > 0 and _is_there(data, tape, out[0]) != 0):
            return UNSURE, number, 0, False
    for path in range(form[FORM_STATUS], form[FORM_STATUS_END]):
        n = walk(data, tape, table, fields, 0, path, out)
        if n == UNSURE or (n > 0 and not _is_success(data, tape, out[0])):
            return UNSURE, number, 0, False
    token, given = _find_id(data, tape, table, fields, form, out)
    if token == UNSURE:
        return UNSURE, number, 0, False
    if is_gold:
        return 0, number, token, given
    says = has_ended(data, tape, table, fields, out)
    n = UNSURE if says == UNSURE else _responses(data, tape, table, fields, form, samples, out)
    for sample in range(n if says == 1 else 0):
        if is_empty(tape, samples[sample]):
            n = UNSURE
    return (n if n > 0 else UNSURE), number, token, given
