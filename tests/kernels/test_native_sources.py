"""Machine code is named by a digest of its sources: one that is not among them could change unseen."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from relfast_kernels.compiled import native

ROOT = Path(native.__file__).parent.parent


@cache
def imported(name: str) -> frozenset[str]:
    """The modules of the package that a file of it imports, and those that they import."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / name).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("relfast_kernels."):
            _, _, module = (node.module or "").replace(".", "/").partition("/")
            assert (ROOT / f"{module}.py").exists(), f"{name}: import from modules, not from packages"
            found.add(f"{module}.py")
    return frozenset(found.union(*map(imported, found)))


@pytest.mark.parametrize("unit", native.UNITS)
def test_all_sources_of_a_unit_are_named(unit: str) -> None:
    sources = native.UNITS[unit]
    # the decorator compiles nothing of these units: they are compiled ahead of time
    compiled = {name for name in imported(sources[-1]) if not name.startswith("compiled/")}
    assert sorted(compiled) == sorted(sources[:-1])  # and each once
