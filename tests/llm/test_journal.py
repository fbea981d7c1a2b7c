"""The journal: whole rows survive anything, resumed runs mix nothing, finished ones are in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relfast.errors import OutputError, ResumeMismatchError, UsageError
from relfast.journal import Journal

ROWS = [{"n": n, "text": "é\u2028" * n, "error": None} for n in range(6)]


def open_journal(path: Path, **options: Any) -> Journal:
    options.setdefault("settings", {"model": "m"})
    return Journal(path, key=lambda row: row["n"], failed=lambda row: row["error"] is not None, **options)


def test_rows_end_up_in_the_order_of_the_input(tmp_path: Path) -> None:
    with open_journal(tmp_path / "out.jsonl") as journal:
        for n in (3, 0, 5):
            journal.append([ROWS[n]])
        journal.append([ROWS[1], ROWS[4]])
        assert [row["n"] for row in journal.rows()] == [3, 0, 5, 1, 4]
        journal.finish(range(6))
        assert [row["n"] for row in journal.rows()] == [0, 1, 3, 4, 5]
        journal.append([ROWS[2]])
        assert (2 in journal, 7 in journal, len(journal)) == (True, False, 6)
    with open_journal(tmp_path / "out.jsonl", resume=True) as journal:
        journal.finish(range(6))
        assert list(journal.rows()) == ROWS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "out.jsonl.run.json"]


def test_cut_at_every_byte_only_whole_rows_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_journal(path) as journal:
        journal.append(ROWS)
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        with open_journal(path, resume=True) as journal:
            kept = sum(end <= size for end in ends)
            assert list(journal.rows()) == ROWS[:kept]
            journal.append(ROWS[kept:])
        assert path.read_bytes() == whole


def test_failed_rows_are_dropped_when_resumed(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_journal(path) as journal:
        journal.append([ROWS[0], {"n": 1, "error": {"type": "X"}}, ROWS[2]])
        journal.finish(range(3))
        assert len(list(journal.rows())) == 3
    with open_journal(path, resume=True) as journal:
        assert [row["n"] for row in journal.rows()] == [0, 2]
        assert 1 not in journal


def test_a_row_that_failed_in_part_stays_until_its_successor(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    half = {"n": 1, "text": "half", "error": {"type": "X"}}
    none = {"n": 2, "error": {"type": "X"}}
    with open_journal(path) as journal:
        journal.append([ROWS[0], half, none])
    partial = {"partial": lambda row: "text" in row}
    with open_journal(path, resume=True, **partial) as journal:
        assert (1 in journal, 2 in journal) == (False, False)
        assert (journal.before(1), journal.before(2), journal.before(0)) == (half, None, None)
    # nothing came: a second resume finds it again
    with open_journal(path, resume=True, **partial) as journal:
        assert journal.before(1) == half
        journal.append([ROWS[2], ROWS[1]])
        assert journal.before(1) is None
    # stopped before the end: the row is there once
    assert [row["text"] for row in read(path)] == [ROWS[0]["text"], ROWS[2]["text"], ROWS[1]["text"]]
    with open_journal(path, resume=True, **partial) as journal:
        journal.finish(range(3))
    assert read(path) == ROWS[:3]


def test_a_successor_counts_after_a_kill_too(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    half = {"n": 1, "text": "half", "error": {"type": "X"}}
    partial = {"partial": lambda row: True}
    with open_journal(path) as journal:
        journal.append([half, ROWS[1]])
    with open_journal(path, resume=True, **partial) as journal:
        assert (1 in journal, journal.before(1)) == (True, None)
    assert read(path) == [ROWS[1]]


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def test_an_existing_file_needs_a_word(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_journal(path) as journal:
        journal.append(ROWS)
    with pytest.raises(UsageError, match="--resume continues it"):
        open_journal(path)
    with pytest.raises(UsageError, match="exclude"):
        open_journal(path, resume=True, overwrite=True)
    with open_journal(path, overwrite=True) as journal:
        assert len(journal) == 0
    assert path.read_bytes() == b""


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_journal(path) as journal:
        journal.append(ROWS)
    before = path.read_bytes()
    with pytest.raises(ResumeMismatchError, match="model was 'm' and is 'other'"):
        open_journal(path, resume=True, settings={"model": "other"})
    (tmp_path / "out.jsonl.run.json").write_text("torn{")
    with pytest.raises(ResumeMismatchError, match="torn"):
        open_journal(path, resume=True)
    assert path.read_bytes() == before


def test_a_second_run_stops_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_journal(path) as journal:
        with pytest.raises(OutputError, match="another run"):
            open_journal(path, resume=True)
        with pytest.raises(OutputError, match="another run"):
            open_journal(path, overwrite=True)
        journal.append([ROWS[1], ROWS[0]])
        journal.finish(range(2))  # the file that took its place is locked too
        with pytest.raises(OutputError, match="another run"):
            open_journal(path, resume=True)
    with open_journal(path, resume=True) as journal:
        assert len(journal) == 2


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        open_journal(tmp_path / "file" / "out.jsonl")
