"""Gold files as the text kernel reads them: the same records as a dictionary of decoded lines."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from missing_kernels import built
from relfast_kernels.compiled import native

from relfast.engine.columns.gold_records import GoldRecords, HeldRecords
from relfast.engine.files.io.reader import read_gold
from relfast.errors import ReadError
from relfast.formats import read_row
from relfast.formats.entry import Entry
from relfast.formats.paths import MISSING
from relfast.json_text import decode_object
from relfast.tasks import EXACT_FIELDS

IDS: Final = (
    "a", "7", 7, 7.0, True, 1, "1", 0, -0.0, -3, None, "é", "\u2028", "\ud800", '"', "/", "", 10**17, 10**18, 1e18, 10**25,
    1.5, "a\tb", "x" * 300, "\x7f",
)  # fmt: skip
GOLDS: Final[tuple[dict[str, Any], ...]] = (
    {"task": "REL-A1", "answer": {"target": 3}},
    {"answer": {"target": 3}},
    {"task": "rel-a1", "answer": '{"target": 3}', "question": "Which panel is it now?"},
    {"task": "REL-C1", "answer": {"label": "Yes"}, "question": "Are these isomers?"},
    {"task": "REL-A1", "answer": {"target": 10**20}},
    {"answer": {"target": 3, "seed": 12345678901234567890}},
    {"answer": None},
    {"task": "REL-A1", "question": 7},
    {"response": "Answer 1", "error": "x", "answer": {"target": 3}},
    {"custom_id": "a", "response": None, "answer": {"target": 1}},
)


Functions = Mapping[str, Callable[..., int]]


@pytest.fixture(scope="module")
def functions() -> Functions:
    built("text")
    found = native.load("text")
    assert found is not None
    return found


def lines_of(rng: random.Random, n: int) -> list[bytes]:
    """Lines with some of the ids, each spelled in one of the ways in which JSON can be."""
    lines = []
    for _ in range(n):
        row = {"id": rng.choice(IDS), **rng.choice(GOLDS)}
        text = json.dumps(
            row, ensure_ascii=rng.random() < 0.5, separators=rng.choice(((",", ":"), (" , ", " : ")))
        )
        line = text.encode("utf-8", "surrogatepass") if "\ud800" not in text else json.dumps(row).encode()
        line = line.replace(b'"a"', rng.choice((b'"a"', rb'"\u0061"')))
        lines += [rng.choice((b"", b"\xef\xbb\xbf")) + line + rng.choice((b"", b"\r", b"  "))]
        lines += [b" "] * (rng.random() < 0.1)
    return lines


def ordinary(lines: list[bytes]) -> dict[Any, Entry]:
    entries = [read_row(decode_object(line, EXACT_FIELDS), "auto") for line in lines if line.strip()]
    return {entry.id: entry for entry in entries}


@pytest.mark.parametrize("seed", range(12))
def test_records_are_those_of_decoded_lines(seed: int, functions: Functions) -> None:
    rng = random.Random(seed)
    files = [lines_of(rng, rng.choice((3, 40, 300))) for _ in range(2)]
    known = ordinary([line for lines in files for line in lines])
    golds = [HeldRecords(functions), GoldRecords()]
    for gold in golds:
        for lines in files:
            gold.read("gold.jsonl", [([b"\n".join([*lines, b""])], None)], 1 << 20)
        assert len(gold) == len(known)
        for id in (*IDS, "8", 8, 9.0, 10**30, float("nan")):
            found, entry = gold.get(id), known.get(id)
            assert (found is None) == (entry is None)
            if found is not None and entry is not None:
                assert [getattr(found, name) for name in ("id", "task", "question", "answer")] == [
                    getattr(entry, name) for name in ("id", "task", "question", "answer")
                ]
    assert golds[0].repeated == golds[1].repeated
    assert golds[0].questions() == golds[1].questions()
    questions: dict[str, Any] = {}
    for id, entry in known.items():
        if isinstance(entry.question, str):
            questions[entry.question] = MISSING if entry.question in questions else id
    assert golds[0].questions() == questions


def test_many_records_are_found(functions: Functions) -> None:
    """The table grows while a file is read; ids that repeat are one record, the last."""
    gold = HeldRecords(functions)
    lines = [b'{"id": "%d", "answer": {"target": %d}}' % (n % 20_000, n % 7) for n in range(30_000)]
    gold.read("gold.jsonl", [([b"\n".join([*lines, b""])], None)], 1 << 20)
    assert len(gold) == 20_000
    for n in range(0, 20_000, 97):
        found = gold.get(str(n))
        assert found is not None
        assert found.answer == {"target": (n + 20_000 if n < 10_000 else n) % 7}
    assert gold.repeated is not None
    assert gold.repeated.n == sum(n % 7 != (n + 20_000) % 7 for n in range(10_000))


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'\n{"id": 9}\n')


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda path: path.write_bytes(path.read_bytes().replace(b'"now"', b'"new"')), 2),
        (lambda path: path.write_bytes(b""), 1),
        (_append, None),  # what was read is still there
        (lambda path: path.unlink(), None),
    ],
)
def test_a_gold_file_must_not_change_under_a_run(
    change: Callable[[Path], object], where: int | None, tmp_path: Path, functions: Functions
) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(
        b'{"id": 1, "answer": {"target": 3}}\n{"id": 2, "question": "now", "answer": {"target": 4}}'
    )
    gold, kept = read_gold([str(path)], in_files=True), read_gold([str(path)])
    change(path)
    assert kept.questions() == {"now": 2}
    if where is None:
        assert gold.questions() == {"now": 2}
    else:
        with pytest.raises(ReadError, match=rf"gold\.jsonl:{where}: it changed while it was used"):
            gold.questions()
