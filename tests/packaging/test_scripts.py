"""Scripts that the Makefile runs find what they import where it runs them, without what pytest adds to the path."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from corpora import ROOT

SCRIPTS = sorted(set(re.findall(r"\(BIN\)/python (tests/\w+\.py)", (ROOT / "Makefile").read_text())))


def test_there_are_scripts() -> None:
    assert "tests/mutated_corpus.py" in SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_of_the_makefile_starts(script: str) -> None:
    said = subprocess.run(
        [sys.executable, script, "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith("usage:")
