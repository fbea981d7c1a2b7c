"""Lines that are no records, and lines that only some parsers read: one row each, never an abort."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from corpora import DATA, naughty_strings
from engine_runs import write_dump

import relfast
from relfast.json_text import Undecodable, decode_object
from relfast.tasks import EXACT_FIELDS

GOOD = b'{"id": 1, "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4"}'


def rows_of(lines: Sequence[Any] | bytes, tmp_path: Path, **options: Any) -> list[dict[str, Any]]:
    """Of records, or of a dump as it is."""
    out = tmp_path / "rows.jsonl"
    dump = write_dump(tmp_path / "dump.jsonl", [lines] if isinstance(lines, bytes) else lines)
    relfast.score_file(dump, out, overwrite=True, **{"workers": 0, **options})
    return [json.loads(line) for line in out.read_bytes().split(b"\n")[:-1]]


def outline(rows: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(row["index"], row["status"]) for row in rows]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"not json", "not JSON: Expecting value"),
        (b"[1, 2]", "not a JSON object but an array"),
        (b'"text"', "not a JSON object but a string"),
        (b"null", "not a JSON object but null"),
        (b"true", "not a JSON object but true or false"),
        (b"12.5", "not a JSON object but a number"),
        (b"{", "not JSON: Expecting property name enclosed in double quotes"),
        (b'{"a": "\xff"}', "not UTF-8: byte 0xff at position 7"),
        (b'{"a": "x\x00y"}', "not JSON: Invalid control character at"),
        (GOOD[:-9], "not JSON: Unterminated string starting at"),
        (GOOD + b"x", "not JSON: Extra data"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (
            b'{"a": ' + b"9" * 5_000 + b"}",
            "not JSON: Exceeds the limit (4300 digits) for integer string conversion",
        ),
    ],
)
def test_undecodable(line: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(Undecodable) as caught:
        decode_object(line)
    assert str(caught.value).startswith(message)
    rows = rows_of(GOOD + b"\n" + line + b"\n" + GOOD + b"\n", tmp_path)
    assert outline(rows) == [(0, "ok"), (1, "invalid_record"), (2, "ok")]
    assert rows[1]["error"]["type"] == "InvalidJSON"
    assert "\n" not in rows[1]["error"]["message"]
    assert (rows[1]["id"], rows[1]["correct"], rows[1]["reward"]) == (None, None, None)


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        (b"\xef\xbb\xbf" + b'{"id": 1}', "id", 1),
        (b'{"id": NaN}', "id", float("nan")),
        (b'{"id": -Infinity}', "id", float("-inf")),
        (b'{"id": "\\ud800"}', "id", "\ud800"),
        (b'{"id": 18446744073709551616}', "id", 2**64),
        (b'{"id": -9223372036854775809}', "id", -(2**63) - 1),
        (b'{"id": 1, "id": 2}', "id", 2),
        (b'{"answer": {"taxa": [99999999999999999999]}}', "answer", {"taxa": [99999999999999999999]}),
        (b'{"answer": {"target": 36893488147419103232}}', "answer", {"target": 2**65}),
        (b' {"id": "\\u2028\xe2\x80\xa8"}\t', "id", "\u2028\u2028"),
        (b'{"id": "x\\u0000y"}', "id", "x\x00y"),
        (b'{"id": 1e999}', "id", float("inf")),
        (b'{"id": -0}', "id", 0),
        (b'{"id": "\\ud83d\\ude00"}', "id", "\U0001f600"),
        (b'{"id": "x\xc2\x85y"}', "id", "x\x85y"),
    ],
)
def test_what_only_the_tolerant_parser_reads(line: bytes, field: str, value: Any) -> None:
    assert repr(decode_object(line, EXACT_FIELDS)[field]) == repr(value)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (GOOD, [(0, "ok")]),
        (GOOD + b"\n\n  \n" + GOOD + b"\n", [(0, "ok"), (3, "ok")]),
        (GOOD + b"\r\n\r\n" + GOOD + b"\r\n", [(0, "ok"), (2, "ok")]),
        (b"\xef\xbb\xbf" + GOOD + b"\n" + GOOD, [(0, "ok"), (1, "ok")]),
        (GOOD.replace(b"4", b"4\xe2\x80\xa8\xc2\x85\x0b".replace(b"\x0b", b"\\u000b"), 1) + b"\n" + GOOD, [(0, "ok"), (1, "ok")]),
        (GOOD + b"\x0c\n" + GOOD, [(0, "invalid_record"), (1, "ok")]),
        (b"\x00" * 10 + b"\n" + GOOD, [(0, "invalid_record"), (1, "ok")]),
        (GOOD + b"\r" + GOOD + b"\n" + GOOD, [(0, "invalid_record"), (1, "ok")]),
    ],
)  # fmt: skip
def test_ends_of_lines(data: bytes, expected: list[tuple[int, str]], tmp_path: Path) -> None:
    assert outline(rows_of(data, tmp_path)) == expected


def test_lone_surrogates_and_big_numbers_are_written(tmp_path: Path) -> None:
    lines = [
        {"id": "\ud800", "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4 \udfff"},
        {"id": 2**70, "task": "REL-A1", "answer": {"target": 2**70}, "response": "4"},
        {"id": float("nan"), "task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>\ud83d"},
    ]
    rows = rows_of(lines, tmp_path, details=True)
    assert (tmp_path / "rows.jsonl").read_bytes().isascii()
    assert [row["correct"] for row in rows] == [True, False, True]
    assert (rows[0]["id"], rows[1]["id"], rows[1]["metrics"]["gold"]) == ("\ud800", 2**70, 2**70)


def test_deep_values_are_cut(tmp_path: Path) -> None:
    """A value may be nested so deeply that it can be read and not written again."""
    deep = json.loads("[" * 901 + "]" * 901)
    for policy in ("reference", "strict"):
        records = [
            {"id": deep, "task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>"},
            {"id": {"a": deep}, "task": "REL-C1", "answer": {"label": deep}, "response": "<Yes>"},
            {"id": [1, [2]], "task": "REL-A1", "answer": {"target": deep}, "response": deep},
            {"id": 3, "task": deep, "answer": deep},
        ]
        rows = rows_of(records, tmp_path, details=True, policy=policy)
        assert [row["index"] for row in rows] == [0, 1, 2, 3]
        assert rows[0]["correct"] is True
        assert rows[2]["id"] == [1, [2]]
        assert json.dumps(rows[0]["id"]).count("[") == 100


def test_json_test_suite(tmp_path: Path) -> None:
    """https://github.com/nst/JSONTestSuite: one by one against its verdicts, then as lines of a dump, of which every
    one gives exactly one row, between good ones that are scored."""
    accepted: list[bytes] = []
    lines: list[bytes] = []
    with tarfile.open(DATA / "hostile/json_test_suite.tar.gz") as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member) if member.name.endswith(".json") else None
            if file is None:
                continue
            text, verdict = file.read(), Path(member.name).name[0]
            # a line cannot hold line ends; a blank one has no row
            line = text.replace(b"\n", b" ").replace(b"\r", b" ")
            if line.strip():
                lines.append(line)
            refused = None
            try:
                decode_object(text)
            except Undecodable as error:
                refused = str(error)
            if verdict == "y":
                assert refused is None or refused.startswith("not a JSON object but"), member.name
            if verdict == "n" and refused is None:
                accepted.append(text)
    assert len(lines) > 300
    data = b"\n".join([GOOD, *(part for line in lines for part in (line, GOOD)), b""])
    rows = rows_of(data, tmp_path)
    assert rows_of(data, tmp_path, workers=2) == rows
    assert [row["index"] for row in rows] == list(range(2 * len(lines) + 1))
    assert all(row["status"] == "ok" for row in rows[::2])
    assert all(row["status"] == "invalid_record" and row["error"]["message"] for row in rows[1::2])
    # Python's parser takes NaN and Infinity, which the standard does not know
    assert all(b"NaN" in text or b"Infinity" in text for text in accepted), accepted


def test_naughty_strings(tmp_path: Path) -> None:
    tasks = {
        "REL-A1": {"target": 3},
        "REL-B1": {"label": "no", "taxa": []},
        "REL-C1": {"label": "No"},
        "REL-C2": {"smiles": "CCO"},
    }
    records = [
        {"id": text, "task": task, "answer": answer, "response": text}
        for text in naughty_strings()
        for task, answer in tasks.items()
    ]
    data = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    for policy in ("reference", "strict"):
        rows = rows_of(data.encode("utf-8", "surrogatepass"), tmp_path, policy=policy)
        assert [row["id"] for row in rows] == [record["id"] for record in records]
        assert {row["status"] for row in rows} <= {"ok", "no_answer"}
