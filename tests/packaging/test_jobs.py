"""Every test runs in some job: what the workflows install and select, held against what tests ask for; and scripts that
the Makefile runs start where it runs them, without what pytest adds to the path."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest
from corpora import ROOT

JOBS: Final = "".join(path.read_text("utf-8") for path in sorted((ROOT / ".github/workflows").glob("*.yml")))
MAKEFILE: Final = (ROOT / "Makefile").read_text("utf-8")
TESTS: Final = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("benchmarks/test_*.py")]
EXTRAS: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]

DISTRIBUTION: Final = {"inspect_ai": "inspect-ai"}
"""Of modules that another name installs."""

IN_EVERY_JOB: Final = {"fastapi"}
"""Modules that come with others: FastAPI with the extra `serve`."""

TOOLS: Final = {"pdflatex": "texlive-latex-extra", "objdump": "binutils"}
"""Of programs that another package has."""


def of_tests(pattern: str) -> list[tuple[Path, str]]:
    return [
        (path.relative_to(ROOT), found)
        for path in sorted(TESTS)
        for found in re.findall(pattern, path.read_text("utf-8"))
    ]


@pytest.mark.parametrize("module", sorted({name for _, name in of_tests(r'importorskip\(\s*"(\w+)')}))
def test_what_is_imported_if_it_is_there_is_installed_by_a_job(module: str) -> None:
    if module in IN_EVERY_JOB:
        return
    name = DISTRIBUTION.get(module, module)
    known = " ".join([JOBS, MAKEFILE, *(each for extra in EXTRAS.values() for each in extra)])
    assert re.search(rf"\b{re.escape(name).replace('_', '[-_]')}\b", known), f"no job installs {name}"


def test_what_needs_a_program_runs_where_nightly_installs_it() -> None:
    job = re.search(r"\n  skipped:\n(.*)", JOBS, re.S)
    assert job is not None
    needed = of_tests(r'skipif\(\s*shutil\.which\("(\w+)"\) is None')
    assert needed
    for path, tool in needed:
        assert tool in job[1] or TOOLS[tool] in job[1], tool
        assert any(part in job[1] for part in map(str, (path, path.parent))), path


def test_tests_of_a_cluster_are_where_their_job_looks() -> None:
    assert "-m ray tests/distributed\n" in MAKEFILE
    marked = of_tests(r"(pytest\.mark\.ray)\b")
    assert {str(path.parent) for path, _ in marked} == {"tests/distributed"}


def test_each_tool_whose_lines_are_followed_has_a_job() -> None:
    lines = (ROOT / "tests/lines/test_lines.py").read_text("utf-8")
    assert set(re.findall(r"^def test_(\w+)", lines, re.M)) == set(re.findall(r"- \{name: (\w+),", JOBS))


def test_every_marker_is_selected_by_a_job() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    left_out = set(re.findall(r"not (\w+)", options["addopts"]))
    assert left_out == set(re.findall(r"(?:pytest|PYTEST\)) -m (\w+)", MAKEFILE))
    for target in ("test-ray", "test-trainers"):
        assert target in JOBS
    assert "-m lines" in JOBS


# scripts


def test_scripts_of_the_makefile_start() -> None:
    scripts = set(re.findall(r"\(BIN\)/python (tests/\w+\.py)", MAKEFILE))
    assert "tests/mutated_corpus.py" in scripts
    for script in scripts:
        command = [sys.executable, script, "--help"]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (said.returncode, said.stderr, said.stdout[:6]) == (0, "", "usage:"), script
