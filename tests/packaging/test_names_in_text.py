"""What docs and docstrings point to is there: no module or function that was renamed."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

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


@cache
def names_in(module: Path) -> frozenset[str]:
    """The identifiers of a module's code, and the words that its strings are."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        found.update(value for _, value in ast.iter_fields(node) if isinstance(value, str))
    return frozenset(found)


def is_there(dotted: str) -> bool:
    """Whether a name is one of a module's; of what a package offers, only the first name is looked for."""
    first, *parts = dotted.split(".")
    place = SOURCES[first]
    while parts and (place / parts[0]).is_dir():
        place /= parts.pop(0)
    if not parts:
        return True
    if (place / f"{parts[0]}.py").exists():
        return names_in(place / f"{parts[0]}.py").issuperset(parts[1:])
    return (place / "__init__.py").exists() and parts[0] in names_in(place / "__init__.py")


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
