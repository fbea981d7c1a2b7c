"""Finding a row's id and responses by a table of paths: this knows no dialect and no tool.

It follows with tokens the steps that `relfast.formats.reading` follows with decoded rows, as far as it goes:
a row with anything else in it, or with a reason why a response is missing, is left to Python (`UNSURE`).
"""

from __future__ import annotations

from typing import Any

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
from relfast_kernels.text.ascii import BACKSLASH, BLANK, BRACE_OPEN, LOWER_A, LOWER_T, TILDE
from relfast_kernels.text.find import begins_with, same_as, same_bytes
from relfast_kernels.text.json_scan import is_null, member, named
from relfast_kernels.text.layouts import Work
from relfast_kernels.text.steps import (
    A_LIST,
    AN_OBJECT,
    DECODED,
    DECODED_TEXT,
    EACH,
    FLAT,
    HAS_OR_NOT,
    INDEX,
    IS,
    IS_ABSENT,
    IS_LIST,
    IS_NO_ERROR,
    IS_NULL,
    IS_NUMBER,
    IS_OBJECT,
    IS_TEXT,
    IS_TRUTH,
    MESSAGE,
    NAME,
    NAME_OR_INDEX,
    ONLY_PYTHON,
    OPTIONAL,
    TEXT,
    TEXTS,
    Form,
    Source,
    Span,
    Step,
    Table,
)

UNSURE, LEFT_OUT, OF_GOLD, _NOWHERE, OPENS = -1, -2, -3, -4, -5
"""In place of a token or of a number of texts: only Python can tell; the row is of a filter that is not
scored; the id comes with the gold, which is found by what the record depends on; a step leads to nothing; it
leads on into the JSON that a text holds."""

_REFUSAL = np.frombuffer(b"refusal", np.uint8)
_TEXT = np.frombuffer(b"text", np.uint8)
_TYPE = np.frombuffer(b"type", np.uint8)
_OUTPUT_TEXT = np.frombuffer(b"output_text", np.uint8)
_ROLE = np.frombuffer(b"role", np.uint8)
_USER = np.frombuffer(b"user", np.uint8)
_HUMAN = np.frombuffer(b"human", np.uint8)
_ASSISTANT = np.frombuffer(b"assistant", np.uint8)
_CONTENT = np.frombuffer(b"content", np.uint8)
_PROMPT = np.frombuffer(b"prompt", np.uint8)
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


@kernel
def find_members(data: Bytes, tape: Ints, table: Table) -> None:
    """Fill in ``table.fields``: the last value (a token) of each member that the table knows."""
    fields, longest = table.fields, len(table.of_length) - 2
    for k in range(len(fields)):
        fields[k] = 0
    at = 1
    while at < tape[0, TOKEN_NEXT]:
        start, end = tape[at, TOKEN_START], tape[at, TOKEN_END]
        length = end - start
        if length <= longest:
            for k in range(table.of_length[length], table.of_length[length + 1]):
                name = table.members[k].name
                if table.names[name.start] == data[start] and same_bytes(
                    table.names, name.start, name.end, data, start, end
                ):
                    fields[table.members[k].number] = at + 1
                    break
        at = tape[at + 1, TOKEN_NEXT]


@kernel
def _has_all(table: Table, members: Span) -> bool:
    """Whether a row has all of some members."""
    for k in range(members.start, members.end):
        if table.fields[table.numbers[k]] == 0:
            return False
    return True


@kernel
def has_any(table: Table, members: Span) -> bool:
    """Whether a row has one of some members."""
    for k in range(members.start, members.end):
        if table.fields[table.numbers[k]] != 0:
            return True
    return False


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
def _is_word(data: Bytes, tape: Ints, token: int, names: Bytes, step: Step) -> int:
    """Whether a value is the word of a step (1 or 0), or `UNSURE`."""
    kind = tape[token, TOKEN_KIND]
    if token == 0:
        return 0
    if kind == LIST or (kind == ESCAPED and step.index == 0):
        return UNSURE
    if kind != (LITERAL if step.index != 0 else STRING):
        return 0
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    return 1 if same_bytes(data, start, end, names, step.word.start, step.word.end) else 0


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
    if kind != LITERAL or data[tape[token, TOKEN_START]] < LOWER_A:
        return UNSURE
    return 1 if data[tape[token, TOKEN_START]] == LOWER_T else 0


@kernel
def _object_at(data: Bytes, tape: Ints, token: int) -> int:
    """The token of an object that has members, or of a text that may hold one, also as a list's first item;
    `_NOWHERE`, or `UNSURE`: see `relfast.formats.paths.as_object`."""
    if tape[token, TOKEN_KIND] == LIST and tape[token, TOKEN_NEXT] > token + 1:
        token += 1
    if tape[token, TOKEN_KIND] == OBJECT:
        return token if tape[token, TOKEN_NEXT] > token + 1 else _NOWHERE
    if tape[token, TOKEN_KIND] > ESCAPED or is_empty(tape, token):
        return _NOWHERE
    first = data[tape[token, TOKEN_START]]
    if first == BRACE_OPEN:
        return token
    return _NOWHERE if BLANK < first <= TILDE and first != BACKSLASH else UNSURE  # white space may come first


@kernel
def _one_step(data: Bytes, tape: Ints, token: int, names: Bytes, step: Step) -> int:
    """The token that a step leads to, `_NOWHERE` or `UNSURE`; of a step into JSON, that of the text. Token 0
    is the row itself."""
    kind, there = step.kind, tape[token, TOKEN_KIND]
    if kind >= ONLY_PYTHON:
        return UNSURE
    if kind == DECODED:
        return _object_at(data, tape, token)
    if kind == DECODED_TEXT and there != OBJECT:
        return token if there <= ESCAPED else _NOWHERE
    if there == OBJECT:
        if kind == AN_OBJECT or kind == FLAT:
            return token
        if kind == EACH or kind == A_LIST or kind == INDEX:
            return _NOWHERE
        found = named(data, tape, token, names, step.name.start, step.name.end)
        if kind == NAME or kind == NAME_OR_INDEX:
            return found if found > 0 else _NOWHERE
        if kind == DECODED_TEXT:
            return UNSURE if found > 0 else _NOWHERE
        if kind == OPTIONAL:
            return found if found > 0 else token
        if kind == HAS_OR_NOT and _is_there(data, tape, found) == 0:
            denied = named(data, tape, token, names, step.word.start, step.word.end)
            is_false = tape[denied, TOKEN_KIND] == LITERAL and data[tape[denied, TOKEN_START]] == ord("f")
            return token if denied > 0 and is_false else _NOWHERE
        has = _is_word(data, tape, found, names, step) if kind == IS else _is_there(data, tape, found)
        if has == UNSURE:
            return UNSURE
        return token if (has == 1) != (step.lacks != 0) else _NOWHERE
    if there == LIST:
        if kind == INDEX or (kind == NAME_OR_INDEX and step.lacks != 0):
            found = _item(tape, token, step.index)
            return found if found > 0 else _NOWHERE
        return token if kind == A_LIST else _NOWHERE
    return token if kind == FLAT or kind == OPTIONAL else _NOWHERE


@kernel
def walk(data: Bytes, tape: Ints, table: Table, token: int, path: int, out: Ints) -> int:
    """Follow a path from a value on: how many values it leads to, their tokens in ``out``; or `UNSURE`, also
    where it leads into the JSON of a text."""
    n = walk_to_text(data, tape, table, token, path, out)
    return UNSURE if n == OPENS else n


@kernel
def walk_to_text(data: Bytes, tape: Ints, table: Table, token: int, path: int, out: Ints) -> int:
    """`walk` up to a text whose JSON the path leads into; see `walk_on`."""
    at = table.paths[path].start
    out[0] = token
    if token == 0 and at < table.paths[path].end and table.steps[at].member >= 0:
        out[0] = table.fields[table.steps[at].member]
        if out[0] == 0:
            return 0
        at += 1
        if at == table.paths[path].end:
            return 1
    return int(walk_on(data, tape, table, at, path, out))


@kernel
def walk_on(data: Bytes, tape: Ints, table: Table, at: int, path: int, out: Ints) -> int:
    """Follow a path from its step ``at`` on, from the value with the token out[0]. How many values it leads
    to, their tokens in ``out``; `UNSURE`; or `OPENS`: out[0] is the token of a text that holds the value from
    which step out[1] leads on."""
    stop = table.paths[path].end
    n = 1
    while at < stop and n > 0:
        step = table.steps[at]
        used, m = n, 0
        for k in range(used):
            value = out[k]
            if (step.kind == EACH or step.kind == FLAT) and tape[value, TOKEN_KIND] == LIST:
                item = value + 1
                while item < tape[value, TOKEN_NEXT]:
                    out[used + m] = item
                    m += 1
                    item = tape[item, TOKEN_NEXT]
                continue
            found = _one_step(data, tape, value, table.names, step)
            if found == UNSURE:
                return UNSURE
            if found >= 0:
                if step.kind >= DECODED and is_text(tape, found):
                    out[0], out[1] = found, at + 1
                    return OPENS if used == 1 else UNSURE
                out[used + m] = found
                m += 1
        for k in range(m):
            out[k] = out[used + k]
        n = m
        at += 1
    return n


@kernel
def _first(data: Bytes, tape: Ints, table: Table, paths: Span, null_too: bool, out: Ints) -> int:
    """The token of the first value of some paths that is not null (with ``null_too``: that is there); 0:
    none; or `UNSURE`."""
    for path in range(paths.start, paths.end):
        n = walk(data, tape, table, 0, path, out)
        if n == UNSURE:
            return UNSURE
        for k in range(n):
            if null_too or not is_null(data, tape, out[k]):
                return int(out[k])
    return 0


# ---- why texts ended


@kernel
def _is_plain_end(data: Bytes, tape: Ints, table: Table, token: int) -> bool:
    """Whether a finish reason is one of those with which a text counts as it is."""
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    if tape[token, TOKEN_KIND] == STRING:
        for k in range(len(table.ends)):
            if same_bytes(data, start, end, table.names, table.ends[k].start, table.ends[k].end):
                return True
    return False


@kernel
def _end_at(data: Bytes, tape: Ints, table: Table, root: int, path: int, out: Ints) -> int:
    """Whether a finish reason stands at a path (1 or 0); `UNSURE` if Python must read what it means."""
    n = walk(data, tape, table, root, path, out)
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
def has_ended(data: Bytes, tape: Ints, table: Table, out: Ints) -> int:
    """Whether a row says why its text ended (1 or 0); `UNSURE` as in `_end_at`."""
    found = 0
    for path in range(table.reasons.start, table.reasons.end):
        says = _end_at(data, tape, table, 0, path, out)
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
def _kind_of(data: Bytes, tape: Ints, token: int) -> int:
    """What a value is: one of `IS_NULL` …"""
    kind = tape[token, TOKEN_KIND]
    if kind <= ESCAPED:
        return IS_TEXT
    if kind == OBJECT or kind == LIST:
        return IS_OBJECT if kind == OBJECT else IS_LIST
    if is_null(data, tape, token):
        return IS_NULL
    return IS_TRUTH if kind == LITERAL and data[tape[token, TOKEN_START]] >= ord("a") else IS_NUMBER


@kernel
def _meets(data: Bytes, tape: Ints, table: Table, conditions: Span, out: Ints) -> int:
    """Whether a row meets some conditions (1 or 0), or `UNSURE`."""
    for number in range(conditions.start, conditions.end):
        condition = table.conditions[number]
        n = walk(data, tape, table, 0, condition.path, out)
        if n == UNSURE:
            return UNSURE
        items = out[0]
        if condition.asks & (_kind_of(data, tape, items) if n > 0 else IS_ABSENT) == 0:
            return UNSURE if condition.asks & IS_NO_ERROR != 0 else 0
        for each in range(condition.each.start, condition.each.end):
            at = items + 1
            while at < tape[items, TOKEN_NEXT]:
                n = walk(data, tape, table, at, each, out)
                if n <= 0:
                    return n
                at = tape[at, TOKEN_NEXT]
    return 1


@kernel
def form_of(data: Bytes, tape: Ints, table: Table, out: Ints) -> int:
    """The number of a row's form, or `UNSURE`."""
    for k in range(len(table.ways)):
        way = table.ways[k]
        if not _has_all(table, way.members):
            continue
        meets = _meets(data, tape, table, way.conditions, out)
        if meets != 0:
            return int(way.form) if meets == 1 else UNSURE
    return UNSURE


@kernel
def _is_success(data: Bytes, tape: Ints, token: int) -> bool:
    """Whether a status is missing, null, or a number that means success (200 to 299)."""
    if is_null(data, tape, token):
        return True
    start = tape[token, TOKEN_START]
    return bool(
        tape[token, TOKEN_KIND] == INTEGER and tape[token, TOKEN_END] == start + 3 and data[start] == ord("2")
    )


# ---- responses


@kernel
def _text_of(data: Bytes, tape: Ints, table: Table, item: int, source: Source, out: Ints) -> int:
    """The token of a sample's text, by the first way to read it that applies, or `UNSURE`."""
    for k in range(source.says.start, source.says.end):
        how = table.says[k].how
        n = walk(data, tape, table, item, table.says[k].path, out)
        if n == UNSURE:
            return UNSURE
        last = int(out[n - 1]) if n > 0 else 0
        if how == MESSAGE:
            # an empty path leads to the sample, which is never the row
            if last > 0 and tape[last, TOKEN_KIND] == OBJECT:
                return said_in(data, tape, table, last)
        elif how == TEXT:
            if n > 1:
                return UNSURE  # the first text among them
            if is_text(tape, last):
                return last
        elif how == TEXTS:
            texts = 0
            for part in range(n):
                if is_text(tape, out[part]):
                    texts += 1
                    last = int(out[part])
            if texts > 0:
                return last if texts == 1 else UNSURE
        else:
            return last if is_text(tape, last) else UNSURE
    return UNSURE


@kernel
def _sample(data: Bytes, tape: Ints, table: Table, item: int, source: Source, out: Ints) -> int:
    """The token of a sample's text, or `UNSURE`."""
    for path in range(source.error.start, source.error.end):
        # an error of the sample, or else of the row
        for root in (item, 0):
            n = walk(data, tape, table, root, path, out)
            if n == UNSURE or (n > 0 and not is_null(data, tape, out[0])):
                return UNSURE
    for path in range(source.reason.start, source.reason.end):
        for root in (item, 0):
            if _end_at(data, tape, table, root, path, out) == UNSURE:
                return UNSURE
    text = _text_of(data, tape, table, item, source, out)
    if text == UNSURE or (source.reason.start < source.reason.end and is_empty(tape, text)):
        return UNSURE
    again = _first(data, tape, table, source.instead, False, out)
    return UNSURE if again == UNSURE else again if is_text(tape, again) else text


@kernel
def _responses(data: Bytes, tape: Ints, table: Table, form: Form, samples: Ints, out: Ints) -> int:
    """How many responses a row has, with their texts' tokens in ``samples``; or `UNSURE`."""
    if form.response.start < form.response.end:
        token = _first(data, tape, table, form.response, True, out)
        if token == UNSURE:
            return UNSURE
        n = samples_in(data, tape, table, token, samples)
        return UNSURE if n == 1 and form.not_empty != 0 and is_empty(tape, samples[0]) else n
    for k in range(form.sources.start, form.sources.end):
        source = table.sources[k]
        for items in range(source.items.start, source.items.end):
            n = walk(data, tape, table, 0, items, samples)
            if n == UNSURE:
                return UNSURE
            if n > 0 and source.last != 0:
                samples[0] = samples[n - 1]
                n = 1
            for sample in range(n):
                samples[sample] = _sample(data, tape, table, samples[sample], source, out)
                if samples[sample] <= 0:
                    return UNSURE
            if n > 0:
                return n
    return UNSURE


@kernel
def _find_id(data: Bytes, tape: Ints, table: Table, form: Form, out: Ints) -> Any:
    """The token of a row's id, 0 for none, `OF_GOLD`, or `UNSURE`; and whether the tool gave the id."""
    own_id = _first(data, tape, table, form.ids, form.first_counts != 0, out)
    if own_id == 0 and form.numbers_join != 0:
        return OF_GOLD, False
    if form.digested.start < form.digested.end and (own_id == 0 or form.first_counts != 0):
        prompt = _first(data, tape, table, form.digested, False, out)
        gold = _first(data, tape, table, form.golds, form.first_counts != 0, out)
        if prompt == UNSURE or gold == UNSURE:
            return UNSURE, False
        if not is_null(data, tape, prompt) and not is_null(data, tape, gold):
            return OF_GOLD, False
    if own_id != 0:
        return own_id, False
    return _first(data, tape, table, form.numbers, False, out), True


@kernel
def asked_of(data: Bytes, tape: Ints, table: Table, form: Form, out: Ints) -> int:
    """The token of the text that a record of a row has as its question, 0 if it has none, or `UNSURE`."""
    token = int(_first(data, tape, table, form.questions, False, out))
    if token <= 0 or is_text(tape, token):
        return token
    is_chat = form.asks_in_chat != 0 and tape[token, TOKEN_KIND] == LIST
    return int(_last_asked(data, tape, token)) if is_chat else UNSURE


@kernel
def question_of(data: Bytes, tape: Ints, table: Table, form: Form, out: Ints) -> int:
    """The token of a row's question if that is a text, 0 if there is none, or `UNSURE`."""
    token = int(asked_of(data, tape, table, form, out))
    return 0 if token > 0 and is_empty(tape, token) else token


@kernel
def _last_asked(data: Bytes, tape: Ints, messages: int) -> int:
    """The token of the text of the user's last message in a list of messages, 0 if there is none, or
    `UNSURE`."""
    last = 0
    at = messages + 1
    while at < tape[messages, TOKEN_NEXT]:
        role = member(data, tape, at, _ROLE) if tape[at, TOKEN_KIND] == OBJECT else 0
        if role > 0:
            start, end = tape[role, TOKEN_START], tape[role, TOKEN_END]
            if tape[role, TOKEN_KIND] == ESCAPED:
                return UNSURE
            is_user = end - start == len(_USER) and begins_with(data, start, end, _USER)
            if is_user or (end - start == len(_HUMAN) and begins_with(data, start, end, _HUMAN)):
                last = at
        at = tape[at, TOKEN_NEXT]
    if last == 0:
        return 0
    content = member(data, tape, last, _CONTENT)
    if content == 0:
        content = member(data, tape, last, _PROMPT)
    if is_text(tape, content):
        return content
    return _part_of(data, tape, content) if content > 0 and tape[content, TOKEN_KIND] == LIST else UNSURE


@kernel
def read_row(data: Bytes, settings: Ints, chosen: Bytes, table: Table, work: Work) -> Any:
    """Find the form of a row, whose token is 0, its id and, unless it is one of a gold file, its responses.

    Parameters
    ----------
    settings : int64, shape (SET_SIZE,)
    chosen : uint8
        The filter that is scored, if ``settings`` say that there is one.
    table
        With ``fields`` as `find_members` has filled them in.
    work
        ``samples`` get the token of each response, a string.

    Returns
    -------
    (n, form, id, given)
        How many responses (0 in a gold file), `UNSURE` or `LEFT_OUT`; the form's number; the id's token, 0 or
        `OF_GOLD`; and whether it is the tool's own.
    """
    tape, samples, out = work.tape, work.samples, work.found
    number = form_of(data, tape, table, out)
    if number == UNSURE:
        return UNSURE, 0, 0, False
    form = table.forms[number]
    is_gold = settings[SET_IS_GOLD] != 0
    if form.filter >= 0 and not is_gold:
        name = table.fields[form.filter]
        kind = tape[name, TOKEN_KIND]
        if name != 0 and kind <= ESCAPED:
            if kind == ESCAPED or settings[SET_FILTER] == 0:
                return UNSURE, number, 0, False
            if not same_bytes(data, tape[name, TOKEN_START], tape[name, TOKEN_END], chosen, 0, len(chosen)):
                return LEFT_OUT, number, 0, False
    for path in range(form.guards.start, form.guards.end):
        n = walk(data, tape, table, 0, path, out)
        if n == UNSURE or (n > 0 and _is_there(data, tape, out[0]) != 0):
            return UNSURE, number, 0, False
    for path in range(form.statuses.start, form.statuses.end):
        n = walk(data, tape, table, 0, path, out)
        if n == UNSURE or (n > 0 and not _is_success(data, tape, out[0])):
            return UNSURE, number, 0, False
    token, given = _find_id(data, tape, table, form, out)
    if token == UNSURE:
        return UNSURE, number, 0, False
    if is_gold:
        return 0, number, token, given
    says = has_ended(data, tape, table, out)
    n = UNSURE if says == UNSURE else _responses(data, tape, table, form, samples, out)
    for sample in range(n if says == 1 else 0):
        if is_empty(tape, samples[sample]):
            n = UNSURE
    return (n if n > 0 else UNSURE), number, token, given
