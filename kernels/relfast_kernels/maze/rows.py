"""Rows of responses whose plans are judged: by a template with holes, and what a tally counts of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    IN_DATA,
    NOWHERE,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_LINE,
    RECORD_SAMPLE,
    RECORD_TEXT,
    RECORD_TEXT_PLACE,
    SAMPLE_BYTES,
    SAMPLE_FURTHER,
    VIOLATIONS,
)
from relfast_kernels.maze.columns import (
    ABOUT_CELL,
    ABOUT_END,
    ABOUT_PROBLEM,
    CELL_EXACT,
    CELL_FIRST,
    CELL_HIGH,
    CELL_LOW,
    CELL_ROWS,
    FOUND_BEGIN,
    FOUND_END,
    FOUND_VOTE,
    NUMBER_SLOTS,
    PROBLEM_TEXTS,
    PUT_ACTIONS,
    PUT_CORRECT,
    PUT_EXACT,
    PUT_ID,
    PUT_INDEX,
    PUT_OF_PROBLEM,
    PUT_OPTIMAL,
    PUT_PRED,
    PUT_RATIO,
    PUT_REASON,
    PUT_REWARD,
    PUT_SAMPLE,
    PUT_STATUS,
    PUT_VALID,
    PUT_VIOLATION,
    PUT_VIOLATION_INDEX,
    REWARD_CORRECT,
    REWARD_EXACT,
    REWARD_OPTIMAL,
    REWARD_RATIO,
    REWARD_VALID,
    SUM_ACTIONS,
    SUM_BITS,
    SUM_EXACT,
    SUM_FIRST,
    SUM_FOUND,
    SUM_HIGH,
    SUM_INDEX,
    SUM_LOW,
    SUM_N,
    SUM_OPTIMAL,
    SUM_RATIOS,
    SUM_REWARD,
    SUM_SHIFT,
    SUM_VALID,
    VIOLATION_COUNT,
    VIOLATION_FIRST,
    WANTS_NUMBER,
    WANTS_OUT,
    WRITE_AT,
    WRITE_BITS,
    WRITE_ROWS,
    WRITE_SAMPLES,
    WRITE_WANTS,
)
from relfast_kernels.maze.json_out import put_json_text
from relfast_kernels.text.find import copy, hash_text, put_number

_SIX: Final = 6
_LOW_MASK: Final = (1 << SUM_SHIFT) - 1
_ONE: Final = float(1 << SUM_BITS)

_OK = np.frombuffer(b'"ok"', np.uint8)
_NO_ANSWER = np.frombuffer(b'"no_answer"', np.uint8)
_TRUE = np.frombuffer(b"true", np.uint8)
_FALSE = np.frombuffer(b"false", np.uint8)
_NULL = np.frombuffer(b"null", np.uint8)
_VIOLATIONS = np.frombuffer("".join(f'"{name}"' for name in VIOLATIONS).encode(), np.uint8)
_VIOLATION_ENDS = np.cumsum(np.array([len(name) + 2 for name in VIOLATIONS]))
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def _remainders() -> Any:
    """The table of CRC-32 (uint32), a byte at a time."""
    table = np.zeros(256, np.uint32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ 0xEDB88320 * (value & 1)
        table[byte] = value
    return table


_CRC = _remainders()


@kernel
def hash_vote(vote: int) -> Any:
    """`relfast.stats.samples.hash_vote` of a vote's hexadecimal digits (a vote is not negative)."""
    value = np.uint32(0xFFFFFFFF)
    shift = 60
    while shift > 0 and vote >> shift == 0:
        shift -= 4
    while shift >= 0:
        digit = vote >> shift & 15
        byte = 48 + digit if digit < 10 else 87 + digit
        value = np.uint32(_CRC[(value ^ np.uint32(byte)) & np.uint32(255)] ^ (value >> np.uint32(8)))
        shift -= 4
    value ^= np.uint32(0xFFFFFFFF)
    return value if value != 0 else np.uint32(1)


@kernel
def slot_of(bits: int, slots: Any) -> int:
    """Where a number (its bits) is in the table, or where it would be put."""
    at = np.int64(np.uint64(bits) * _MULTIPLIER >> np.uint64(40)) & (NUMBER_SLOTS - 1)
    while slots[at, 1] != 0 and slots[at, 0] != bits:
        at = (at + 1) & (NUMBER_SLOTS - 1)
    return int(at)


@kernel
def add_number(bits: int, number: int, slots: Any) -> int:
    """Give a number (its bits) the text of a number, counted from one."""
    at = slot_of(bits, slots)
    slots[at, 0], slots[at, 1] = bits, number
    return at


@kernel
def _put_flag(out: Any, at: int, flag: bool) -> int:
    return copy(_TRUE, 0, 4, out, at) if flag else copy(_FALSE, 0, 5, out, at)


@kernel
def _add(sums: Any, which: int, value: float, row: int) -> None:
    units = np.int64(value * _ONE)
    if sums[which, SUM_N] == 0:
        sums[which, SUM_FIRST] = row
    sums[which, SUM_N] += 1
    sums[which, SUM_HIGH] += units >> SUM_SHIFT
    sums[which, SUM_LOW] += units & _LOW_MASK


@kernel
def _count(sums: Any, which: int, value: int, row: int) -> None:
    if sums[which, SUM_N] == 0:
        sums[which, SUM_FIRST] = row
    sums[which, SUM_N] += 1
    sums[which, SUM_LOW] += value


@kernel
def _reward(which: int, correct: bool, found: Any, ratios: Any) -> float:
    if which == REWARD_CORRECT:
        return 1.0 if correct else 0.0
    if which == REWARD_EXACT:
        return 1.0 if found[3] else 0.0
    if which == REWARD_VALID:
        return 1.0 if found[0] < 0 else 0.0
    if which == REWARD_OPTIMAL:
        return 1.0 if found[4] else 0.0
    return float(ratios[which - REWARD_RATIO])


@kernel
def write_rows(
    data: Any, scratch: Any, records: Any, chosen: Any, about: Any, found: Any, ratios: Any, first_index: int,
    task: int, strict: bool, reward: int, holes: Any, literals: Any, texts: Any, text_ends: Any, numbers: Any,
    number_texts: Any, out: Any, samples: Any, sums: Any, violations: Any, cells: Any, state: Any,
) -> int:  # fmt: skip
    """Rows and samples of some records, from where ``state`` says on, and what a tally counts of them.

    Parameters
    ----------
    data, scratch, records
        As the scan of lines left them (`relfast_kernels.text.lines`).
    chosen : int64
        Numbers of the records.
    about : int64, shape (n, ABOUT_COLUMNS)
        Of each record: the number of its problem, and that of its cell; filled in is where its row ends.
    found, ratios
        What was found in the responses, a row each: FOUND_COLUMNS and RATIOS.
    task
        Its number in samples.
    holes : int64, shape (n, 2)
        What fills each hole of the template, and where in ``literals`` (uint8) the text before it ends; the
        rest of them ends the row.
    texts, text_ends
        Texts of problems (uint8), PROBLEM_TEXTS each, and where they end (int64).
    numbers, number_texts : int64, shape (NUMBER_SLOTS, 2); uint8, shape (n, NUMBER_BYTES)
        How numbers are written.
    out, samples : uint8
        Filled; the second is large enough.
    sums, violations, cells : int64
        Added to: SUM_COLUMNS, VIOLATION_COLUMNS and, CELL_COLUMNS.
    state : int64, shape (WRITE_COLUMNS,)

    Returns
    -------
    int
        Rows written so far; fewer than there are where it wants something.
    """
    row = state[WRITE_AT]
    state[WRITE_WANTS] = 0
    while row < len(chosen):
        at = state[WRITE_ROWS]
        record = records[chosen[row]]
        of_text, share = found[row], ratios[row]
        problem = about[row, ABOUT_PROBLEM]
        begin, end = of_text[FOUND_BEGIN], of_text[FOUND_END]
        has_plan = of_text[2] > 0
        violation = of_text[0]
        correct = (of_text[4] if strict else of_text[3]) != 0
        worth = _reward(reward, correct, of_text, share)
        id_start, id_end, id_place = record[RECORD_ID], record[RECORD_ID_END], record[RECORD_ID_PLACE]
        first_text = 0 if problem == 0 else text_ends[PROBLEM_TEXTS * problem - 1]
        size = len(literals) + id_end - id_start + 6 * (end - begin) + 512
        size += text_ends[PROBLEM_TEXTS * (problem + 1) - 1] - first_text
        if at + size > len(out):
            state[WRITE_WANTS] = WANTS_OUT
            break
        literal = 0
        prompt = np.int64(hash_text(data if id_place == IN_DATA else scratch, id_start, id_end))
        complete = True
        for hole in range(len(holes)):
            kind = holes[hole, 0]
            at = copy(literals, literal, holes[hole, 1], out, at)
            literal = holes[hole, 1]
            if kind == PUT_INDEX:
                index = at
                at = put_number(out, at, first_index + record[RECORD_LINE])
                if id_place == NOWHERE:
                    # each such line is a prompt of its own
                    prompt = np.int64(hash_text(out, index, at))
            elif kind == PUT_ID:
                if id_place == NOWHERE:
                    at = copy(_NULL, 0, 4, out, at)
                else:
                    at = copy(data if id_place == IN_DATA else scratch, id_start, id_end, out, at)
            elif kind == PUT_SAMPLE:
                at = put_number(out, at, record[RECORD_SAMPLE])
            elif kind == PUT_STATUS:
                at = copy(_OK, 0, 4, out, at) if has_plan else copy(_NO_ANSWER, 0, len(_NO_ANSWER), out, at)
            elif kind == PUT_CORRECT:
                at = _put_flag(out, at, correct)
            elif kind == PUT_EXACT:
                at = _put_flag(out, at, of_text[3] != 0)
            elif kind == PUT_VALID:
                at = _put_flag(out, at, violation < 0)
            elif kind == PUT_OPTIMAL:
                at = _put_flag(out, at, of_text[4] != 0)
            elif kind == PUT_VIOLATION:
                if violation < 0:
                    at = copy(_NULL, 0, 4, out, at)
                else:
                    start = 0 if violation == 0 else _VIOLATION_ENDS[violation - 1]
                    at = copy(_VIOLATIONS, start, _VIOLATION_ENDS[violation], out, at)
            elif kind == PUT_VIOLATION_INDEX:
                at = copy(_NULL, 0, 4, out, at) if violation < 0 else put_number(out, at, of_text[1])
            elif kind == PUT_ACTIONS:
                at = put_number(out, at, of_text[2])
            elif kind == PUT_REASON:
                # what was turned down for another reason is left to Python
                at = (
                    copy(_NO_ANSWER, 0, len(_NO_ANSWER), out, at)
                    if not has_plan
                    else copy(_NULL, 0, 4, out, at)
                )
            elif kind == PUT_PRED:
                if has_plan:
                    text = data if record[RECORD_TEXT_PLACE] == IN_DATA else scratch
                    start = record[RECORD_TEXT]
                    at = put_json_text(text, start + begin, start + end, out, at)
                else:
                    at = copy(_NULL, 0, 4, out, at)
            elif PUT_OF_PROBLEM <= kind < PUT_RATIO:
                place = PROBLEM_TEXTS * problem + kind - PUT_OF_PROBLEM
                start = 0 if place == 0 else text_ends[place - 1]
                at = copy(texts, start, text_ends[place], out, at)
            else:
                value = worth if kind == PUT_REWARD else share[kind - PUT_RATIO]
                bits: Any = np.float64(value).view(np.int64)
                slot = slot_of(bits, numbers)
                if numbers[slot, 1] == 0:
                    state[WRITE_WANTS], state[WRITE_BITS] = WANTS_NUMBER, bits
                    complete = False
                    break
                written = number_texts[numbers[slot, 1] - 1]
                length: Any = np.int64(written[0])
                at = copy(written, 1, 1 + length, out, at)
        if not complete:
            break
        at = copy(literals, literal, len(literals), out, at)
        state[WRITE_ROWS] = about[row, ABOUT_END] = at
        sample = state[WRITE_SAMPLES]
        samples[sample] = task + (SAMPLE_FURTHER if record[RECORD_SAMPLE] > 0 else 0)
        vote = np.int64(hash_vote(of_text[FOUND_VOTE])) if has_plan else 0
        for k in range(8):
            samples[sample + 1 + k] = (prompt >> (8 * k)) & 255
        for k in range(4):
            samples[sample + 9 + k] = (vote >> (8 * k)) & 255
        samples[sample + 13] = 1 if correct else 0
        state[WRITE_SAMPLES] = sample + SAMPLE_BYTES
        _add(sums, SUM_REWARD, worth, row)
        _count(sums, SUM_EXACT, of_text[3], row)
        _count(sums, SUM_VALID, 1 if violation < 0 else 0, row)
        _count(sums, SUM_OPTIMAL, of_text[4], row)
        _count(sums, SUM_ACTIONS, of_text[2], row)
        if has_plan:
            _count(sums, SUM_FOUND, 1, row)
        if violation >= 0:
            _count(sums, SUM_INDEX, of_text[1], row)
            if violations[violation, VIOLATION_COUNT] == 0:
                violations[violation, VIOLATION_FIRST] = row
            violations[violation, VIOLATION_COUNT] += 1
        for k in range(_SIX):
            _add(sums, SUM_RATIOS + k, share[k], row)
        cell = cells[about[row, ABOUT_CELL]]
        if cell[CELL_ROWS] == 0:
            cell[CELL_FIRST] = row
        cell[CELL_ROWS] += 1
        cell[CELL_EXACT] += of_text[3]
        units = np.int64(share[0] * _ONE)
        cell[CELL_HIGH] += units >> SUM_SHIFT
        cell[CELL_LOW] += units & _LOW_MASK
        row += 1
        state[WRITE_AT] = row
    return int(row)
