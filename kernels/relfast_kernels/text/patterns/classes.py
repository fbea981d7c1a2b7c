"""What one item of a pattern stands for: a class of symbols; and what stands left of a place."""

from __future__ import annotations

from typing import Any, Final

from relfast_kernels.text.patterns.symbols import IS_BLANK, IS_WORD, KIND, N_SYMBOLS, SYMBOL_OF

EVERY: Final = frozenset(range(N_SYMBOLS))
AT_BEGIN, _AFTER_FEED, _AFTER_STOP, _AFTER_DIGIT, _AFTER_LETTER, _AFTER_LINE, _AFTER_WORD, _AFTER_OTHER = (
    1 << bit for bit in range(8)
)
"""What stands left of a place: nothing; a line feed; one of ``.!?``; ``0-9``; ``a-z``; ``_``; other ``\\w``;
another symbol."""
ANYTHING: Final = 255
WORDS: Final = _AFTER_DIGIT | _AFTER_LETTER | _AFTER_LINE | _AFTER_WORD
LINE: Final = AT_BEGIN | _AFTER_FEED


def _left_kind(symbol: int) -> int:
    if symbol == 10:
        return _AFTER_FEED
    if symbol in (33, 46, 63):
        return _AFTER_STOP
    if 48 <= symbol <= 57:
        return _AFTER_DIGIT
    if 97 <= symbol <= 122:
        return _AFTER_LETTER
    if symbol == 95:
        return _AFTER_LINE
    return _AFTER_WORD if KIND[symbol] & IS_WORD else _AFTER_OTHER


LEFT: Final = tuple(_left_kind(symbol) for symbol in range(N_SYMBOLS))
"""Symbol → what stands left of the place after it."""


def kinds_behind(symbols: frozenset[int], all_of: frozenset[int] | None = None) -> int:
    """The kinds that some of ``symbols`` are of; or those that have no member beside ``all_of``."""
    kinds = 0
    for symbol in symbols:
        kinds |= LEFT[symbol]
    if all_of is not None:
        for symbol in symbols - all_of:
            kinds &= ~LEFT[symbol]
    return kinds


def class_of_item(op: str, value: Any) -> frozenset[int] | None:
    """The symbols of an item that is one character."""
    if op == "LITERAL":
        return frozenset([SYMBOL_OF[chr(value)]])
    if op == "NOT_LITERAL":
        return EVERY - {SYMBOL_OF[chr(value)]}
    if op == "ANY":
        return EVERY - {10}
    if op == "IN":
        refuses = str(value[0][0]) == "NEGATE"
        found = frozenset().union(*(_members(str(kind), what) for kind, what in value[refuses:]))
        return EVERY - found if refuses else found
    return None


def _members(kind: str, what: Any) -> frozenset[int]:
    if kind == "LITERAL":
        return frozenset([SYMBOL_OF[chr(what)]])
    if kind == "RANGE":
        if what[1] >= 0x80:
            raise ValueError("a range beyond ASCII")
        return frozenset(range(what[0], what[1] + 1))
    name = str(what)
    bits = {"WORD": IS_WORD, "SPACE": IS_BLANK}
    refuses = "_NOT_" in name
    sort = name.rpartition("_")[2]
    if sort == "DIGIT":
        found = frozenset(range(48, 58))
    else:
        found = frozenset(symbol for symbol in range(N_SYMBOLS) if KIND[symbol] & bits[sort])
    return EVERY - found if refuses else found


def class_of(text: str) -> frozenset[int]:
    """The symbols of some characters."""
    return frozenset(SYMBOL_OF[character] for character in text)
