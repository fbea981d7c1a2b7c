"""From kernel source to the machine code of a unit: each function lowered once, linked once, optimised once.

A unit is what becomes one library (`native.UNITS`). Numba compiles function by function: it links all callees
into each function and optimises the whole again, three times the work (431 against 145 CPU s when there were
seven units). It also counts references to every array that is passed on, nine in ten of the calls in its
code; but kernels' arrays are views of memory that their callers own, so there is nothing to count.
`lowered_once` patches numba's internals to avoid both and is the only place that does; a test checks it with
the installed numba. Where it fails, numba builds in its own way, with the same result.

To be imported in a process of its own: no kernel module may have been imported before.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest import mock

import llvmlite.binding as llvm
from numba import types
from numba.core import codegen, cpu, registry

from relfast_kernels.compiled.jit import BUILT, COMPRESSES, Ir, kernel
from relfast_kernels.compiled.views import view_of
from relfast_kernels.entry import Struct

_COUNTING: Final = re.compile(r"^\s*(?:tail )?call void @NRT_(?:incref|decref)\(.*\n", re.MULTILINE)
_FREE: Final = re.compile(r"^declare void @NRT_MemInfo_call_dtor\(([\w*]+).*$", re.MULTILINE)
_NEVER: Final = (
    "declare void @abort()\n"
    r"define linkonce_odr void @NRT_MemInfo_call_dtor(\1) {"
    "\n  call void @abort()\n  unreachable\n}"
)
"""LLVM text: calls that count references; the declaration of what frees memory, and a body for it."""

Tell = Callable[[int, int], None]
"""Progress callback: how many functions are lowered, and how many there are as far as is known."""


@contextmanager
def lowered_once(count: Callable[[], None]) -> Iterator[None]:
    """Patch numba to return functions as it has lowered them, neither linked, optimised nor compiled.

    ``count`` is called for each function. The Python function object that numba makes for it has an address
    of 1: none is ever called.
    """

    def finalize(self: Ir) -> None:
        self._finalized = True
        count()

    def optimize(self: Ir, module: Ir) -> None:
        module.data_layout = self._codegen._data_layout

    def executable(_: Ir, library: Ir, description: Ir, environment: Ir) -> Any:
        name = description.qualname.split(".")[-1]
        return cpu._dynfunc.make_function(description.lookup_module(), name, "", 1, environment, (library,))

    with ExitStack() as patches:
        for owner, name, ours in (
            (codegen.CPUCodeLibrary, "finalize", finalize),
            (codegen.CPUCodeLibrary, "_optimize_functions", optimize),
            (codegen.CPUCodegen, "_check_llvm_bugs", lambda _: None),
            (cpu.CPUContext, "get_executable", executable),
        ):
            patches.enter_context(mock.patch.object(owner, name, ours))
        yield


def module_of(
    entries_module: str, *, own_way: bool = False, tell: Tell | None = None
) -> tuple[str, dict[str, Any]]:
    """Lower the entries of a Python module, and all that they call, into one LLVM module.

    Returns the module's text, not optimised, and for each entry's name its ``symbol`` in that text and the
    name of the struct that it takes (``arguments``). With ``own_way`` numba itself lowers, links and
    optimises.
    """
    lowered = 0

    def count() -> None:
        nonlocal lowered
        lowered += 1
        if tell is not None:
            tell(lowered, max(lowered, len(BUILT)))

    def call(self: Ir, *values: Any, **named: Any) -> Any:
        return self.py_func(*values, **named)

    with ExitStack() as patches:
        # kernels that are called during the import, to fill lookup tables, run as plain Python
        patches.enter_context(mock.patch.object(registry.CPUDispatcher, "__call__", call))
        if not own_way:
            patches.enter_context(lowered_once(count))
        declared = importlib.import_module(entries_module).ENTRIES
        entries, roots = _lowered(declared)
        libraries = roots if own_way else _with_callees(roots)
        linked = llvm.parse_assembly(str(libraries[0]._final_module))
        for library in libraries[1:]:
            linked.link_in(library._final_module, preserve=True)
    # kernels allocate no memory: without reference counting, and with abort() in place of the function of
    # numba's runtime that frees memory (never called), they need the C library only
    linked = llvm.parse_assembly(_COUNTING.sub("", _FREE.sub(_NEVER, str(linked), count=1)))
    symbols = {entry["symbol"] for entry in entries.values()}
    for value in (*linked.functions, *linked.global_variables):
        if not value.is_declaration and value.name not in symbols:
            value.linkage = "internal"
    return str(linked), entries


def _lowered(declared: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """Compile each entry by numba: the entries' symbols and arguments by name, and numba's code libraries."""
    entries: dict[str, Any] = {}
    symbols: dict[Any, str] = {}
    libraries = []
    for name, (function, struct) in declared.items():
        if function not in symbols:  # else a second name, to call it with the GIL held or released
            signature = types.int64(types.voidptr)
            made: Any = kernel(_of_address(function, struct))
            made.compile(signature)
            overload = made.overloads[signature.args]
            symbols[function] = overload.fndesc.llvm_func_name
            libraries.append(overload.library)
        entries[name] = {"symbol": symbols[function], "arguments": struct.__name__}
    return entries, libraries


def _of_address(function: Callable[..., int], struct: type[Struct]) -> Callable[[Any], int]:
    """A function of a struct as one of the struct's address."""
    view = view_of(struct)
    return lambda address: function(view(address))


def _with_callees(libraries: list[Any]) -> list[Any]:
    """Numba's code libraries, and those of all functions called in them, each once."""
    found: dict[Any, None] = {}
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if library not in found:
            found[library] = None
            waiting.extend(library._linking_libraries)
    return list(found)


def emitted(module: str, processor: str = "") -> bytes:
    """The object code, to be linked into a library, of the text of an LLVM module, optimised for a processor
    of this machine's family: LLVM's name of it, such as ``x86-64-v3``; empty: this very one."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=processor or llvm.get_host_cpu_name(),
        features="" if processor else llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="pic",
        codemodel="default",
    )
    if processor:
        module = re.sub(rf"(@{COMPRESSES}\(\)[^}}]* ret i1 )true", r"\1false", module)
    parsed = llvm.parse_assembly(module)
    tuning = llvm.create_pipeline_tuning_options(3)
    tuning.loop_vectorization = True
    tuning.slp_vectorization = False  # as numba has it
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(parsed, passes)
    code: bytes = target.emit_object(parsed)
    return code
