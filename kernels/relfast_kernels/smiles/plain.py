"""SMILES that a model wrote, read as RDKit reads them, or left to it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.smiles.aromatic import perceive
from relfast_kernels.smiles.kekule import confirm, kekulise
from relfast_kernels.smiles.layouts import AROMATIC, N_FOUND
from relfast_kernels.smiles.parser import read_text
from relfast_kernels.smiles.rings import find_ring_bonds
from relfast_kernels.smiles.valence import give_hydrogens, give_radicals, tell_apart

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


@kernel
def read_plain(text: Bytes, start: int, end: int, graph: Ints) -> int:
    """Read ``text[start:end]``; stereo, isotopes and maps are dropped, FLAGS says whether there were any.

    Returns the number of atoms; `INVALID` where RDKit certainly refuses it; `UNKNOWN` for what is left to it:

    - names, CXSMILES and anything else beyond ASCII or behind a blank; wildcards, ``~``, ``$``, arrows;
    - metals that have bonds, and other elements that answers do not have (`elements.OUTER`);
    - hydrogens that stay atoms: ``[H][H]``, isotopes, protons, those that a slash leads to;
    - more than `MAX_ATOMS` atoms, `MAX_DEGREE` bonds, `MAX_CANDIDATES` atoms in lower case;
    - phosphorus and halogens that RDKit may rewrite with charges (perchlorates, ylides);
    - rings that may be aromatic where it depends on which smallest rings RDKit chooses (cages, large rings);
    - lower case that is not aromatic where it leaves open which bond is double.
    """
    n = _read(text, start, end, graph)
    graph[N_FOUND] = n
    return n


@kernel
def _read(text: Bytes, start: int, end: int, graph: Ints) -> int:
    n = read_text(text, start, end, False, graph)
    if n < 0:
        return n
    lower = False
    for atom in range(n):
        lower |= graph[AROMATIC + atom] != 0
    n = give_hydrogens(graph, n)
    if lower and n > 0:
        find_ring_bonds(graph, n)
        n = kekulise(graph, n)
    if n > 0:
        n = give_radicals(graph, n)
    if n > 0:
        n = perceive(graph, n, lower)
    if lower and n > 0:
        n = confirm(graph, n)
    if n > 0:
        tell_apart(graph, n, False)
    return n
