"""The text fast path: whole commands against the decode floor."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from relfast_kernels.compiled import native

from .floors import decode
from .measure import QUICK, against, size
from .workloads import write_text_dump


@pytest.fixture
def dump(tmp_path: Path, benchmark: Any) -> tuple[Path, int, int]:
    n = size(benchmark, smoke=500, quick=200_000, full=400_000)
    path = tmp_path / "text.jsonl"
    return path, n, write_text_dump(path, n)


@pytest.mark.parametrize("records", ["200k"] if QUICK else ["200k", "all"])
def test_text_against_decode_floor(
    records: str, dump: tuple[Path, int, int], benchmark: Any, relfast_command: Callable[..., None]
) -> None:
    path, n, n_bytes = dump
    if records == "200k":
        n = min(n, 200_000)
        kept = path.with_name("200k.jsonl")
        with path.open("rb") as source, kept.open("wb") as target:
            target.writelines(line for line, _ in zip(source, range(n), strict=False))
        path, n_bytes = kept, kept.stat().st_size
    out = path.with_suffix(".out")
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, "--overwrite", "-q", "--workers", 2),
        lambda: decode(path),
        task=f"relfast score, text tasks, 2 kB responses, {n:,} records",
        items=n,
        n_bytes=n_bytes,
        workers=2,
        limit=1.0,
        check=lambda *_: out.read_bytes().count(b"\n") == n,
    )


def test_import(benchmark: Any) -> None:
    """`import relfast` against bare Python."""

    def python(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    against(
        benchmark,
        lambda: python("import relfast"),
        lambda: python("pass"),
        task="import relfast against bare Python",
        items=1,
        name="vs",
        rounds=11,
    )


def test_ten_records(tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]) -> None:
    """A ten-record file, whole command, against `relfast --version`."""
    path = tmp_path / "ten.jsonl"
    write_text_dump(path, 10)
    out = tmp_path / "out.jsonl"
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, "--overwrite"),
        lambda: relfast_command("--version"),
        task="relfast score on ten records against relfast --version",
        items=10,
        name="vs",
        check=lambda *_: out.read_bytes().count(b"\n") == 10,
    )


def test_compile_text_kernels(tmp_path: Path, benchmark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile time, on its own: an empty cache, numba and LLVM to the object file. As a smoke test, this
    process compiles, which has numba loaded, and a small unit."""
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path))
    unit = "align" if benchmark.disabled else "text"
    command = [sys.executable, "-c", f"from relfast_kernels.compiled import native; native.build({unit!r})"]

    def compile_text() -> None:
        if benchmark.disabled:
            native.build(unit)
        else:
            subprocess.run(command, check=True)

    benchmark.pedantic(compile_text, rounds=1)
    assert native.is_built(unit)
    benchmark.extra_info.update(task="compile the text kernels", items=1, correct=True)
    if benchmark.stats is not None:
        benchmark.extra_info |= {"value": round(benchmark.stats.stats.mean, 1), "unit": "s"}
