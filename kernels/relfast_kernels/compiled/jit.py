"""The one decorator. Kernel source is plain Python where it is imported, and compiled by who builds a unit.

As plain Python (some hundred times slower) it makes the tables of other kernels, and stands in where a
unit's machine code is missing. `relfast_kernels.compiled.builder` builds them.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

BUILDING: Final = "relfast_kernels.compiled.builder" in sys.modules
"""Whether this process compiles kernels ahead of time."""

BUILT: Final[list[Any]] = []
"""What has been marked where kernels are compiled."""

FLAGS: Final = {"nogil": True, "fastmath": False}
"""No fast-math (scores are the same bits everywhere), no ``parallel`` (a reward may run in any thread of any
host process, and numba's thread pool does not survive that)."""


def kernel(function: F) -> F:
    """Mark a plain loop over arrays, to be compiled with the unit that calls it."""
    if not BUILDING:
        return function
    import numba

    made: F = numba.njit(**FLAGS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    BUILT.append(made)
    return made


if BUILDING:
    from numba import carray as carray
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def pointer(typing: Any, address: Any) -> Any:
        """The pointer that an int64 stands for."""

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_value_type(types.voidptr))

        return types.voidptr(types.int64), code

else:

    def carray(address: int, shape: int | tuple[int, ...], dtype: Any) -> Any:
        """The array that lies at an address, as `numba.carray` has it of a pointer."""
        import numpy as np

        kind = np.dtype(dtype)
        size = kind.itemsize * int(np.prod(shape))
        if not size:
            return np.empty(shape, kind)
        return np.frombuffer((ctypes.c_char * size).from_address(int(address)), kind).reshape(shape)

    def pointer(address: int) -> int:
        """The pointer that an int64 stands for."""
        return address
