"""Functions of a unit for who cannot do without: from its machine code if that is built, else compiled here.

Both are called through ctypes in the same way. What is compiled here is kept as all of numba's code is, and
takes numba's import in each process: `relfast_kernels.compiled.native` says what that costs.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from relfast_kernels.compiled import native

_built: dict[str, Mapping[str, Callable[..., int]] | None] = {}
_compiled: dict[tuple[str, str], Callable[..., int]] = {}
_keep_alive: list[Any] = []
_opening = threading.RLock()


def _start_anew() -> None:
    """In a forked child: a thread that is not here may have held the lock."""
    global _opening
    _opening = threading.RLock()


os.register_at_fork(after_in_child=_start_anew)


def functions(unit: str, *names: str) -> Mapping[str, Callable[..., int]]:
    """Functions of a unit by name, as `relfast_kernels.compiled.native.load` has them."""
    with _opening:
        if unit not in _built:
            _built[unit] = native.load(unit)
        built = _built[unit]
        if built is not None:
            return built
        for name in names:
            if (unit, name) not in _compiled:
                _compiled[unit, name] = _compiled_here(unit, name)
        return {name: _compiled[unit, name] for name in names}


def _compiled_here(unit: str, name: str) -> Callable[..., int]:
    """A function compiled in this process: seconds, or less where numba's cache has it."""
    from numba import types

    from relfast_kernels.compiled.jit import kernel

    kinds = {"p": types.voidptr, "i": types.int64}
    function, arguments = importlib.import_module(native.entries_of(unit)).ENTRIES[name]
    signature = types.int64(*(kinds[letter] for letter in arguments))
    dispatcher: Any = kernel(function)
    dispatcher.compile(signature)
    overload = dispatcher.overloads[signature.args]
    address = overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name)
    _keep_alive.append(dispatcher)
    return native.callable_at(address, arguments, holds_gil=native.is_short(unit, name))
