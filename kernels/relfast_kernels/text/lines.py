"""Reading text records without decoding them: the fields and the answer straight from a line's bytes.

`scan_lines` finds, in a block of JSON lines, the records of the text tasks (REL-A, B1, C1) that are plain
enough to be read exactly as they stand: UTF-8 without ``\\u`` escapes, in the response only characters that
`classify` knows, the fields a record has. It extracts the answer under the ``reference`` policy and leaves a
key per line; `relfast_kernels.text.rows` turns keys into rows by templates. Every other line is marked `SLOW`
and takes the exact way. A line that is marked otherwise has been read exactly as JSON and `re` would read it,
including what must not be valid JSON.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    B1,
    BLANK,
    C1,
    LINE_END,
    LINE_HASH,
    LINE_ID_END,
    LINE_ID_START,
    LINE_KIND,
    LINE_START,
    SLOW,
)
from relfast_kernels.text.characters import is_printable, is_tame, is_utf8
from relfast_kernels.text.find import find_byte
from relfast_kernels.text.json_scan import (
    BACKSLASH,
    QUOTE,
    all_digits,
    is_digit,
    same_as,
    skip_spaces,
    string_end,
    value_end,
)
from relfast_kernels.text.rel_a import score_choice
from relfast_kernels.text.rel_b import gold_taxa, score_taxa
from relfast_kernels.text.rel_c import score_tag

MAX_ID_DIGITS = 18
"""Digits of a number that every JSON parser keeps exactly."""

_LF = 10

_ID = np.frombuffer(b"id", np.uint8)
_TASK = np.frombuffer(b"task", np.uint8)
_ANSWER = np.frombuffer(b"answer", np.uint8)
_RESPONSE = np.frombuffer(b"response", np.uint8)
_TARGET = np.frombuffer(b"target", np.uint8)
_LABEL = np.frombuffer(b"label", np.uint8)
_TAXA = np.frombuffer(b"taxa", np.uint8)
# keys by which `relfast.formats` knows other dialects
_CUSTOM_ID = np.frombuffer(b"custom_id", np.uint8)
_DOC = np.frombuffer(b"doc", np.uint8)
_OUTPUT = np.frombuffer(b"output", np.uint8)
_INSTANCE_ID = np.frombuffer(b"instance_id", np.uint8)
_LLM_SOLUTION = np.frombuffer(b"llm_solution", np.uint8)
# and by which it knows that a response failed
_ERROR = np.frombuffer(b"error", np.uint8)
_STATUS_CODE = np.frombuffer(b"status_code", np.uint8)


@kernel
def _hash(data: Any, start: int, end: int) -> Any:
    """`relfast.stats.samples.hash_id` of some bytes."""
    value = np.uint64(end - start)
    at = start
    while at < end:
        word = np.uint64(0)
        for k in range(min(8, end - at)):
            word |= np.uint64(data[at + k]) << np.uint64(8 * k)
        value = (value ^ word) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
        at += 8
    return value


@kernel
def _task_number(data: Any, start: int, end: int) -> Any:
    """Number of a task name in any case, or -1: ``REL-A1`` … ``REL-A7``, ``REL-B1``, ``REL-C1``."""
    if end - start != 6 or data[start + 3] != 45:
        return -1
    if (data[start] | 32) != 114 or (data[start + 1] | 32) != 101 or (data[start + 2] | 32) != 108:
        return -1
    letter: int = data[start + 4] | 32
    digit: Any = np.int64(data[start + 5])
    if letter == 97 and 49 <= digit <= 55:
        return digit - 49
    if digit == 49 and letter == 98:
        return B1
    if digit == 49 and letter == 99:
        return C1
    return -1


@kernel
def _scan_line(data: Any, start: int, end: int, row: Any, pred_spans: Any, gold_spans: Any) -> int:
    """One line, its end excluded: its kind; fills id, key, hash and vote of ``row``."""
    if end > start and data[end - 1] == 13:
        end -= 1
    is_ascii = is_printable(data, start, end)
    if not is_ascii and not is_utf8(data, start, end):
        return SLOW
    at = skip_spaces(data, start, end)
    if at == end:
        return BLANK
    if data[at] != 123:
        return SLOW
    id_start = id_end = response = response_end = answer = answer_end = -1
    task = -1
    at = skip_spaces(data, at + 1, end)
    while True:
        if at >= end or data[at] != QUOTE:
            return SLOW
        name = at + 1
        name_end = string_end(data, name, end)
        if name_end < 0 or find_byte(data, name, name_end, BACKSLASH) < name_end:
            return SLOW
        at = skip_spaces(data, name_end + 1, end)
        if at >= end or data[at] != 58:
            return SLOW
        at = skip_spaces(data, at + 1, end)
        if at >= end:
            return SLOW
        value = at
        at = value_end(data, value, end)
        if at < 0:
            return SLOW
        if same_as(data, name, name_end, _RESPONSE):
            if data[value] != QUOTE:
                return SLOW
            response, response_end = value + 1, at - 1
        elif same_as(data, name, name_end, _ANSWER):
            if data[value] != 123:
                return SLOW
            answer, answer_end = value, at
        elif same_as(data, name, name_end, _TASK):
            task = _task_number(data, value + 1, at - 1) if data[value] == QUOTE else -1
            if task < 0:
                return SLOW
        elif same_as(data, name, name_end, _ID):
            # text and whole numbers are written back as they stand; other kinds of ids are rare
            if data[value] == QUOTE:
                if find_byte(data, value, at, BACKSLASH) < at:
                    return SLOW
            elif at - value > MAX_ID_DIGITS or not all_digits(data, value, at):
                return SLOW
            id_start, id_end = value, at
        elif same_as(data, name, name_end, _ERROR):
            # only null says nothing: it begins with n
            if data[value] != 110:
                return SLOW
        elif (
            same_as(data, name, name_end, _CUSTOM_ID)
            or same_as(data, name, name_end, _DOC)
            or same_as(data, name, name_end, _OUTPUT)
            or same_as(data, name, name_end, _INSTANCE_ID)
            or same_as(data, name, name_end, _LLM_SOLUTION)
            or same_as(data, name, name_end, _STATUS_CODE)
        ):
            return SLOW
        at = skip_spaces(data, at, end)
        if at >= end:
            return SLOW
        if data[at] == 125:
            break
        if data[at] != 44:
            return SLOW
        at = skip_spaces(data, at + 1, end)
    if skip_spaces(data, at + 1, end) != end:
        return SLOW
    if id_start < 0 or response < 0 or answer < 0 or task < 0:
        return SLOW
    if not is_ascii and not is_tame(data, response, response_end):
        return SLOW
    row[LINE_ID_START], row[LINE_ID_END] = id_start, id_end
    row[LINE_HASH] = np.int64(_hash(data, id_start, id_end))
    return _score(data, task, answer, answer_end, response, response_end, row, pred_spans, gold_spans)


@kernel
def _score(
    data: Any,
    task: int,
    answer: int,
    answer_end: int,
    response: int,
    response_end: int,
    row: Any,
    pred_spans: Any,
    gold_spans: Any,
) -> int:
    """Read gold and hold the response against it: `FAST` with key and vote filled in, or `SLOW`."""
    target: Any = -1
    label = label_end = -1
    n_gold = 0
    at = skip_spaces(data, answer + 1, answer_end)
    while data[at] != 125:
        name = at + 1
        name_end = string_end(data, name, answer_end)
        if find_byte(data, name, name_end, BACKSLASH) < name_end:
            return SLOW
        value = skip_spaces(data, skip_spaces(data, name_end + 1, answer_end) + 1, answer_end)
        at = value_end(data, value, answer_end)
        if task < B1 and same_as(data, name, name_end, _TARGET):
            if at != value + 1 or not is_digit(data[value]):
                return SLOW
            target = np.int64(data[value]) - 48
        elif task >= B1 and same_as(data, name, name_end, _LABEL):
            if data[value] != QUOTE or find_byte(data, value, at, BACKSLASH) < at:
                return SLOW
            label, label_end = value + 1, at - 1
        elif task == B1 and same_as(data, name, name_end, _TAXA):
            n_gold, _ = gold_taxa(data, value, answer_end, gold_spans)
            if n_gold < 0:
                return SLOW
        at = skip_spaces(data, at, answer_end)
        if data[at] == 44:
            at = skip_spaces(data, at + 1, answer_end)
    if task < B1:
        return score_choice(data, response, response_end, task, target, row)
    if task == C1:
        return score_tag(data, response, response_end, label, label_end, row)
    return score_taxa(data, response, response_end, label, label_end, n_gold, pred_spans, gold_spans, row)


@kernel
def scan_lines(data: Any, n: int, lines: Any, pred_spans: Any, gold_spans: Any) -> int:
    """Read the lines of a block.

    Parameters
    ----------
    data : uint8, shape (n,)
        Whole lines; the last may lack its end.
    lines : int64, shape (m, LINE_COLUMNS)
        Filled: a row per line.
    pred_spans, gold_spans : int64, shape (MAX_TAXA, 2)
        Work space.

    Returns
    -------
    int
        How many lines; at most m are read.
    """
    at = 0
    count = 0
    while at < n and count < lines.shape[0]:
        end = find_byte(data, at, n, _LF)
        row = lines[count]
        row[LINE_START], row[LINE_END] = at, end
        row[LINE_KIND] = _scan_line(data, at, end, row, pred_spans, gold_spans)
        count += 1
        at = end + 1
    return count
