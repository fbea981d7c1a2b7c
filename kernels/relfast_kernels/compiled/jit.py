"""The decorator `kernel`: source is plain Python on import, and compiled by a process that builds a unit.

As plain Python (some hundred times slower) it fills the lookup tables of other kernels, and replaces a unit
whose machine code is missing. `relfast_kernels.compiled.builder` compiles it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

Ir: TypeAlias = Any
"""What numba and llvmlite, which have no types, pass to an intrinsic, and what it emits."""

COMPRESSES: Final = "compresses"
"""A function in modules: whether the processor has an instruction that moves some bytes of a vector together
(AVX-512 VBMI2)."""

F = TypeVar("F", bound=Callable[..., Any])

BUILDING: Final = "relfast_kernels.compiled.builder" in sys.modules
"""Whether this process compiles kernels ahead of time."""

BUILT: Final[list[Any]] = []
"""The functions that `kernel` has marked, in a process that compiles."""

FLAGS: Final = {"nogil": True, "fastmath": False}
"""numba's options: no fast-math (scores have the same bits everywhere), no ``parallel`` (a reward may run in
any thread of any host process, and numba's thread pool does not survive that)."""


def kernel(function: F, **options: bool) -> F:
    """Mark a function, plain loops over arrays, to be compiled with each unit that calls it."""
    if not BUILDING:
        return function
    import numba

    made: F = numba.njit(**FLAGS, **options, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    BUILT.append(made)
    return made


def step(function: F) -> F:
    """`kernel` for a step of a loop that takes and returns a record of numbers: it becomes part of its
    caller, so that the record stays in registers."""
    return kernel(function, forceinline=True)


if BUILDING:
    from numba import carray as carray
    from numba import types
    from numba.extending import intrinsic
    from numpy import uint64

    unsigned: Ir = uint64

    @intrinsic
    def pointer(typing: Ir, address: Ir) -> Ir:
        """An int64 address as a pointer."""

        def code(context: Ir, builder: Ir, signature: Ir, values: Ir) -> Ir:
            return builder.inttoptr(values[0], context.get_value_type(types.voidptr))

        return types.voidptr(types.int64), code

else:
    # for an index that is never negative: of NumPy's own number NumPy 1 makes a float as soon as one is added
    unsigned = int

    def carray(address: int, shape: int | tuple[int, ...], dtype: Any) -> Any:
        """The array at an address, as `numba.carray` makes it of a pointer."""
        import numpy as np

        kind = np.dtype(dtype)
        size = kind.itemsize * int(np.prod(shape))
        if not size:
            return np.empty(shape, kind)
        return np.frombuffer((ctypes.c_char * size).from_address(int(address)), kind).reshape(shape)

    def pointer(address: int) -> int:
        """An int64 address as a pointer."""
        return address
