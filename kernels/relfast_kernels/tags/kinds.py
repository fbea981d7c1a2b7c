"""Tags, and what bytes in them can be."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel

NEWLINE: Final = 10
TAG: Final = np.frombuffer(b"<smiles>", np.uint8)

WHITE, PLAIN = 1, 2
"""Kinds of bytes: white space, and letters of a plain molecule."""


def _kinds() -> Any:
    kinds = np.zeros(256, np.int64)
    for kind, some in (
        (WHITE, b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "),
        (PLAIN, b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@+-[]()=#/%"),
    ):
        for byte in some:
            kinds[byte] |= kind
    return kinds


KINDS: Final = _kinds()


@kernel
def opens(data: Any, at: int, end: int) -> int:
    """1 if a tag in any case begins at a ``<``, 0 if none does, -1 for a letter that `re` may take for
    its."""
    for k in range(1, len(TAG)):
        if at + k >= end:
            return 0
        byte = data[at + k]
        if byte > 127:
            return -1
        if byte | 32 != TAG[k] | 32:
            return 0
    return 1 if data[at + 7] == 62 else 0
