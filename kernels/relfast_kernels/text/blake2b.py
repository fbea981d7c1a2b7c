"""BLAKE2b (RFC 7693) with a digest of eight bytes, without a key: what ids of verl's rollouts are made of."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import load8

DIGEST_BYTES: Final = 8
_BLOCK: Final = 128

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
)  # fmt: skip
_ROUNDS: Final = 12
_ALL: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@kernel
def _turned(value: Any, by: int) -> Any:
    return value >> np.uint64(by) | value << np.uint64(64 - by)


@kernel
def _mix(a: Any, b: Any, c: Any, d: Any, x: Any, y: Any) -> Any:
    a = a + b + x
    d = _turned(d ^ a, 32)
    c = c + d
    b = _turned(b ^ c, 24)
    a = a + b + y
    d = _turned(d ^ a, 16)
    c = c + d
    b = _turned(b ^ c, 63)
    return a, b, c, d


@kernel
def _compress(h: Any, m: Any, counted: Any, last: Any) -> None:
    a0, a1, a2, a3, b0, b1, b2, b3 = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
    c0, c1, c2, c3 = _IV[0], _IV[1], _IV[2], _IV[3]
    d0, d1, d2, d3 = _IV[4] ^ counted, _IV[5], _IV[6] ^ last, _IV[7]
    for number in range(_ROUNDS):
        s = _SIGMA[number % 10]
        a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[s[0]], m[s[1]])
        a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[s[2]], m[s[3]])
        a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[s[4]], m[s[5]])
        a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[s[6]], m[s[7]])
        a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[s[8]], m[s[9]])
        a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[s[10]], m[s[11]])
        a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[s[12]], m[s[13]])
        a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[s[14]], m[s[15]])
    h[0] ^= a0 ^ c0
    h[1] ^= a1 ^ c1
    h[2] ^= a2 ^ c2
    h[3] ^= a3 ^ c3
    h[4] ^= b0 ^ d0
    h[5] ^= b1 ^ d1
    h[6] ^= b2 ^ d2
    h[7] ^= b3 ^ d3


@kernel
def digest(data: Any, start: int, end: int, words: Any) -> Any:
    """The digest of data[start:end], its first byte lowest.

    Parameters
    ----------
    words : uint64, shape (24,)
        Work space: the state and a block.
    """
    h, m = words[:8], words[8:24]
    for k in range(8):
        h[k] = _IV[k]
    h[0] ^= np.uint64(0x0101_0000 | DIGEST_BYTES)
    at = start
    while True:
        length = min(_BLOCK, end - at)
        if length == _BLOCK:
            for k in range(16):
                m[k] = load8(data, at + 8 * k)
        else:
            for k in range(16):
                m[k] = np.uint64(0)
            for k in range(length):
                m[k >> 3] |= np.uint64(data[at + k]) << np.uint64(8 * (k & 7))
        at += length
        is_last = at >= end
        _compress(h, m, np.uint64(at - start), _ALL if is_last else np.uint64(0))
        if is_last:
            return h[0]
