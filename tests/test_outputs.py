"""No command writes over what it reads: for each entry of the table of who writes and who reads what, the two made one
file in every way there is; and the table holds all that commands write."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from engine_runs import exit_code, scored_here, write_dump
from openai_server import Server, running
from processes import PATIENCE, PYTHONPATH, started, until

import relfast
from relfast.errors import UsageError
from relfast.realign import generate_analysis_report
from relfast.report.scored import generate_report
from relfast.support.outputs import FILES, Written, keep_apart

RECORDS: Final = [
    {
        "id": f"r{n}",
        "task": "REL-A1",
        "question": f"What is {n}?",
        "answer": {"target": 3},
        "response": f"Answer {n}",
    }
    for n in range(6)
]
PROBLEM: Final = {"subset": "algebra", "id": 1, "problem": "1 + 1?", "solution": r"It is \boxed{2}."}
MODEL: Final = ("--api", "http://127.0.0.1:9/v1", "--model", "m", "-q")
WAYS: Final = ("direct", "spelled otherwise", "symbolic link", "hard link")

ARGUMENTS: Final[dict[str, dict[str, str]]] = {
    "score": {"-o": "out.csv", "--summary": "sum.json"},
    "score --engine ray": {"-o": "out", "--summary": "sum.json"},
    "run": {"-o": "out.jsonl"},
    "bench": {
        "results": "out/results.json",
        "responses": "out/mock/mine.jsonl",
        "scored rows": "out/mock/mine.scored.jsonl",
        "summary": "out/mock/mine.summary.json",
        "report": "out/mock/report",
    },
    "report": {"-o": "out"},
    "compare": {"-o": "out.json", "--flips": "flips.csv"},
    "generate": {"-o": "out.jsonl"},
    "validate": {"stdout": "out"},
    "audit": {"stdout": "out"},
    "show": {"stdout": "out"},
    "embedder add": {"--name": "cache/models/mine"},
}
"""What the arguments that name outputs are here."""

INPUTS: Final[dict[str, str]] = {
    "INPUT": "mine.jsonl",
    "RECORDS": "mine.jsonl",
    "--records": "mine.jsonl",
    "FILE": "mine.jsonl",
    "--data": "gold.jsonl",
    "--prompt": "prompt.txt",
    "SCORED": "rows.jsonl",
    "beside SCORED": "rows.jsonl.journal",
    "--dump": "mine.jsonl",
    "A B": "rows.jsonl",
    "beside A B": "rows.jsonl.journal",
    "--bank": "bank.smi",
    "SOURCE": "model",
}


def _line(command: str, at: dict[str, str], written: dict[str, str]) -> list[object]:
    """A command line that reads and writes these files."""
    match command:
        case "score" | "score --engine ray":
            ray = ["--engine", "ray"] if "ray" in command else ["--workers", 0]
            out = ["-o", written["-o"], "--summary", written["--summary"], "--overwrite", "-q"]
            return ["score", at["INPUT"], "--data", at["--data"], *out, *ray]
        case "run":
            return [
                "run",
                at["RECORDS"],
                "--prompt",
                at["--prompt"],
                *MODEL,
                "-o",
                written["-o"],
                "--overwrite",
            ]
        case "bench" if at["--data"] != INPUTS["--data"]:
            return ["realign", "--mock", "--data", at["--data"], "-o", "out/mock", "--overwrite", "-q"]
        case "bench":
            asked = ["--records", at["--records"], "--prompt", at["--prompt"]]
            return ["bench", "--mock", *asked, "-o", "out", "--overwrite", "-q"]
        case "report":
            return ["report", at["SCORED"], "--dump", at["--dump"], "-o", written["-o"], "--overwrite", "-q"]
        case "compare":
            out = ["-o", written["-o"], "--flips", written["--flips"], "--overwrite"]
            return ["compare", at["A B"], "other.jsonl", *out]
        case "generate":
            return ["generate", "rel-c2", "-n", 1, "--bank", at["--bank"], "-o", written["-o"], "--overwrite"]
        case "embedder add":
            return ["embedder", "add", at["SOURCE"], "--name", "mine", "--overwrite"]
        case _:
            return [command, at["FILE"]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one input of every kind."""
    here = tmp_path_factory.mktemp("files")
    write_dump(here / "mine.jsonl", RECORDS)
    write_dump(here / "gold.jsonl", [{**record, "response": None} for record in RECORDS])
    (here / "prompt.txt").write_text("Say: {question}\n")
    (here / "bank.smi").write_text("CCO\nCCN\nCCC\n")
    (here / "model").mkdir()
    (here / "model" / "config.json").write_text("{}")
    with contextlib.chdir(here):
        scored_here(Path("mine.jsonl"), Path("rows.jsonl"))
        scored_here(Path("mine.jsonl"), Path("other.jsonl"))
    return here


def _bytes(folder: Path) -> dict[str, object]:
    """What stands in a folder, byte by byte and link by link."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.is_file() and path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def _target(entry: Written, argument: str) -> str:
    """A path that is written for an argument."""
    folder, _, file = argument.rpartition("/")
    return os.path.normpath(
        entry.name.format(path=argument, folder=folder or ".", file=file).replace("*", "x")
    )


@contextlib.contextmanager
def _stdout(path: str | None) -> Iterator[None]:
    """The descriptor 1 as the shell makes it by >> PATH."""
    kept = os.dup(1)
    try:
        if path is not None:
            opened = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.dup2(opened, 1)
            os.close(opened)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _collided(entry: Written, read: str, way: str, argument: str) -> str | None:
    """Make an input and a file that is written one; the path of the input, or None where there is no such way."""
    direct = way in ("direct", "spelled otherwise")
    if direct and read == "--records" and "{file}" in entry.name:
        argument = argument.replace(
            "mine", "records"
        )  # what a set is called whose file's name begins with a point
    source, target = Path(INPUTS[read]), Path(_target(entry, argument))
    target.parent.mkdir(parents=True, exist_ok=True)
    if direct:
        if read.startswith("beside"):
            return None  # its name is not free
        source.rename(target)
        return (
            str(target)
            if way == "direct"
            else f"{target.parent}/../{target.parent.absolute().name}/{target.name}"
        )
    if way == "symbolic link":
        target.symlink_to(source.absolute())
    elif source.is_dir():
        return None
    else:
        target.hardlink_to(source)
    return str(source)


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, and in line with what is tried below."""
    with capsys.disabled():
        for command, (written, read) in FILES.items():
            print(f"\n{command}\n  reads  {', '.join(read)}")
            for by in dict.fromkeys(entry.by for entry in written):
                names = (
                    entry.name + f" ({', '.join(entry.only)})" * bool(entry.only)
                    for entry in written
                    if entry.by == by
                )
                print(f"  writes {by}: {', '.join(names)}")
    assert {command: {*arguments} for command, arguments in ARGUMENTS.items()} == {
        command: {entry.by for entry in written} for command, (written, _) in FILES.items()
    }
    assert {*INPUTS} == {name for _, read in FILES.values() for name in read}


PAIRS: Final = [
    pytest.param(command, entry, read, id=f"{command}: {entry.by} {entry.name} over {read}")
    for command, files in FILES.items()
    for entry in files.written
    for read in files.read
]


@pytest.mark.parametrize(("command", "entry", "read"), PAIRS)
def test_nothing_is_written_over_an_input(
    command: str,
    entry: Written,
    read: str,
    files: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tried = 0
    for way in WAYS:
        here = tmp_path / way
        shutil.copytree(files, here)
        monkeypatch.chdir(here)
        written = dict(ARGUMENTS[command])
        if command == "bench" and read == "--data":  # realign has one model, and other names
            results = "out/mock/realign_benchmark_results"
            parts = {"responses": ".jsonl", "scored rows": ".scored.jsonl", "summary": ".summary.json"}
            written |= {by: results + suffix for by, suffix in parts.items()} | {
                "results": "out/mock/results.json"
            }
            Path(INPUTS["--data"]).write_text(json.dumps(PROBLEM) + "\n")
        if command == "embedder add":
            monkeypatch.setenv("RELFAST_CACHE_DIR", str(here / "cache"))
            written["--name"] = os.path.relpath(relfast.embed.models.models_cache().path / "mine")
        path = _collided(entry, read, way, written[entry.by])
        if path is None:
            continue
        before = _bytes(here)
        given = {**INPUTS, read: path if not read.startswith("beside") else INPUTS[read]}
        if command == "bench" and read == "--data" and path == INPUTS["--data"]:
            given[read] = f"./{path}"
        capsys.readouterr()
        with _stdout(_target(entry, written[entry.by]) if entry.by == "stdout" else None):
            code = exit_code(*_line(command, given, written))
        said = capsys.readouterr()
        assert (code, said.out, said.err.count("\n")) == (2, "", 1), (way, said)
        assert "is an input (" in said.err
        assert "would write over it" in said.err
        assert _bytes(here) == before
        tried += 1
    assert tried >= (2 if read.startswith("beside") or command == "embedder add" else 4)


TWICE: Final = [
    ("score mine.jsonl -o out.csv --summary out.csv -q --workers 0", "--summary"),
    ("score mine.jsonl -o out.jsonl --summary out.jsonl.journal -q --workers 0", "--summary"),
    ("score mine.jsonl -o out.jsonl --summary ../{here}/out.jsonl -q --workers 0", "--summary"),
    ("score mine.jsonl -o out.jsonl --summary dangling -q --workers 0", "--summary"),
    ("compare rows.jsonl other.jsonl -o out.csv --flips out.csv", "--flips"),
]


@pytest.mark.parametrize(("line", "by"), TWICE)
def test_two_things_are_not_written_to_one_file(
    line: str,
    by: str,
    files: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = tmp_path / "here"
    shutil.copytree(files, here)
    monkeypatch.chdir(here)
    Path("dangling").symlink_to("out.jsonl")
    before = _bytes(here)
    assert exit_code(*line.format(here="here").split()) == 2
    said = capsys.readouterr().err
    assert f"would be written by {by} and by -o" in said
    assert said.count("\n") == 1
    assert _bytes(here) == before


DOORS: Final[list[Callable[[], object]]] = [
    lambda: relfast.score_file("mine.jsonl", "mine.jsonl", workers=0, overwrite=True),
    lambda: relfast.score_file("mine.jsonl", "gold.jsonl", data=["gold.jsonl"], workers=0, overwrite=True),
    lambda: relfast.score_file(["mine.jsonl"], "link", workers=0, resume=True),
    lambda: generate_report(["folder/index.html"], "folder"),
    lambda: generate_analysis_report("folder/correlations.txt", "folder"),
]


@pytest.mark.parametrize("door", DOORS)
def test_in_python(
    door: Callable[[], object], files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    shutil.copytree(files, here)
    monkeypatch.chdir(here)
    Path("link").symlink_to("mine.jsonl")
    Path("folder").mkdir()
    shutil.copy("rows.jsonl", "folder/index.html")
    shutil.copy("rows.jsonl", "folder/correlations.txt")
    before = _bytes(here)
    with pytest.raises(UsageError, match=r"is (the same file as .* which is )?an input"):
        door()
    assert _bytes(here) == before


def test_what_may_be_read_and_written_at_once(tmp_path: Path) -> None:
    keep_apart("score", {"-o": [os.devnull], "INPUT": [os.devnull], "--summary": [os.devnull]})
    keep_apart("score", {"-o": ["/dev/stdout"], "INPUT": ["/dev/stdin"]})
    keep_apart("score", {"-o": [tmp_path / "x.jsonl"], "INPUT": [tmp_path / "x.jsonl.rows.jsonl"]})
    keep_apart("compare", {"-o": ["-"], "A B": [tmp_path / "a", tmp_path / "b"]})


def test_an_output_in_the_folder_that_is_read(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is none of the inputs where an earlier run of the command has written it, and one where it has not."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        shutil.copy(files / "mine.jsonl", folder / name)
    for out in ("in/out.jsonl", "in/out.csv"):
        score = ("score", "in", "-o", out, "-q", "--workers", 0)
        assert exit_code(*score) == 0
        rows = Path(out).read_bytes()
        for again in ("--overwrite", "--resume"):
            assert exit_code(*score, again) == 0
            assert Path(out).read_bytes() == rows
        assert len(relfast.read_rows(out)) == 12
        Path(out).unlink()
        Path(f"{out}.journal").unlink()
    before = _bytes(folder)
    for line in (["score", "in", "-o", "in/b.jsonl"], ["run", "in", *MODEL, "-o", "in/b.jsonl"]):
        assert exit_code(*line, "--overwrite") == 2
        assert (
            exit_code(*[text.replace("in", "in/*") if text == "in" else text for text in line], "--overwrite")
            == 2
        )
        assert _bytes(folder) == before
    with running(Server(solve=lambda prompt: "Answer 3")) as server:
        run = ("run", "in", "--api", server.url, "--model", "m", "-q", "-o", "in/new.jsonl")
        assert exit_code(*run) == 0
        assert exit_code(*run, "--overwrite") == 0
    assert len(Path("in/new.jsonl").read_bytes().splitlines()) == 12


WRITING: Final = [
    (
        "score",
        "score mine.jsonl -o out.jsonl --summary sum.json",
        {"-o": ["out.jsonl"], "--summary": ["sum.json"]},
    ),
    ("score", "score mine.jsonl -o out.csv", {"-o": ["out.csv"]}),
    ("report", "report rows.jsonl -o out", {"-o": ["out"]}),
    (
        "compare",
        "compare rows.jsonl other.jsonl -o out.csv --flips f.csv",
        {"-o": ["out.csv"], "--flips": ["f.csv"]},
    ),
    ("generate", "generate rel-a1 -n 1 -o out.jsonl", {"-o": ["out.jsonl"]}),
    (
        "bench",
        "bench --mock --records mine.jsonl -o out",
        {by: [path] for by, path in ARGUMENTS["bench"].items()},
    ),
]


@pytest.mark.parametrize(("command", "line", "given"), WRITING)
def test_the_table_holds_all_that_is_written(
    command: str,
    line: str,
    given: dict[str, list[str]],
    files: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each new file is one that an entry of the table tells of."""
    here = tmp_path / "here"
    shutil.copytree(files, here)
    monkeypatch.chdir(here)
    before = _bytes(here)
    assert exit_code(*line.split()) == 0
    for name in _bytes(here).keys() - before.keys():
        if not Path(name).is_dir():
            known = [
                path
                for entry in FILES[command].written
                for text in given.get(entry.by, ())
                for path in entry.paths(text)
            ]
            assert name in map(os.path.normpath, known), name
    for name, content in before.items():
        assert _bytes(here)[name] == content


@pytest.mark.parametrize(
    ("command", "signum"),
    [
        ("run", signal.SIGINT),
        ("run", signal.SIGKILL),
        ("bench", signal.SIGINT),
        pytest.param("realign", signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_old_responses_stay_until_there_are_new_ones(
    command: str, signum: signal.Signals, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server fails the first requests and is silent then; the run is started over, and ends."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(files / "mine.jsonl", "mine.jsonl")
    write_dump(Path("problems.jsonl"), [{**PROBLEM, "problem": f"{n} + 1?"} for n in range(4)])
    silent = threading.Event()

    def solve(prompt: str) -> str:
        if silent.is_set():
            server.stopping.wait()
        return r"\boxed{2}"

    with running(Server(solve=solve)) as server:
        model = ("--api", server.url, "--concurrency", 2, "--attempts", 1, "-q")
        line: list[object] = {
            "run": ["run", "mine.jsonl", "--model", "m", "-o", "out.jsonl"],
            "bench": ["bench", "m", "--records", "mine.jsonl", "-o", "out", "--no-report"],
            "realign": ["realign", "--data", "problems.jsonl", "-o", "out", "--judge", "none", "--no-report"],
        }[command]
        line += model
        assert exit_code(*line) == 0
        before = _bytes(tmp_path)
        silent.set()
        server.raw = lambda prompt: (
            b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n" if next(count) < 2 else wait()
        )
        count, wait = itertools.count(), lambda: server.stopping.wait() and b""
        asked = len(server.requests)
        child = started("-m", "relfast", *line, "--overwrite", stderr=subprocess.DEVNULL)
        until(
            lambda: len(server.requests) >= asked + 4 or child.poll() is not None, "two failures, two waiting"
        )
        child.send_signal(signum)
        assert child.wait(timeout=PATIENCE) in (-signal.SIGKILL, 130, 143)
        assert _bytes(tmp_path) == before
        silent.clear()
        server.raw = None
        assert exit_code(*line, "--overwrite") == 0
    assert {*_bytes(tmp_path)} == {*before}


def test_an_old_output_stays_until_there_are_new_rows(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of `score`, `generate` and `report`, where the first write fails."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    lines = {
        "score": ["score", "mine.jsonl", "-q", "--workers", 0, "-o"],
        "generate": ["generate", "rel-a1", "-n", 2, "-o"],
        "report": ["report", "rows.jsonl", "-q", "-o"],
    }
    outputs = ("score out.jsonl", "score out.jsonl.gz", "generate out.jsonl.gz", "report page")
    for command, out in map(str.split, outputs):
        assert exit_code(*lines[command], f"{command}-{out}") == 0
    before = _bytes(tmp_path)

    def interrupted(source: Any, target: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    for command, out in map(str.split, outputs):
        assert exit_code(*lines[command], f"{command}-{out}", "--overwrite") == 130
        assert _bytes(tmp_path) == before


def test_links(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that points nowhere is written through; a loop is called one; what fails leaves nothing."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(files / "mine.jsonl", "mine.jsonl")
    Path("link.jsonl").symlink_to("target.jsonl")
    Path("lost.jsonl").symlink_to("nowhere/target.jsonl")
    Path("loop.jsonl").symlink_to("loop.jsonl")
    assert exit_code("score", "mine.jsonl", "-o", "link.jsonl", "-q", "--workers", 0) == 0
    assert Path("target.jsonl").read_bytes() == (files / "rows.jsonl").read_bytes()
    assert os.readlink("link.jsonl") == "target.jsonl"
    before = _bytes(tmp_path)
    capsys.readouterr()
    for line, said in (
        ("score mine.jsonl -o lost.jsonl", "No such file or directory; make the folder first"),
        ("score mine.jsonl -o loop.jsonl", "Too many levels of symbolic links"),
        ("score loop.jsonl -o out.jsonl", "loop.jsonl: Too many levels of symbolic links"),
        (
            "score lost.jsonl -o out.jsonl",
            "no such file: it is a link to nowhere/target.jsonl, which is not there",
        ),
        ("run mine.jsonl -o out.jsonl.gz " + " ".join(MODEL), "responses are written as .jsonl, not .gz"),
        (
            "generate rel-a1 -n 1 -o out.parquet",
            "records are written as .jsonl, .jsonl.gz, .jsonl.zst, .jsonl.bz2, .jsonl.xz, not .parquet",
        ),
        ("run mine.jsonl -o /dev/stdout " + " ".join(MODEL), "/dev/stdout is no file"),
    ):
        assert exit_code(*line.split(), "-q" if line.startswith("score") else "--overwrite") in (1, 2)
        assert said in capsys.readouterr().err, line
        assert _bytes(tmp_path) == before


def test_stdout_as_a_file_goes_on_where_it_is(files: Path, tmp_path: Path) -> None:
    with open(tmp_path / "out", "wb", buffering=0) as out:
        out.write(b"before\n")
        command = ("-m", "relfast", "score", files / "mine.jsonl", "-o", "/dev/stdout", "-q", "--workers", 0)
        assert started(*command, stdout=out).wait(PATIENCE) == 0
        out.write(b"after\n")
    rows = (files / "rows.jsonl").read_bytes()
    assert (tmp_path / "out").read_bytes() == b"before\n" + rows + b"after\n"


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_workers_come_up_where_standard_streams_are_closed(closed: tuple[int, ...], tmp_path: Path) -> None:
    code = (
        "import relfast, sys\nrecord = {'task': 'REL-C2', 'answer': {'smiles': 'CCO'}, 'response': '<smiles>OCC</smiles>'}\n"
        "with relfast.Scorer(workers=1) as scorer:\n"
        "    rows = scorer.score([record, {**record, 'response': '<smiles>' + '.'.join(['CC'] * 30) + '</smiles>'}])\n"
        "open(sys.argv[1], 'w').write(' '.join(row.status for row in rows))\n"
    )
    closing = " ".join(f"{number}>&-" for number in closed)
    command = ["bash", "-c", f'exec "$0" -c "$1" "$2" {closing}', sys.executable, code, tmp_path / "said"]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": PYTHONPATH}, timeout=PATIENCE, check=True)
    assert (tmp_path / "said").read_text() == "ok ok"
