"""What commands do about kernels that are missing, or that somebody else can have written."""

from __future__ import annotations

import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from engine_runs import honest, relfast, scored_here, statuses, write_dump
from hostile_cache import SPOILT, give_away
from processes import python
from relfast_kernels.compiled import native

ROW = '{"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "<answer>3</answer>"}\n'


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache whose compiling is locked by another process."""
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("RELFAST_COMPILE")
    (tmp_path / "in.jsonl").write_text(2 * ROW)
    return tmp_path


def score(
    folder: Path, how: str | None, file_size: int = resource.RLIM_INFINITY
) -> subprocess.CompletedProcess[str]:
    command = ("-m", "relfast", "score", "in.jsonl", "-o", "out.jsonl", "--workers", 0)
    return python(
        *command,
        environment={} if how is None else {"RELFAST_COMPILE": how},
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size)),
    )


@pytest.mark.parametrize(("how", "said"), [("background", 1), ("off", 0)])
def test_compiling_is_said_once_and_changes_no_row(empty: Path, how: str | None, said: int) -> None:
    with native.alone("all"):
        done = score(empty, how)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("kernels that are missing") == said
    assert not list((empty / "cache" / "native").glob("*.so"))
    assert statuses(empty / "out.jsonl") == ["ok", "ok"]


def test_another_value_is_refused(empty: Path) -> None:
    done = score(empty, "later")
    assert done.returncode == 2
    assert "RELFAST_COMPILE is background, wait or off, not 'later'" in done.stderr


def test_a_unit_that_cannot_be_built_is_told_once_and_not_tried_again(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (empty / "numba.py").write_text("raise ImportError('no such compiler')")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(empty)
        with pytest.raises(OSError, match="isomers cannot be built: ImportError: no such compiler"):
            native.make(["isomers"])
    assert native.failure("isomers") == "ImportError: no such compiler"
    for unit in native.UNITS.keys() - {"isomers"}:
        native.note_failure(unit, "")
    said = score(empty, None).stderr
    assert said.count("cannot be compiled here") == 1
    assert "isomers" in said
    assert "no such compiler" in said
    (empty / "out.jsonl").unlink()
    assert "compiled" not in score(empty, None).stderr
    native.remove("isomers")
    assert native.failure("isomers") is None
    with native.alone("all"):
        (empty / "out.jsonl").unlink()
        assert "compiled in the background" in score(empty, None).stderr


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_a_unit_whose_building_crashes_is_not_tried_again_and_one_that_somebody_stops_is(
    number: signal.Signals, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (empty / "numba.py").write_text(f"import os; os.kill(os.getpid(), {number:d})")
    monkeypatch.syspath_prepend(empty)
    with pytest.raises(OSError, match=f"isomers cannot be built: killed by {number.name}"):
        native.make(["isomers"])
    assert native.failure("isomers") == ("killed by SIGSEGV" if number == signal.SIGSEGV else None)


def test_where_nothing_can_be_kept_nothing_is_compiled(empty: Path) -> None:
    done = score(empty, None, file_size=1 << 20)
    assert done.returncode == 0
    assert done.stderr.count("kernels are not compiled") == 1
    assert "File too large" in done.stderr
    assert statuses(empty / "out.jsonl") == ["ok", "ok"]
    assert not list((empty / "cache" / "native").iterdir())


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A cache directory with this machine's code in it, whole."""
    directory = tmp_path / "planted"
    (directory / "native").mkdir(parents=True)
    for unit in native.UNITS:
        built = native.shared_library(unit) if native.is_built(unit) else native.build(unit)
        shutil.copy(built, directory / "native")
    return directory


@pytest.mark.slow
def test_a_cache_that_others_can_write_changes_no_row_and_is_told_once(planted: Path, tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(60))
    expected = scored_here(dump, tmp_path / "expected.jsonl")
    SPOILT["writable by others, not read"](planted)
    environment = {"RELFAST_CACHE_DIR": str(planted)}
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
