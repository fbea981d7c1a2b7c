"""Kernels without numba: their machine code, kept as object files and loaded through llvmlite.

Importing numba and reading its cache takes 0.4 s in every process, llvmlite and an object file take
0.05 s. A worker that scores text for less than a second cannot pay the former. `build` (needs numba,
takes seconds, done by ``relfast warmup`` or in the background of a first large run) compiles plain
functions over pointers and writes their object code; `load` gives their addresses, or None where
nothing usable is there: the caller then takes the exact way in Python.

An object file is named by a digest of everything that decides its code, and begins with a checksum of
its content, so that a stale or torn file is never run.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from relfast_kernels.cache import cache_directory

_HERE: Final = Path(__file__).parent

UNITS: Final = {
    "text": ("text.py", "text_entries.py"),
    "smiles": (
        "smiles.py",
        "aromatic.py",
        "plain.py",
        "graph_code.py",
        "smiles_table.py",
        "subgraph.py",
        "smiles_entries.py",
    ),
}
"""Unit → the sources its code comes from; the last one declares its entries."""


def path_of(unit: str) -> Path:
    """Where a unit's object file is, or would be."""
    return cache_directory("native") / f"{unit}-{_digest(unit)}.o"


@lru_cache
def _digest(unit: str) -> str:
    import llvmlite
    import llvmlite.binding as llvm

    digest = hashlib.sha256()
    for name in ("_jit.py", "native.py", *UNITS[unit]):
        digest.update((_HERE / name).read_bytes())
    machine = f"{llvmlite.__version__} {sys.implementation.cache_tag} {llvm.get_host_cpu_name()}"
    features = llvm.get_host_cpu_features().flatten()
    digest.update(f"{machine} {features}".encode())
    return digest.hexdigest()[:24]


def is_built(unit: str) -> bool:
    """Whether a unit's object file is there (it may still turn out torn)."""
    return path_of(unit).is_file()


def load(unit: str) -> Mapping[str, Callable[..., int]] | None:
    """A unit's functions by name, or None.

    Each takes the integers and pointers its entry declares (``int`` and ``ctypes.c_void_p``) and returns
    an int; the GIL is released while it runs.
    """
    try:
        content = path_of(unit).read_bytes()
        header, _, code = content.partition(b"\n")
        described = json.loads(header)
        if hashlib.sha256(code).hexdigest() != described["sha256"]:
            return None
        return _link(code, described["entries"])
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError):
        return None


_EXTERNAL: Final = {"memchr": "memchr", "NRT_MemInfo_call_dtor": "abort"}
"""Symbols the code needs → the C library's function: the kernels search with memchr, and free nothing,
since they allocate nothing (numba emits the call all the same)."""

_keep_alive: list[Any] = []


def _link(code: bytes, entries: Mapping[str, Any]) -> dict[str, Callable[..., int]]:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    libc = ctypes.CDLL(None)
    for symbol, name in _EXTERNAL.items():
        # LLVM takes an unknown symbol for address 0
        llvm.add_symbol(symbol, ctypes.cast(getattr(libc, name), ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _keep_alive.append(engine)
    functions = {}
    for name, entry in entries.items():
        address = engine.get_function_address(entry["symbol"])
        if not address:
            raise ValueError(f"{name} is not in the object file")
        functions[name] = _callable(address, entry["arguments"])
    return functions


def _callable(address: int, arguments: str) -> Callable[..., int]:
    """A numba function as a Python callable; ``arguments`` has a letter each, ``p`` pointer, ``i`` int64.

    numba's calling convention: a place for the result, one for an exception, then the arguments.
    """
    kinds = {"p": ctypes.c_void_p, "i": ctypes.c_int64}
    function = ctypes.CFUNCTYPE(
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_int64),
        ctypes.POINTER(ctypes.c_void_p),
        *(kinds[letter] for letter in arguments),
    )(address)

    def call(*values: Any) -> int:
        result, exception = ctypes.c_int64(), ctypes.c_void_p()
        status = function(ctypes.byref(result), ctypes.byref(exception), *values)
        if status:
            raise RuntimeError(f"kernel failed with status {status}")
        return result.value

    return call


def build(unit: str) -> Path:
    """Compile a unit and write its object file, whole or not at all.

    Raises
    ------
    OSError
        The cache directory cannot be written.
    """
    import importlib

    import llvmlite.binding as llvm
    import numba
    from numba import types

    module = importlib.import_module(f"relfast_kernels.{Path(UNITS[unit][-1]).stem}")
    kinds = {"p": types.voidptr, "i": types.int64}
    described = {}
    texts = []
    for name, (function, arguments) in module.ENTRIES.items():
        signature = types.int64(*(kinds[letter] for letter in arguments))
        compiled = numba.njit(
            signature, nogil=True, fastmath=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
        )(function)
        overload = compiled.overloads[signature.args]
        described[name] = {"symbol": overload.fndesc.llvm_func_name, "arguments": arguments}
        texts.append(compiled.inspect_llvm(signature.args))
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="static",
        codemodel="large",  # the code lands anywhere in the address space, far from libc
        jit=True,
    )
    linked = llvm.parse_assembly(texts[0])
    for text in texts[1:]:
        linked.link_in(llvm.parse_assembly(text))
    code = machine.emit_object(linked)
    header = {"sha256": hashlib.sha256(code).hexdigest(), "entries": described}
    target = path_of(unit)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}.part")
    try:
        part.write_bytes(json.dumps(header).encode() + b"\n" + code)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


_PR_SET_PDEATHSIG: Final = 1


def _end_with(parent: int) -> None:
    """Have the kernel end this process when the one that started it is gone."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _end_with(int(sys.argv[1]))
    for each in UNITS:
        if not is_built(each):
            build(each)
