"""`relfast show`: mazes drawn as text, and the same drawing in a page."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import seqbench_checker as checker
from click.testing import CliRunner, Result

from relfast.cli.main import cli
from relfast.errors import InputError
from relfast.tasks.seqbench.display import Picture, draw, picture_of, to_svg
from relfast.tasks.seqbench.generate import make_rows


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    rows = list(make_rows(3, 1, rows=8, cols=9, L=50, B=2, N=0.4))
    plan = checker.gold_of(rows[0])
    rows[0]["response"] = f"Sure: {[*plan[:20], 'move_to: A1', *plan[20:]]}"
    rows[1]["response"] = ["no plan", "another"]
    return rows


@pytest.fixture(scope="module")
def file(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("show") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def show(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["show", *map(str, arguments)], catch_exceptions=True)


def picture(row: dict[str, Any]) -> Picture:
    return picture_of(row["context"], None, row.get("response"), row)


def test_what_the_picture_holds(rows: list[dict[str, Any]]) -> None:
    world = checker.from_details(rows[0])
    drawn = picture(rows[0])
    assert (drawn.columns, drawn.rows) == (9, 8)
    assert len(drawn.rooms) == 72
    assert len(drawn.passages) == world.graph.size()
    assert sum(drawn.passages.values()) == 2
    assert sorted(key for keys in drawn.keys.values() for key in keys) == sorted(world.keys)
    assert drawn.gold_path[0] == drawn.start
    assert drawn.gold_path[-1] == drawn.goal
    assert drawn.model_path == drawn.gold_path[: len(drawn.model_path)]
    assert drawn.verdict is not None
    assert drawn.verdict.violation == "not_adjacent"


def text(drawn: Picture) -> str:
    return "".join("".join(part for part, _ in line) + "\n" for line in draw(drawn))


def test_text(rows: list[dict[str, Any]], file: Path) -> None:
    result = show(file)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].split() == [*"ABCDEFGHI"]
    assert [line.split()[0] for line in lines[2:17:2]] == [*"87654321"]
    assert result.output.count("─####─") + result.output.count("#") >= 2
    assert "the model's plan breaks a rule at action 20: not_adjacent" in lines
    assert sum("✗" in line for line in lines) == 1
    world = checker.from_details(rows[0])
    for key, room in world.keys.items():
        assert any(f"takes key {key}, which lies in {room}" in line for line in lines)
    # walls and gaps are those of the maze
    for row, line in enumerate(lines[2:17:2]):
        for column in range(1, 9):
            wall = line[4 + 7 * column - 1]
            one, other = f"{chr(64 + column)}{8 - row}", f"{chr(65 + column)}{8 - row}"
            door = world.graph.get_edge_data(one, other)
            assert wall == ("│" if door is None else "#" if door["locked"] else " "), (line, column)


def test_a_record_by_id_and_by_index(rows: list[dict[str, Any]], file: Path) -> None:
    third = text(picture(rows[2]))
    for arguments in (
        (f"{file}:2",),
        (f"{file}:{rows[2]['instance_id']}",),
    ):
        result = show(*arguments)
        assert result.exit_code == 0
        assert result.output == third
    assert "the response holds no plan" in show(f"{file}:1").output


def test_records_and_compressed_files(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    row = rows[2]
    record = {
        "id": 7,
        "task": "SeqBench",
        "question": row["context"],
        "answer": {"actions": row["completion"]},
    }
    path = tmp_path / "records.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(record).encode() + b"\n"))
    result = show(f"{path}:0")
    assert result.exit_code == 0
    assert "S" in result.output
    assert "G" in result.output


def test_a_page_has_the_same_drawing(rows: list[dict[str, Any]]) -> None:
    drawn = picture(rows[0])
    root = ElementTree.fromstring(to_svg(drawn))
    # each text stands in its columns: they make the terminal's lines
    lines: dict[int, str] = {}
    for element in root:
        line, column = int(element.attrib["y"]), int(element.attrib["x"]) // 8 - 1
        lines[line] = lines.get(line, "").ljust(column) + (element.text or "")
        assert int(element.attrib["textLength"]) == 8 * len(element.text or "")
    assert [*lines.values()] == text(drawn).splitlines()
    assert {element.attrib["fill"] for element in root} >= {"var(--ink)", "var(--bad)", "var(--s2)"}


def test_names_are_escaped() -> None:
    context = (
        "Room A1 and A2 are connected by a closed and locked door. Door between A1 and A2 requires key <b>&."
        " Key <b>& is in room A1. Bob is in room A1. Alice is in room A2."
    )
    drawn = picture_of(context, {"actions": ["start: A1", "rescue: Alice"]})
    assert "key <b>&," in "".join(element.text or "" for element in ElementTree.fromstring(to_svg(drawn)))


def test_errors(rows: list[dict[str, Any]], file: Path, tmp_path: Path) -> None:
    for arguments, message in (
        ((f"{file}:99",), "no line 99"),
        ((f"{file}:nobody",), "no id 'nobody'"),
        ((tmp_path / "absent.jsonl",), "no such file"),
    ):
        result = show(*arguments)
        assert isinstance(result.exception, InputError), result
        assert message in str(result.exception)
    odd = "Room Hall and Cellar are connected by an open door. Bob is in room Hall. Alice is in room Cellar."
    with pytest.raises(InputError, match="no place on a grid"):
        picture_of(odd, {"actions": ["start: Hall"]})
    with pytest.raises(InputError, match="gold"):
        picture_of(odd, {})
