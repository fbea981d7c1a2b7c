"""Simple molecules without RDKit: the process's table of SMILES.

Of the molecules that models write 99 in 100 are read by `relfast.chem.smiles_table`; what is not is listed in
`relfast_kernels.smiles.plain`. It is used only where its machine code has been compiled
(`relfast_kernels.compiled.native`); without it RDKit does everything, with the same results.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Final

from relfast_kernels.compiled import native

from relfast.chem.smiles_table import SmilesTable

UNIT: Final = "smiles"

_HAS_GIL: Final[bool] = getattr(sys, "_is_gil_enabled", lambda: True)()
"""What `SmilesTable` relies on; an interpreter without it does everything by RDKit."""

_RETRY_SECONDS: Final = 2.0
"""How often a process without the kernel looks whether it has been compiled meanwhile."""

_table: SmilesTable | None = None
_looked = -_RETRY_SECONDS
_opening = threading.Lock()


def _start_anew() -> None:
    """In a forked child: a thread that is not here may have been at work on the table."""
    global _table, _looked, _opening
    _table, _looked, _opening = None, -_RETRY_SECONDS, threading.Lock()


os.register_at_fork(after_in_child=_start_anew)


def simple_table() -> SmilesTable | None:
    """The process's table; None as long as the kernel's machine code is missing."""
    global _table, _looked
    if _HAS_GIL and _table is None and time.monotonic() - _looked >= _RETRY_SECONDS:
        with _opening:
            if _table is None:
                functions = native.load(UNIT)
                _looked = time.monotonic()
                _table = None if functions is None else SmilesTable(functions)
    return _table


def same_clean_molecule(a: str, b: str) -> bool:
    """Whether two texts certainly are one clean molecule, as `relfast.chem.clean` has it with tautomers kept
    apart. False says nothing."""
    table = simple_table()
    if table is None:
        return False
    (verdict,) = table.judge([([a], [b], ())])
    return verdict is not None and verdict.n_right == 1
