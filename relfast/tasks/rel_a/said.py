"""What a sentence can say of a choice, from stated to denied."""

from __future__ import annotations

from typing import Final, NamedTuple

from relfast.tasks.rel_a.words import Token

N_CHOICES: Final = 8

STATED: Final = 5
"""It is the answer."""
FITS: Final = 4
"""It fits, it is the only one with …"""
SHORT: Final = 3
"""It is 4: whatever "it" is."""
PLACE: Final = 2
"""Panel 8 or 9 is missing: the ninth place, unless nothing else is said."""
MENTIONED: Final = 1
SUPPOSED: Final = 0
"""Spoken of in a question, a supposition, or as what it is not: never an answer."""
DENIED: Final = -1

SEVERAL: Final = 0
"""In place of a choice's number: several choices at once."""


class Said(NamedTuple):
    """What is said of a choice.

    ``described``: a colon or bracket follows, as the question lists its choices. ``replaces``: a word before
    it sets it above what was said before. ``offers``: a word before it makes it an alternative.
    """

    value: int
    force: int
    described: bool = False
    replaces: bool = False
    offers: bool = False
    boxed: bool = False


class Sentence(NamedTuple):
    """What a sentence says.

    Attributes
    ----------
    said
        Of which choices, in order.
    plain
        It has nothing but an answer in it: "Answer 4", "So the answer is 4."
    corrects, concludes, asks
        It begins with "wait", "no", "actually"; it has "so", "finally"; it is a question.
    """

    said: tuple[Said, ...]
    plain: bool
    corrects: bool
    concludes: bool
    asks: bool
    tokens: tuple[Token, ...]
