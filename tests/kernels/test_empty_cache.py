"""Doors to scoring on a machine where no kernel is compiled yet: the same rows, said in one line, and no process
is left behind but by a command."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from empty_cache import HARD, RECORDS, check_library, ours, prepare
from live_server import live_server
from patience import PATIENCE
from relfast_kernels.compiled import native

from relfast.chem.matching import strict_common_substructure
from relfast.chem.molecule import parse

_LIBRARY: Final = {
    "evaluate_response": """
for one in records:
    rows.append(relfast.evaluate_response("", one["answer"], one["response"], one["task"], policy="strict"))
""",
    "scorer": """
with relfast.Scorer(policy="strict", workers=1) as scorer:
    rows += [score.to_row() for score in scorer.score(records)]
""",
}


def test_rdkit_is_cut_short() -> None:
    """Else nothing here would ask a kernel that is not compiled."""
    one, other = map(parse, HARD)
    assert one is not None
    assert other is not None
    assert strict_common_substructure(one, other, 1).canceled


@pytest.mark.slow
@pytest.mark.parametrize(("door", "filter"), [("evaluate_response", ""), ("scorer", "error::RuntimeWarning")])
def test_a_library_gives_the_same_rows_and_leaves_no_process(
    door: str, filter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is said once; a warning that is an error costs no score."""
    monkeypatch.setenv("PYTHONWARNINGS", filter)
    said = check_library(_LIBRARY[door], tmp_path, monkeypatch)
    assert said.count("relfast: kernels that are missing") == (not filter)


def by_score(folder: Path) -> tuple[list[Any], str]:
    command = [sys.executable, "-m", "relfast", "score", "in.jsonl", "-o", "-", "--policy", "strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=5 * PATIENCE)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def by_server(folder: Path) -> tuple[list[Any], str]:
    # how long RDKit takes until it is cut is the machine's; no deadline is tested here
    with live_server("--policy", "strict", "--timeout", str(PATIENCE)) as server:
        status, rows = server.ask("/score", {"records": RECORDS})
        assert status == 200, rows
        server.stop()
        assert server.process.stderr is not None
        return rows["rows"], server.process.stderr.read()


@pytest.mark.slow
@pytest.mark.parametrize("door", [by_score, by_server])
def test_a_command_gives_the_same_rows_and_leaves_what_compiles(
    door: Callable[[Path], tuple[list[Any], str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(tmp_path, monkeypatch)
    expected, said = door(tmp_path)
    assert "kernels" not in said
    cold = str(tmp_path / "cache")
    monkeypatch.setenv("RELFAST_CACHE_DIR", cold)
    rows, said = door(tmp_path)
    left = ours(cold)
    commands = [" ".join(process.cmdline()) for process in left]
    for process in left:
        process.kill()
    assert rows == expected
    assert said.count("relfast: kernels that are missing") == 1
    assert sum("relfast_kernels.compiled 0 all" in command for command in commands) == 1, commands
    assert all("relfast_kernels.compiled" in command for command in commands), commands


@pytest.mark.slow
def test_whoever_wants_to_wait_has_the_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here of one unit that is missing, and quickly compiled."""
    prepare(tmp_path, monkeypatch)
    kept = tmp_path / "cache" / "native"
    kept.mkdir(parents=True, mode=0o700)
    kept.parent.chmod(0o700)
    for unit in native.UNITS.keys() - {"align"}:
        path = native.shared_library(unit)
        shutil.copy(path if path.exists() else native.object_file(unit), kept)
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(kept.parent))
    monkeypatch.setenv("RELFAST_COMPILE", "wait")
    _, said = by_score(tmp_path)
    assert said.count("relfast: kernels that are missing (align) are compiled first, about ") == 1
    assert native.is_built("align")
