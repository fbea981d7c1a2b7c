"""Rows of responses whose gold is known already, straight from a block's bytes to the bytes of rows.

Machine code finds and judges the plans and fills in a template, which is made here from a row that the
ordinary way has written. What it does not know for certain stays with the ordinary way."""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from relfast_kernels.compiled import native
from relfast_kernels.layouts import RATIOS, SAMPLE_BYTES, VIOLATIONS
from relfast_kernels.maze import columns

from relfast.json_text import encode_json, encode_row
from relfast.records import Record
from relfast.tasks.block_rows import Block, Cell, Counted, Setting, Sum, Written
from relfast.tasks.seqbench.machine import UNIT, Found, address_of, machine
from relfast.tasks.seqbench.score import PROBLEMS, Problem, constants_of, gold_of, outcome_of_nothing

_REWARDS: Final = {
    "correct": columns.REWARD_CORRECT,
    "exact_match": columns.REWARD_EXACT,
    "valid": columns.REWARD_VALID,
    "optimal": columns.REWARD_OPTIMAL,
    **{name: columns.REWARD_RATIO + at for at, name in enumerate(RATIOS)},
}

_OF_PROBLEM: Final = ("logical_depth", "backtracking", "noise", "maze", "gold")

_HOLES: Final = {
    "index": columns.PUT_INDEX,
    "id": columns.PUT_ID,
    "sample": columns.PUT_SAMPLE,
    "status": columns.PUT_STATUS,
    "correct": columns.PUT_CORRECT,
    "reward": columns.PUT_REWARD,
    "exact_match": columns.PUT_EXACT,
    "valid": columns.PUT_VALID,
    "optimal": columns.PUT_OPTIMAL,
    "violation": columns.PUT_VIOLATION,
    "violation_index": columns.PUT_VIOLATION_INDEX,
    "n_actions": columns.PUT_ACTIONS,
    "reason": columns.PUT_REASON,
    "pred": columns.PUT_PRED,
    **{name: columns.PUT_OF_PROBLEM + at for at, name in enumerate(_OF_PROBLEM)},
    **{name: columns.PUT_RATIO + at for at, name in enumerate(RATIOS)},
}

_MARK: Final = re.compile(rb'"@@(\w+)@@"')

_FLAGS: Final = {
    "exact_match": columns.SUM_EXACT,
    "valid": columns.SUM_VALID,
    "optimal": columns.SUM_OPTIMAL,
    "violation_index": columns.SUM_INDEX,
    "n_actions": columns.SUM_ACTIONS,
}
"""Measures in whole numbers."""

MAX_PROBLEMS: Final = 4_096
MAX_TEXT: Final = 16 << 20
"""Problems that are kept, and bytes of their texts; full, all are forgotten."""

FIRST_ROOM: Final = 1 << 16
"""Bytes of rows that there is room for at first."""

_LONGEST: Final = 2**63
_LEFT: Final = -1


def open_rows(setting: Setting) -> PlanRows | None:
    """The writer of a job's rows; None where it cannot write them: for some measures as rewards, and for
    marks of reasoning that are not our own."""
    options, reward = setting.options, setting.reward
    if reward not in _REWARDS or (reward == "walk_score" and not options.strict):
        return None
    if options.reasoning and (options.strict or options.strip_reasoning):
        return None
    return PlanRows(setting)


class PlanRows:
    """`relfast.tasks.block_rows.BlockRows` of plans; keeps problems, and how numbers are written."""

    def __init__(self, setting: Setting) -> None:
        unit = native.functions(UNIT)
        self._write, self._add = unit["write"], unit["add"]
        options = setting.options
        self._strict, self._details = options.strict, setting.details
        self._how = columns.CUTS_REASONING if options.strict or options.strip_reasoning else 0
        self._how |= columns.IS_STRICT if options.strict else 0
        self._number, self._reward = setting.number, _REWARDS[setting.reward]
        self._holes, self._literals = _template(setting.row_of(outcome_of_nothing(options)))
        self._slots = array("q", bytes(16 * columns.NUMBER_SLOTS))
        self._written = bytearray(columns.NUMBER_BYTES * columns.MAX_NUMBERS)
        self._n_numbers = 0
        self._out = bytearray(FIRST_ROOM)
        self._forget()

    def _forget(self) -> None:
        self._problems: list[Problem] = []
        self._kind_of: list[int] = []
        self._kinds: list[Mapping[str, Any]] = []
        self._kind_numbers: dict[tuple[Any, ...], int] = {}
        self._texts: list[bytes] = []
        self._n_text = 0
        self._joined: tuple[bytes, array[int]] = b"", array("q")

    def make_room(self, n: int) -> bool:
        if len(self._problems) + n <= MAX_PROBLEMS and self._n_text <= MAX_TEXT:
            return False
        self._forget()
        return True

    def gold(self, record: Record) -> int:
        """The number of a record's problem; -1 where its rows are left to the ordinary way."""
        fields, key = gold_of(record)
        problem = PROBLEMS.get(fields, key)
        if isinstance(problem, str) or problem.source is None:
            return _LEFT
        if self._strict and (problem.flaw is not None or problem.given_up):
            return _LEFT
        constants = constants_of(problem, fields)
        if not all(map(_is_plain, constants.values())) or not _is_plain(problem.text):
            return _LEFT
        self._problems.append(problem)
        # 1 and 1.0 are counted in one cell, but written in two ways: that is in the texts
        kind = self._kind_numbers.setdefault(tuple(constants.values()), len(self._kinds))
        if kind == len(self._kinds):
            self._kinds.append(constants)
        self._kind_of.append(kind)
        texts = [*map(encode_json, constants.values()), encode_json(problem.text) if self._details else b""]
        self._texts += texts
        self._n_text += sum(map(len, texts))
        return len(self._problems) - 1

    def judge(self, block: Block, records: Sequence[int], golds: Sequence[int]) -> Found:
        """Judge the responses of some records of a block."""
        addresses, sizes = block.texts(records)
        problems = self._problems
        at = addresses.buffer_info()[0]
        return machine().judge_at(at, sizes, [problems[gold] for gold in golds], self._how)

    def certain(self, found: Found) -> Sequence[int]:
        return found.found[columns.FOUND_CERTAIN :: columns.FOUND_COLUMNS]

    def joined(self, found: Sequence[Found]) -> Found:
        return Found.joined(found)

    def some(self, found: Found, chosen: Sequence[int]) -> Found:
        return found.of(chosen)

    def write(
        self, block: Block, records: Sequence[int], golds: Sequence[int], found: Found, first_index: int
    ) -> Written:
        """Rows of some records that were judged, all of them certain."""
        n = len(records)
        cells: dict[int, int] = {}
        about = array("q", bytes(8 * columns.ABOUT_COLUMNS * n))
        about[0 :: columns.ABOUT_COLUMNS] = array("q", golds)
        kinds = self._kind_of
        about[1 :: columns.ABOUT_COLUMNS] = array(
            "q", [cells.setdefault(kinds[place], len(cells)) for place in golds]
        )
        texts, ends = self._texts_of_problems()
        samples = bytearray(SAMPLE_BYTES * n)
        sums = array("q", bytes(8 * columns.SUM_COLUMNS * columns.N_SUMS))
        violations = array("q", bytes(8 * columns.VIOLATION_COLUMNS * len(VIOLATIONS)))
        counts = array("q", bytes(8 * columns.CELL_COLUMNS * len(cells)))
        state = array("q", bytes(8 * columns.WRITE_COLUMNS))
        chosen = array("q", records)
        pred = 6 * sum(found.found[columns.FOUND_END :: columns.FOUND_COLUMNS]) if self._details else 0
        self._make_room(n * (len(self._literals) + 512) + pred)
        while self._write(
            *block.where,
            chosen.buffer_info()[0], about.buffer_info()[0], n, found.found.buffer_info()[0],
            found.ratios.buffer_info()[0], first_index, self._number, self._strict, self._reward,
            self._holes.buffer_info()[0], len(self._holes) // 2, self._literals, len(self._literals), texts,
            len(texts), ends.buffer_info()[0], len(self._problems), self._slots.buffer_info()[0],
            address_of(self._written), address_of(self._out), len(self._out),
            address_of(samples), len(samples),
            sums.buffer_info()[0], violations.buffer_info()[0], counts.buffer_info()[0], len(cells),
            state.buffer_info()[0],
        ) < n:  # fmt: skip
            if state[columns.WRITE_WANTS] == columns.WANTS_NUMBER:
                self._add_number(state[columns.WRITE_BITS])
            else:
                self._make_room(2 * len(self._out), state[columns.WRITE_ROWS])
        return Written(
            bytes(memoryview(self._out)[: state[columns.WRITE_ROWS]]),
            about[columns.ABOUT_END :: columns.ABOUT_COLUMNS].tolist(),
            bytes(samples),
            self._counted(n, sums, violations, [self._kinds[kind] for kind in cells], counts),
        )

    def _texts_of_problems(self) -> tuple[bytes, array[int]]:
        texts, ends = self._joined
        if len(ends) != len(self._texts):
            texts, at = b"".join(self._texts), 0
            ends = array("q")
            for text in self._texts:
                at += len(text)
                ends.append(at)
            self._joined = texts, ends
        return texts, ends

    def _make_room(self, size: int, keep: int = 0) -> None:
        if size > len(self._out):
            self._out = self._out[:keep] + bytes(size + size // 4 - keep)

    def _add_number(self, bits: int) -> None:
        if self._n_numbers == columns.MAX_NUMBERS:
            self._slots = array("q", bytes(16 * columns.NUMBER_SLOTS))
            self._n_numbers = 0
        (value,) = struct.unpack("<d", struct.pack("<q", bits))
        text = orjson.dumps(value)
        at = columns.NUMBER_BYTES * self._n_numbers
        self._written[at : at + 1 + len(text)] = bytes((len(text),)) + text
        self._n_numbers += 1
        self._add(bits, self._n_numbers, self._slots.buffer_info()[0])

    def _counted(
        self,
        n: int,
        sums: array[int],
        violations: array[int],
        constants: Sequence[Mapping[str, Any]],
        counts: array[int],
    ) -> Counted:
        def total(which: int, shift: int = 0) -> tuple[int, int, int]:
            at = columns.SUM_COLUMNS * which
            units = (sums[at + columns.SUM_HIGH] << columns.SUM_SHIFT) + sums[at + columns.SUM_LOW]
            return sums[at + columns.SUM_FIRST], sums[at + columns.SUM_N], units << shift

        measured = {name: total(which, columns.SUM_BITS) for name, which in _FLAGS.items()}
        ratios = RATIOS if self._strict else RATIOS[:-1]
        measured |= {name: total(columns.SUM_RATIOS + at) for at, name in enumerate(ratios)}
        labels = []
        for code, name in enumerate(VIOLATIONS):
            at = columns.VIOLATION_COLUMNS * code
            if violations[at + columns.VIOLATION_COUNT]:
                labels.append(
                    (
                        violations[at + columns.VIOLATION_FIRST],
                        "violation",
                        name,
                        violations[at + columns.VIOLATION_COUNT],
                    )
                )
        found = sums[columns.SUM_COLUMNS * columns.SUM_FOUND + columns.SUM_N]
        if self._strict and found < n:
            labels.append(
                (violations[columns.VIOLATION_FIRST], "reason", "no_answer", n - found)
            )  # all are unparsable
        cells = []
        for number, of_maze in enumerate(constants):
            at = columns.CELL_COLUMNS * number
            progress = (counts[at + columns.CELL_HIGH] << columns.SUM_SHIFT) + counts[at + columns.CELL_LOW]
            totals = (counts[at + columns.CELL_EXACT], progress)
            cells.append(
                Cell(counts[at + columns.CELL_FIRST], of_maze, counts[at + columns.CELL_ROWS], totals)
            )
        _, n_rewards, rewards = total(columns.SUM_REWARD)
        return Counted(
            {"ok": found, "no_answer": n - found},
            (n_rewards, rewards),
            [Sum(name, *values) for name, values in measured.items() if values[1]],
            labels,
            cells,
        )


def _is_plain(value: object) -> bool:
    """Whether all writers of JSON write a value in one way."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    return value is None or (isinstance(value, int | float) and abs(value) < _LONGEST)


def _template(row: dict[str, Any]) -> tuple[array[int], bytes]:
    """Holes and literals of a row that the ordinary way has made."""
    marked = {name: f"@@{name}@@" if name in _HOLES else value for name, value in row.items()}
    marked["metrics"] = {name: f"@@{name}@@" for name in row["metrics"]}
    parts = _MARK.split(encode_row(marked))
    holes = array("q")
    end = 0
    for literal, name in zip(parts[::2], parts[1::2], strict=False):
        end += len(literal)
        holes.extend((_HOLES[name.decode()], end))
    return holes, b"".join(parts[::2])
