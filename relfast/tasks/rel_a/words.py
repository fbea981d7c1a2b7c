"""The words of a sentence about choices, as tokens of few kinds: what `sentence` reasons about.

Every pattern takes time linear in its text: repetitions are possessive or of bounded length.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from relfast.tasks.rel_a.numbers import DIGITS, NTH_WORDS, NUMBER_WORDS, NUMERALS
from relfast.tasks.rel_a.vocabulary import (
    CJK,
    ENDS_PHRASE,
    HAN,
    KIND_OF,
    OPENS_PHRASE,
    PHRASES,
    SIGNS,
    STEMS,
)

_LETTER: Final = r"[^\W0-9_\u2460-\u2468\u2776-\u2792\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_TABLE: Final = [
    ("A", "उत्तर"),  # marks that are no letters to `re` would cut it
    ("JOINED", r"(?:answer|option|choice|panel)(?=[0-9])"),
    ("WORD", rf"{_LETTER}(?:{_LETTER}|[0-9])*+(?:'(?!s\b)\w++)?"),
    ("C", r"'s\b"),
    *SIGNS,
    *CJK,
    ("HAN", f"[{HAN[0]}-{HAN[1]}]"),
]
_TOKEN: Final = re.compile("|".join(f"({pattern})" for _, pattern in _TABLE))
_IS_WORD: Final = 3
_IS_HAN: Final = len(_TABLE)
"""Numbers of the groups of words, and of other Chinese characters, in `_TOKEN`."""

_PHRASE: Final = re.compile("|".join(f"((?:{pattern})(?!\\w))" for _, pattern in PHRASES))


class Token(NamedTuple):
    """A word of a sentence: its kind, and the number it names.

    Kinds: ``G`` a number that can be a choice, ``A`` a word for a choice, ``P`` for a panel or a place,
    ``Q`` "correct", "missing", ``C`` a copula or colon, ``L`` "I choose", ``m`` "corresponds to", ``N`` a
    denial, ``n`` "other than", ``E`` an exclusion, ``B`` bad and ``Y`` good verdicts, ``O`` the other
    choices, ``1`` "only",
    ``D`` a supposition, ``M`` an examination, ``R`` a correction, ``S`` a conclusion, ``T`` a contrast,
    ``J`` a reason, ``U`` an alternative, ``K`` "and", ``X`` what else has numbers, ``I`` a pronoun, ``F``
    filler, ``W`` any other word; and punctuation.
    """

    kind: str
    value: int = 0
    word: bool = False
    text: str = ""


_OTHERS: Final = (
    "to", "through", "thru", "as", "your", "for", "in", "with", "by", "another", "whichever", "whatever",
    "any", "alternative",
)  # fmt: skip
"""Words that are ``W`` and keep their text, which rules ask for."""
_W: Final = Token("W")
TOKEN_OF: Final[dict[str, Token]] = {
    **{word: Token(kind, text=word) for word, kind in KIND_OF.items()},
    **{word: Token("G", n, True, word) for n, word in enumerate(NUMBER_WORDS, 1)},
    **{word: Token("#", n, True, word) for n, word in enumerate(NTH_WORDS, 1)},
    **{word: Token("W", text=word) for word in _OTHERS},
    **{word: Token("F", text=word) for word in ("i'll", "i'd", "we'll", "we'd", "i'm", "you'd")},
}
"""What a word is; any other one is ``W``."""


def tokens(text: str) -> list[Token]:
    """The tokens of a sentence in lower case, `clean`ed."""
    found: list[Token] = []
    match = _TOKEN.search(text)
    while match is not None:
        said, end = match[0], match.end()
        number = match.lastindex or 1
        if number == _IS_WORD:
            token = TOKEN_OF.get(said)
            if said in OPENS_PHRASE or "'" in said:
                phrase = _PHRASE.match(text, match.start())
                if phrase is not None:
                    end = phrase.end()
                    token = Token(PHRASES[(phrase.lastindex or 1) - 1][0], text=phrase[0])
            if token is None:
                kind = STEMS.get(said[:6], "W")
                token = _W if kind == "W" else Token(kind, text=said)
        else:
            token = _sign(_TABLE[number - 1][0], said)
        if number != _IS_HAN or not found or found[-1].kind != "W":
            found.append(token)
        match = _TOKEN.search(text, end)
    return found


@lru_cache(maxsize=4096)
def kind_of(word: str) -> str:
    """The kind of a word by itself; "" for what is none, and for words that phrases begin or end with."""
    if not word.isalpha() or word in OPENS_PHRASE or word in ENDS_PHRASE:
        return ""
    token = TOKEN_OF.get(word)
    return token.kind if token is not None else STEMS.get(word[:6], "W")


_DIGITS: Final = re.compile("[0-9]+")


def _sign(kind: str, said: str) -> Token:
    match kind:
        case "G" if said[0] == "0" and len(said) > 1:
            return _W
        case "G":
            return Token("G", int(said) if len(said) < 10 else 10**9)
        case "KEYCAP":
            return Token("G", int(said[0]))
        case "CIRCLED":
            return Token("G", DIGITS[said])
        case "NTH":
            return Token("#", int(said[:-2]), True, said)
        case "ITEM":
            number = said[1:].lstrip()
            digits = _DIGITS.match(number)
            return Token("G", int(digits[0]) if digits else NUMERALS.index(number[0]) + 1)
        case "HAN":
            return _W
        case "JOINED":
            return Token("P" if said == "panel" else "A", text=said)
        case _:
            return Token(kind, text=said)
