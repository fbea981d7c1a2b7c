"""Molecules of which all is known that is mostly asked, so that RDKit need not parse them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from relfast_kernels.motif.rows import ATOM_SIZE, ATOMS

from relfast.chem.molecule import Molecule, parse

Rows = npt.NDArray[np.int32]


class Packed(NamedTuple):
    """A molecule for the kernel that searches for motifs: where it begins in a buffer."""

    buffer: Rows
    start: int

    @property
    def row(self) -> Rows:
        """`relfast_kernels.motif.rows` says what stands there."""
        n_atoms = int(self.buffer[self.start])
        return self.buffer[self.start : self.start + ATOMS + ATOM_SIZE * n_atoms]


class StoredMolecule(Molecule):
    """A molecule of a bank that has been read before.

    Attributes
    ----------
    text
        What it is parsed of.
    packed
        It for the kernel that searches for motifs; None if that does not take it.
    """

    def __init__(self, text: str, key: str, n_bonds: int, packed: Packed | None) -> None:
        self.text, self.packed = text, packed
        self.n_bonds = n_bonds
        self.__dict__["key"] = key

    @cached_property
    def _parsed(self) -> Molecule:
        found = parse(self.text)
        assert found is not None, f"{self.text} was a molecule"
        return found

    def __getattr__(self, name: str) -> Any:
        # what is not known yet: mol, n_atoms, ordinary, connected
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._parsed, name)
        self.__dict__[name] = value
        return value
