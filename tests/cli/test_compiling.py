"""What `relfast score` does about kernels that are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from relfast_kernels.compiled import native

ROW = '{"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "<answer>3</answer>"}\n'


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache in which whoever compiles all finds that somebody else is at it."""
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "in.jsonl").write_text(2 * ROW)
    return tmp_path


def score(folder: Path, how: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "RELFAST_COMPILE"}
    command = [sys.executable, "-m", "relfast", "score", "in.jsonl", "-o", "out.jsonl", "--workers", "0"]
    if how is not None:
        environment["RELFAST_COMPILE"] = how
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


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


def test_where_all_is_compiled_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(2 * ROW)
    for unit in native.UNITS:
        assert native.is_built(unit) or native.build(unit)
    assert "kernels" not in score(tmp_path, "wait").stderr
    (tmp_path / "out.jsonl").unlink()
    assert "kernels" not in score(tmp_path, None).stderr
