"""Tags, and what bytes in and around them can be."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel

NEWLINE: Final = 10
TAG: Final = np.frombuffer(b"<smiles>", np.uint8)
CLOSING: Final = np.frombuffer(b"</smiles>", np.uint8)

WHITE, PLAIN, FILLER, MARKING, STRIPPED, TELLING = 1, 2, 4, 8, 16, 32
"""Kinds of bytes: white space; letters of a plain molecule; what may stand between plain tags; between
others; what is stripped from the end of the words before them; what may mean more than itself."""
NEARLY_PLAIN, BEGINS_MARK, ENDS_TEXT, BEGINS_LIST, ESCAPED = 64, 128, 256, 512, 1_024
"""What tags that are not plain hold beside plain letters; what an extractor may take away from the beginning
or the end of that, or from its beginning where a blank follows; what means something else behind a
backslash."""


def _kinds() -> Any:
    kinds = np.zeros(256, np.int64)
    for kind, some in (
        (WHITE | FILLER, b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "),
        (PLAIN, b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@+-[]()=#/%"),
        (NEARLY_PLAIN, b":\\.*~_?'"),
        (BEGINS_MARK, b"*\\'_~"),
        (BEGINS_LIST, b"-+#[(0123456789"),
        (ENDS_TEXT, b".\\"),
        (ESCAPED, b"\\#=_[]()nru"),
        (FILLER, b"0123456789.,;)*`-"),
        (MARKING, b"\"']}$|:"),
        (STRIPPED, b" \t\r\n-*.)0123456789"),
        (TELLING, b"<[&\\~/\xe2\xef"),
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


@kernel
def is_at(data: Any, at: int, end: int, name: Any) -> bool:
    if end - at < len(name):
        return False
    for k in range(len(name)):
        if data[at + k] != name[k]:
            return False
    return True
