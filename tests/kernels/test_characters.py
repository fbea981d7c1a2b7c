"""Characters of UTF-8: sixty-four bytes at a time they are what they are one by one."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from relfast_kernels.text.characters import OTHER, classify, decode, is_tame, is_utf8

PIECES = [
    "a", "Z ", "0.5", "x" * 31, "Y" * 63, "m" * 64, "Q" * 130, "é", "É", "’", "‘", "”", "–", "₃", "中文", "λ", "Σ", "😀", "\u00a0", "\u2003",
    "ı", "İ", "ſ", "\u212a", "٣", "①", "\n", "\t", "…", "◁", "→", "it’s", "’’", "\x7f",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def _array(text: str) -> np.ndarray:
    """Its bytes with others behind them, which are no part of it."""
    return np.frombuffer(text.encode() + "’É\x01".encode() * 30, np.uint8)


def _first_of(data: bytes) -> tuple[int, int]:
    """Code point and length of the first character, by Python's decoder."""
    for length in (2, 3, 4):
        try:
            text = data[:length].decode()
        except UnicodeDecodeError:
            continue
        return (ord(text), length) if len(text) == 1 else (0, 0)
    return 0, 0


def test_sequences_are_decoded_as_python_does() -> None:
    rng = random.Random(5)
    leads, rests = [0x80, 0xBF, *range(0xC0, 0x100)], [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0x41]
    some = [bytes([rng.choice(leads), *rng.choices(rests, k=rng.randrange(1, 5))]) for _ in range(8_000)]
    edges = [0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF, *rng.sample(range(0x80, 0xD800), 999)]  # fmt: skip
    for one in (*some, *(chr(point).encode() for point in edges)):
        data = np.frombuffer(one, np.uint8)
        assert decode(data, 0, len(data)) == _first_of(one), one


@given(TEXTS)
def test_a_text_is_tame_if_its_characters_are(text: str) -> None:
    data = _array(text)
    n = len(text.encode())
    assert is_tame(data, 0, n) == all(c.isascii() or classify(ord(c)) != OTHER for c in text)
    assert is_utf8(data, 0, n) == all(" " <= c <= "~" or not c.isascii() for c in text)
    if text and not text[-1].isascii():
        assert not is_tame(data, 0, n - 1)
        assert not is_utf8(data, 0, n - 1)
