"""A unit's functions for who cannot do without: from its machine code where that is built, else compiled
here.

Both are called through ctypes in the same way. What is compiled here is kept as all of numba's code is, and
takes numba's import in each process; see `relfast_kernels.compiled.native` for what that spares."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

from relfast_kernels.compiled import native

_functions: dict[str, Mapping[str, Callable[..., int]]] = {}
_keep_alive: list[Any] = []
_opening = threading.RLock()


def functions(unit: str) -> Mapping[str, Callable[..., int]]:
    """A unit's functions by name, as `relfast_kernels.compiled.native.load` has them."""
    found = _functions.get(unit)
    if found is None:
        with _opening:
            found = _functions.get(unit)
            if found is None:
                found = _functions[unit] = native.load(unit) or compiled_here(unit)
    return found


def compiled_here(unit: str) -> Mapping[str, Callable[..., int]]:
    """The functions compiled in this process: seconds, or less where numba's cache has them."""
    from numba import types

    from relfast_kernels.compiled.jit import kernel

    kinds = {"p": types.voidptr, "i": types.int64}
    module = importlib.import_module(native.entries_of(unit))
    made: dict[str, Callable[..., int]] = {}
    for name, (function, arguments) in module.ENTRIES.items():
        signature = types.int64(*(kinds[letter] for letter in arguments))
        dispatcher: Any = kernel(function)
        dispatcher.compile(signature)
        overload = dispatcher.overloads[signature.args]
        address = overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name)
        made[name] = native.callable_at(address, arguments, holds_gil=native.is_short(unit, name))
        _keep_alive.append(dispatcher)
    return made
