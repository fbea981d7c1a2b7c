"""``relfast generate``, ``relfast validate`` and ``relfast show`` as a user types them."""

from __future__ import annotations

import gzip
import json
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import click
import orjson
import pytest
import seqbench_checker as checker
from click.testing import CliRunner, Result
from contract_records import generate
from engine_runs import rows_of, write_dump
from processes import python

from relfast.chem.isomers import RingFilter
from relfast.cli.generate import subcommand
from relfast.cli.main import _run, cli
from relfast.errors import InputError
from relfast.parameters import Choice, parameters_of
from relfast.tasks import TASKS, Task, get_task
from relfast.tasks.seqbench.display import Picture, draw, picture_of, to_svg
from relfast.tasks.seqbench.generate import make_rows

REACHED: list[tuple[str, str, dict[str, Any]]] = [
    ("rel-a1", "REL-A1", {}),
    ("REL-A2 --distractors hard", "REL-A2", {"distractors": "hard"}),
    ("rel-a3 --gridsize 4 --maxval 99", "REL-A3", {"gridsize": 4, "maxval": 99}),
    ("rel-a4", "REL-A4", {}),
    ("rel-b1 --num-leaves 9 --seq-len 70 --n-convergent-sites 3 --length-convergent-block 6"
     " --n-convergent-taxa 3 --selection clades --taxa-as index --yes-fraction 0.75", "REL-B1",
     {"num_leaves": 9, "seq_len": 70, "n_convergent_sites": 3, "length_convergent_block": 6, "n_convergent_taxa": 3,
      "selection": "clades", "taxa_as": "index", "yes_fraction": 0.75}),
    ("rel-c1 --sizes 3:9:3 --formula C4H6Br2 --formula C3H8O2 --keep unstrained", "REL-C1",
     {"sizes": (3, 6, 9), "formulas": ("C4H6Br2", "C3H8O2"), "keep": "unstrained"}),
    ("rel-c2 --sizes 3,4 --min-atoms 9 --tanimoto 0.4 0.8 --strategy mixed", "REL-C2",
     {"sizes": (3, 4), "min_atoms": 9, "tanimoto": (0.4, 0.8), "strategy": "mixed"}),
    ("rel-c3 --given 4 --formula C4H8 --universe-min 5 --universe-max 5", "REL-C3",
     {"given": (4,), "formulas": ("C4H8",), "universe_min": 5, "universe_max": 5}),
    ("seqbench --rows 6 --cols 7 -L 20:40 -B 2 -N 0.4 --workers 1", "SeqBench", {"rows": 6, "cols": 7, "L": (20, 40), "B": 2, "N": 0.4}),
    # facts come mixed unless asked
    *((f"seqbench --rows 6 --workers 1{more}", "SeqBench", {"rows": 6, "ordered": bool(more)}) for more in ("", " --ordered")),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "task", "parameters"), REACHED, ids=[typed for typed, *_ in REACHED])
def test_options_reach_the_generator(
    typed: str, task: str, parameters: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "records.jsonl"
    assert _run(["generate", *typed.split(), "-n", "5", "--seed", "3", "-o", str(output)]) == 0
    made = make_rows(5, 3, **parameters) if task == "SeqBench" else generate(task, 5, 3, **parameters)
    assert output.read_bytes().splitlines() == [orjson.dumps(record) for record in made]
    said = capsys.readouterr()
    assert said.out == ""
    assert f"5 {task} records in {output}" in said.err
    assert _run(["validate", str(output)]) == 0
    assert f"5 records, 5 good ({task} 5), 0 flaws" in capsys.readouterr().err
    # nothing but the records stays behind
    assert [p.name for p in tmp_path.iterdir()] == ["records.jsonl"]


def test_variants_of_each_maze(tmp_path: Path) -> None:
    typed = "seqbench --rows 6 -B 2 --names Ann,Ben --remove-keys 0 --remove-keys 1 -N 0 -N 0.5 -n 2 --seed 1"
    assert _run(["generate", *typed.split(), "-o", str(tmp_path / "mazes.jsonl")]) == 0
    rows = rows_of(tmp_path / "mazes.jsonl")
    variants = [(maze, removed, noise) for maze in (0, 1) for removed in (0, 1) for noise in (0.0, 0.5)]
    assert [row["instance_id"] for row in rows] == [
        f"{1_000_000 + m}_rkc{r}_n{noise}" for m, r, noise in variants
    ]
    assert rows[0]["instance_metadata"]["target_name"] == "Ben"


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_same_bytes_for_any_number_of_workers(suffix: str, tmp_path: Path) -> None:
    output, found = tmp_path / f"mazes.jsonl{suffix}", []
    for workers in (1, 2):
        typed = f"seqbench --rows 5 -B 1 -N 0.2 -n 80 --seed 5 --workers {workers} -o {output} --overwrite"
        assert _run(["generate", *typed.split()]) == 0
        found.append(output.read_bytes())
    assert found[0] == found[1]
    assert _run(["validate", str(output), "-q"]) == 0
    if suffix != ".zst":
        lines = (gzip.decompress(found[0]) if suffix else found[0]).splitlines()
        assert [json.loads(line) for line in lines] == list(make_rows(80, 5, rows=5, cols=5, B=1, N=0.2))


def test_stdout_holds_records_only(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert _run(["generate", "rel-a4", "-n", "3"]) == 0
    said = capfdbinary.readouterr()
    assert [json.loads(line)["task"] for line in said.out.splitlines()] == ["REL-A4"] * 3
    assert b"3 REL-A4 records in stdout" in said.err


def test_help_lists_every_generator_and_loads_no_engine() -> None:
    code = (
        "import sys; from relfast.cli.main import _run;"
        " _run(['generate', '--help']); _run(['generate', 'rel-c2', '-h']);"
        " print(sorted({'rdkit', 'numba', 'onnxruntime', 'numpy'} & set(sys.modules)))"
    )
    done = python("-c", code, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for name in ("rel-a1", "rel-a4", "rel-b1", "rel-c1", "rel-c2", "rel-c3", "seqbench"):
        assert f"  {name} " in done.stdout


def test_validate_names_line_and_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "records.jsonl"
    records = generate("REL-B1", 4, 0, num_leaves=9, seq_len=70)
    records[1]["answer"]["taxa"] = []
    records[2]["answer"]["label"] = None
    output.write_bytes(b"".join(orjson.dumps(r) + b"\n" for r in records))
    assert _run(["validate", str(output)]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        f"{output}:2: answer.taxa: must not be empty where the label is yes",
        f'{output}:3: answer.label: must be "yes" or "no", not null',
    ]
    assert "4 records, 2 good (REL-B1 2), 2 flaws" in said.err
    assert _run(["validate", "--max-errors", "1", str(output)]) == 1
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1
    assert "1 more flaw, not shown" in said.err
    assert _run(["validate", str(tmp_path / "none.jsonl")]) == 2
    assert "no such file" in capsys.readouterr().err


def test_validate_reads_stdin() -> None:
    (record,) = generate("REL-A1", 1, 0)
    lines = orjson.dumps(record).decode() + "\n{}\n"
    done = python("-m", "relfast.cli.main", "validate", "-", input=lines)
    assert done.returncode == 1
    assert "-:2: answer: missing" in done.stdout
    assert "-:2: note: id: missing" in done.stdout
    assert "2 records, 1 good" in done.stderr


@pytest.mark.parametrize("task", [task for task in TASKS.values() if task.generator], ids=lambda t: t.name)
def test_options_are_the_declared_parameters(task: Task) -> None:
    assert task.parameters is not None
    declared = list(parameters_of(task.parameters))
    assert [parameter.name for parameter in declared] == [field.name for field in fields(task.parameters)]
    command = subcommand(task)
    options = {option.name: option for option in command.params}
    # typed defaults become the dataclass's own
    context = command.make_context("x", ["-n", "1", "--seed", "1", "-o", "-"])
    for parameter in declared:
        if parameter.flag is not None:
            option = options[parameter.name]
            assert isinstance(option, click.Option)
            assert (option.opts, option.help) == ([parameter.flag], parameter.help)
            value = context.params[parameter.name]
            if parameter.repeat:
                value = value[0] if value else None
            assert value == parameter.default


@pytest.mark.parametrize("name", ["REL-C1", "REL-C3"])
def test_choices_of_isomers_are_those_of_the_chemistry(name: str) -> None:
    declaring = get_task(name).parameters
    assert declaring is not None
    (keep,) = (parameter for parameter in parameters_of(declaring) if parameter.name == "keep")
    assert isinstance(keep.kind, Choice)
    assert keep.kind.names == get_args(RingFilter)


# `relfast show`: mazes drawn as text, and the same drawing in a page


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    rows = list(make_rows(3, 1, rows=8, cols=9, L=50, B=2, N=0.4))
    plan = checker.gold_of(rows[0])
    rows[0]["response"] = f"Sure: {[*plan[:20], 'move_to: A1', *plan[20:]]}"
    rows[1]["response"] = ["no plan", "another"]
    return rows


@pytest.fixture(scope="module")
def file(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dump(tmp_path_factory.mktemp("show") / "rows.jsonl", rows)


def show(record: object) -> Result:
    return CliRunner().invoke(cli, ["show", str(record)], catch_exceptions=True)


def picture(row: dict[str, Any]) -> Picture:
    return picture_of(row["context"], None, row.get("response"), row)


def text(drawn: Picture) -> str:
    return "".join("".join(part for part, _ in line) + "\n" for line in draw(drawn))


def test_text(rows: list[dict[str, Any]], file: Path) -> None:
    result = show(file)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].split() == [*"ABCDEFGHI"]
    assert [line.split()[0] for line in lines[2:17:2]] == [*"87654321"]
    assert "the model's plan breaks a rule at action 20: not adjacent" in lines
    world, inside = checker.from_details(rows[0]), {}
    for number, line in zip(range(8, 0, -1), lines[2:17:2], strict=True):
        above = lines[2 * (8 - number) + 1]
        for column, letter in enumerate("ABCDEFGHI"):
            at, room = 4 + 7 * column, f"{letter}{number}"
            inside[room] = line[at : at + 6]
            # walls, gaps and locked doors are those of the maze
            for wall, other in (
                (line[at - 1], f"{chr(ord(letter) - 1)}{number}"),
                (above[at + 2], f"{letter}{number + 1}"),
            ):
                door = world.graph.get_edge_data(room, other)
                assert wall in ("│─" if door is None else "#" if door["locked"] else " "), (room, other)
    for key, room in world.keys.items():
        assert key in inside[room]
        assert any(f"takes key {key}, which lies in {room}" in line for line in lines)
    plan = [step.partition(": ") for step in checker.gold_of(rows[0])]
    gold, model = (
        [room for name, _, room in some if name in ("start", "move_to")] for some in (plan, plan[:20])
    )
    assert "S" in inside[gold[0]]
    assert "G" in inside[gold[-1]]
    marks = {room: text[0] for room, text in inside.items() if text[0] != " "}
    assert marks == dict.fromkeys(gold, "•") | dict.fromkeys(model, "◉") | {model[-1]: "✗"}


def test_a_record_by_id_and_by_index(rows: list[dict[str, Any]], file: Path) -> None:
    third = text(picture(rows[2]))
    for which in (2, rows[2]["instance_id"]):
        result = show(f"{file}:{which}")
        assert result.exit_code == 0
        assert result.output == third
    assert "the response holds no plan" in show(f"{file}:1").output


def test_a_page_draws_both_paths_as_lines_through_their_rooms(rows: list[dict[str, Any]]) -> None:
    drawn = picture(rows[0])
    root = ElementTree.fromstring(to_svg(drawn))
    svg = "{http://www.w3.org/2000/svg}"
    named = {element.text: element.attrib for element in root.iter(f"{svg}text")}
    columns = {letters: float(named[letters]["x"]) for letters in named if letters and letters.isalpha()}
    left, top = (
        min(x for letters, x in columns.items() if letters not in "SG"),
        float(named[str(drawn.top_row)]["y"]),
    )
    lines = [element.attrib for element in root.iter(f"{svg}polyline")]
    for line, path in zip(lines, (drawn.gold_path, drawn.model_path), strict=True):
        places = [tuple(map(float, point.split(","))) for point in line["points"].split()]
        # each step has two points: one in the room that it leaves, one in the room that it enters
        rooms = [(round((x - left) / 30), round((y + 4 - top) / 30)) for x, y in places]
        assert rooms == [room for step in pairwise(path) for room in step]
    assert ["stroke-dasharray" in line for line in lines] == [False, True]
    locked = sum(door for door in drawn.passages.values())
    (doors,) = [path.attrib["d"] for path in root.iter(f"{svg}path") if "bad" in path.attrib["stroke"]]
    assert doors.count("M") == locked > 0
    assert [element.text for element in root.iter(f"{svg}text")].count("✗") == 1


def test_names_are_escaped() -> None:
    context = (
        "Room A1 and A2 are connected by a closed and locked door. Door between A1 and A2 requires key <b>&."
        " Key <b>& is in room A1. Bob is in room A1. Alice is in room A2."
    )
    drawn = picture_of(context, {"actions": ["start: A1", "rescue: Alice"]})
    assert "S<b>&" in [element.text for element in ElementTree.fromstring(to_svg(drawn))]


def test_errors(file: Path) -> None:
    for which, message in (("99", "no line 99"), ("nobody", "no id 'nobody'")):
        result = show(f"{file}:{which}")
        assert isinstance(result.exception, InputError), result
        assert message in str(result.exception)
    odd = "Room Hall and Cellar are connected by an open door. Bob is in room Hall. Alice is in room Cellar."
    with pytest.raises(InputError, match="no place on a grid"):
        picture_of(odd, {"actions": ["start: Hall"]})
    with pytest.raises(InputError, match="gold"):
        picture_of(odd, {})
