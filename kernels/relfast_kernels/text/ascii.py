"""Bytes of a text by name, ASCII characters in sets, and what tells bytes of UTF-8 apart."""

from __future__ import annotations

from string import ascii_letters, ascii_lowercase
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel

BACKSPACE, TAB, LF, CR, BLANK = map(ord, "\b\t\n\r ")
BANG, QUOTE, HASH, DOLLAR, PERCENT, AMPERSAND, APOSTROPHE = map(ord, "!\"#$%&'")
STAR, PLUS, COMMA, HYPHEN, DOT, SLASH = map(ord, "*+,-./")
COLON, SEMICOLON, LESS, EQUALS, GREATER, QUESTION, AT_SIGN = map(ord, ":;<=>?@")
BACKSLASH, CARET, UNDERSCORE, BACKTICK, BAR, TILDE, DELETE = map(ord, "\\^_`|~\x7f")
ROUND_OPEN, ROUND_CLOSE, SQUARE_OPEN, SQUARE_CLOSE, BRACE_OPEN, BRACE_CLOSE = map(ord, "()[]{}")
ZERO, ONE, SEVEN, EIGHT, NINE = map(ord, "01789")
UPPER_A, UPPER_E, UPPER_I, UPPER_U, UPPER_Z = map(ord, "AEIUZ")
LOWER_A, LOWER_E, LOWER_F, LOWER_H, LOWER_I, LOWER_K, LOWER_N, LOWER_O = map(ord, "aefhikno")
LOWER_S, LOWER_T, LOWER_U, LOWER_X, LOWER_Y, LOWER_Z = map(ord, "stuxyz")

BEYOND_ASCII, TWO_BYTES, THREE_BYTES, FOUR_BYTES = 0x80, 0xC0, 0xE0, 0xF0
"""The least byte of a character beyond ASCII; and the least with which one of two, three, four bytes begins.
Those between the first two continue a character."""
WIDE: Final = 0xE3
"""Characters that begin with it, or with more, need no blanks between words: Chinese, Japanese, Korean."""

LATIN, SIGNS, FULL_WIDTH = 0xC3, 0xE2, 0xEF
"""The byte with which é and × begin; dashes, quotation marks, arrows and operators; full-width forms."""

ByteSet: TypeAlias = NDArray[np.bool_]
"""For each of 256 bytes whether it is in the set."""


def byte_set(characters: str) -> ByteSet:
    """ASCII characters as a set of bytes."""
    found = np.zeros(256, np.bool_)
    found[[*characters.encode()]] = True
    return found


BLANKS, DIGITS, LETTERS = byte_set(" "), byte_set("0123456789"), byte_set(ascii_letters)
SMALL_LETTERS: Final = byte_set(ascii_lowercase)
SPACES, WHITE = byte_set(" \t"), byte_set(" \t\n\v\f\r")


@kernel
def is_alnum(byte: int) -> bool:
    """Whether a byte is an ASCII letter or digit."""
    return bool(DIGITS[byte] or LETTERS[byte])


@kernel
def is_wordy(byte: int) -> bool:
    """Whether a byte belongs to a word: to a letter (any beyond ASCII), a digit, or an underscore."""
    return is_alnum(byte) or byte == UNDERSCORE or byte >= BEYOND_ASCII


@kernel
def continues(byte: int) -> bool:
    """Whether a byte continues a character that one before it begins."""
    return BEYOND_ASCII <= byte < TWO_BYTES


@kernel
def small(byte: int) -> int:
    """A capital letter of ASCII in lower case; any other byte as it is."""
    return byte | 32 if UPPER_A <= byte <= UPPER_Z else byte
