"""One list of SMILES at a time held against its gold, where a call costs as much as what is around it."""

from __future__ import annotations

import ctypes
from typing import Final

from relfast_kernels.smiles.layouts import RESULT_COLUMNS

from relfast.chem.smiles_table import SmilesTable

MAX_MOLECULES: Final = 1_000
"""Texts of one list with its gold and what was given."""

_Classes = ctypes.c_int64 * MAX_MOLECULES
_Result = ctypes.c_int64 * RESULT_COLUMNS


class OneList:
    """`SmilesTable.hold_at` for one list at a time, with arguments that are ready. For one thread at a time.

    Parameters
    ----------
    sizes
        Where its sizes are going to be.
    kept
        The address of a `relfast.chem.smiles_golds.KeptGolds`.
    """

    def __init__(
        self, table: SmilesTable, sizes: ctypes.Array[ctypes.c_int64], kept: ctypes.c_void_p, *, strict: bool
    ) -> None:
        self._status, self._texts = ctypes.c_int64(), ctypes.c_void_p()
        self._n_bytes, self._n_texts = ctypes.c_int64(), ctypes.c_int64()
        self._result = _Result()
        byref = ctypes.byref
        self._match = table.bare_match(
            byref(self._status), byref(ctypes.c_void_p()), self._texts, self._n_bytes, byref(sizes),
            ctypes.c_int64(1), ctypes.c_int64(strict), byref(_Classes()), byref(_Classes()), self._n_texts,
            byref(self._result), kept,
        )  # fmt: skip

    def hold(self, texts: int, n_bytes: int, n_texts: int) -> list[int]:
        """`RESULT_COLUMNS` numbers for at most `MAX_MOLECULES` texts that lie ready at an address."""
        self._texts.value, self._n_bytes.value, self._n_texts.value = texts, n_bytes, n_texts
        if self._match():
            raise RuntimeError("the kernel that compares lists failed")
        return self._result[:]
