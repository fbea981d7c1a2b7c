"""What importing the house costs, and what a short run loads: most of its time. Which part may import
which, and that none goes in a circle, is said in pyproject.toml and looked at by `make check`."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_runs import write_dump
from processes import python

HEAVY = [
    "numba", "numpy", "rdkit", "onnxruntime", "click", "rich", "pyarrow", "pandas", "tokenizers", "orjson", "multiprocessing",
    "torch", "transformers", "trl", "verl", "openrlhf", "verifiers", "slime", "nemo_rl", "reasoning_gym",
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("import relfast", set()),
        ("import relfast.tasks", set()),
        ("import relfast.tasks.reasoning", set()),
        ("import relfast_kernels.layouts", set()),
        ("import relfast; relfast.evaluate_response('', {'target': 3}, 'Answer 4')", {"orjson", "numpy"}),
        (
            "import relfast; relfast.evaluate_response('', {'label': 'Yes'}, '<Yes>', policy='strict')",
            {"orjson", "numpy"},
        ),
        ("from relfast.cli.main import cli", {"click"}),
        (
            "from relfast.rewards import trl, verl, openrlhf, verifiers, slime, nemo_rl, reasoning_gym",
            {"orjson", "numpy", "multiprocessing"},
        ),
    ],
)
def test_light_import(statement: str, allowed: set[str]) -> None:
    code = f"import sys; {statement}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    assert set(python("-c", code, check=True).stdout.split()) <= allowed


# a short run


# hashlib loads OpenSSL
NOT_NEEDED = {
    "hashlib", "html", "multiprocessing", "numba", "numpy", "rich", "socket", "zipfile", "relfast.cli.table",
    "relfast.stats.lengths", "relfast.tasks.display", "relfast.tasks.rel_c.parameters",
    "relfast.tasks.seqbench.parameters",
}  # fmt: skip


def test_what_few_runs_need_is_not_loaded(tmp_path: Path) -> None:
    row = {"id": "a", "task": "REL-A1", "answer": {"target": 1}, "response": "Answer 2"}
    dump = write_dump(tmp_path / "dump.jsonl", [row])
    done = python("-X", "importtime", "-m", "relfast", "score", dump, "--workers", 1, "-q")
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "relfast.engine.files.score_files" in loaded
    assert not loaded & NOT_NEEDED
