"""Where a row has what a record needs, by a table of forms: this knows paths, and no tool by name.

The table is `relfast.formats.table`, and what `relfast.formats.reading` does with it this does with tokens.
What it cannot tell for certain it leaves (`UNSURE`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ABORTED,
    ANY_VALUE,
    ENDED,
    ESCAPED,
    FILTERED,
    FORM_ANSWER,
    FORM_ANSWER_END,
    FORM_ATTACHED,
    FORM_DIALECT,
    FORM_ERRORS,
    FORM_ERRORS_END,
    FORM_FAILED_ID,
    FORM_FILTER,
    FORM_ID,
    FORM_ID_END,
    FORM_IN_KERNEL,
    FORM_NEEDS,
    FORM_NEEDS_END,
    FORM_NONE,
    FORM_NONE_END,
    FORM_NUMBER,
    FORM_NUMBER_END,
    FORM_NUMBERED,
    FORM_PLAIN,
    FORM_PROMPT,
    FORM_PROMPT_END,
    FORM_QUESTION,
    FORM_QUESTION_END,
    FORM_RESPONSE,
    FORM_RESPONSE_END,
    FORM_SAID,
    FORM_SAID_END,
    FORM_SOURCE,
    FORM_SOURCE_END,
    FORM_STATUS,
    FORM_STATUS_END,
    FORM_SUFFIX,
    FORM_SUFFIX_END,
    FORM_TASK,
    FORM_TASK_END,
    FORM_WHEN,
    FORM_WHEN_END,
    IS_ABSENT,
    IS_LIST,
    IS_NULL_THERE,
    IS_OBJECT,
    LIST,
    LONGEST_MEMBER,
    MAX_TOKENS,
    NO_CONTENT,
    NONE_PATH,
    NONE_WORDS,
    NULL_RESPONSE,
    OBJECT,
    SAID_ABORTED,
    SAID_ABORTED_END,
    SAID_ENDED,
    SAID_ERROR,
    SAID_FILTERED,
    SAID_FILTERED_END,
    SAID_INSTEAD,
    SAID_ITEMS,
    SAID_ITEMS_END,
    SAID_LAST,
    SAID_NO_OBJECT,
    SAID_NOTHING,
    SAID_REASON,
    SAID_SAYS,
    SAID_SAYS_END,
    SAY_HOW,
    SAY_LIST,
    SAY_PATH,
    SAYS_MESSAGE,
    SAYS_TEXT,
    SAYS_TEXTS,
    STRING,
    TEST_ASKS,
    TEST_EACH,
    TEST_PATH,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    WAY_FORM,
    WAY_TESTS,
    WAY_TESTS_END,
    WORDS_QUOTE,
)
from relfast_kernels.text.entry import (
    ENTRY_ANSWER,
    ENTRY_COUNTED,
    ENTRY_FORM,
    ENTRY_ID,
    ENTRY_INPUT,
    ENTRY_QUESTION,
    ENTRY_SIZE,
    ENTRY_SOURCE,
    ENTRY_TASK,
)
from relfast_kernels.text.failures import (
    NO_TEXT,
    UNSURE,
    failure,
    said_of_error,
    said_of_status,
    settled,
)
from relfast_kernels.text.find import begins_with, find_byte, same_bytes
from relfast_kernels.text.gold import may_be_task, task_number
from relfast_kernels.text.json_scan import is_null
from relfast_kernels.text.mapped import map_fields, maps_response
from relfast_kernels.text.messages import (
    is_empty,
    is_silent,
    is_text,
    said_in,
    samples_in,
    text_of,
    text_parts,
)
from relfast_kernels.text.paths import as_object, is_there, named, walk

LEFT_OUT = -2
"""Instead of a number of responses, as `UNSURE` is: the row is of a filter that is not scored."""

_ATTACHED = np.frombuffer(b"attachment://", np.uint8)
_ESCAPED_LETTER = np.frombuffer(b"\\u00", np.uint8)


@kernel
def member_number(data: Any, start: int, end: int, table: Any) -> int:
    """The number of a member of the row that the table knows, or -1."""
    length = end - start
    if length < 2 or length > LONGEST_MEMBER:
        return -1
    first = data[start]
    for k in range(table.of_length[length], table.of_length[length + 1]):
        at = table.members[k, 0]
        if table.names[at] == first and same_bytes(table.names, at, at + length, data, start, end):
            return k
    return -1


@kernel
def _first(
    data: Any, tape: Any, table: Any, fields: Any, path: int, stop: int, as_it_is: bool, out: Any
) -> int:  # fmt: skip
    """The first value of some paths that is not null, or, with ``as_it_is``, that is there; 0 for none, or
    `UNSURE`."""
    while path < stop:
        n = walk(data, tape, table, fields, 0, path, out)
        if n == UNSURE:
            return UNSURE
        for k in range(n):
            if as_it_is or not is_null(data, tape, out[k]):
                return int(out[k])
        path += 1
    return 0


# ---- forms


@kernel
def _has_kind(data: Any, tape: Any, token: int, asks: int) -> bool:
    kind = tape[token, TOKEN_KIND]
    if asks == IS_OBJECT:
        return bool(kind == OBJECT)
    if asks == IS_LIST:
        return bool(kind == LIST)
    return asks == ANY_VALUE or (asks == IS_NULL_THERE and is_null(data, tape, token))


@kernel
def _meets(data: Any, tape: Any, table: Any, fields: Any, test: int, stop: int, out: Any) -> int:
    """Whether a row meets some conditions (1), or `UNSURE`."""
    while test < stop:
        asks, each = table.tests[test, TEST_ASKS], table.tests[test, TEST_EACH]
        n = walk(data, tape, table, fields, 0, table.tests[test, TEST_PATH], out)
        if n == UNSURE:
            return UNSURE
        if asks == IS_ABSENT:
            if n > 0:
                return 0
        elif n == 0 or not _has_kind(data, tape, out[0], asks):
            return 0
        elif each >= 0:
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
def _form_of(data: Any, tape: Any, table: Any, dialect: int, fields: Any, out: Any) -> int:
    """The form of a row, -1 for none, or -2: `UNSURE`; ``dialect`` is that of all rows, 0 for each's own."""
    forms = table.forms
    if dialect != 0:
        form = -1
        for k in range(forms.shape[0]):
            if forms[k, FORM_DIALECT] != dialect:
                continue
            form = k
            when, stop = forms[k, FORM_WHEN], forms[k, FORM_WHEN_END]
            meets = _meets(data, tape, table, fields, when, stop, out) if when < stop else 0
            if meets == UNSURE:
                return -2
            if meets == 1:
                break
        meets = _meets(data, tape, table, fields, forms[form, FORM_NEEDS], forms[form, FORM_NEEDS_END], out)
        return form if meets == 1 else -2
    for way in range(table.ways.shape[0]):
        meets = _meets(
            data, tape, table, fields, table.ways[way, WAY_TESTS], table.ways[way, WAY_TESTS_END], out
        )
        if meets == UNSURE:
            return -2
        if meets == 1:
            return int(table.ways[way, WAY_FORM])
    return -1


@kernel
def _says_task(data: Any, start: int, end: int) -> bool:
    return task_number(data, start, end) >= 0 or may_be_task(data, start, end)


@kernel
def _task_among(data: Any, tape: Any, table: Any, fields: Any, path: int, stop: int, out: Any) -> int:
    """The first text that names a task, or may; 0 where none does, or `UNSURE`."""
    while path < stop:
        n = walk(data, tape, table, fields, 0, path, out)
        if n == UNSURE:
            return UNSURE
        for k in range(n):
            token = out[k]
            if not is_text(tape, token):
                continue
            if tape[token, TOKEN_KIND] == ESCAPED:
                return int(token)
            start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
            bar = find_byte(data, start, end, 124)
            if bar < end:
                # between bars stands a name that only the exact way takes out
                if _says_task(data, bar + 1, find_byte(data, bar + 1, end, 124)):
                    return UNSURE
            elif _says_task(data, start, end):
                return int(token)
        path += 1
    return 0


@kernel
def is_attached(data: Any, tape: Any, token: int) -> bool:
    """Whether a text stands elsewhere in the row, or may: its first letter is escaped."""
    if token <= 0 or tape[token, TOKEN_KIND] > ESCAPED:
        return False
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    return begins_with(data, start, end, _ATTACHED) or begins_with(data, start, end, _ESCAPED_LETTER)


@kernel
def _answer(data: Any, tape: Any, table: Any, fields: Any, form: Any, out: Any) -> int:
    """The gold that a row carries, 0 for none, or `UNSURE`."""
    path, stop = form[FORM_ANSWER], form[FORM_ANSWER_END]
    if form[FORM_PLAIN] != 0:
        return _first(data, tape, table, fields, path, stop, True, out)
    while path < stop:
        n = walk(data, tape, table, fields, 0, path, out)
        if n == UNSURE:
            return UNSURE
        for k in range(n):
            token = out[k]
            first = token
            if tape[token, TOKEN_KIND] == LIST and tape[token, TOKEN_NEXT] > token + 1:
                first = token + 1
            if form[FORM_ATTACHED] != 0 and is_attached(data, tape, first):
                return UNSURE
            gold = as_object(data, tape, token)
            if gold != 0:
                return gold
        path += 1
    return 0


@kernel
def _find_id(data: Any, tape: Any, table: Any, fields: Any, form: Any, entry: Any, out: Any) -> int:
    """Find the id of a row whose gold is known: 0, or `UNSURE`."""
    plain = form[FORM_PLAIN] != 0
    own = _first(data, tape, table, fields, form[FORM_ID], form[FORM_ID_END], plain, out)
    if own == UNSURE:
        return UNSURE
    answer = entry[ENTRY_ANSWER]
    if form[FORM_PROMPT] < form[FORM_PROMPT_END] and (plain or own == 0) and not is_null(data, tape, answer):
        prompt = _first(data, tape, table, fields, form[FORM_PROMPT], form[FORM_PROMPT_END], False, out)
        is_read = is_text(tape, answer) or tape[answer, TOKEN_KIND] == OBJECT
        # the digest is of the gold as the row has it
        if prompt != 0 and not (plain and is_text(tape, prompt) and is_read):
            return UNSURE
        entry[ENTRY_INPUT] = prompt
    if own == 0 and form[FORM_NUMBERED] != 0:
        entry[ENTRY_COUNTED] = 1
        own = _first(data, tape, table, fields, form[FORM_NUMBER], form[FORM_NUMBER_END], False, out)
    suffix = _first(data, tape, table, fields, form[FORM_SUFFIX], form[FORM_SUFFIX_END], False, out)
    if own == UNSURE or suffix != 0:
        return UNSURE
    entry[ENTRY_ID] = own
    return 0


@kernel
def _find_fields(data: Any, tape: Any, table: Any, fields: Any, form: Any, entry: Any, out: Any) -> int:
    """Find id, task, gold and question of a row: 0, or `UNSURE`."""
    plain = form[FORM_PLAIN] != 0
    path, stop = form[FORM_TASK], form[FORM_TASK_END]
    if plain:
        task = _first(data, tape, table, fields, path, stop, True, out)
        if task == 0:
            path, stop = form[FORM_SOURCE], form[FORM_SOURCE_END]
            entry[ENTRY_SOURCE] = _first(data, tape, table, fields, path, stop, False, out)
    else:
        task = _task_among(data, tape, table, fields, path, stop, out)
        path, stop = form[FORM_QUESTION], form[FORM_QUESTION_END]
        entry[ENTRY_QUESTION] = _first(data, tape, table, fields, path, stop, False, out)
        if form[FORM_ATTACHED] != 0 and is_attached(data, tape, entry[ENTRY_QUESTION]):
            return UNSURE
    answer = _answer(data, tape, table, fields, form, out)
    if task == UNSURE or answer == UNSURE or entry[ENTRY_QUESTION] == UNSURE or entry[ENTRY_SOURCE] == UNSURE:
        return UNSURE
    entry[ENTRY_TASK], entry[ENTRY_ANSWER] = task, answer
    return _find_id(data, tape, table, fields, form, entry, out)


# ---- what was said


@kernel
def _of_sample(data: Any, tape: Any, table: Any, fields: Any, item: int, path: int, out: Any) -> int:
    """What is said of a sample by itself, or else by the row; 0 for nothing, or `UNSURE`."""
    if path < 0:
        return 0
    n = walk(data, tape, table, fields, item, path, out)
    if n > 0 and not is_null(data, tape, out[0]):
        return int(out[0])
    return UNSURE if n == UNSURE else _first(data, tape, table, fields, path, path + 1, False, out)


@kernel
def _joined(data: Any, tape: Any, table: Any, fields: Any, item: int, say: Any, n: int, out: Any) -> int:
    """`MAX_TOKENS` and a list all of whose ``n`` items have a text that counts, or `UNSURE`."""
    if walk(data, tape, table, fields, item, say[SAY_LIST], out) != 1:
        return UNSURE
    items = int(out[0])
    at = items + 1
    while at < tape[items, TOKEN_NEXT]:
        if tape[at, TOKEN_KIND] != OBJECT or text_of(data, tape, at) == 0:
            return UNSURE
        n -= 1
        at = tape[at, TOKEN_NEXT]
    return text_parts(data, tape, items) if n == 0 else UNSURE


@kernel
def _words_of(data: Any, tape: Any, table: Any, fields: Any, item: int, said: Any, out: Any) -> int:
    """What a sample says, the first of several ways first: a text, parts, or a failure; or `UNSURE`."""
    for way in range(said[SAID_SAYS], said[SAID_SAYS_END]):
        say = table.says[way]
        how = say[SAY_HOW]
        n = walk(data, tape, table, fields, item, say[SAY_PATH], out)
        if n == UNSURE:
            return UNSURE
        last = int(out[n - 1]) if n > 0 else -1
        if how == SAYS_MESSAGE:
            if n > 0 and tape[last, TOKEN_KIND] == OBJECT:
                return said_in(data, tape, last)
        elif how == SAYS_TEXT:
            if n > 0 and is_text(tape, last):
                return last
        elif how == SAYS_TEXTS:
            n_texts = 0
            for k in range(n):
                if is_text(tape, out[k]):
                    n_texts += 1
                    last = int(out[k])
            if n_texts > 0:
                return last if n_texts == 1 else _joined(data, tape, table, fields, item, say, n_texts, out)
        elif n == 0 or is_null(data, tape, last):
            return failure(NULL_RESPONSE, 0)
        else:
            return last if is_text(tape, last) else UNSURE
    return failure(NO_CONTENT, 0)


@kernel
def _is_among(data: Any, tape: Any, table: Any, reason: int, first: int, stop: int) -> bool:
    """Whether a reason is one of some words."""
    start, end = tape[reason, TOKEN_START], tape[reason, TOKEN_END]
    for k in range(first, stop):
        if same_bytes(data, start, end, table.names, table.reasons[k, 0], table.reasons[k, 1]):
            return True
    return False


@kernel
def _silent(data: Any, tape: Any, table: Any, text: int, said: Any, reason: int) -> int:
    """What a sample says that has no words; it ended for a reason."""
    if reason == UNSURE or (reason > 0 and tape[reason, TOKEN_KIND] != STRING):
        # another kind of value is told, or nothing
        return UNSURE
    without = text == failure(NO_CONTENT, 0)
    words = said[SAID_NOTHING]
    if without and words >= 0:
        return failure(words, reason)
    if reason > 0:
        if text != failure(NULL_RESPONSE, 0) and _is_among(
            data, tape, table, reason, said[SAID_FILTERED], said[SAID_FILTERED_END]
        ):
            return failure(FILTERED, 0)
        if _is_among(data, tape, table, reason, said[SAID_ABORTED], said[SAID_ABORTED_END]):
            return failure(ABORTED, reason)
        if without and said[SAID_ENDED] != 0 and not is_empty(tape, reason):
            return failure(ENDED, reason)
    return text


@kernel
def _sample(data: Any, tape: Any, table: Any, fields: Any, item: int, form: Any, said: Any, out: Any) -> int:
    """What a sample says: a text, parts, or a failure; or `UNSURE`."""
    if said[SAID_NO_OBJECT] >= 0 and tape[item, TOKEN_KIND] != OBJECT:
        return failure(said[SAID_NO_OBJECT], 0)
    error = _of_sample(data, tape, table, fields, item, said[SAID_ERROR], out)
    if error != UNSURE:
        error = said_of_error(data, tape, error)
    if error != 0:
        return error
    text = _words_of(data, tape, table, fields, item, said, out)
    if text == UNSURE:
        return UNSURE
    if text == failure(NULL_RESPONSE, 0) and said[SAID_ENDED] != 0:
        text = failure(NO_CONTENT, 0)
    no_text = text == failure(NULL_RESPONSE, 0) or text == failure(NO_CONTENT, 0)
    if no_text or (text < NO_TEXT and is_silent(data, tape, text)):
        reason = _of_sample(data, tape, table, fields, item, said[SAID_REASON], out)
        text = _silent(data, tape, table, text, said, reason)
    if text >= 0 and text < NO_TEXT and said[SAID_INSTEAD] >= 0:
        path = said[SAID_INSTEAD]
        again = _first(data, tape, table, fields, path, path + 1, False, out)
        text = again if is_text(tape, again) else text
        if form[FORM_ATTACHED] != 0 and text < MAX_TOKENS and is_attached(data, tape, text):
            return UNSURE
    return text


@kernel
def _none(data: Any, tape: Any, table: Any, fields: Any, form: Any, out: Any) -> int:
    """Why a row has no samples: a failure, or `UNSURE`."""
    for k in range(form[FORM_NONE], form[FORM_NONE_END]):
        path, words = table.none[k, NONE_PATH], table.none[k, NONE_WORDS]
        if path < 0:
            return failure(words, 0)
        value = _first(data, tape, table, fields, path, path + 1, False, out)
        if value == UNSURE:
            return UNSURE
        if words < 0:
            error = said_of_error(data, tape, value)
            if error != 0:
                return error
            continue
        there = is_there(data, tape, value) if value != 0 else 0
        quotes = table.words[words, WORDS_QUOTE] != 0
        if there == UNSURE or (there == 1 and quotes and not is_text(tape, value)):
            return UNSURE
        if there == 1:
            return failure(words, value if quotes else 0)
    return failure(NO_CONTENT, 0)


@kernel
def _responses(data: Any, tape: Any, table: Any, fields: Any, form: Any, samples: Any, out: Any) -> int:
    """How many responses a row has, or `UNSURE`."""
    has_none = form[FORM_NONE] < form[FORM_NONE_END]
    path = form[FORM_RESPONSE]
    if path < form[FORM_RESPONSE_END]:
        token = _first(data, tape, table, fields, path, path + 1, True, out)
        if token == UNSURE:
            return UNSURE
        n = samples_in(data, tape, token, samples)
        if has_none and (
            n == 0 or is_null(data, tape, token) or (is_text(tape, token) and is_empty(tape, token))
        ):
            samples[0] = _none(data, tape, table, fields, form, out)
            return 1 if samples[0] > 0 else UNSURE
        return n
    for k in range(form[FORM_SAID], form[FORM_SAID_END]):
        said = table.said[k]
        for items in range(said[SAID_ITEMS], said[SAID_ITEMS_END]):
            n = walk(data, tape, table, fields, 0, items, samples)
            if n == UNSURE:
                return UNSURE
            if n > 0 and said[SAID_LAST] != 0:
                samples[0] = samples[n - 1]
                n = 1
            for sample in range(n):
                samples[sample] = _sample(data, tape, table, fields, samples[sample], form, said, out)
                if samples[sample] <= 0:
                    return UNSURE
            if n > 0:
                return n
    samples[0] = _none(data, tape, table, fields, form, out)
    return 1 if samples[0] > 0 else UNSURE


@kernel
def _failed(data: Any, tape: Any, table: Any, fields: Any, form: Any, out: Any) -> int:
    """Why the request of a row failed as a whole, 0 if it did not, or `UNSURE`."""
    for path in range(form[FORM_ERRORS], form[FORM_ERRORS_END]):
        n = walk(data, tape, table, fields, 0, path, out)
        said = said_of_error(data, tape, out[0]) if n > 0 else min(n, 0)
        if said != 0:
            return said
    path, stop = form[FORM_STATUS], form[FORM_STATUS_END]
    code = _first(data, tape, table, fields, path, stop, False, out)
    return UNSURE if code == UNSURE else said_of_status(data, tape, code)


@kernel
def _only_failed(data: Any, tape: Any, response: int, error: int, table: Any) -> int:
    """What a row in no dialect says of a request that failed; 0: it says something else, or `UNSURE`."""
    if is_null(data, tape, response):
        return said_of_error(data, tape, error)
    if tape[response, TOKEN_KIND] != OBJECT:
        return 0
    name = table.members[table.own[0]]
    return said_of_error(data, tape, named(data, tape, response, table.names, name[0], name[1]))


@kernel
def read_entry(data: Any, dialect: int, chosen: Any, has_chosen: bool, table: Any, work: Any) -> int:
    """Find the tokens of a row, whose own is token 0.

    Parameters
    ----------
    dialect
        0, or the one that all rows are in.
    chosen : uint8
        The filter that is scored, if ``has_chosen``.
    table : Table
    work : Work
        ``entry`` is filled, and ``samples``: the token of each response, a string, or, with `MAX_TOKENS`
        added, a message's parts; from `failures.NO_TEXT` on, why there is none.

    Returns
    -------
    int
        How many responses, `UNSURE` or `LEFT_OUT`.
    """
    tape, fields, entry, samples, out = work.tape, work.fields, work.entry, work.samples, work.found
    for k in range(table.members.shape[0]):
        fields[k] = 0
    at = 1
    while at < tape[0, TOKEN_NEXT]:
        number = member_number(data, tape[at, TOKEN_START], tape[at, TOKEN_END], table)
        if number >= 0:
            fields[number] = at + 1
        at = tape[at + 1, TOKEN_NEXT]
    for k in range(ENTRY_SIZE):
        entry[k] = 0
    number = _form_of(data, tape, table, dialect, fields, out)
    if number == -1:
        number = table.own[2]
    if number < 0:
        return UNSURE
    form = table.forms[number]
    if form[FORM_IN_KERNEL] == 0:
        return UNSURE
    entry[ENTRY_FORM] = number
    if form[FORM_FILTER] >= 0:
        name = fields[form[FORM_FILTER]]
        kind = tape[name, TOKEN_KIND]
        if name != 0 and kind <= ESCAPED:
            if kind == ESCAPED or not has_chosen:
                return UNSURE
            if not same_bytes(data, tape[name, TOKEN_START], tape[name, TOKEN_END], chosen, 0, len(chosen)):
                return LEFT_OUT
    if _find_fields(data, tape, table, fields, form, entry, out) == UNSURE:
        return UNSURE
    error, code = fields[table.own[0]], fields[table.own[1]]
    is_mapped = maps_response(table)
    n = 0 if is_mapped else _responses(data, tape, table, fields, form, samples, out)
    if form[FORM_FAILED_ID] >= 0 and not is_mapped and fields[form[FORM_FAILED_ID]] and not entry[ENTRY_ID]:
        path = form[FORM_RESPONSE]
        response = _first(data, tape, table, fields, path, path + 1, True, out)
        said = UNSURE if response == UNSURE else _only_failed(data, tape, response, error, table)
        if said == UNSURE:
            return UNSURE
        if said != 0:
            entry[ENTRY_ID] = fields[form[FORM_FAILED_ID]]
    if n >= 0:
        n = map_fields(data, tape, table, fields, n, entry, samples, out)
    if n < 0:
        return UNSURE
    return settled(data, tape, _failed(data, tape, table, fields, form, out), error, code, n, samples)
