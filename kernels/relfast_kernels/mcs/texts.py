"""Two SMILES and the largest substructure that they have in common."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    COMMON_ATOMS,
    COMMON_BONDS,
    COMMON_STEPS,
    INVALID,
    UNFINISHED,
    UNKNOWN,
)
from relfast_kernels.mcs.packed import pack
from relfast_kernels.mcs.roots import largest_common
from relfast_kernels.mcs.state import BEST_ATOMS, BEST_BONDS, STEPS
from relfast_kernels.smiles.parser import read_canonical
from relfast_kernels.smiles.plain import read_plain

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


@kernel
def common_substructure(
    data: Bytes,
    n_first: int,
    by_rdkit: bool,
    whole_rings: bool,
    limit: int,
    first: Ints,
    second: Ints,
    packed_first: Ints,
    packed_second: Ints,
    state: Ints,
    result: Ints,
) -> int:
    """Search for the largest common substructure of two SMILES, as `relfast_kernels.mcs` defines it.

    Parameters
    ----------
    data
        uint8: both texts, the first one ``n_first`` bytes long.
    by_rdkit
        Whether RDKit wrote both, without stereo: their aromatic letters are taken at their word then.
    whole_rings
        Whether rings count only as wholes, and charges and aromatic bonds as such.
    limit
        Steps that the search may take.
    first, second
        int64, `GRAPH_SIZE`: space for their graphs.
    packed_first, packed_second
        int64, `PACKED_SIZE`.
    state
        int64, `STATE_SIZE`.
    result
        int64, `COMMON_SIZE`, out.

    Returns
    -------
    int
        0; `INVALID` where one of them certainly is no molecule; `UNKNOWN` where only RDKit can read them;
        `UNFINISHED` where the steps did not suffice.
    """
    if by_rdkit:
        n_a = read_canonical(data, 0, n_first, first)
        n_b = read_canonical(data, n_first, len(data), second)
    else:
        n_a = read_plain(data, 0, n_first, first)
        n_b = read_plain(data, n_first, len(data), second)
    if INVALID in (n_a, n_b):
        return INVALID
    if UNKNOWN in (n_a, n_b):
        return UNKNOWN
    bonds_a = pack(first, n_a, whole_rings, packed_first)
    bonds_b = pack(second, n_b, whole_rings, packed_second)
    if UNKNOWN in (bonds_a, bonds_b):
        return UNKNOWN
    if bonds_a > bonds_b:
        packed_first, packed_second = packed_second, packed_first
    found = largest_common(packed_first, packed_second, state, limit)
    result[COMMON_BONDS] = state[BEST_BONDS]
    result[COMMON_ATOMS] = state[BEST_ATOMS]
    result[COMMON_STEPS] = state[STEPS]
    return UNFINISHED if found == UNKNOWN else 0
