"""Sets of up to 62 atoms or bonds as bits of a non-negative int64."""

from __future__ import annotations

from relfast_kernels.compiled.jit import kernel


@kernel
def n_bits(mask: int) -> int:
    """How many bits are set (population count). LLVM recognises this loop: it becomes one instruction."""
    n = 0
    while mask != 0:
        mask &= mask - 1
        n += 1
    return n


@kernel
def place_of(bit: int) -> int:
    """The index of the only bit that is set."""
    return n_bits(bit - 1)
