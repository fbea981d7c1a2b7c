"""`relfast_kernels.text` against its textbook twin, as plain Python."""

from __future__ import annotations

import ctypes
import json
import re
from pathlib import Path

import naive_text as naive
import numpy as np
import orjson
import pytest
from relfast_kernels import layouts
from relfast_kernels.text import columns
from relfast_kernels.text.find import digest, find_lines
from relfast_kernels.text.gold import GOLD_SIZE
from relfast_kernels.text.json_strings import put_by_stretches, put_text, string_end
from relfast_kernels.text.lines import Golds, Work, scan_lines, score_lines
from relfast_kernels.text.projection import Table
from relfast_kernels.text.vectors import WIDTH
from seeds import fresh

from relfast.engine.job import Job
from relfast.engine.text_gold import Golds as PreparedGolds
from relfast.engine.text_table import TextTable
from relfast.records import Record
from relfast.stats.samples import hash_id
from relfast.tasks import TASKS, find_task

ROOT = Path(__file__).parent.parent.parent
PIECES = [
    "Answer 4", "answer #\t3", "Answer\n9", "swer 2", "Answer nine", "4", "08", "_7", "7th", "0", "<Yes>", "< no\n>", "<Yes",
    "yes", "no", "know", "\no", "Eyes", "taxon_15", "taxon 3", "TAXON\n20", "\taxon_8", "15", "3.", "–", "é5", "5é", "“6”",
    "the motif and so on", "\\", '"', "\\n4", "/", "\f", "x" * 150,
]  # fmt: skip

TABLE = TextTable(Job())


def lines(n: int, seed: int) -> list[bytes]:
    rng = fresh(seed)
    result = []
    for number in range(n):
        task = rng.choice(["REL-A1", "rel-a7", "REL-B1", "REL-C1"])
        answer: dict[str, object] = {"label": rng.choice(["Yes", "No"]), "molecules": ["C/C=C\\C", "[H]"]}
        if task.lower().startswith("rel-a"):
            answer = {"target": rng.randrange(8)}
        elif task == "REL-B1":
            taxa = rng.sample([3, 5, 8, 15, 20, "x", "X"], rng.randrange(5))
            answer = {"label": "yes" if taxa else "NO", "taxa": taxa}
        response = rng.choice(["", " ", "\n"]).join(rng.choices(PIECES, k=rng.randrange(7)))
        row: dict[str, object] = {"task": task, "response": response, "answer": answer}
        row["id"] = rng.choice([f"r-{number}", number, "é"])
        row["metadata"] = {"panels": [[1.5, -2e10], {}, [None, True]], "x": "\\u"}
        keys = rng.sample(list(row), len(row))
        result.append(json.dumps({key: row[key] for key in keys}, ensure_ascii=False).encode())
    return result


class Scan:
    """A scan of some bytes with the default settings."""

    def __init__(self, content: bytes, n_lines: int) -> None:
        def zeros(*shape: int) -> np.ndarray:
            return np.zeros(shape, np.int64)

        self.data = np.frombuffer(bytearray(content), np.uint8)
        self.lines = zeros(n_lines + 1, layouts.LINE_COLUMNS)
        self.records = zeros(4 * n_lines + 4, layouts.RECORD_COLUMNS)
        work = Work(
            zeros(layouts.MAX_TOKENS, layouts.TOKEN_COLUMNS),
            zeros(2 * layouts.MAX_TOKENS),
            zeros(2 * layouts.MAX_TOKENS),
            zeros(columns.MOST_MEMBERS),
            zeros(GOLD_SIZE),
            zeros(2, layouts.MAX_TAXA, 2),
            zeros(2, layouts.TAXA_SLOTS + 1),
            zeros(layouts.PATTERN_WORK),
        )
        scratch = np.zeros(32 * len(content) + 2 * layouts.SCRATCH_PER_LINE, np.uint8)
        settings, state = zeros(layouts.SET_SIZE), zeros(layouts.STATE_SIZE)
        golds = PreparedGolds(Job())
        with np.errstate(over="ignore"):  # hashes wrap around
            found = find_lines(self.data, len(self.data), self.lines)
            self.lines = self.lines[: found + 1]
            given = self.data, self.lines
            self.n = scan_lines(
                *given,
                settings,
                np.zeros(0, np.uint8),
                _table(),
                _golds(golds),
                work,
                self.records,
                scratch,
                state,
            )
            for line in self.lines[: self.n]:
                if line[layouts.LINE_KIND] == layouts.FIELDS:
                    row = json.loads(content[line[layouts.LINE_START] : line[layouts.LINE_END]])
                    record = Record(0, row["id"], find_task(row["task"]).name, row["answer"], "")
                    golds.add(int(line[layouts.LINE_DIGEST]), record, layouts.SAYS_MORE)
            assert (
                score_lines(*given, 0, settings, _golds(golds), work, self.records, scratch, state) == self.n
            )


def _array(place: int, n: int, *shape: int) -> np.ndarray:
    size = n * int(np.prod(shape, dtype=np.int64))
    return np.ctypeslib.as_array((ctypes.c_int64 * size).from_address(place)).reshape(n, *shape)


def _bytes(place: int, n: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * n).from_address(place))


def _table() -> Table:
    about = [*TABLE.about]
    shapes = [(2,), (), (columns.STEP_COLUMNS,), (2,), (columns.TEST_COLUMNS,), (columns.WAY_COLUMNS,)]
    shapes += [(columns.FORM_COLUMNS,), (columns.SAID_COLUMNS,), (columns.SAY_COLUMNS,)]
    parts = [_array(*about[2 * k + 2 : 2 * k + 4], *shape) for k, shape in enumerate(shapes)]
    return Table(_bytes(*about[:2]), *parts)


def _golds(golds: PreparedGolds) -> Golds:
    about = [*golds.about]
    return Golds(
        _bytes(*about[:2]),
        _array(*about[2:4], layouts.GOLD_COLUMNS),
        _array(*about[4:6]),
        _array(*about[6:8]),
    )


@pytest.mark.slow
@pytest.mark.fuzz
def test_scan_lines_is_its_twin() -> None:
    block = lines(120, seed=1)
    scan = Scan(b"\n".join(block), len(block))
    assert scan.n == len(block)
    data = scan.data
    names = {task.text_kernel.number: name for name, task in TASKS.items() if task.text_kernel is not None}
    fast = 0
    for line, found in zip(block, scan.lines.tolist(), strict=False):
        if found[layouts.LINE_KIND] != layouts.FAST:
            continue
        row = scan.records[found[layouts.LINE_RECORD]]
        fast += 1
        key = int(row[layouts.RECORD_KEY])
        counts = [
            key >> shift & layouts.KEY_COUNT
            for shift in (layouts.TP_SHIFT, layouts.PRED_SHIFT, layouts.GOLD_SHIFT)
        ]
        bits = [bool(key & bit) for bit in (layouts.FOUND, layouts.CORRECT, layouts.GOLD_YES)]
        id_text = data[row[layouts.RECORD_ID] : row[layouts.RECORD_ID_END]].tobytes()
        assert naive.read_line(line) == (names[key & layouts.KEY_TASK], *bits, *counts, id_text), line
        assert int(row[layouts.RECORD_HASH]) % 2**64 == hash_id(id_text)
    assert fast > 0.9 * len(block)


STRING_PIECES = [
    '\\"', "\\\\", "\\n", "\\/", "\\b", "\\t", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\udc00", "\\ud83d\\u0041", "\\x", "\\u12",
    "\\", '"', "a", "bb", "é", "x" * 30, "y" * 63, "\\\\\\\\",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.fuzz
def test_strings_end_where_their_parser_says() -> None:
    rng = fresh(2)
    for _ in range(300):
        pieces = rng.choices(STRING_PIECES, [8] * 8 + [0.3] * 6 + [8] * 7, k=rng.randrange(40))
        text = ('"' + "".join(pieces) + '"').encode()
        data = np.frombuffer(text + rng.choice([b"", b" " * 70, b'"' * 80, b"\\" * 80]), np.uint8)
        with np.errstate(over="ignore"):  # the subtraction wraps around
            close, escaped = string_end(data, 1, len(text))
        first = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL).match(text)
        try:
            said = orjson.loads(first[0]) if first else None
        except ValueError:
            said = None
        assert close == (-1 if first is None or said is None else first.end() - 1), text
        if said is not None:
            assert escaped == (b"\\" in text[1:close])
            for put in (put_text, put_by_stretches):
                out = np.zeros(len(text) + 2 * WIDTH, np.uint8)
                with np.errstate(over="ignore"):
                    assert out[: put(data, 1, close, out, 0)].tobytes().decode() == said


def test_digests_of_different_bytes_differ() -> None:
    rng = fresh(3)
    text = rng.randbytes(200)
    digests = set()
    seed, value = np.uint64(rng.getrandbits(63)), np.uint64(3)
    for end in (0, 1, 7, 8, 15, 16, 63, 64, 65, 127, 128, 200):
        for place in range(-1, end):
            changed = bytearray(text)
            if place >= 0:
                changed[place] ^= 128
            digests.add(int(digest(np.frombuffer(changed, np.uint8), 0, end, seed, value)))
            # what stands around the bytes is nothing to them
            shifted = np.frombuffer(b"x" + changed[:end] + b"y" * 9, np.uint8)
            assert int(digest(shifted, 1, end + 1, seed, value)) in digests
    assert len(digests) == sum(end + 1 for end in (0, 1, 7, 8, 15, 16, 63, 64, 65, 127, 128, 200))


def test_ends_of_blocks() -> None:
    for content, kinds in (
        (b"", []),
        (b"\n", [layouts.BLANK]),
        (b"{}", [layouts.SLOW]),
        (b" \r\n{", [layouts.BLANK, layouts.SLOW]),
    ):
        scan = Scan(content, 4)
        assert scan.lines[: scan.n, layouts.LINE_KIND].tolist() == kinds
