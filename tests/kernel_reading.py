"""What the SMILES kernel reads in a text, held against RDKit; and texts that are worth it."""

from __future__ import annotations

import ctypes
import random
from typing import Any, Literal

from rdkit import Chem
from relfast_kernels.smiles import layouts

from relfast.chem.molecule import _label, parse
from relfast.chem.smiles_table import SmilesTable

PIECES = (
    *"CCCCNOSFPBI()()=#-123456[]H@/\\.%:+*~cnos09", "Cl", "Br", "[CH3]", "[CH2]", "[CH]", "[C]", "[C@H]", "[C@@H]", "[NH]",
    "[O]", "[SH]", "[N]", "%12", "%1", "%01", "=C", "(C)", "C1", "C=C", "N=N", "S(=O)", "[H]", "/C=C/", "[CH0]", "N(=O)=O",
    "C#N", "[nH]", "C=1", "=1", "[BH2]", "[PH2]", "[H][H]", "@@", "[C", "H]", "[13C]", "[O-]", "[NH3+]", " ", "|",
    "[13CH3]", "[CH3:1]", "[N+]", "[O+]", "[S+]", "[P+]", "[C-]", "[C+]", "[B-]", "[n+]", "[nH+]", "[n-]", "[o+]", "[c-]", "[cH-]", "[NH-]", "[Si]",
    "[se]", "[Na+]", "[Cl-]", "[CH2]", "[SH3]", "[pH]", "[bH]", "[cH2]", "N(=O)=O", "N=[N+]=[N-]", "[N+](=O)[O-]", "([H])", "[2H]", "\\\\",
    "c", "c", "n", "c1", "n1", "c2", "c(", "=O", "(=O)", "c1ccccc1", "c:c", "=c", "cc", "cn", "[cH]", "[n]", "[c]", "[n@H]",
)  # fmt: skip


def check(table: SmilesTable, text: str) -> bool:
    """Hold what the kernel says of a text against RDKit, atom for atom; whether it says anything."""
    graph = read(table, text)
    if graph is None:
        return False
    mol = Chem.MolFromSmiles(text)
    if graph == "invalid":
        assert mol is None, f"{text!r} is called invalid"
        return True
    assert mol is not None, f"{text!r} is read"
    assert graph == [
        (
            _label(atom),
            atom.GetTotalNumHs(),
            atom.GetNumRadicalElectrons(),
            sorted(
                (bond.GetOtherAtomIdx(atom.GetIdx()), ORDERS[bond.GetBondType()]) for bond in atom.GetBonds()
            ),
        )
        for atom in mol.GetAtoms()
    ], text
    code = table.code_of(text, by_rdkit=False)
    molecule = parse(text)
    assert molecule is not None
    flat = molecule.flat
    assert flat is not None
    # what RDKit writes of it is the same graph, and read as RDKit's text too
    assert table.code_of(molecule.key, by_rdkit=False) in (code, None), text
    if code is not None and not molecule.has_radicals:
        assert table.code_of(flat.key, by_rdkit=True) == code, text
    if not table.match([text], [text]).unknown:
        # a record whose only prediction is wrong votes with the fingerprint
        assert table.match([], [text]).vote == flat.fingerprint == molecule._walked_fingerprint(), text
    return True


ORDERS = {
    Chem.BondType.SINGLE: 1,
    Chem.BondType.DOUBLE: 2,
    Chem.BondType.TRIPLE: 3,
    Chem.BondType.AROMATIC: layouts.AROMATIC_BOND,
}


def read(table: SmilesTable, text: str) -> list[Any] | Literal["invalid"] | None:
    """The graph that the kernel reads: element and charge, hydrogens, unpaired electrons and bonds of each
    atom; None where it leaves the text to RDKit."""
    if not 0 < len(text) <= layouts.MAX_SMILES or not text.isascii():
        return None
    table.code_of(text, by_rdkit=False)
    graph = (ctypes.c_int64 * layouts.GRAPH_SIZE).from_buffer(table._memory[7])
    n = graph[layouts.N_FOUND]
    if n < 0:
        return "invalid" if n == layouts.INVALID else None
    found = []
    for atom in range(n):
        start = layouts.BONDS + layouts.MAX_DEGREE * atom
        bonds = graph[start : start + graph[layouts.DEGREE + atom]]
        found.append(
            (
                graph[layouts.LABEL + atom],
                graph[layouts.HYDROGENS + atom],
                graph[layouts.RADICALS + atom],
                sorted((bond >> 3, bond & 7) for bond in bonds),
            )
        )
    return found


def mutations(rng: random.Random, smiles: str) -> str:
    letters = list(smiles)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        at = rng.randrange(len(letters) + 1)
        kind = rng.random()
        if kind < 0.35 and letters:
            del letters[min(at, len(letters) - 1)]
        elif kind < 0.75 or not letters:
            letters.insert(at, rng.choice(PIECES))
        else:
            letters[min(at, len(letters) - 1)] = rng.choice(PIECES)
    return "".join(letters)
