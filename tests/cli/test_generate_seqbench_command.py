"""`relfast generate seqbench`: rows in files, the same for any number of workers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from relfast.cli.generate import subcommand
from relfast.errors import OutputError, OutputExistsError, UsageError
from relfast.tasks import get_task
from relfast.tasks.seqbench.generate import make_rows


def generate(*arguments: object) -> Result:
    return CliRunner().invoke(subcommand(get_task("SeqBench")), [*map(str, arguments)])


def test_rows_in_a_file(tmp_path: Path) -> None:
    output = tmp_path / "mazes.jsonl"
    arguments = (
        "--rows",
        6,
        "--cols",
        7,
        "-L",
        "20:40",
        "-B",
        2,
        "-N",
        0.4,
        "-n",
        5,
        "--seed",
        3,
    )
    result = generate(*arguments, "-o", output, "--workers", 1)
    assert result.exit_code == 0, result
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert rows == list(make_rows(5, 3, rows=6, cols=7, L=(20, 40), B=2, N=0.4))
    assert list(tmp_path.iterdir()) == [output]
    refused = generate(*arguments, "-o", output)
    assert isinstance(refused.exception, OutputExistsError)
    assert "--overwrite" in str(refused.exception)
    assert generate(*arguments, "-o", output, "--overwrite", "--workers", 1).exit_code == 0


@pytest.mark.parametrize("ordered", [False, True])
def test_facts_come_mixed_unless_asked(ordered: bool, tmp_path: Path) -> None:
    output = tmp_path / "mazes.jsonl"
    flags = ["--ordered"] if ordered else []
    assert generate("--rows", 6, "-n", 1, "--seed", 3, "-o", output, *flags).exit_code == 0
    assert json.loads(output.read_text()) == next(make_rows(1, 3, rows=6, ordered=ordered))


def test_variants_of_each_maze(tmp_path: Path) -> None:
    output = tmp_path / "mazes.jsonl"
    names = ("--names", "Ann,Ben", "--remove-keys", 0, "--remove-keys", 1, "-N", 0, "-N", 0.5)
    result = generate("--rows", 6, "-B", 2, *names, "-n", 2, "--seed", 1, "-o", output)
    assert result.exit_code == 0, result
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["instance_id"] for row in rows] == [
        f"{1_000_000 + maze}_rkc{removed}_n{noise}"
        for maze in (0, 1)
        for removed in (0, 1)
        for noise in (0.0, 0.5)
    ]
    assert rows[0]["instance_metadata"]["target_name"] == "Ben"


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_same_bytes_for_any_number_of_workers(suffix: str, tmp_path: Path) -> None:
    contents = []
    for workers in (1, 2):
        output = tmp_path / f"mazes{workers}.jsonl{suffix}"
        arguments = ("--rows", 5, "-B", 1, "-N", 0.2, "-n", 80, "--seed", 5, "-o", output)
        result = generate(*arguments, "--workers", workers)
        assert result.exit_code == 0, result
        assert "80 SeqBench records in " in result.output
        contents.append(output.read_bytes())
    assert contents[0] == contents[1]
    lines = (gzip.decompress(contents[0]) if suffix else contents[0]).splitlines()
    assert [json.loads(line) for line in lines] == list(make_rows(80, 5, rows=5, cols=5, B=1, N=0.2))


def test_a_failure_leaves_no_file(tmp_path: Path) -> None:
    small = generate("--rows", 2, "-B", 5, "-n", 3, "-o", tmp_path / "mazes.jsonl", "--workers", 1)
    assert isinstance(small.exception, UsageError)
    assert "larger grid" in str(small.exception)
    absent = generate(
        "--rows", 2, "-B", 0, "-n", 3, "-o", tmp_path / "absent" / "mazes.jsonl", "--workers", 1
    )
    assert isinstance(absent.exception, OutputError)
    assert "absent" in str(absent.exception)
    assert list(tmp_path.iterdir()) == []


def test_usage_errors(tmp_path: Path) -> None:
    output = tmp_path / "mazes.jsonl"
    for arguments, message in (
        (("--names", "Bob"), "AGENT,TARGET"),
        (("-L", "5", "-B", 4), "23 actions at least"),
        (("--rows", 0), "rows"),
    ):
        result = generate(*arguments, "-n", 1, "--seed", 0, "-o", output)
        assert isinstance(result.exception, UsageError)
        assert message in str(result.exception)
    assert generate("-L", "many", "-n", 1, "--seed", 0, "-o", output).exit_code == 2


def test_cover_on_the_command_line(tmp_path: Path) -> None:
    output = tmp_path / "mazes.jsonl"
    cover = ("--cover", "-L", "20:39", "--bin-width", 10, "-B", 0, "-B", 1, "-N", 0, "-N", 1)
    result = generate(*cover, "-n", 1, "--seed", 4, "-o", output, "--workers", 1)
    assert result.exit_code == 0, result
    rows = [json.loads(line)["complexity_parameters"] for line in output.read_text().splitlines()]
    found = sorted((p["logical_depth_L"] // 10, p["backtracking_count_B"], p["noise_ratio_N"]) for p in rows)
    assert found == [(at, b, n) for at in (2, 3) for b in (0, 1) for n in (0.0, 1.0)]
