"""What commands do about kernels that are missing, or that somebody else can have written."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from engine_runs import honest, relfast, scored_here, statuses, write_dump
from hostile_cache import SPOILT, give_away
from missing_kernels import built
from processes import python, started, until
from relfast_kernels.compiled import making, native

from relfast.tasks import TASKS
from relfast.tasks.seqbench.generate import make_rows

ROW = '{"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "<answer>3</answer>"}\n'
COSTLY = TASKS["SeqBench"].plain_seconds[-1]


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a dump and an empty cache, in which commands may compile."""
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("RELFAST_COMPILE")
    (tmp_path / "in.jsonl").write_text(2 * ROW)
    return tmp_path


@pytest.fixture
def costly(empty: Path) -> Path:
    """The same with a dump for which plain Python takes longer than compiling one unit, by the count; its records
    are found to have no plan in a moment."""
    unit, seconds = COSTLY
    (row,) = make_rows(1, 5, rows=4, cols=4, B=1)
    (empty / "in.jsonl").write_text(
        int(making.seconds_of(unit) / seconds + 400) * (json.dumps({**row, "response": "?"}) + "\n")
    )
    return empty


def score(folder: Path, how: str = "", **more: Any) -> subprocess.CompletedProcess[str]:
    done: subprocess.CompletedProcess[str] = python(
        *("-m", "relfast", "score", "in.jsonl", "-o", "out.jsonl", "--overwrite", "--workers", 0),
        environment={"RELFAST_COMPILE": how},
        cwd=folder,
        **more,
    )
    return done


def libraries(folder: Path) -> list[str]:
    return [path.name.partition("-")[0] for path in (folder / "cache").glob("native/*.so")]


@pytest.mark.parametrize(("how", "said"), [("", 1), ("off", 0)])
def test_a_small_run_compiles_nothing_and_says_how_to(empty: Path, how: str, said: int) -> None:
    done = score(empty, how)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("kernels that are missing") == done.stderr.count("`relfast warmup`") == said
    assert libraries(empty) == []
    assert statuses(empty / "out.jsonl") == ["ok", "ok"]


def test_another_value_is_refused(empty: Path) -> None:
    done = score(empty, "later")
    assert done.returncode == 2
    assert "RELFAST_COMPILE is off, or not set, not 'later'" in done.stderr


@pytest.mark.slow
def test_a_large_run_compiles_first_what_it_takes_longer_without(
    costly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of them at once; the rows are those of plain Python."""
    arguments = ("-m", "relfast", "score", "in.jsonl", "--workers", 1, "-o")
    pair = [
        started(*arguments, out, cwd=costly, stderr=subprocess.PIPE, text=True)
        for out in ("a.jsonl", "b.jsonl")
    ]
    told = [each.communicate()[1] for each in pair]
    assert [each.returncode for each in pair] == [0, 0], told
    for text in told:
        assert text.count("are compiled first") == 1, text
        assert "kernels that are missing (maze) are compiled first" in text
    assert libraries(costly) == ["maze"]
    monkeypatch.setenv("RELFAST_COMPILE", "off")
    plain = python(*arguments, "plain.jsonl", "--limit", 50, cwd=costly)
    assert "compiled" not in plain.stderr
    rows = (costly / "a.jsonl").read_bytes()
    assert rows == (costly / "b.jsonl").read_bytes()
    assert rows.startswith((costly / "plain.jsonl").read_bytes())


@pytest.mark.slow
def test_generating_compiles_first_what_it_takes_longer_without(empty: Path) -> None:
    done = python(
        "-m", "relfast", "generate", "rel-c2", "-n", 3, "--sizes", "3,4", "-o", "made.jsonl", cwd=empty
    )
    assert done.returncode == 0, done.stderr
    assert "kernels that are missing (motif) are compiled first" in done.stderr
    assert libraries(empty) == ["motif"]


def compiling(folder: Path) -> list[psutil.Process]:
    """The processes that use the cache in a folder and build."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("RELFAST_CACHE_DIR") == str(folder / "cache"):
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_it_has_started_ends_with_a_command(number: signal.Signals, costly: Path) -> None:
    run = started("-m", "relfast", "score", "in.jsonl", cwd=costly, stderr=subprocess.DEVNULL)
    until(lambda: any("relfast_kernels.compiled" in each.cmdline() for each in compiling(costly)), "a build")
    os.kill(run.pid, number)
    assert run.wait() == (-number if number == signal.SIGKILL else 128 + number)
    until(lambda: not compiling(costly), "the end of all processes")
    assert libraries(costly) == []
    done = python(
        "-m", "relfast", "score", "in.jsonl", "--resume", environment={"RELFAST_COMPILE": "off"}, cwd=costly
    )
    assert done.returncode == 0, done.stderr
    assert len(statuses(costly / "in.jsonl.scored.jsonl")) == (costly / "in.jsonl").read_bytes().count(b"\n")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ImportError('no such compiler')", "ImportError: no such compiler"),
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
    ],
)
def test_what_cannot_be_built_is_told_and_costs_no_row(code: str, reason: str, costly: Path) -> None:
    (costly / "broken").mkdir()
    (costly / "broken/numba.py").write_text(code)
    path = {"PYTHONPATH": os.pathsep.join([str(costly / "broken"), *filter(None, sys.path)])}
    done = python("-m", "relfast", "score", "in.jsonl", environment=path, cwd=costly)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"kernels maze cannot be built: {reason}") == 1
    assert done.stderr.count("are compiled first") == 1
    assert len(statuses(costly / "in.jsonl.scored.jsonl")) == (costly / "in.jsonl").read_bytes().count(b"\n")


def _no_folder(folder: Path) -> None:
    (folder / "cache").mkdir(mode=0o700)
    (folder / "cache" / "native").write_text("a file where the folder goes")


def _of_others(folder: Path) -> None:
    (folder / "cache").mkdir(mode=0o700)
    give_away(folder / "cache")


@pytest.mark.parametrize(
    ("spoil", "limit", "reason"),
    [
        (lambda folder: None, 1 << 20, "File too large"),
        (_no_folder, resource.RLIM_INFINITY, "directory"),
        (_of_others, resource.RLIM_INFINITY, "is not used: "),
    ],
    ids=["no room", "no folder", "of others"],
)
def test_where_nothing_can_be_kept_nothing_is_compiled(
    spoil: Any, limit: int, reason: str, costly: Path
) -> None:
    spoil(costly)
    size = (limit, limit)
    done = score(costly, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, size))
    assert done.returncode == 0, done.stderr
    assert reason in done.stderr
    assert libraries(costly) == []
    assert len(statuses(costly / "out.jsonl")) == (costly / "in.jsonl").read_bytes().count(b"\n")


@pytest.mark.parametrize(
    "linker",
    [None, "echo 'unknown architecture' >&2; exit 1", 'for out; do :; done; echo no library > "$out"'],
)
def test_without_a_linker_that_works_no_unit_is_kept(
    linker: str | None, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (empty / "bin").mkdir()
    for name in ("ld", "cc") if linker is not None else ():
        (empty / "bin" / name).write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{linker}\n")
        (empty / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(empty / "bin"))
    with pytest.raises(
        OSError, match="kernels align cannot be built: OSError: nothing links a shared library"
    ):
        making.make(["align"])
    assert native.load("align") is None
    assert libraries(empty) == []


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A cache directory with this machine's code in it, whole."""
    directory = tmp_path / "planted"
    (directory / "native").mkdir(parents=True)
    for unit in native.UNITS:
        shutil.copy(built(unit), directory / "native")
    return directory


@pytest.mark.slow
def test_a_cache_that_others_can_write_changes_no_row_and_is_told_once(planted: Path, tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(60))
    expected = scored_here(dump, tmp_path / "expected.jsonl")
    SPOILT["writable by others, not read"](planted)
    environment = {"RELFAST_CACHE_DIR": str(planted), "RELFAST_COMPILE": ""}
    done = relfast(dump, "-o", tmp_path / "rows.jsonl", "-q", "--workers", 2, environment=environment)
    assert done.returncode == 0
    assert (tmp_path / "rows.jsonl").read_bytes() == expected
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"relfast: a cache in {planted} is not used: {planted} ")
    assert line.endswith("; RELFAST_CACHE_DIR chooses another place")


def test_warmup_does_not_compile_for_nothing(planted: Path) -> None:
    give_away(planted)
    done = python("-m", "relfast", "warmup", environment={"RELFAST_CACHE_DIR": str(planted)})
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"relfast: {planted / 'native'}: {planted} ")
