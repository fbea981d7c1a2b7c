"""What the text kernel knows of REL-A's rules: flags of words, and what a line or a sentence says.

The kernel takes a response apart (`relfast_kernels.text.rel_a_strict`); the rules stay here. Flags of words
come from the tables and patterns of the extractor, what a text says from its functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

from relfast_kernels.layouts import (
    FORM_DIGIT,
    FORM_LEAST,
    FORM_MOST,
    SAYS_BOXED,
    SAYS_CONCLUDES,
    SAYS_CORRECTS,
    SAYS_DESCRIBED,
    SAYS_FINAL,
    SAYS_NAMES,
    SAYS_NO_MORE,
    SAYS_OR,
    SAYS_PLACE,
    SAYS_PLAIN,
    SAYS_QUIET,
    SAYS_REPLACES,
    SAYS_SKIMMED,
    SAYS_STATED,
    SAYS_VALUE,
    STEM_LETTERS,
    WORD_ALARM,
    WORD_KNOWN,
    WORD_LINKS,
    WORD_OF_OR,
    WORD_OF_PLAIN,
    WORD_OFFERS,
    WORD_OPENS,
)

from relfast.tasks.rel_a import walk as walking
from relfast.tasks.rel_a.numbers import has_number_word, names_a_choice
from relfast.tasks.rel_a.said import N_CHOICES, PLACE, STATED
from relfast.tasks.rel_a.sentence import NEVER_PLAIN, read
from relfast.tasks.rel_a.skim import PLAIN, skim
from relfast.tasks.rel_a.units import Unit
from relfast.tasks.rel_a.vocabulary import PHRASES, STEMS
from relfast.tasks.rel_a.words import TOKEN_OF

_ANY: Final = "\0"
"""What stands for any word in the texts of a pattern."""

_ALARMS: Final = (
    "wrong incorrect mistaken mistake error false not cannot scratch never nevermind kidding jk psych ignore "
    "disregard forget back lied joking lie joke wait no oops hold correction got"
)
"""Words without which nothing is taken back."""
_ALARM_STEMS: Final = ("psych", "kidding", "nevermind", "joking", "joke", "error", "mistake", "back", "wrong",
                       *(f"lie{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"))  # fmt: skip
"""And words that begin with one of these, where a pattern ends within them."""


def _texts(pattern: str) -> set[str]:
    """The texts that a pattern matches, about: repetitions once at most, classes of characters as `_ANY`."""
    return set(_of(parser.parse(pattern)))


def _of(tree: Any) -> list[str]:
    found = [""]
    for code, value in tree:
        found = [text + more for text in found for more in dict.fromkeys(_one(code, value))]
    return found


def _one(code: Any, value: Any) -> Iterator[str]:
    if code is codes.LITERAL:
        yield chr(value)
    elif code is codes.IN:
        literals = [chr(item) for kind, item in value if kind is codes.LITERAL]
        yield from literals if len(literals) == len(value) else [_ANY]
    elif code is codes.BRANCH:
        for branch in value[1]:
            yield from _of(branch)
    elif code is codes.SUBPATTERN:
        yield from _of(value[3])
    elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        if value[0] == 0:
            yield ""
        yield from _of(value[2])
    elif code in (codes.ASSERT, codes.ASSERT_NOT, codes.AT):
        yield ""
    else:
        yield _ANY


@cache
def words_with_flags() -> Mapping[str, int]:
    """Lower-case words → flags; a stem, of as many letters as stems have, ends with a star."""
    flags: dict[str, int] = {}

    def add(word: str, flag: int) -> None:
        flags[word] = flags.get(word, 0) | flag

    for word, token in TOKEN_OF.items():
        add(word, 0 if token.kind in NEVER_PLAIN else WORD_KNOWN)
        if token.kind == "U":
            add(word, WORD_OFFERS)
    for _, pattern in PHRASES:
        for text in _texts(pattern):
            for word in re.findall("[a-z]+", text):
                add(word, WORD_KNOWN)
            for before in re.findall(f"([a-z]+) {_ANY}", text):
                add(before, WORD_LINKS)
    for stem in STEMS:
        add(f"{stem[:STEM_LETTERS]}*", WORD_KNOWN)
    for word in _ALARMS.split():
        add(word, WORD_ALARM)
    for stem in _ALARM_STEMS:
        add(f"{stem[:STEM_LETTERS]}*", WORD_ALARM)
    for word in ("yes", "yep", "correct", "it"):
        add(word, WORD_OPENS)
    for word in re.findall("[a-z]+", re.sub(r"\\[a-z]", " ", PLAIN.pattern.replace(r"\\boxed", " boxed "))):
        add(word, WORD_OF_PLAIN)
    for word in re.findall("[a-z]+", re.sub(r"\\[a-z]", " ", walking.OR.pattern)):
        add(word, WORD_OF_OR)
    return {word: flag for word, flag in flags.items() if flag and re.fullmatch("[a-z]+[*]?", word)}


_ONE_DIGIT: Final = re.compile(rf"[^0-9]*+[{chr(FORM_LEAST)}-{chr(FORM_MOST)}][^0-9]*+")
_DIGIT: Final = re.compile("[0-9]")


def form_of(text: str) -> str | None:
    """The text that speaks for all which differ from it in one digit, or None: `says` says the same of them
    but for the choice. No rule tells the choices 2 to 7 apart; other numbers in a text could be the same."""
    others = not text.isascii() and any(c.isdigit() and not c.isascii() for c in text)
    if others or _ONE_DIGIT.fullmatch(text) is None or has_number_word(text):
        return None
    return _DIGIT.sub(chr(FORM_DIGIT), text)


def says(text: str) -> int:
    """What a text in lower case says, as a whole line and as a sentence: bits of `SAYS_NAMES` and so on."""
    bits = 0
    if walking.OR.match(text) is not None:
        bits |= SAYS_OR
    names = names_a_choice(text)
    bits |= names * SAYS_NAMES
    bits |= _as_last(text)
    if not names:
        return bits
    if skim(text) is not None:
        return bits | SAYS_SKIMMED
    sentence = read(text)
    bits |= sentence.plain * SAYS_PLAIN | sentence.concludes * SAYS_CONCLUDES | sentence.asks * SAYS_NO_MORE
    said = walking.resolved(sentence)
    if said is not None:
        bits |= (said.force >= STATED) * SAYS_STATED | (said.force == PLACE) * SAYS_PLACE
        bits |= said.described * SAYS_DESCRIBED | said.boxed * SAYS_BOXED
        bits |= 0 if bits & SAYS_FINAL else _shown(said.value)
    return bits


def _as_last(text: str) -> int:
    """What a sentence does to a walk that has met nothing yet."""
    if walking.LIST_ITEM.fullmatch(text) is not None or walking.WAIT.match(text) is not None:
        return 0
    walk, fresh = walking.Walk(""), walking.Walk("")
    walk.goes_on(Unit(text, 1, True, False))
    final = walk.final
    if final is None:
        walk.talk.clear()
        walk._listed = None
        return SAYS_QUIET if vars(walk) == vars(fresh) else 0
    if final.described or final.offers or walk.final_sentence is None:
        return 0
    bits = SAYS_FINAL | walk.final_sentence.corrects * SAYS_CORRECTS | final.replaces * SAYS_REPLACES
    return bits | _shown(final.value)


def _shown(value: int) -> int:
    return value if 0 <= value <= N_CHOICES else SAYS_VALUE
