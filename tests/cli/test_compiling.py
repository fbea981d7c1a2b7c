"""What `relfast score` does about kernels that are missing."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from relfast_kernels.compiled import native
from relfast_kernels.compiled.making import make

ROW = '{"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "<answer>3</answer>"}\n'


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache whose compiling is locked by another process."""
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "in.jsonl").write_text(2 * ROW)
    return tmp_path


def score(
    folder: Path, how: str | None, file_size: int = resource.RLIM_INFINITY
) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "RELFAST_COMPILE"}
    command = [sys.executable, "-m", "relfast", "score", "in.jsonl", "-o", "out.jsonl", "--workers", "0"]
    if how is not None:
        environment["RELFAST_COMPILE"] = how
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size)),
    )


@pytest.mark.parametrize(("how", "said"), [(None, 1), ("background", 1), ("off", 0)])
def test_compiling_is_said_once_and_changes_no_row(empty: Path, how: str | None, said: int) -> None:
    with native.alone("all"):
        done = score(empty, how)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("kernels that were missing") == said
    assert not list((empty / "cache" / "native").glob("*.so"))
    rows = (empty / "out.jsonl").read_bytes()
    assert rows.count(b'"status":"ok"') == 2


def test_another_value_is_refused(empty: Path) -> None:
    done = score(empty, "later")
    assert done.returncode == 2
    assert "RELFAST_COMPILE is off, wait or background, not 'later'" in done.stderr


def test_a_unit_that_cannot_be_built_is_told_once_and_not_tried_again(empty: Path) -> None:
    (empty / "numba.py").write_text("raise ImportError('no such compiler')")
    path = os.pathsep.join([str(empty), *filter(None, sys.path)])
    with pytest.raises(OSError, match="isomers cannot be built: ImportError: no such compiler"):
        make(["isomers"], 1, environment={**os.environ, "PYTHONPATH": path})
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


def test_where_nothing_can_be_kept_nothing_is_compiled(empty: Path) -> None:
    done = score(empty, None, file_size=1 << 20)
    assert done.returncode == 0
    assert done.stderr.count("kernels are not compiled") == 1
    assert "File too large" in done.stderr
    assert (empty / "out.jsonl").read_bytes().count(b'"status":"ok"') == 2
    assert not list((empty / "cache" / "native").iterdir())


def test_where_all_is_compiled_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(2 * ROW)
    for unit in native.UNITS:
        assert native.is_built(unit) or native.build(unit)
    assert "kernels" not in score(tmp_path, "wait").stderr
    (tmp_path / "out.jsonl").unlink()
    assert "kernels" not in score(tmp_path, None).stderr
