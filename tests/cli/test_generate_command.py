"""``relfast generate`` and ``relfast validate`` as a user types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args

import click
import orjson
import pytest
from generated import ROOT, generate

from relfast.cli.generate import subcommand
from relfast.cli.main import _run
from relfast.parameters import Choice, parameters_of
from relfast.tasks import TASKS, Task, get_task


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "task", "parameters"),
    [
        ("rel-a1", "REL-A1", {}),
        ("REL-A2 --distractors hard", "REL-A2", {"distractors": "hard"}),
        ("rel-a3 --gridsize 4 --maxval 99", "REL-A3", {"gridsize": 4, "maxval": 99}),
        ("rel-a4", "REL-A4", {}),
        (
            (
                "rel-b1 --num-leaves 9 --seq-len 70 --n-convergent-sites 3 --length-convergent-block 6"
                " --n-convergent-taxa 3 --selection clades --taxa-as index --yes-fraction 0.75"
            ),
            "REL-B1",
            {
                "num_leaves": 9,
                "seq_len": 70,
                "n_convergent_sites": 3,
                "length_convergent_block": 6,
                "n_convergent_taxa": 3,
                "selection": "clades",
                "taxa_as": "index",
                "yes_fraction": 0.75,
            },
        ),
        (
            "rel-c1 --sizes 3:9:3 --formula C4H6Br2 --formula C3H8O2 --keep unstrained",
            "REL-C1",
            {"sizes": (3, 6, 9), "formulas": ("C4H6Br2", "C3H8O2"), "keep": "unstrained"},
        ),
        (
            "rel-c2 --sizes 3,4 --min-atoms 9 --tanimoto 0.4 0.8 --strategy mixed",
            "REL-C2",
            {
                "sizes": (3, 4),
                "min_atoms": 9,
                "tanimoto": (0.4, 0.8),
                "strategy": "mixed",
            },
        ),
        (
            "rel-c3 --given 4 --formula C4H8 --universe-min 5 --universe-max 5",
            "REL-C3",
            {"given": (4,), "formulas": ("C4H8",), "universe_min": 5, "universe_max": 5},
        ),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)
def test_options_reach_the_generator(
    arguments: str,
    task: str,
    parameters: dict[str, object],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = tmp_path / "records.jsonl"
    assert _run(["generate", *arguments.split(), "-n", "5", "--seed", "3", "-o", str(output)]) == 0
    lines = output.read_bytes().splitlines()
    assert lines == [orjson.dumps(record) for record in generate(task, 5, 3, **parameters)]
    said = capsys.readouterr()
    assert said.out == ""
    assert f"5 {task} records in {output}" in said.err
    assert _run(["validate", str(output)]) == 0
    assert f"5 records, 5 good ({task} 5), 0 flaws" in capsys.readouterr().err
    # nothing but the records stays behind
    assert [p.name for p in tmp_path.iterdir()] == ["records.jsonl"]


@pytest.mark.parametrize("name", ["records.jsonl.gz", "records.jsonl.zst"])
def test_compressed_outputs_can_be_read_again(name: str, tmp_path: Path) -> None:
    output = tmp_path / name
    assert _run(["generate", "rel-a1", "-n", "7", "-o", str(output)]) == 0
    first = output.read_bytes()
    assert _run(["validate", str(output), "-q"]) == 0
    assert _run(["generate", "rel-a1", "-n", "7", "-o", str(output), "--overwrite"]) == 0
    assert output.read_bytes() == first


def test_stdout_holds_records_only(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert _run(["generate", "rel-a4", "-n", "3"]) == 0
    said = capfdbinary.readouterr()
    assert [json.loads(line)["task"] for line in said.out.splitlines()] == ["REL-A4"] * 3
    assert b"3 REL-A4 records in stdout" in said.err


def test_a_failed_run_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "records.jsonl"
    # fails at its first yes record, when the output is open already
    arguments = ["--num-leaves", "2", "--yes-fraction", "0.5", "-n", "4", "-o", str(output)]
    assert _run(["generate", "rel-b1", *arguments]) == 2
    assert "no tree of 1000" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert _run(["generate", "rel-a1", "-n", "1", "-o", str(tmp_path / "none" / "x.jsonl")]) == 1
    assert "No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["rel-a5", "REL-A6", "rel-a7", "realign"])
def test_tasks_without_a_generator(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["generate", name, "-n", "1"]) == 2
    assert (
        f"{name.upper() if name != 'realign' else 'ReAlign'} has no published generator"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["rel-z1", "-n", "1"], "No such command"),
        (["rel-a1"], "Missing option '-n'"),
        (["rel-a1", "-n", "-1"], "not in the range"),
        (["rel-a1", "-n", "1", "--seed", "-1"], "not in the range"),
        (["rel-a1", "-n", "1", "--gridsize", "1"], "gridsize must be an integer from 3"),
        (["rel-c1", "-n", "1", "--sizes", "5;6"], "neither a list such as 5,10,20"),
        (["rel-c1", "-n", "1", "--sizes", "5:9:0"], "neither a list such as 5,10,20"),
        (["rel-c3", "-n", "1", "--given", "9:5"], "at least one size"),
        (["rel-c2", "-n", "1", "--bank", "/nowhere/bank.smi"], "/nowhere/bank.smi: cannot be read"),
    ],
)
def test_bad_usage_is_one_clear_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["generate", *arguments]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert "Traceback" not in said


def test_help_lists_every_generator(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["generate", "--help"]) == 0
    said = capsys.readouterr().out
    for name in ("rel-a1", "rel-a4", "rel-b1", "rel-c1", "rel-c2", "rel-c3", "seqbench"):
        assert f"  {name} " in said
    for name in ("rel-a2", "rel-b1", "rel-c1", "rel-c2", "rel-c3"):
        assert _run(["generate", name, "--help"]) == 0
        assert "--seed" in capsys.readouterr().out


def test_help_loads_no_engine() -> None:
    code = (
        "import sys; from relfast.cli.main import _run;"
        " _run(['generate', '--help']); _run(['generate', 'rel-c2', '-h']);"
        " print(sorted({'rdkit', 'numba', 'onnxruntime', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=_env()
    )
    assert done.stdout.splitlines()[-1] == "[]"


def _env() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'kernels'}"}


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


def test_validate_without_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["validate", str(tmp_path / "none.jsonl")]) == 2
    assert "no such file" in capsys.readouterr().err


def test_validate_reads_stdin() -> None:
    (record,) = generate("REL-A1", 1, 0)
    done = subprocess.run(
        [sys.executable, "-m", "relfast.cli.main", "validate", "-"],
        input=orjson.dumps(record) + b"\n{}\n",
        capture_output=True,
        cwd=ROOT,
        env=_env(),
    )
    assert done.returncode == 1
    assert b"-:2: id: missing" in done.stdout
    assert b"2 records, 1 good" in done.stderr


GENERATED = [task for task in TASKS.values() if task.generator is not None]


@pytest.mark.parametrize("task", GENERATED, ids=lambda task: task.name)
def test_options_are_the_declared_parameters(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    assert task.parameters is not None
    declared = list(parameters_of(task.parameters))
    assert [parameter.name for parameter in declared] == [field.name for field in fields(task.parameters)]
    command = subcommand(task)
    options = {option.name: option for option in command.params}
    declared = [parameter for parameter in declared if parameter.flag is not None]
    for parameter in declared:
        option = options[parameter.name]
        assert isinstance(option, click.Option)
        assert option.opts == [parameter.flag]
        assert option.help == parameter.help
    # typed defaults become the dataclass's own
    context = command.make_context("x", ["-n", "1", "--seed", "1", "-o", "-"])
    for parameter in declared:
        value = context.params[parameter.name]
        if parameter.repeat:
            value = value[0] if value else None
        assert value == parameter.default


def test_choices_of_isomers_are_those_of_the_chemistry() -> None:
    from relfast.chem.isomers import RingFilter

    for name in ("REL-C1", "REL-C3"):
        declaring = get_task(name).parameters
        assert declaring is not None
        (keep,) = (parameter for parameter in parameters_of(declaring) if parameter.name == "keep")
        assert isinstance(keep.kind, Choice)
        assert keep.kind.names == get_args(RingFilter)
