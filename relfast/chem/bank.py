"""A bank of molecules, from which the generator of REL-C2 draws groups of similar molecules."""

from __future__ import annotations

import gzip
import importlib.resources
import random
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from relfast_kernels.motif.layouts import MAX_ATOMS
from relfast_kernels.smiles.layouts import MAX_SMILES

from relfast.chem.molecule import Molecule, parse_clean
from relfast.chem.motif import packed, similar
from relfast.errors import InputError

BUILT_IN: Final = "rel_c2_molecules.smi.gz"
"""The molecules of the published REL-C2 records (ada-f/rel, MIT): 3,530 SMILES of 3,518 molecules."""

MAX_MOLECULES: Final = 200_000
"""Maximum molecules of a bank: about 1 GB with their fingerprints."""

RADIUS: Final = 2
N_BITS: Final = 2048
"""Radius and bits of the Morgan fingerprints."""

MAX_BYTES: Final = 64_000_000
"""Maximum size of a bank's file: six times the usual size of `MAX_MOLECULES` SMILES."""

_GZIP: Final = b"\x1f\x8b"

KEPT_NEIGHBOURS: Final = 5_000
"""Molecules whose similar molecules (some hundred each) are cached."""


class Bank:
    """Distinct molecules of one fragment, without stereo, in the order of the file.

    Attributes
    ----------
    molecules
        Molecules in which the kernel can search for motifs: with at least ``min_atoms`` heavy atoms and at
        most `MAX_ATOMS` atoms (the largest published one has 60), and bonds of the usual orders.
    n_unusable
        Number of lines left out because they have no such molecule.
    """

    def __init__(self, lines: Iterable[str], min_atoms: int, source: str) -> None:
        self.source = source
        self.n_unusable = 0
        self.molecules: list[Molecule] = []
        seen: set[str] = set()
        for line in lines:
            words = line.split(None, 1)
            if not words or words[0].startswith("#"):
                continue
            molecule = self._usable(words[0], min_atoms)
            if molecule is None:
                self.n_unusable += 1
            elif molecule.key not in seen:
                seen.add(molecule.key)
                self.molecules.append(molecule)
                if len(seen) > MAX_MOLECULES:
                    raise InputError(f"more than {MAX_MOLECULES:,} molecules; take a sample", file=source)
        if len(self.molecules) < 2:
            raise InputError("fewer than two usable molecules; one SMILES a line is expected", file=source)

    @staticmethod
    def _usable(smiles: str, min_atoms: int) -> Molecule | None:
        """The molecule of a SMILES, without stereo; None if a bank cannot use it."""
        if len(smiles) > MAX_SMILES:
            return None
        molecule, _ = parse_clean(smiles)
        if molecule is None or not min_atoms <= molecule.heavy_atoms <= MAX_ATOMS:
            return None
        # a SMILES that equals its key has no stereo: no need to parse it again
        flat = molecule if molecule.key == smiles else molecule.flat
        return flat if flat is not None and packed(flat) is not None else None

    def __len__(self) -> int:
        return len(self.molecules)

    @cached_property
    def fingerprints(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Morgan fingerprints, shape ``(n, N_BITS / 64)``, and the number of bits set in each, ``(n,)``."""
        from rdkit import DataStructs
        from rdkit.Chem import rdFingerprintGenerator

        morgan = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=N_BITS)
        prints = [morgan.GetFingerprint(m.mol) for m in self.molecules]
        words = np.frombuffer(b"".join(map(DataStructs.BitVectToBinaryText, prints)), np.uint64)
        return words.reshape(len(prints), -1), np.array([p.GetNumOnBits() for p in prints], np.int64)

    @cached_property
    def scaffolds(self) -> dict[str, list[int]]:
        """Murcko scaffold (canonical SMILES) → indices of its molecules. Acyclic molecules have none."""
        from rdkit.Chem.Scaffolds import MurckoScaffold

        found = defaultdict(list)
        for index, molecule in enumerate(self.molecules):
            scaffold = MurckoScaffold.MurckoScaffoldSmiles(mol=molecule.mol)
            if scaffold:
                found[scaffold].append(index)
        return dict(found)

    @cached_property
    def near(self) -> Callable[[int, float, float], tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
        """``(index, lowest, highest)`` → the other molecules whose similarity to one is in these bounds:
        their indices, ascending, and similarities (Tanimoto, of Morgan fingerprints of radius 2, 2,048
        bits).
        """

        @lru_cache(maxsize=KEPT_NEIGHBOURS)
        def near(index: int, lowest: float, highest: float) -> Any:
            return similar(*self.fingerprints, index, lowest, highest)

        return near

    def similar_group(
        self, numbers: random.Random, size: int, lowest: float, highest: float
    ) -> list[Molecule] | None:
        """A random molecule, then ``size - 1`` molecules whose similarity to it is in the bounds, least
        similar first. None if the random molecule has too few similar ones.
        """
        first = numbers.randrange(len(self.molecules))
        places, shares = self.near(first, lowest, highest)
        if len(places) < size - 1:
            return None
        chosen = np.array(numbers.sample(range(len(places)), size - 1))
        by_share = chosen[np.argsort(shares[chosen], kind="stable")]
        return [self.molecules[i] for i in (first, *places[by_share].tolist())]

    def scaffold_group(self, numbers: random.Random, size: int) -> list[Molecule] | None:
        """``size`` random molecules with the scaffold of a random one; None if no scaffold has enough."""
        large = [members for members in self.scaffolds.values() if len(members) >= size]
        if not large:
            return None
        (members,) = numbers.choices(large, weights=[len(m) for m in large])
        return [self.molecules[i] for i in numbers.sample(members, size)]


def load_bank(path: str | Path | None, min_atoms: int) -> Bank:
    """The bank in a file, or the built-in one (None).

    A file, plain or gzip, has one SMILES a line, optionally a blank and a name; ``#`` begins a comment line.

    Raises
    ------
    InputError
        The file cannot be read, or has fewer than two or more than `MAX_MOLECULES` usable molecules.
    """
    try:
        source = BUILT_IN if path is None else str(path)
        if path is None:
            data = importlib.resources.files("relfast").joinpath("data", BUILT_IN).read_bytes()
        else:
            with Path(path).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise InputError(f"more than {MAX_BYTES:,} bytes; take a sample", file=source)
        plain = gzip.decompress(data) if data[:2] == _GZIP else data
        return Bank(plain.decode("utf-8", "replace").split("\n"), min_atoms, source)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from error
