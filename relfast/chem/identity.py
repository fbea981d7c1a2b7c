"""When two SMILES are the same molecule for the published scorers.

Without stereo, each must be a substructure of the other. For molecules without wildcards that is
equality of graphs labelled with elements, charges and bond orders, hydrogens left out, which a canonical
code decides. Wildcards (``*``, ``~``), radicals and other rarities are compared in pairs by RDKit's
own search, and so is everything where the kernel that makes codes is missing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from relfast.chem.matching import same_molecule
from relfast.chem.molecule import CACHED_CHARS, Molecule, parse
from relfast.chem.simple import simple_table
from relfast.chem.smiles_table import SmilesTable

CACHED_CODES: Final = 50_000
"""Distinct SMILES whose code is kept per process, at some 300 bytes each."""


def flat_molecule(smiles: object) -> Molecule | None:
    """The molecule without stereo.

    None for no molecule, and for one that is not even the same as itself: what does not parse again
    without stereo, what has no atoms. Raises what RDKit raises.
    """
    molecule = parse(smiles)
    flat = None if molecule is None else molecule.flat
    return None if flat is None or flat.n_atoms == 0 else flat


def _rdkit_code(table: SmilesTable, smiles: str) -> bytes | None:
    flat = flat_molecule(smiles)
    if flat is None:
        return None
    code = table.code_of(flat.key, by_rdkit=False)
    if code is None and not flat.has_radicals:
        code = table.code_of(flat.key, by_rdkit=True)
    return code


_cached_rdkit_code = lru_cache(maxsize=CACHED_CODES)(_rdkit_code)


def _code_of(smiles: str) -> bytes | None:
    """The canonical code of a molecule; None where only pairs can be compared, and for no molecule."""
    table = simple_table()
    if table is None:
        return None
    code = table.code_of(smiles, by_rdkit=False)
    if code is not None:
        return code
    return (_cached_rdkit_code if len(smiles) <= CACHED_CHARS else _rdkit_code)(table, smiles)


def same(a: str, b: object) -> bool:
    """Whether two texts are the same molecule. Raises what RDKit raises."""
    mol_a, mol_b = parse(a), parse(b)
    if mol_a is None or mol_b is None or not isinstance(b, str):
        return False
    code_a = _code_of(a)
    code_b = None if code_a is None else _code_of(b)
    if code_a is not None and code_b is not None:
        return code_a == code_b
    return same_molecule(mol_a, mol_b)


def teach(table: SmilesTable, smiles: object) -> None:
    """Tell the table what RDKit says of a text, if it says anything that decides."""
    if not isinstance(smiles, str):
        return
    try:
        flat = flat_molecule(smiles)
        code = None if flat is None else _code_of(smiles)
    except RuntimeError:
        # read but not written: whoever compares it will say so
        return
    if flat is None:
        table.learn(smiles, b"", 0)
    elif code is not None:
        table.learn(smiles, code, flat.fingerprint)
