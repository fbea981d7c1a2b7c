"""BLAKE2b (RFC 7693) with a digest of eight bytes, without a key: what ids of prompts are made of."""

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
    """Take in a block. The rounds are written out: which words are mixed when is then known to the compiler,
    and the state stays in registers."""
    a0, a1, a2, a3, b0, b1, b2, b3 = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
    c0, c1, c2, c3 = _IV[0], _IV[1], _IV[2], _IV[3]
    d0, d1, d2, d3 = _IV[4] ^ counted, _IV[5], _IV[6] ^ last, _IV[7]
    # round 1
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[0], m[1])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[2], m[3])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[4], m[5])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[6], m[7])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[8], m[9])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[10], m[11])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[12], m[13])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[14], m[15])
    # round 2
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[14], m[10])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[4], m[8])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[9], m[15])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[13], m[6])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[1], m[12])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[0], m[2])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[11], m[7])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[5], m[3])
    # round 3
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[11], m[8])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[12], m[0])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[5], m[2])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[15], m[13])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[10], m[14])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[3], m[6])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[7], m[1])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[9], m[4])
    # round 4
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[7], m[9])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[3], m[1])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[13], m[12])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[11], m[14])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[2], m[6])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[5], m[10])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[4], m[0])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[15], m[8])
    # round 5
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[9], m[0])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[5], m[7])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[2], m[4])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[10], m[15])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[14], m[1])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[11], m[12])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[6], m[8])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[3], m[13])
    # round 6
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[2], m[12])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[6], m[10])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[0], m[11])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[8], m[3])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[4], m[13])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[7], m[5])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[15], m[14])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[1], m[9])
    # round 7
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[12], m[5])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[1], m[15])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[14], m[13])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[4], m[10])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[0], m[7])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[6], m[3])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[9], m[2])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[8], m[11])
    # round 8
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[13], m[11])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[7], m[14])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[12], m[1])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[3], m[9])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[5], m[0])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[15], m[4])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[8], m[6])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[2], m[10])
    # round 9
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[6], m[15])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[14], m[9])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[11], m[3])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[0], m[8])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[12], m[2])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[13], m[7])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[1], m[4])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[10], m[5])
    # round 10
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[10], m[2])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[8], m[4])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[7], m[6])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[1], m[5])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[15], m[11])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[9], m[14])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[3], m[12])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[13], m[0])
    # round 11
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[0], m[1])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[2], m[3])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[4], m[5])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[6], m[7])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[8], m[9])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[10], m[11])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[12], m[13])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[14], m[15])
    # round 12
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[14], m[10])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[4], m[8])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[9], m[15])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[13], m[6])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[1], m[12])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[0], m[2])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[11], m[7])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[5], m[3])
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
