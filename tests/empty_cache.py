"""Scoring where no kernel is compiled yet: records, and processes of their own that score them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psutil
import pytest
from patience import PATIENCE, until
from relfast_kernels.compiled import native

HARD: Final = (
    "CC1(C)OC2CC3C4CC(F)C5=CC(=O)C=CC5(C)C4C(O)CC3(C)C2(C(=O)CO)O1",
    "CC1(C)OC2CC3C4CCC5=CC(=O)CCC5(C)C4(F)C(O)CC3(C)C2(C(=O)CCl)O1",
)
"""Steroids of which RDKit does not find in many seconds what they have in common."""

CAGES: Final = ("C1C2CC3CC1CC(C2)C3", "C1CC2CCC1CC2C1CC1")

RECORDS: Final[list[dict[str, Any]]] = [
    {"task": "REL-A1", "answer": {"target": 3}, "response": "<answer>3</answer>"},
    *(
        {"task": "REL-C2", "answer": {"smiles": gold}, "response": f"<smiles>{said}</smiles>"}
        for gold, said in (HARD, CAGES)
    ),
]


def ours(cache: str) -> list[psutil.Process]:
    """The processes that use a cache."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("RELFAST_CACHE_DIR") == cache:
                found.append(process)
    return found


def prepare(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Have the records in a folder, all kernels in this machine's cache, and those missing elsewhere compiled."""
    for unit in native.UNITS:
        assert native.is_built(unit) or native.build(unit)
    lines = [json.dumps({"id": at, **record}) + "\n" for at, record in enumerate(RECORDS)]
    (folder / "in.jsonl").write_text("".join(lines))
    patch.delenv("RELFAST_COMPILE")
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


def run(code: str, folder: Path) -> tuple[list[Any], str]:
    """The ``rows`` that code makes of ``records`` in a process of its own, and what is said."""
    before = "import json, relfast\nrecords, rows = [*map(json.loads, open('in.jsonl'))], []"
    script = [sys.executable, "-c", f"{before}\n{code}\nprint(json.dumps(rows))"]
    done = subprocess.run(script, cwd=folder, capture_output=True, text=True, timeout=5 * PATIENCE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def check_library(code: str, folder: Path, patch: pytest.MonkeyPatch) -> str:
    """Hold that code makes the same rows with an empty cache, and leaves no process behind; what it says."""
    prepare(folder, patch)
    expected, said = run(code, folder)
    assert "kernels" not in said
    cold = str(folder / "cache")
    patch.setenv("RELFAST_CACHE_DIR", cold)
    rows, said = run(code, folder)
    assert rows == expected
    until(lambda: not ours(cold), "the end of all processes")
    return said
