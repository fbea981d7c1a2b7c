"""``relfast score`` as its user meets it: outputs, messages, exit codes."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from corpora import ROOT
from engine_runs import rows_of
from patience import PATIENCE

from relfast import __version__
from relfast.cli import signals
from relfast.cli.main import cli, main
from relfast.tasks import TASKS

GOOD = {"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4"}
WRONG = {**GOOD, "id": "b", "response": "Answer 1"}
BROKEN = "not json"
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'kernels'}"}


def relfast(
    *arguments: object, stdin: bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "relfast", *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, cwd=cwd, env=ENVIRONMENT, timeout=PATIENCE, check=False
    )


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.jsonl"
    write(path, GOOD, WRONG)
    return path


def write(path: Path, *records: Any) -> None:
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("".join(line + "\n" for line in lines), "utf-8")


def test_rows_and_nothing_else(dump: Path, tmp_path: Path) -> None:
    done = relfast("score", dump)
    assert (done.returncode, done.stdout) == (0, b"")
    out = tmp_path / "dump.jsonl.scored.jsonl"
    assert out.read_text("utf-8") == (
        '{"index":0,"id":"a","task":"REL-A1","sample":0,"status":"ok","correct":true,"reward":1.0,"metrics":{},"error":null}\n'
        '{"index":1,"id":"b","task":"REL-A1","sample":0,"status":"ok","correct":false,"reward":0.0,"metrics":{},"error":null}\n'
    )
    table = done.stderr.decode()
    assert "REL-A1" in table
    assert "0.500" in table
    assert f"relfast {__version__} | tasks REL-A1:{TASKS['REL-A1'].revision} | policy reference" in table
    assert f"2 rows in {out}" in table


@pytest.mark.parametrize("workers", [0, 2])
def test_rows_on_stdout(dump: Path, workers: int) -> None:
    done = relfast("score", "-", "--workers", workers, stdin=dump.read_bytes())
    assert [json.loads(line)["correct"] for line in done.stdout.splitlines()] == [True, False]
    assert done.returncode == 0
    assert b"REL-A1" in done.stderr


def test_gzip_from_stdin_and_to_a_file(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl.gz"
    done = relfast("score", "-", "-o", out, "-q", stdin=gzip.compress(dump.read_bytes()))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(gzip.decompress(out.read_bytes()).splitlines()) == 2


def run_in_process(arguments: list[str]) -> Result:
    """The command in this process, with its exit code."""
    runner = CliRunner()
    with runner.isolation() as streams:
        with pytest.raises(SystemExit) as leaving:
            main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = streams[0].getvalue(), streams[1].getvalue()
    return Result(runner, out, err, out + err, None, leaving.value.code, None)


@pytest.mark.parametrize("bad", [BROKEN, {**GOOD, "answer": {}}, {**GOOD, "task": "REL-Z1"}])
def test_fail_on_error(bad: Any, dump: Path) -> None:
    write(dump, GOOD, bad, WRONG)
    assert run_in_process(["score", str(dump), "--workers", "0"]).exit_code == 0
    result = run_in_process(["score", str(dump), "--workers", "0", "--overwrite", "--fail-on-error"])
    assert result.exit_code == 3
    assert "invalid record" in result.stderr


def test_no_answer_is_no_failure(dump: Path) -> None:
    write(dump, {**GOOD, "response": ""}, GOOD)
    assert run_in_process(["score", str(dump), "--workers", "0", "--fail-on-error"]).exit_code == 0


def test_summary_file(dump: Path, tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    assert run_in_process(["score", str(dump), "--workers", "0", "-q", "--summary", str(path)]).exit_code == 0
    summary = json.loads(path.read_text("utf-8"))
    assert summary["records"] == 2
    assert summary["tasks"]["REL-A1"]["correct"] == 0.5
    assert summary["signature"].startswith(f"relfast {__version__} | ")
    result = run_in_process(
        ["score", str(dump), "--overwrite", "-q", "--workers", "0", "--summary", "/nowhere/s.json"]
    )
    assert result.exit_code == 1
    assert result.stderr == "relfast: /nowhere/s.json: its folder does not exist\n"


@pytest.mark.parametrize(
    ("options", "record", "key", "value"),
    [
        (["--details"], GOOD, "metrics", {"pred": 3, "gold": 3}),
        (["--policy", "strict"], GOOD, "metrics", {"reason": None}),
        (["--policy", "strict"], {**GOOD, "response": "1 or 4"}, "metrics", {"reason": "several_answers"}),
        (["--task", "rel-a2"], {"answer": {"target": 3}, "response": "4"}, "task", "REL-A2"),
        (["--strip-reasoning"], {**GOOD, "response": "<think>Answer 1</think>Answer 4"}, "correct", True),
        (["--map", "response=out.text"], {**GOOD, "out": {"text": "Answer 1"}}, "correct", False),
        (["--input-format", "verl"], {"output": "Answer 4", "gts": '{"target": 3}'}, "correct", True),
        (["--reward", "rel-b1=recall"], {"answer": {"label": "yes", "taxa": [1, 2]}, "response": "yes 1", "task": "REL-B1"}, "reward", 0.5),
        (["--policy", "strict", "--b1-min-f1", "0.9"], {"answer": {"label": "yes", "taxa": [1, 2]}, "response": "Yes: 1", "task": "REL-B1"}, "correct", False),
        (["--policy", "strict", "--tautomers", "joined"], {"answer": {"smiles": "Cc1c[nH]cn1"}, "response": "<smiles>Cc1cnc[nH]1</smiles>"}, "correct", True),
    ],
)  # fmt: skip
def test_options(
    options: list[str], record: dict[str, Any], key: str, value: Any, dump: Path, tmp_path: Path
) -> None:
    write(dump, record)
    out = tmp_path / "rows.jsonl"
    result = run_in_process(["score", str(dump), "-o", str(out), "-q", "--workers", "0", *options])
    assert (result.exit_code, result.stderr) == (0, "")
    (row,) = rows_of(out)
    assert row[key] == value


def test_limit_counts_lines(dump: Path, tmp_path: Path) -> None:
    write(dump, GOOD, "", BROKEN, {**GOOD, "response": ["4", "1"]}, GOOD)
    for limit, expected in ((0, []), (2, [0]), (4, [0, 2, 3, 3]), (9, [0, 2, 3, 3, 4])):
        out = tmp_path / "rows.jsonl"
        run_in_process(
            ["score", str(dump), "-o", str(out), "-q", "--overwrite", "--workers", "0", "--limit", str(limit)]
        )
        assert [row["index"] for row in rows_of(out)] == expected


def test_several_inputs_run_on(dump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    write(folder / "a.jsonl", GOOD, WRONG)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(GOOD).encode()))
    write(folder / "a.jsonl.scored.jsonl", GOOD)
    write(folder / "notes.txt", GOOD)
    out = tmp_path / "rows.jsonl"
    for inputs in ([str(folder)], [str(folder / "a.jsonl"), str(folder / "*.gz")]):
        result = run_in_process(["score", *inputs, "-o", str(out), "-q", "--overwrite", "--workers", "0"])
        assert result.exit_code == 0
        assert [row["index"] for row in rows_of(out)] == [0, 1, 2]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_concatenate(count: int, tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    write(dump, *[{**GOOD, "id": number, "padding": "x" * 3_000} for number in range(1_500)])
    whole = tmp_path / "whole.jsonl"
    run_in_process(["score", str(dump), "-o", str(whole), "-q", "--workers", "0"])
    parts = b""
    for shard in range(count):
        out = tmp_path / f"{shard}.jsonl"
        run_in_process(
            ["score", str(dump), "-o", str(out), "-q", "--workers", "0", "--shard", f"{shard}/{count}"]
        )
        parts += out.read_bytes()
    assert parts == whole.read_bytes()


def test_tasks_command() -> None:
    result = CliRunner().invoke(cli, ["tasks"])
    assert result.exit_code == 0
    assert "REL-C3  the constitutional isomers that the list leaves out" in result.output
    listed = json.loads(CliRunner().invoke(cli, ["tasks", "--json"]).output)
    assert [row["task"] for row in listed][:8] == [f"REL-A{n}" for n in range(1, 8)] + ["REL-B1"]
    c2 = next(row for row in listed if row["task"] == "REL-C2")
    assert (c2["reward"], c2["metrics"][0]) == ("overlap_metric", "correct")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_wrong_command_leaves_nothing_behind(dump: Path, tmp_path: Path, workers: int) -> None:
    gold, out = tmp_path / "gold.jsonl", tmp_path / "rows.jsonl"
    gold.write_text('{"id": 1,\n')
    done = relfast("score", dump, "-o", out, "--data", gold, "--workers", workers)
    assert done.returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dump.jsonl", "gold.jsonl"]
    # what was there before stays
    out.write_text("")
    assert (
        relfast("score", dump, "-o", out, "--overwrite", "--data", gold, "--workers", workers).returncode == 2
    )
    assert out.exists()


def test_ids_that_an_api_has_made_text_of(tmp_path: Path) -> None:
    """Custom ids of batch APIs are text; those of the records may be numbers, and the other way round."""
    gold, dump, out = tmp_path / "gold.jsonl", tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    record = {"task": "REL-A1", "answer": {"target": 3}}
    write(gold, {**record, "id": 7}, {**record, "id": "8"}, {**record, "id": "09"}, {**record, "id": 1, "answer": {"target": 0}},
          {**record, "id": "1"})  # fmt: skip
    asked = ["7", 8, 9, "9", "1", 1, "-7", True]
    write(dump, *({"id": number, "response": "Answer 4"} for number in asked))
    assert relfast("score", dump, "-o", out, "--data", gold, "--workers", 0).returncode == 0
    found = [(row["id"], row["correct"]) for row in rows_of(out)]
    assert found == list(zip(asked, [True, True, None, None, True, False, None, False], strict=True))


@pytest.mark.slow
def test_verbose_says_what_is_done(dump: Path, tmp_path: Path) -> None:
    """On stderr, with and without the table; rows do not change."""
    out = tmp_path / "rows.jsonl"
    quiet = relfast("score", dump, "-o", "-", "-q", "--workers", 1)
    assert quiet.stderr == b""
    said = relfast("score", dump, "-o", "-", "-q", "-v", "--workers", 1)
    assert (said.returncode, said.stdout) == (0, quiet.stdout)
    lines = said.stderr.decode().splitlines()
    assert all(line.startswith("relfast: ") for line in lines)
    size = dump.stat().st_size
    assert lines[0] == f"relfast: input {dump}: {size:,} bytes, plain, first record read as native"
    for pattern in (
        r"kernels: (not )?compiled",
        r"embedding cache \(RELFAST_EMBED_CACHE\): ",
        r"worker \d+ ready after \d+\.\d\d s",
        r"workers: 1, replaced: 0",
        r"2 rows in \d+\.\d+ s",
    ):
        assert sum(bool(re.match(f"relfast: {pattern}", line)) for line in lines) == 1, pattern
    relfast("score", dump, "-o", out, "-q")
    again = relfast("score", dump, "-o", out, "--resume", "-v", "--workers", 0).stderr.decode()
    assert f"relfast: output {out}: continued after 1 blocks" in again
    assert "relfast: workers: none, scored in this process without deadlines" in again
    assert "REL-A1" in again


@pytest.mark.parametrize(
    ("options", "earlier", "said"),
    [
        ((), False, "before the first rows; the same command with --resume starts again"),
        (("--resume",), True, "before any new rows; the same command goes on from those that are there"),
        (("--resume",), False, "before the first rows; the same command with --resume starts again"),
        (
            ("--resume", "-o", "{dump}.parquet"),
            True,
            "before any new rows; the same command goes on from those that are there",
        ),
        (
            ("--resume", "-o", "{dump}.gz"),
            False,
            "before the first rows; the same command with --resume starts again",
        ),
    ],
)
def test_interrupted_before_the_first_block(
    options: tuple[str, ...], earlier: bool, said: str, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise signals.Interrupted(signal.SIGINT)

    options = tuple(option.format(dump=dump) for option in options)
    if earlier:
        assert run_in_process(["score", str(dump), "--workers", "0", "-q", *options]).exit_code == 0
    monkeypatch.setattr("relfast.engine.file_run.files.run", interrupted)
    result = run_in_process(["score", str(dump), "--workers", "0", *options])
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == f"relfast: SIGINT {said}"
