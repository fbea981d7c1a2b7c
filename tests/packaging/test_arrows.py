"""The import arrows of the house, and what loading it costs. Read from the sources, not from a run."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import ROOT

PACKAGE = ROOT / "relfast"
ROOMS = ("rel_a", "rel_b", "rel_c", "seqbench", "realign")

ENGINES = {"rdkit": {"chem"}, "onnxruntime": {"embed"}, "tokenizers": {"embed"}}
"""Third-party engine → the one part that imports it."""

FORBIDDEN = {
    "parameters": {"*"},
    "records": {"*"},
    "errors": {"*"},
    "json_text": {"*"},
    "chem": {"cli", "engine", "formats", "tasks", "rewards", "report", "api", "stats", "embed"},
    "embed": {"cli", "engine", "formats", "tasks", "rewards", "report", "api", "stats", "chem"},
    "tasks": {"cli", "engine", "formats", "rewards", "report", "api", "stats", "results", "llm"},
    "formats": {"cli", "engine", "rewards", "report", "api", "stats", "chem", "embed", "llm"},
    "engine": {"cli", "rewards", "report", "llm"},
    "stats": {"cli", "engine", "formats", "rewards", "report", "api", "chem", "embed"},
    "keywords": {"cli", "engine", "formats", "rewards", "report", "api", "stats", "chem", "embed"},
    "results": {"cli", "engine", "formats", "tasks", "chem", "embed"},
    "signature": {"cli", "formats", "rewards", "report", "chem"},
    "rewards": {"cli", "report"},
    "report": {"cli", "rewards"},
    "llm": {"cli", "rewards", "report"},
    "api": {"cli"},
}
"""Part → parts it may not import ("*": any)."""

LEAVES = {"records", "parameters", "errors", "json_text"}


def sources() -> Iterator[tuple[Path, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        yield path, relative.parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """Dotted names that a module imports anywhere, functions and type checking included."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_there_are_sources() -> None:
    assert len(list(sources())) > 40


@pytest.mark.parametrize(
    ("path", "part"), list(sources()), ids=lambda value: str(value).split("relfast/")[-1]
)
def test_arrows(path: Path, part: str) -> None:
    forbidden = FORBIDDEN.get(part, set())
    for name in imports(path):
        target = name.split(".")
        if target[0] == "relfast" and len(target) > 1:
            other = target[1]
            if other in LEAVES or other == part:
                continue
            assert "*" not in forbidden, f"{part} imports {name}"
            assert other not in forbidden, f"{part} imports {name}"
            assert other != "cli" or part in ("cli", "__main__"), f"{part} imports {name}"
        for engine, homes in ENGINES.items():
            assert target[0] != engine or part in homes, f"{part} imports {name}"


def test_rooms_do_not_know_each_other() -> None:
    for room in ROOMS:
        for path in (PACKAGE / "tasks" / room).rglob("*.py"):
            for name in imports(path):
                others = [
                    other for other in ROOMS if other != room and name.startswith(f"relfast.tasks.{other}")
                ]
                assert not others, f"{path.name} of {room} imports {name}"


def test_extractors_use_no_engine() -> None:
    for room in ROOMS:
        for path in (PACKAGE / "tasks" / room).glob("extract*.py"):
            for name in imports(path):
                assert not name.startswith(("relfast.chem", "relfast.embed", "relfast_kernels")), (
                    f"{path} imports {name}"
                )


KERNELS_MAY_IMPORT = {"numpy", "numba", "math", "relfast_kernels", "__future__"}


def test_kernels_import_nothing_of_ours() -> None:
    for path in (ROOT / "kernels" / "relfast_kernels").glob("*.py"):
        for name in imports(path):
            root = name.split(".")[0]
            assert root != "relfast", f"{path.name} imports {name}"
            # kernels themselves are arrays in, arrays out; the modules that compile and cache them need the system
            if any(
                isinstance(node, ast.Name) and node.id == "kernel"
                for node in ast.walk(ast.parse(path.read_text("utf-8")))
            ):
                assert root in KERNELS_MAY_IMPORT | set(sys.stdlib_module_names), (
                    f"{path.name} imports {name}"
                )


HEAVY = (
    "numba",
    "numpy",
    "rdkit",
    "onnxruntime",
    "click",
    "rich",
    "pyarrow",
    "pandas",
    "tokenizers",
    "orjson",
    "multiprocessing",
)


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("import relfast", set()),
        ("import relfast.tasks", set()),
        ("import relfast; relfast.evaluate_response", {"orjson", "numpy"}),
        ("import relfast; relfast.evaluate_response('', {'target': 3}, 'Answer 4')", {"orjson", "numpy"}),
        (
            "import relfast; relfast.evaluate_response('', {'label': 'Yes'}, '<Yes>', policy='strict')",
            {"orjson", "numpy"},
        ),
        ("from relfast.cli.main import cli", {"click"}),
    ],
)
def test_light_import(statement: str, allowed: set[str]) -> None:
    code = f"import sys; {statement}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'kernels'}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True, timeout=60
    )
    assert set(done.stdout.split()) <= allowed
