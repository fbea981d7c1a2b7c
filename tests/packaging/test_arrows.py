"""What importing the house costs, and that no import goes in a circle. Read from the sources, but for the cost.

Which part may import which is said in pyproject.toml, and `make check` has import-linter look.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from corpora import ROOT
from patience import PATIENCE

SOURCE_ROOTS = (ROOT, ROOT / "kernels")


def sources() -> dict[str, Path]:
    """Our modules by dotted name."""
    found = {}
    for root, package in zip(SOURCE_ROOTS, ("relfast", "relfast_kernels"), strict=True):
        for path in (root / package).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names that a module imports when it runs, in functions too; what only type checkers read is left
    out."""
    if isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.dump(tree.test):
        children: Iterable[ast.AST] = tree.orelse
    else:
        children = ast.iter_child_nodes(tree)
    for node in children:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            yield from imports(node)


def graph_of(texts: dict[str, str]) -> dict[str, set[str]]:
    """Module → modules it imports; a name in a module counts as the module."""
    graph: dict[str, set[str]] = {}
    for module, text in texts.items():
        graph[module] = set()
        for name in imports(ast.parse(text)):
            target = name if name in texts else name.rpartition(".")[0]
            if target in texts and target != module:
                graph[module].add(target)
    return graph


def circle_in(graph: dict[str, set[str]]) -> list[str] | None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


def test_no_circle() -> None:
    graph = graph_of({module: path.read_text("utf-8") for module, path in sources().items()})
    assert sum(map(len, graph.values())) > len(graph) > 100
    assert circle_in(graph) is None


def test_a_circle_through_a_function_is_seen() -> None:
    later = "def f():\n    from p import a"
    assert circle_in(graph_of({"p": "", "p.a": "from p.b import x", "p.b": later})) is not None
    typed = "if TYPE_CHECKING:\n    from p import a\nelse:\n    import p"
    assert circle_in(graph_of({"p": "", "p.a": "import p.b", "p.b": typed})) is None


KERNELS_MAY_IMPORT = {"numpy", "llvmlite", "numba", "math", "relfast_kernels", "__future__"}


def test_kernels_need_arrays_and_a_compiler_only() -> None:
    kernels = 0
    for path in (ROOT / "kernels" / "relfast_kernels").rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        # kernels themselves are arrays in, arrays out; the modules that compile and cache them need the system
        if any(isinstance(node, ast.Name) and node.id == "kernel" for node in ast.walk(tree)):
            kernels += 1
            for name in imports(tree):
                root = name.split(".")[0]
                assert root in KERNELS_MAY_IMPORT | set(sys.stdlib_module_names), (
                    f"{path.name} imports {name}"
                )
    assert kernels > 5


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
        ("import relfast.tasks.reasoning", set()),
        ("import relfast_kernels.layouts", set()),
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
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
        timeout=PATIENCE,
    )
    assert set(done.stdout.split()) <= allowed
