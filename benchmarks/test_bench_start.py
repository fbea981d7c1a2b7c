"""What starting costs: importing, ten records, compiling."""

from __future__ import annotations

import gzip
import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from relfast_kernels.compiled import native

from .measure import against


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
    with gzip.open(Path(__file__).parents[1] / "relfast/data/rel_demo.jsonl.gz") as demo:
        path.write_bytes(b"".join(itertools.islice(demo, 10)))
    out = tmp_path / "out.jsonl"
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, "--overwrite"),
        lambda: relfast_command("--version"),
        task="relfast score on ten records against relfast --version",
        items=10,
        name="vs",
        check=lambda *_: out.read_bytes().count(b"\n") >= 10,
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
