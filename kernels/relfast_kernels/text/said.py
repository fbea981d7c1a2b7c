"""What a line says of its task and answer: where its gold stands, in the line or in the JSON of a text within
it, and a digest of the shape in which it says so.

Python prepares one line of each shape; the gold of all other lines of that shape is read where it stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints
from relfast_kernels.layouts import (
    ESCAPED,
    FLOAT,
    INTEGER,
    MAX_ID_DIGITS,
    OBJECT,
    ROW_UNSEEN,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.ascii import BLANKS, BRACE_OPEN
from relfast_kernels.text.characters import is_utf8
from relfast_kernels.text.find import copy, digest, skip
from relfast_kernels.text.json_scan import is_null, put_text, tokenise
from relfast_kernels.text.layouts import GOLD_HOLDER, GOLD_TOKEN, OUTLINE_ROOM, Outline, Said
from relfast_kernels.text.projection import OPENS, UNSURE, find_members, form_of, walk, walk_on, walk_to_text
from relfast_kernels.text.steps import DECODED, Form

_NO_SEED = np.uint64(0)
_ONE = 1
_OF_GOLD, _OF_NULL = 1 << 32, 1 << 33
"""Tell where the gold is among the values that are digested, and a member that is null from others."""


@kernel
def _digest_keys(data: Bytes, tape: Ints, token: int, seed: Any, value: Any) -> Any:
    """A digest (uint64) of the names of an object's members, and of which of them are null."""
    at = token + 1
    while at < tape[token, TOKEN_NEXT]:
        value = value ^ np.uint64(_OF_NULL) if is_null(data, tape, at + 1) else value
        value = digest(data, tape[at, TOKEN_START], tape[at, TOKEN_END], seed, value)
        at = tape[at + 1, TOKEN_NEXT]
    return value


@kernel
def _holds_object(data: Bytes, tape: Ints, token: int) -> bool:
    """Whether a value is an object, or a text that may hold one."""
    kind, start, end = tape[token, TOKEN_KIND], tape[token, TOKEN_START], tape[token, TOKEN_END]
    return bool(kind == OBJECT or (kind <= ESCAPED and start < end and data[start] == BRACE_OPEN))


@kernel
def _open(data: Bytes, tape: Ints, token: int, said: Said, used: int) -> int:
    """Read the JSON that a text holds; the offset after it in the scratch space, or `UNSURE`: it is none that
    `relfast.json_text.decode_text` reads exactly, or there is no room."""
    start, end = tape[token, TOKEN_START], tape[token, TOKEN_END]
    if used + end - start > said.limit:
        return UNSURE
    scratch, tape = said.scratch, said.work.said
    end = int(put_text(data, start, end, scratch, used))
    n = tokenise(scratch, used, end, tape, 1) if is_utf8(scratch, used, end) else UNSURE
    for k in range(1, n):
        size = tape[k, TOKEN_END] - tape[k, TOKEN_START]
        if tape[k, TOKEN_KIND] == FLOAT or (tape[k, TOKEN_KIND] == INTEGER and size > MAX_ID_DIGITS):
            return UNSURE
    return end if n > 0 else UNSURE


@kernel
def _values_at(said: Said, path: int, used: int, opened: int, end: int) -> Any:
    """Follow a path from a row on, also into the JSON of texts, of which ``opened`` is read, up to ``end``.
    How many values it leads to, or `UNSURE`; whether they are of ``work.said``; which text is read then."""
    table, out, inner = said.table, said.work.found, said.work.said
    n = walk_to_text(said.data, said.work.tape, table, 0, path, out)
    if n != OPENS:
        return n, False, opened, end
    text, at = int(out[0]), int(out[1])
    if text != opened:
        end = _open(said.data, said.work.tape, text, said, used)
    opened = text
    while end >= 0:
        # a path of the table leads on from objects with members only
        is_none = inner[1, TOKEN_KIND] != OBJECT or inner[1, TOKEN_NEXT] == 2
        if is_none and table.steps[at - 1].kind == DECODED:
            return 0, True, opened, end
        out[0] = 1
        n = walk_on(said.scratch, inner, table, at, path, out)
        if n != OPENS:
            return n, True, opened, end
        text, at = int(out[0]), int(out[1])
        end, opened = _open(said.scratch, inner, text, said, end), 0
    return UNSURE, True, 0, used


@kernel
def _digest_said(said: Said, form: Form, used: int, seed: np.uint64, value: np.uint64) -> Any:
    """A digest (uint64) of the values that hold a row's task and answer up to the first object among them, or
    text that holds one, and of the kind of its question; the token of that, or 0: there may be none; whether
    it is of ``work.said``; and the offset after the text that is read there."""
    table, work = said.table, said.work
    gold, in_text, opened, end = 0, False, 0, used
    for path in range(form.answers.start, form.answers.end):
        n, in_text, opened, end = _values_at(said, path, used, opened, end)
        if n == UNSURE:
            return value, 0, False, used
        source, tape = said.data, work.tape
        if in_text:
            source, tape = said.scratch, work.said
        for k in range(n):
            token = int(work.found[k])
            value = value ^ np.uint64(8 * (path - form.answers.start) + tape[token, TOKEN_KIND])
            if path >= form.answers.start + form.n_tasks and _holds_object(source, tape, token):
                gold, value = token, value ^ np.uint64(_OF_GOLD)
                break  # what follows makes no difference if it has members, and all others have no gold
            value = digest(source, tape[token, TOKEN_START], tape[token, TOKEN_END], seed, value)
        if gold > 0:
            break
    for path in range(form.questions.start, form.questions.end):
        n = walk(said.data, work.tape, table, 0, path, work.found)
        if n == UNSURE:
            return value, 0, False, used
        kind = work.tape[work.found[0], TOKEN_KIND] + 1 if n > 0 else 0
        value = digest(said.data, 0, 0, seed, value ^ np.uint64(kind))
    return value, gold, in_text, end if in_text else used


@kernel
def find_said(said: Said, form: int, used: int, seed: np.uint64) -> Any:
    """The gold that a row says: the digest (uint64) of its shape, or 0: there is none; whether it is of
    ``work.said``, of a text in the scratch space, and from where on that is free. Its tokens are in
    ``work.gold``."""
    work, source, tape = said.work, said.data, said.work.tape
    shape, token, in_text, used = _digest_said(said, said.table.forms[form], used, seed, ~np.uint64(form))
    if token == 0:
        return np.uint64(0), False, used
    work.gold[GOLD_TOKEN], work.gold[GOLD_HOLDER] = token, 0 if in_text else token
    if in_text:
        source, tape = said.scratch, work.said
    if tape[token, TOKEN_KIND] != OBJECT:
        used = _open(source, tape, token, said, used)
        if used < 0:
            return np.uint64(0), False, used
        source, tape, in_text, work.gold[GOLD_TOKEN] = said.scratch, work.said, True, 1
    shape = _digest_keys(source, tape, work.gold[GOLD_TOKEN], seed, shape)
    return (shape & ~np.uint64(ROW_UNSEEN)) | np.uint64(_ONE), in_text, used


@kernel
def outline(asked: Outline) -> int:
    """Write those members of a line that its task and answer are read from, as an object, and its gold;
    ``asked.found`` tells none if they may be anywhere. The object's size."""
    data, table, out, found, end = asked.data, asked.table, asked.out, asked.found, asked.end
    found.form, found.gold.start, found.gold.end = -1, 0, 0
    at = skip(data, asked.start, end, BLANKS)
    tape, fields = asked.work.tape, table.fields
    if at == end or data[at] != ord("{") or tokenise(data, at, end, tape, 0) < 0:
        return 0
    find_members(data, tape, table)
    form = form_of(data, tape, table, asked.work.found)
    if form < 0 or table.forms[form].answers.start == table.forms[form].answers.end:
        return 0
    room = end - asked.start
    said = Said(data, table, asked.work, out, 3 * room + OUTLINE_ROOM)
    _, gold, in_text, free = _digest_said(said, table.forms[form], room + OUTLINE_ROOM, _NO_SEED, _NO_SEED)
    if gold > 0:
        of_gold = asked.work.said[gold] if in_text else tape[gold]
        quote = 1 if of_gold[TOKEN_KIND] <= ESCAPED else 0
        found.gold.start, found.gold.end = of_gold[TOKEN_START] - quote, of_gold[TOKEN_END] + quote
        if not in_text:
            found.gold.end = copy(data, found.gold.start, found.gold.end, out, free)
            found.gold.start = free
    out[0] = ord("{")
    size = 1
    for path in range(table.forms[form].answers.start, table.forms[form].answers.end):
        if table.paths[path].start == table.paths[path].end:
            return 0
        step = table.steps[table.paths[path].start]
        known = step.member
        if known < 0:
            return 0
        token = fields[known]
        if token == 0:
            continue
        fields[known] = 0
        if size > 1:
            out[size] = ord(",")
            size += 1
        out[size] = ord('"')
        size = copy(table.names, step.name.start, step.name.end, out, size + 1)
        out[size], out[size + 1] = ord('"'), ord(":")
        quote = 1 if tape[token, TOKEN_KIND] <= ESCAPED else 0
        size = copy(data, tape[token, TOKEN_START] - quote, tape[token, TOKEN_END] + quote, out, size + 2)
    out[size] = ord("}")
    found.form, found.size = form, size + 1
    return found.size
