"""SMILES that a model wrote, read as RDKit reads them, or left to it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import AROMATIC, UNKNOWN
from relfast_kernels.smiles.aromatic import perceive
from relfast_kernels.smiles.kekule import confirm, kekulise
from relfast_kernels.smiles.parser import check_valences, read_text

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


@kernel
def read_plain(text: Bytes, start: int, end: int, graph: Ints) -> int:
    """Read ``text[start:end]``: atoms of the organic subset, no charges, stereo dropped.

    Returns the number of atoms; `INVALID` where RDKit certainly refuses it; `UNKNOWN` where there is
    anything else in it: names, charges, isotopes, maps, radicals, wildcards, lower-case letters other than
    c, n, o, s, rings that RDKit may or may not find aromatic, ways of writing that it may not take.
    """
    n = read_text(text, start, end, False, graph)
    if n <= 0:
        return n
    lower = False
    for atom in range(n):
        lower |= graph[AROMATIC + atom] != 0
    if lower and kekulise(graph, n) == UNKNOWN:
        return UNKNOWN
    n = check_valences(graph, n)
    if n > 0 and perceive(graph, n) == UNKNOWN:
        return UNKNOWN
    if n > 0 and lower:
        return confirm(graph, n)
    return n
