"""BLAKE2b (RFC 7693) without a key, to eight bytes: what ids that are digests of prompts are made with."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Ints
from relfast_kernels.text.find import load_rest

_IV: Final = np.array(
    [
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    ],
    np.uint64,
)  # fmt: skip
_SIGMA: Final = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ],
    np.uint8,
)
_PLACES: Final = np.array(
    [
        [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
        [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
    ],
    np.uint8,
)  # fmt: skip
_ROUNDS: Final = 12
_BLOCK: Final = 128
_PARAMETERS: Final = np.uint64(0x01010000 | 8)
"""One leaf, no key, eight bytes."""
_ONES: Final = ~np.uint64(0)


@kernel
def _rotated(value: Any, by: int) -> Any:
    return (value >> np.uint64(by)) | (value << np.uint64(64 - by))


@kernel
def blake2b(data: npt.NDArray[np.uint8], start: int, end: int, work: npt.NDArray[np.int64]) -> Any:
    """The digest of data[start:end] as a little-endian uint64. ``work`` (40 numbers) is overwritten."""
    h, v, m = work[0:8], work[8:24], work[24:40]
    for k in range(8):
        h[k] = np.int64(_IV[k])
    h[0] = np.int64(_IV[0] ^ _PARAMETERS)
    at = start
    while True:
        is_last = at + _BLOCK >= end
        counted = min(at + _BLOCK, end) - start
        for k in range(16):
            m[k] = np.int64(load_rest(data, at + 8 * k, end))
        for k in range(8):
            v[k], v[8 + k] = h[k], np.int64(_IV[k])
        v[12] = np.int64(_IV[4] ^ np.uint64(counted))
        if is_last:
            v[14] = np.int64(_IV[6] ^ _ONES)
        for turn in range(_ROUNDS):
            order = _SIGMA[turn % len(_SIGMA)]
            for k in range(8):
                _mix(v, _PLACES[k], np.uint64(m[order[2 * k]]), np.uint64(m[order[2 * k + 1]]))
        for k in range(8):
            h[k] ^= v[k] ^ v[8 + k]
        if is_last:
            return np.uint64(h[0])
        at += _BLOCK


@kernel
def _mix(v: Ints, places: Ints, x: Any, y: Any) -> None:
    a, b = np.uint64(v[places[0]]), np.uint64(v[places[1]])
    c, d = np.uint64(v[places[2]]), np.uint64(v[places[3]])
    a = a + b + x
    d = _rotated(d ^ a, 32)
    c = c + d
    b = _rotated(b ^ c, 24)
    a = a + b + y
    d = _rotated(d ^ a, 16)
    c = c + d
    b = _rotated(b ^ c, 63)
    v[places[0]], v[places[1]] = np.int64(a), np.int64(b)
    v[places[2]], v[places[3]] = np.int64(c), np.int64(d)
