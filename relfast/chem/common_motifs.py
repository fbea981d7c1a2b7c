"""What a constant is worth as a motif: the motifs that anybody would guess, and the largest share of a
molecule that one of them is.

The list was drawn greedily from all parts of up to 18 atoms of the published REL-C2 golds, half weighted by
how often each gold occurs, half each gold alike, so that it holds what a constant would be chosen to be.
"""

from __future__ import annotations

from typing import Final

from relfast.chem.common_substructure import Parts, Prepared, prepared

COMMON_MOTIFS: Final = (
    "c1ccccc1", "CCCCC", "CC1CCCC2C1CCC1(C)CCCC21", "COc1ccccc1", "CCc1ccccc1", "CC", "CCCCCCCC",
    "CCC1CCCCC1", "CCNCC", "O=[SH](=O)c1ccccc1", "CCC1CCCC1C", "CC(=O)NC1C(=O)N2C(C(=O)O)=CCSC12",
    "CC1CCCC2C1CCC1(C)C(C=O)CCC21", "CCNCCNCC", "CCCCCCCCCC", "c1ccc(Cc2ccccc2)cc1", "O=C(O)CN1CCC1=O",
    "CNc1ccccc1", "CCC1CCC2(C)CCCC2C1", "Cc1ccc([N+](=O)[O-])o1", "CCC1(C)C(=O)NCNC1=O",
    "CN1c2ccccc2Sc2ccccc21", "CCC(C)C1(C)CCC2C(CCCC2(C)C)C1", "O=c1nccc[nH]1", "CCCCCC",
    "c1ccc2c(c1)CC1CC2CCN1", "CC1CCCC(O)O1", "CC1(C)SC2C(N)C(=O)N2C1C(=O)O", "O=CCCC(C=O)NC=O",
    "CCNCC(O)COc1ccccc1", "CCC=CCCCC", "CCN(CC)CCCCc1ccc(F)cc1", "CCC(O)C(O)CO",
    "CC(C=O)CCC(C)OC1OC(C)CC(N)C1O", "CC(O)CNC(C)C", "O=C(O)Cc1ccccc1", "CCCN(c1ccccc1)c1ccccc1",
    "CC=CC=CC(C)=CC", "COC(=O)C1=CNC(C)=CC1c1ccccc1", "CCN(CC)CCO", "CCOc1ccccc1", "O=CC1CCCN1",
    "CCNCc1ccccc1", "CCCCCCCCCCCC", "CCNC(=O)CNC(C)=O", "OCC1OCC(O)C1O", "CCCCNC",
    "CC1CCC2C1CCC1C3CCCC=C3CCC12", "CC(C)CCCC(C)C", "CCC=CC1C(O)CCC1CC", "CCCCCCOCCCC", "CCCCCC1(C)CCCC1C",
    "COc1ccc2cncnc2c1", "O=c1ccn(C2CCC(CO)O2)c(=O)[nH]1", "CCC=CCCC(C)C(C)C(C)(C)CC",
    "Cn1cncc1[N+](=O)[O-]", "CC(=O)Nc1ccccc1", "Cn1c(=O)c2c(ncn2C)n(C)c1=O", "COc1ccccc1C(=O)NCC1CCCN1C",
    "NCC(O)c1ccccc1", "C", "CCC", "c1ccncc1", "c1ccoc1", "c1ccsc1", "c1cc[nH]c1", "C1CCCCC1", "C1CCNCC1",
    "C1CCOCC1", "C1CNCCN1", "C1COCCN1", "C1CCNC1", "C1CCCC1", "C1CC1", "CCO", "CCN", "C=O", "CC=O",
    "CC(=O)O", "CC(N)=O", "NC=O", "CS", "CF", "CCl", "c1ccc2ccccc2c1", "c1ccc2[nH]ccc2c1", "c1ccc2ncccc2c1",
    "CCCC", "Cc1ccccc1", "Oc1ccccc1", "Nc1ccccc1", "Clc1ccccc1", "Fc1ccccc1", "O=Cc1ccccc1", "CNC=O",
    "CC(C)C", "CS(C)(=O)=O", "N[SH](=O)=O", "O=c1cc[nH]c(=O)[nH]1", "c1ncc2nc[nH]c2n1",
    "c1ccc(-c2ccccc2)cc1", "NCC(=O)NCC=O", "O=C(Nc1ccccc1)c1ccccc1",
)  # fmt: skip


_parts: tuple[Parts, tuple[int, ...]] | None = None


def _motifs() -> tuple[Parts, tuple[int, ...]]:
    """The motifs for the kernel, largest first, and the atoms of each, with 0 for none at the end."""
    global _parts
    if _parts is None:
        sizes = {}
        for text in COMMON_MOTIFS:
            read = prepared(text, by_rdkit=True)
            assert isinstance(read, Prepared)
            sizes[text] = read.n_atoms
        texts = sorted(sizes, key=lambda text: -sizes[text])
        _parts = Parts(texts), (*(sizes[text] for text in texts), 0)
    return _parts


def constant_in(whole: Prepared) -> int | None:
    """Atoms of the largest common motif that lies in a molecule; None where only RDKit can say. Found out
    once."""
    if whole.constant is False:
        parts, sizes = _motifs()
        found = parts.first_in(whole)
        whole.constant = None if found is None else sizes[found]
    return whole.constant
