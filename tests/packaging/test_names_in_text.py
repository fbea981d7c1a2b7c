"""What docs and docstrings point to is there: no module or function that was renamed."""

from __future__ import annotations

import pkgutil
import re

import pytest
from corpora import ROOT

SOURCES = {"relfast": ROOT / "relfast", "relfast_kernels": ROOT / "kernels" / "relfast_kernels"}
TEXTS = [
    *(path for folder in SOURCES.values() for path in sorted(folder.rglob("*.py"))),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
]
ABOUT_OURS = ["architecture.md", "strict.md"]
"""Pages that name files by the end of their path, and modules without their ending."""

_DOTTED = re.compile(r"`(relfast(?:_kernels)?(?:\.\w+)+)(?:\(\))?`(?<!\.json`)")
_FILE = re.compile(r"`((?:\w+/)+\w+(?:\.py)?)`")


def is_there(dotted: str) -> bool:
    """Whether a name is a module's or one in it, or a module whose tool is not installed here."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError):
        return (ROOT / dotted.replace(".", "/")).with_suffix(".py").exists()
    return True


def test_names_in_docs_and_docstrings() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in TEXTS
        for name in _DOTTED.findall(path.read_text("utf-8"))
        if not is_there(name)
    ]
    assert wrong == []


@pytest.mark.parametrize("page", ABOUT_OURS)
def test_files_named_on_pages(page: str) -> None:
    folders = [*SOURCES.values(), *(ROOT / name for name in ("tests", "benchmarks", "docs"))]
    known = "".join(
        f"/{found.relative_to(ROOT).with_suffix('')}\n"
        for folder in folders
        for path in folder.rglob("*")
        for found in (path, path.parent)
    )
    named = [name.removesuffix(".py") for name in _FILE.findall((ROOT / "docs" / page).read_text("utf-8"))]
    assert named
    assert [name for name in named if f"/{name}\n" not in known] == []
