"""When two SMILES are the same molecule for the published scorers.

Without stereo, each must be a substructure of the other. For molecules without wildcards that is equality of
graphs labelled with elements, charges and bond orders, hydrogens left out, which a canonical code decides.
Wildcards (``*``, ``~``), radicals and other rarities are compared in pairs by the toolkit's own search.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from relfast.chem.matching import same_molecule
from relfast.chem.molecule import CACHED_CHARS, parse
from relfast.chem.simple import SmilesTable, code_of, code_of_canonical, hash_of

CACHED_IDENTITIES: Final = 50_000
"""Distinct SMILES kept per process, at some 300 bytes each."""


class Identity(NamedTuple):
    """What a text is the same as.

    Attributes
    ----------
    code
        The canonical code; None where only pairs can be compared.
    vote
        A number equal for equal molecules.
    """

    code: bytes | None
    vote: int


def _identity(smiles: str) -> Identity | None:
    simple = code_of(smiles)
    if simple is not None:
        return Identity(simple, hash_of(simple))
    molecule = parse(smiles)
    if molecule is None:
        return None
    flat = molecule.flat
    if flat is None or flat.n_atoms == 0:
        return None
    code = code_of(molecule.key)
    if code is None and not flat.has_radicals:
        code = code_of_canonical(flat.key)
    return Identity(code, hash_of(molecule.key.encode() if code is None else code))


_identity_cached = lru_cache(maxsize=CACHED_IDENTITIES)(_identity)


def identity(smiles: object) -> Identity | None:
    """The identity of the molecule that the published scorer sees in ``smiles``.

    None for no molecule, and for one that is not even the same as itself: what does not parse again
    without stereo, what has no atoms. Raises what the toolkit raises.
    """
    if not isinstance(smiles, str):
        return None
    return _identity_cached(smiles) if len(smiles) <= CACHED_CHARS else _identity(smiles)


def same(a: str, b: str) -> bool:
    """Whether two SMILES are the same molecule."""
    one, other = identity(a), identity(b)
    if one is None or other is None:
        return False
    if one.code is not None and other.code is not None:
        return one.code == other.code
    mol_a, mol_b = parse(a), parse(b)
    return mol_a is not None and mol_b is not None and same_molecule(mol_a, mol_b)


def teach(table: SmilesTable, smiles: str) -> None:
    """Tell the table what the toolkit says of a text that it does not know. Raises what the toolkit raises."""
    one = identity(smiles)
    if one is None or one.code is not None:
        table.learn(smiles, one.code if one else None)
