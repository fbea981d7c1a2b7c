"""Functions that are plain Python and kernels at once.

What is decorated with `source` stays the function that it is: it runs on ``bytes``, ``bytearray`` and lists
without numba being imported. Once `relfast_kernels.compiled.jit` is, kernels can call it, and numba compiles
it with them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_waiting: list[Callable[..., Any]] = []


def source(function: F) -> F:
    """A plain loop over arrays that kernels may call."""
    if "relfast_kernels.compiled.jit" in sys.modules:
        _register(function)
    else:
        _waiting.append(function)
    return function


def tell_numba() -> None:
    """Have numba know all that has been decorated so far."""
    while _waiting:
        _register(_waiting.pop())


def _register(function: Callable[..., Any]) -> None:
    from numba.extending import register_jitable

    register_jitable(nogil=True, fastmath=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
