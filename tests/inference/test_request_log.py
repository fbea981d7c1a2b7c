"""The log of requested rows: whole rows survive anything, resumed runs mix nothing, finished ones are in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine_runs import rows_of

from relfast.errors import OutputError, ResumeMismatchError
from relfast.inference.request_log import RequestLog

ROWS = [{"n": n, "text": "é\u2028" * n, "error": None} for n in range(6)]


def open_log(path: Path, **options: Any) -> RequestLog:
    options.setdefault("settings", {"model": "m"})
    return RequestLog(path, key=lambda row: row["n"], failed=lambda row: row["error"] is not None, **options)


def test_rows_end_up_in_the_order_of_the_input(tmp_path: Path) -> None:
    with open_log(tmp_path / "out.jsonl") as log:
        for n in (3, 0, 5):
            log.append([ROWS[n]])
        log.append([ROWS[1], ROWS[4]])
        assert [row["n"] for row in log.rows()] == [3, 0, 5, 1, 4]
        log.finish(range(6))
        assert [row["n"] for row in log.rows()] == [0, 1, 3, 4, 5]
        log.append([ROWS[2]])
        assert (2 in log, 7 in log, len(log)) == (True, False, 6)
    with open_log(tmp_path / "out.jsonl", resume=True) as log:
        log.finish(range(6))
        assert list(log.rows()) == ROWS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "out.jsonl.run.json"]


def test_cut_at_every_byte_only_whole_rows_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_log(path) as log:
        log.append(ROWS)
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        with open_log(path, resume=True) as log:
            kept = sum(end <= size for end in ends)
            assert list(log.rows()) == ROWS[:kept]
            log.append(ROWS[kept:])
        assert path.read_bytes() == whole


def test_a_row_that_failed_in_part_stays_until_its_successor(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    half = {"n": 1, "text": "half", "error": {"type": "X"}}
    none = {"n": 2, "error": {"type": "X"}}
    with open_log(path) as log:
        log.append([ROWS[0], half, none])
    partial = {"partial": lambda row: "text" in row}
    with open_log(path, resume=True, **partial) as log:
        assert (1 in log, 2 in log) == (False, False)
        assert (log.before(1), log.before(2), log.before(0)) == ([half], [], [])
    # nothing came: a second resume finds it again
    with open_log(path, resume=True, **partial) as log:
        assert log.before(1) == [half]
        log.append([ROWS[2], ROWS[1]])
        assert log.before(1) == []
    # stopped before the end: the row is there once
    assert [row["text"] for row in rows_of(path)] == [ROWS[0]["text"], ROWS[2]["text"], ROWS[1]["text"]]
    with open_log(path, resume=True, **partial) as log:
        log.finish(range(3))
    assert rows_of(path) == ROWS[:3]


def test_a_successor_counts_after_a_kill_too(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    half = {"n": 1, "text": "half", "error": {"type": "X"}}
    partial = {"partial": lambda row: True}
    with open_log(path) as log:
        log.append([half, ROWS[1]])
    with open_log(path, resume=True, **partial) as log:
        assert (1 in log, log.before(1)) == (True, [])
    assert rows_of(path) == [ROWS[1]]


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_log(path) as log:
        log.append(ROWS)
    before = path.read_bytes()
    with pytest.raises(ResumeMismatchError, match="model was 'm' and is 'other'"):
        open_log(path, resume=True, settings={"model": "other"})
    (tmp_path / "out.jsonl.run.json").write_text("torn{")
    with pytest.raises(ResumeMismatchError, match="torn"):
        open_log(path, resume=True)
    assert path.read_bytes() == before


def test_a_second_run_stops_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with open_log(path) as log:
        with pytest.raises(OutputError, match="another run"):
            open_log(path, resume=True)
        with pytest.raises(OutputError, match="another run"):
            open_log(path, overwrite=True)
        log.append([ROWS[1], ROWS[0]])
        log.finish(range(2))  # the file that took its place is locked too
        with pytest.raises(OutputError, match="another run"):
            open_log(path, resume=True)
    with open_log(path, resume=True) as log:
        assert len(log) == 2


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        open_log(tmp_path / "file" / "out.jsonl")


def test_pieces_are_kept_until_their_row_is_there(tmp_path: Path) -> None:
    """A row of several requests comes piece by piece: none is lost by a kill, none is left at the end."""
    path = tmp_path / "out.jsonl"
    pieces = {"piece": lambda row: "piece" in row, "partial": lambda row: "text" in row}
    first, second = ({"n": 1, "piece": at, "error": None} for at in range(2))
    failed = {"n": 2, "text": "half", "error": {"type": "X"}}
    with open_log(path, **pieces) as log:
        log.append([failed])
        log.append([first])
        log.append([ROWS[0]])
    with open_log(path, resume=True, **pieces) as log:
        assert [(1 in log), log.before(1), log.before(2), len(log)] == [False, [first], [failed], 1]
        later = {"n": 2, "piece": 1, "error": None}
        log.append([second])
        log.append([later])
    with open_log(path, resume=True, **pieces) as log:
        assert (log.before(1), log.before(2)) == ([first, second], [failed, later])
        log.append([ROWS[1], ROWS[2]])
        log.finish(range(3), {"rows": 3})
    assert rows_of(path) == ROWS[:3]
    assert json.loads((tmp_path / "out.jsonl.run.json").read_text()) == {"model": "m", "made": {"rows": 3}}
    with open_log(path, resume=True, **pieces) as log:  # what was made of them is no setting
        assert len(log) == 3
