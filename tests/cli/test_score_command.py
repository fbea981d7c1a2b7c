"""``relfast score`` as its user meets it: outputs, messages, exit codes; and that no command replaces an output."""

from __future__ import annotations

import csv
import gzip
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner
from engine_runs import exit_code, relfast, rows_of, write_dump

from relfast import __version__
from relfast.cli import signals
from relfast.cli.main import cli
from relfast.tasks import TASKS

GOOD = {"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4"}
WRONG = {**GOOD, "id": "b", "response": "Answer 1"}
BROKEN = b"not json\n"
CAPTURED = pytest.CaptureFixture[str]


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``dump.jsonl`` in the working directory."""
    monkeypatch.chdir(tmp_path)
    return write_dump(tmp_path / "dump.jsonl", [GOOD, WRONG])


def score(options: str, inputs: str = "dump.jsonl") -> int:
    """The command in this process."""
    return exit_code("score", *inputs.split(), "--workers", "0", *options.split())


def test_rows_and_nothing_else(dump: Path) -> None:
    done = relfast(dump)
    assert (done.returncode, done.stdout) == (0, b"")
    assert Path("dump.jsonl.scored.jsonl").read_text("utf-8") == (
        '{"index":0,"id":"a","task":"REL-A1","sample":0,"status":"ok","correct":true,"reward":1.0,"metrics":{},"error":null}\n'
        '{"index":1,"id":"b","task":"REL-A1","sample":0,"status":"ok","correct":false,"reward":0.0,"metrics":{},"error":null}\n'
    )
    table = done.stderr.decode()
    for said in ("REL-A1", "0.500", f"2 rows in {dump}.scored.jsonl"):
        assert said in table
    assert (
        f"relfast {__version__} | tasks REL-A1:{TASKS['REL-A1'].revision} | policy reference | timeout 6s\n"
        in table
    )


@pytest.mark.parametrize(("name", "workers"), [("-", 0), ("-", 2), ("/dev/stdin", 2)])
def test_rows_on_stdout(dump: Path, name: str, workers: int) -> None:
    with dump.open("rb") as stdin:
        done = relfast(name, "--workers", workers, stdin=stdin)
    assert [json.loads(line)["correct"] for line in done.stdout.splitlines()] == [True, False]
    assert done.returncode == 0
    assert b"REL-A1" in done.stderr


def test_a_pipe_behind_a_file_of_short_lines(dump: Path) -> None:
    """Whose block has more lines than a block may have."""
    Path("short.jsonl").write_bytes(b"1\n" * 20_000 + b"\n" * 20)
    with dump.open("rb") as stdin:
        done = relfast("short.jsonl", "-", "-o", "rows.jsonl", "-q", "--workers", 2, stdin=stdin)
    assert done.returncode == 0
    rows = Path("rows.jsonl").read_bytes().splitlines()
    assert len(rows) == 20_002
    assert [json.loads(row)["index"] for row in rows[-2:]] == [20_020, 20_021]


def test_gzip_from_stdin_and_to_a_file(dump: Path) -> None:
    packed = dump.with_suffix(".gz")
    packed.write_bytes(gzip.compress(dump.read_bytes()))
    with packed.open("rb") as stdin:
        done = relfast("-", "-o", "rows.jsonl.gz", "-q", stdin=stdin)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(gzip.decompress(Path("rows.jsonl.gz").read_bytes()).splitlines()) == 2


@pytest.mark.parametrize("bad", [BROKEN, {**GOOD, "answer": {}}, {**GOOD, "task": "REL-Z1"}])
def test_fail_on_error(bad: Any, dump: Path, capsys: CAPTURED) -> None:
    write_dump(dump, [GOOD, bad, WRONG])
    assert score("") == 0
    assert score("--overwrite --fail-on-error") == 3
    assert "invalid record" in capsys.readouterr().err
    write_dump(dump, [{**GOOD, "response": ""}, GOOD])  # no answer is no failure
    assert score("--overwrite --fail-on-error") == 0


def test_summary_file(dump: Path, capsys: CAPTURED) -> None:
    assert score("-q --summary summary.json") == 0
    summary = json.loads(Path("summary.json").read_text("utf-8"))
    assert (summary["records"], summary["tasks"]["REL-A1"]["correct"]) == (2, 0.5)
    assert summary["signature"].startswith(f"relfast {__version__} | ")
    assert score("--overwrite -q --summary /nowhere/s.json") == 1
    assert capsys.readouterr().err == "relfast: /nowhere/s.json: its folder does not exist\n"


def test_the_numbers_in_other_forms(dump: Path, capsys: CAPTURED, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one run by `score`, of the same one by `report` without a page: the same numbers."""
    monkeypatch.chdir(dump.parent)
    out, summary = "rows.jsonl", dump.with_name("summary.json")
    said = {}
    for form in ("md", "csv", "latex", "json"):
        more = ("-o", out, "--overwrite", "--workers", 0, "-q", "--format", form)
        assert exit_code("score", dump, *more, "--summary", summary) == 0
        said[form] = capsys.readouterr().out
        assert exit_code("report", f"{out}={out}", "--format", form) == 0
        shown = capsys.readouterr().out
        assert form == "json" or shown == said[form]
    numbers = json.loads(said["json"])["tasks"]
    assert json.loads(said["json"]) | {"seconds": 0} == json.loads(summary.read_text()) | {"seconds": 0}
    for name, line in zip(numbers, said["md"].splitlines()[2:], strict=False):
        task, prompts, responses, correct, *_ = (cell.strip() for cell in line.strip("|").split("|"))
        expected = numbers[name]
        assert (task, prompts, responses) == (name, str(expected["prompts"]), str(expected["responses"]))
        assert correct == ("–" if expected["correct"] is None else f"{expected['correct']:.3f}")
    assert [row["task"] for row in csv.DictReader(said["csv"].splitlines())] == list(numbers)
    assert said["latex"].count(r" \\") == 1 + len(numbers)
    assert exit_code("score", dump, "-o", "-", "--format", "md") == 2
    assert exit_code("report", out) == 2


@pytest.mark.parametrize(
    ("options", "record", "key", "value"),
    [
        ("--details", GOOD, "metrics", {"pred": 3, "gold": 3}),
        ("--policy strict", GOOD, "metrics", {"reason": None}),
        ("--policy strict", {**GOOD, "response": "1 or 4"}, "metrics", {"reason": "several_answers"}),
        ("--task rel-a2", {"answer": {"target": 3}, "response": "4"}, "task", "REL-A2"),
        ("--strip-reasoning", {**GOOD, "response": "<think>Answer 1</think>Answer 4"}, "correct", True),
        ("--map response=out.text", {**GOOD, "out": {"text": "Answer 1"}}, "correct", False),
        ("--input-format verl", {"output": "Answer 4", "gts": '{"target": 3}'}, "correct", True),
        ("--reward rel-b1=recall", {"answer": {"label": "yes", "taxa": [1, 2]}, "response": "yes 1", "task": "REL-B1"}, "reward", 0.5),
        ("--policy strict --b1-min-f1 0.9", {"answer": {"label": "yes", "taxa": [1, 2]}, "response": "Yes: 1", "task": "REL-B1"}, "correct", False),
        ("--policy strict --tautomers joined", {"answer": {"smiles": "Cc1c[nH]cn1"}, "response": "<smiles>Cc1cnc[nH]1</smiles>"}, "correct", True),
    ],
)  # fmt: skip
def test_options(
    options: str, record: dict[str, Any], key: str, value: Any, dump: Path, capsys: CAPTURED
) -> None:
    write_dump(dump, [record])
    assert (score(f"-o rows.jsonl -q {options}"), capsys.readouterr().err) == (0, "")
    (row,) = rows_of(Path("rows.jsonl"))
    assert row[key] == value


def test_limit_counts_lines(dump: Path) -> None:
    write_dump(dump, [GOOD, b"\n", BROKEN, {**GOOD, "response": ["4", "1"]}, GOOD])
    for limit, expected in ((0, []), (2, [0]), (4, [0, 2, 3, 3]), (9, [0, 2, 3, 3, 4])):
        score(f"-o rows.jsonl -q --overwrite --limit {limit}")
        assert [row["index"] for row in rows_of(Path("rows.jsonl"))] == expected


def test_several_inputs_run_on(dump: Path) -> None:
    folder = Path("many")
    folder.mkdir()
    write_dump(folder / "a.jsonl", [GOOD, WRONG])
    (folder / "b.ndjson.zst").write_bytes(zstandard.compress(json.dumps(GOOD).encode()))
    write_dump(folder / "a.jsonl.scored.jsonl", [GOOD])
    write_dump(folder / "notes.txt", [GOOD])
    for inputs in ("many", "many/a.jsonl many/*.zst"):
        assert score("-o rows.jsonl -q --overwrite", inputs) == 0
        assert [row["index"] for row in rows_of(Path("rows.jsonl"))] == [0, 1, 2]


@pytest.mark.parametrize(
    "name", ["with space", "new\nline", "[a]*?", "'quoted\"", "ünï☃", "-dash", "bad\udcff"]
)
def test_names_of_files_may_be_anything(name: str, dump: Path) -> None:
    """A file is found by its name, and so are what it was scored from and its gold, in a resumed run, too."""
    for option in ("-q", "--resume"):
        path = dump.rename(f"{name}.jsonl")
        code = exit_code("score", "--workers", 0, "--data", path, option, "--", path)
        path.rename(dump)
        assert code == 0
    rows = rows_of(Path(f"{name}.jsonl.scored.jsonl"))
    assert [row["correct"] for row in rows] == [True, False]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_concatenate(count: int, dump: Path) -> None:
    write_dump(dump, [{**GOOD, "id": number, "padding": "x" * 3_000} for number in range(1_500)])
    score("-o whole.jsonl -q")
    for shard in range(count):
        score(f"-o {shard}.jsonl -q --shard {shard}/{count}")
    parts = b"".join(Path(f"{shard}.jsonl").read_bytes() for shard in range(count))
    assert parts == Path("whole.jsonl").read_bytes()


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
def test_a_wrong_command_leaves_what_is_there(dump: Path, workers: int) -> None:
    """That it leaves nothing else: `test_mistakes`."""
    Path("gold.jsonl").write_text('{"id": 1,\n')
    assert score("-o rows.jsonl --limit 1") == 0
    files = Path("rows.jsonl"), Path("rows.jsonl.journal")
    before = [file.read_bytes() for file in files]
    arguments = dump, "-o", "rows.jsonl", "--data", "gold.jsonl", "--workers", workers, "--overwrite"
    assert relfast(*arguments).returncode == 2
    assert [file.read_bytes() for file in files] == before
    assert len(before[0]) > 0


def test_ids_that_an_api_has_made_text_of(dump: Path) -> None:
    """Custom ids of batch APIs are text; those of the records may be numbers, and the other way round."""
    record = {"task": "REL-A1", "answer": {"target": 3}}
    golds = [{**record, "id": number} for number in (7, "8", "09", 1, "1")]
    golds[3] |= {"answer": {"target": 0}}
    write_dump(Path("gold.jsonl"), golds)
    asked = ["7", 8, 9, "9", "1", 1, "-7", True]
    write_dump(dump, ({"id": number, "response": "Answer 4"} for number in asked))
    assert score("-o rows.jsonl --data gold.jsonl") == 0
    found = [(row["id"], row["correct"]) for row in rows_of(Path("rows.jsonl"))]
    assert found == list(zip(asked, [True, True, None, None, True, False, None, False], strict=True))


@pytest.mark.slow
def test_verbose_says_what_is_done(dump: Path) -> None:
    """On stderr, with and without the table; rows do not change."""
    quiet = relfast(dump, "-o", "-", "-q", "--workers", 1)
    assert quiet.stderr == b""
    said = relfast(dump, "-o", "-", "-q", "-v", "--workers", 1)
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
    relfast(dump, "-o", "rows.jsonl", "-q")
    again = relfast(dump, "-o", "rows.jsonl", "--resume", "-v", "--workers", 0).stderr.decode()
    assert "relfast: output rows.jsonl: continued after 1 blocks" in again
    assert "relfast: workers: none, scored in this process without deadlines" in again
    assert "REL-A1" in again


def test_interrupted_before_the_first_block(
    dump: Path, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURED
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise signals.Interrupted(signal.SIGINT)

    monkeypatch.setattr("relfast.engine.files.score_files.run", interrupted)
    assert score("") == 130
    said = "relfast: SIGINT after 0 rows; the same command with --resume goes on from there"
    assert capsys.readouterr().err.splitlines()[-1] == said


REPLACED = "--overwrite replaces it"
RESUMED = "--resume continues it, --overwrite starts over"


@pytest.mark.parametrize(
    ("line", "existing", "ways"),
    [
        ("score dump.jsonl -o out.jsonl", "out.jsonl", RESUMED),
        ("score dump.jsonl -o out.parquet", "out.parquet", RESUMED),
        ("score dump.jsonl -o out.csv", "out.csv", RESUMED),
        ("run dump.jsonl --api http://127.0.0.1:9/v1 --model m -o out.jsonl", "out.jsonl", RESUMED),
        ("generate rel-a1 -n 1 -o out.jsonl", "out.jsonl", REPLACED),
        ("generate seqbench -n 1 --seed 0 --workers 1 -o out.jsonl", "out.jsonl", REPLACED),
        ("report rows.jsonl -o out", "out/index.html", REPLACED),
    ],
)
def test_an_output_that_exists_is_left_alone(
    line: str, existing: str, ways: str, dump: Path, capsys: CAPTURED
) -> None:
    score("-o rows.jsonl -q")
    target = Path(existing)
    target.parent.mkdir(exist_ok=True)
    target.write_text("mine\n")
    before = sorted(dump.parent.rglob("*"))
    assert exit_code(*line.split()) == 2
    assert capsys.readouterr() == ("", f"relfast: {target} exists; {ways}\n")
    assert target.read_text() == "mine\n"
    assert sorted(dump.parent.rglob("*")) == before
    if line.startswith("report"):
        assert exit_code(*line.split(), "--overwrite") == 0
        assert "mine" not in target.read_text()
