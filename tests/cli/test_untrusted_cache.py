"""Commands whose cache somebody else can have written: the same rows without it, and one line that says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from engine_runs import PYTHONPATH, honest, relfast, scored_here, write_dump
from hostile_cache import SPOILT, give_away
from relfast_kernels.compiled import native


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
@pytest.mark.parametrize(
    ("spoil", "workers"),
    [(None, 2), (SPOILT["writable by others, not read"], 2), (give_away, 0)],
    ids=["good", "writable", "of somebody else"],
)
def test_rows_are_the_same_and_it_is_said_once(
    spoil: Callable[[Path], None] | None, workers: int, planted: Path, tmp_path: Path
) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(60))
    expected = scored_here(dump, tmp_path / "expected.jsonl")
    if spoil is not None:
        spoil(planted)
    environment = {"RELFAST_CACHE_DIR": str(planted)}
    done = relfast(dump, "-o", tmp_path / "rows.jsonl", "-q", "--workers", workers, environment=environment)
    assert done.returncode == 0
    said = done.stderr.decode().splitlines()
    assert (tmp_path / "rows.jsonl").read_bytes() == expected
    if spoil is None:
        assert said == []
    else:
        (line,) = said
        assert line.startswith(f"relfast: a cache in {planted} is not used: {planted} ")
        assert line.endswith("; RELFAST_CACHE_DIR chooses another place")


def test_vectors_are_said_too_by_a_command_whose_workers_would_use_them(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "dump.jsonl", honest(20))
    chosen = tmp_path / "vectors"
    chosen.mkdir()
    give_away(chosen)
    environment = {"RELFAST_EMBED_CACHE": str(chosen)}
    done = relfast(dump, "-o", tmp_path / "o", "-q", "--workers", 2, environment=environment)
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"relfast: a cache in {chosen} is not used: {chosen} ")
    assert line.endswith("; RELFAST_EMBED_CACHE chooses another place")


def test_warmup_does_not_compile_for_nothing(planted: Path) -> None:
    give_away(planted)
    done = subprocess.run(
        [sys.executable, "-m", "relfast", "warmup"],
        env={**os.environ, "PYTHONPATH": PYTHONPATH, "RELFAST_CACHE_DIR": str(planted)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"relfast: {planted / 'native'}: {planted} ")
