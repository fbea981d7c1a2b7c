"""Every way RDKit can write a molecule down: what an honest model may answer with."""

from __future__ import annotations

import random
from typing import Any

from rdkit import Chem
from rdkit.Chem.EnumerateStereoisomers import EnumerateStereoisomers, StereoEnumerationOptions


def spell(smiles: str, rng: random.Random) -> str:
    """Another SMILES of the same molecule."""
    mol = Chem.MolFromSmiles(smiles)
    style = rng.randrange(7)
    if style == 1:
        Chem.Kekulize(mol, clearAromaticFlags=rng.random() < 0.5)
    elif style == 2:
        mol = Chem.AddHs(mol)
    elif style == 3:
        mol = _with_stereo(mol, rng)
    options: dict[str, Any] = {
        "canonical": rng.random() < 0.3,
        "doRandom": rng.random() < 0.7,
        "kekuleSmiles": style == 1,
        "allBondsExplicit": style == 4,
        "allHsExplicit": style == 5,
        "isomericSmiles": True,
        "rootedAtAtom": rng.randrange(mol.GetNumAtoms()) if style == 6 else -1,
    }
    return str(Chem.MolToSmiles(mol, **options))


def _with_stereo(mol: Any, rng: random.Random) -> Any:
    options = StereoEnumerationOptions(maxIsomers=2, rand=rng.randrange(1 << 30), onlyUnassigned=True)
    return next(iter(EnumerateStereoisomers(mol, options=options)), mol)
