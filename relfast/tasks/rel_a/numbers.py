"""Whether a sentence has a number that could be a choice's.

Every pattern takes time linear in its text: repetitions are possessive or of bounded length.
"""

from __future__ import annotations

import re
from typing import Final

DIGITS: Final = {
    **{chr(ord("①") + n): n + 1 for n in range(9)},
    **{chr(ord("❶") + n): n + 1 for n in range(9)},
    **{chr(ord("➀") + n): n + 1 for n in range(9)},
    **{chr(ord("➊") + n): n + 1 for n in range(9)},
}
NUMBER_WORDS: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
NTH_WORDS: Final = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
NUMERALS: Final = "一二三四五六七八九"

_LONE_DIGIT: Final = re.compile(
    rf"[0-9{''.join(DIGITS)}](?:(?<=[①-➓])|"
    rf"(?<![a-z0-9_.,][0-9])(?<![^a-z][-+][0-9])(?<!panel [0-9])[0-9]{{0,8}}+(?![a-z0-9_]|[.,][0-9])|"
    r"\ufe0f?\u20e3|(?<=answer[0-9])|(?<=option[0-9])|(?<=choice[0-9])|(?<=panel[0-9])|(?:st|nd|rd|th)\b)"
)
_ANY_NTH: Final = "|".join(NTH_WORDS)
_CHINESE: Final = f"第 ?[{NUMERALS}]"
_ANY_WORD: Final = "|".join(NUMBER_WORDS)
_WORDY: Final = re.compile(
    rf"(?:{_ANY_NTH})\W{{1,4}}(?:answer|option|choice|panel|candidate|one)s?|\bthe (?:{_ANY_NTH})\b|"
    rf"(?:answer|option|choice|number|panel|is|or|,|:)\W{{1,6}}(?:{_ANY_WORD})\b|"
    rf"^[\W_]*+(?:{_ANY_WORD})\b|{_CHINESE}"
)
_HAS_WORD: Final = re.compile(
    rf"[efnostw](?:ne|wo|hree|our|ive|ix|even|ight|ine|irst|econd|hird|ifth|inth)|{_CHINESE}"
).search


def has_number_word(text: str) -> bool:
    """Whether a number that could be a choice's may be written as a word: "five", "fifth"."""
    return _HAS_WORD(text) is not None


_PANEL: Final = re.compile("panel [0-9]")
NOT_GIVEN_WORDS: Final = frozenset(
    ["missing", "correct", "right", "final", "best", "next", "choose", "pick", "select", "index", "answer",
     "go", "take", "is", "be"]
)  # fmt: skip
_NOT_GIVEN: Final = re.compile(
    rf"panel [89]|\b(?:{'|'.join(sorted(NOT_GIVEN_WORDS - {'right'}))}|(?<!to )right)\b"
    r"|^[\W_]*+panel[^a-z]*+$"
)


def names_a_choice(text: str) -> bool:
    """Whether a sentence has a number that could be a choice's; "Panel 3" is mostly a given one."""
    return (
        _LONE_DIGIT.search(text) is not None
        or (has_number_word(text) and _WORDY.search(text) is not None)
        or (_PANEL.search(text) is not None and _NOT_GIVEN.search(text) is not None)
    )
