"""Machine code is named by a digest of its sources, and built by one lowering as in numba's own way."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from processes import python
from relfast_kernels.compiled import native

ROOT = Path(native.__file__).parent.parent
BUILDER = ("compiled/builder.py", "compiled/views.py", "compiled/jit.py", "entry.py")


@pytest.mark.parametrize("unit", native.UNITS)
def test_all_sources_of_a_unit_decide_its_name(unit: str) -> None:
    """The modules that its entries load; what packages' own files hold would be no source."""
    module = "relfast_kernels." + native.UNITS[unit].removesuffix(".py").replace("/", ".")
    loaded = python("-c", f"import sys, {module}; print(*sys.modules)", check=True).stdout.split()
    ours = {ROOT.parent / f"{name.replace('.', '/')}.py" for name in loaded if "relfast_kernels." in name}
    sources = {ROOT / name for name in native.sources(unit)}
    assert sources == {*filter(Path.exists, ours), *map(ROOT.joinpath, BUILDER)}


class WithoutDocumentation(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def tree(source: bytes) -> str:
    """The code of a file without its docstrings, and without places."""
    return ast.dump(WithoutDocumentation().visit(ast.parse(source)))


@pytest.mark.parametrize("unit", native.UNITS)
def test_what_documents_a_unit_decides_no_name_and_all_else_does(unit: str) -> None:
    for name, source in native.sources(unit).items():
        assert tree(native.code_of(source)) == tree(source), name
        assert native.code_of(native.code_of(source)) == native.code_of(source), name


_PROBE = """
import numpy as np
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Array, Int, Struct

class Numbers(Struct):
    n = Int
    values = Array(Int, "n")

@kernel
def double(x):
    return 2 * x

@kernel
def total(values, n):
    found = 0
    for k in range(n):
        found += double(values[k])
    return found

AT_IMPORT = total(np.arange(4), 4)

@kernel
def _total(numbers):
    return total(numbers.values, numbers.n) + double(numbers.n) + AT_IMPORT

ENTRIES = {"total": (_total, Numbers), "again": (_total, Numbers)}
"""
_BUILD = """
import ctypes, sys
from relfast_kernels.compiled import builder, making, native
lowered = []
module, entries = builder.module_of("probe", own_way=sys.argv[1] == "own", tell=lambda *n: lowered.append(n))
assert entries["again"]["symbol"] == entries["total"]["symbol"]
from probe import Numbers  # the builder is the first to import it
making.keep("align", module, entries, builder.emitted, "")
call = native.load("align")["total"]
print(call(Numbers(values=(ctypes.c_int64 * 3)(1, 2, 3))), len(lowered) > 2)
"""


@pytest.mark.parametrize(("way", "lowered"), [("once", True), ("own", False)])
def test_both_ways_of_building_give_code_that_runs(way: str, lowered: bool, tmp_path: Path) -> None:
    """The builder reaches into numba: with one that has changed there, this fails and users get the own way."""
    (tmp_path / "probe.py").write_text(_PROBE)
    here = {
        "RELFAST_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
    }
    done = python("-W", "ignore", "-c", _BUILD, way, environment=here)
    assert done.stdout.split() == ["30", str(lowered)], done.stderr


@pytest.mark.parametrize(
    ("machine", "flags", "chosen"),
    [
        ("x86_64", "fpu sse2 avx avx2 bmi1 bmi2 f16c fma movbe abm", ["x86-64-v3", "x86-64", ""]),
        ("x86_64", "fpu sse2 avx", ["x86-64", ""]),
        ("aarch64", "", ["generic", ""]),
        ("riscv64", "", [""]),
    ],
)
def test_a_processor_takes_what_it_can_run(
    machine: str, flags: str, chosen: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "SHIPPED", tmp_path)
    monkeypatch.setattr(native, "_told_of_processor", lambda: {"flags": flags})
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))
    assert native._shipped_for.__wrapped__() == chosen
    monkeypatch.setattr(native, "SHIPPED", tmp_path / "none")
    assert native._shipped_for.__wrapped__() == []


@pytest.mark.parametrize("processor", ["", "generic"])
def test_code_that_lacks_a_function_is_not_kept(tmp_path: Path, processor: str) -> None:
    """As that of a numba that is too old, which calls functions of its own runtime."""
    code = "declare void @NRT_Free()  define void @f() { call void @NRT_Free() ret void }"
    said = python("-c", _LACKING, code, processor, environment={"RELFAST_CACHE_DIR": str(tmp_path)})
    assert said.stderr.strip().endswith("undefined symbol: NRT_Free")
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".so", ".o")]


_LACKING = """
import sys
from relfast_kernels.compiled import builder, making

making.keep("align", sys.argv[1], {}, builder.emitted, sys.argv[2])
"""
