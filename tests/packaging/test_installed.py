"""A wheel, installed beside nothing of ours: its libraries serve at once, and nothing compiles."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from corpora import ROOT, rel_records
from patience import PATIENCE
from relfast_kernels.compiled import native

from relfast.tasks.seqbench.generate import make_rows

WHEEL = os.environ.get("RELFAST_WHEEL")
"""A wheel that is there already; without, one is made of this machine's libraries."""

_HOOK = """
import os, sys

def note(event, values):
    compiler = event == "import" and values[0].partition(".")[0] == "numba"
    if compiler or (event == "subprocess.Popen" and "relfast_kernels.compiled" in map(str, values[1])):
        with open(os.environ["COMPILING"], "a") as file:
            file.write(f"{event} {values}\\n")

sys.addaudithook(note)
"""
"""Python runs ``sitecustomize`` in every process, before anything else."""


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of Python with what lies in a folder in front, and a cache of its own."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("RELFAST_")}
    known |= {"PYTHONPATH": str(folder), "RELFAST_CACHE_DIR": str(folder / "cache")}
    known |= {"COMPILING": str(folder / "compiling")}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=known, capture_output=True, text=True, timeout=5 * PATIENCE
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    wheel = WHEEL
    if wheel is None:
        for unit in native.UNITS:
            assert native.is_built(unit) or native.build(unit)
        code = f"import hatch_build; print(hatch_build.build_wheel({str(folder)!r}))"
        known = {**os.environ, "PYTHONPATH": str(ROOT), "RELFAST_WHEEL_FOR": "native"}
        built = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=known, capture_output=True, text=True
        )
        assert built.returncode == 0, built.stderr
        wheel = str(folder / built.stdout.split()[-1])
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(folder),
    ]
    done = subprocess.run([*pip, str(Path(wheel).absolute())], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (folder / "sitecustomize.py").write_text(_HOOK)
    return folder


def lines() -> Iterator[dict[str, Any]]:
    """10,000 rows of text tasks, 500 of C2 and C3, 1,000 mazes."""
    chance = random.Random(3)
    said = ["<answer>Answer 4</answer>", "Yes: taxon_15, taxon_7", "No.", "The answer is Answer #2", "none"]
    texts = [record for task in ("REL-A1", "REL-A4", "REL-B1") for record in rel_records(task)]
    for record in islice(cycle(texts), 10_000):
        yield {**record, "response": f"Let us see. {chance.randrange(10**9)}. {chance.choice(said)}"}
    motifs = rel_records("REL-C2")
    for record in islice(cycle(motifs), 250):
        yield {**record, "response": f"<smiles>{chance.choice(motifs)['answer']['smiles']}</smiles>"}
    listed = rel_records("REL-C3")
    for record in islice(cycle(listed), 250):
        some = chance.sample(record["answer"]["missing_smiles"], 1)
        yield {**record, "response": "".join(f"<smiles>{text}</smiles>" for text in [*some, "CCO"])}
    mazes = list(make_rows(20, 5, rows=6, cols=6, B=1))
    for record in islice(cycle(mazes), 1000):
        yield {**record, "response": f"{chance.randrange(10**9)}\n{chance.choice(mazes)['completion']}"}


@pytest.mark.slow
def test_nothing_compiles_where_a_wheel_is_installed(installed: Path, tmp_path: Path) -> None:
    where = "import relfast, relfast_kernels as k; print(relfast.__file__, k.__file__)"
    assert python(installed, "-c", where).stdout.count(f"{installed}/relfast") == 2
    built = (
        "from relfast_kernels.compiled import native as n; print([u for u in n.UNITS if n.load(u) is None])"
    )
    assert python(installed, "-c", built).stdout == "[]\n"

    (installed / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines()))
    score = ["-m", "relfast", "score", "in.jsonl", "--overwrite"]
    done = python(installed, *score, "-o", "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert "kernels" not in done.stderr
    assert not (installed / "compiling").exists(), (installed / "compiling").read_text()
    assert not list((installed / "cache").glob("native/*"))
    warm = python(installed, "-m", "relfast", "warmup")
    assert "8 units ready" in warm.stdout
    assert not list((installed / "cache").glob("native/*.so"))
    (installed / "cache").mkdir(exist_ok=True)
    (installed / "cache").chmod(0o777)  # which nobody needs
    again = python(installed, "-m", "relfast", "warmup")
    assert ("8 units ready" in again.stdout, again.stderr) == (True, "")

    ours = subprocess.run(
        [sys.executable, *score, "-o", tmp_path / "out.jsonl"], cwd=installed, capture_output=True
    )
    assert ours.returncode == 0, ours.stderr
    assert (installed / "out.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()
    scored = [json.loads(line) for line in (installed / "out.jsonl").read_text().splitlines()]
    assert len(scored) == 11_500
    assert {row["status"] for row in scored} <= {"ok", "no_answer"}
    assert {row["task"] for row in scored if row["correct"]} >= {"REL-A1", "REL-B1", "SeqBench"}
