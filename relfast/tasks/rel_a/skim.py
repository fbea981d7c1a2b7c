"""Sentences that need no reading: their numbers are tied to nothing, or their choices plainly turned down.

Explanations are full of them ("panels 6 and 7 have 3 and 4 entities"), and `sentence.read` is some hundred
times slower. What is skimmed here says of the choices what reading would.
"""

from __future__ import annotations

import re
from typing import Final

from relfast.tasks.rel_a.numbers import NOT_GIVEN_WORDS
from relfast.tasks.rel_a.words import kind_of

PLAIN: Final = re.compile(
    r"[\s>*_`#$\[({\"'✅]*+(?:\\[(\[]\s*+)?(?:(?:so|therefore|thus|hence),?\s++)?"
    r"(?:(?:the\s)?(?:final\s|correct\s|right\s|best\s)?(?:answer|missing\spanel(?:\sindex)?|option|"
    r"choice)(?:\sis|\smust\sbe|\s?:)[\s*_`:$(]*+)?"
    r"(?:\\boxed\{\(?)?(?:(?:answer|option|choice)[\s*_#:(]*+)?(?:\\boxed\{\(?)?([1-8])[\s*_`$\])}\"'.!✅\\]*+"
)
"""A line that is nothing but an answer, in the forms of most responses."""

_REOPENS: Final = (
    "wait", "oops", "actually", "hold on", "scratch", "never", "kidding", "joking", "mistake", "wrong.",
    "error",
    "lie", "ignore", "disregard", "forget", "back", "hmm", "sorry", "psych", "no,", "no.", "isn't", "wasn't",
    "s not", "m not", "t doesn't", "s doesn't", "can't be", "not.", "not right", "not correct", "not be",
    "t does",
    "s does", "t can", "s can", "correction", "?", "false", "incorrect.", "jk",
)  # fmt: skip
"""Where one of these comes after an answer, it may be taken back."""
_LOOSE: Final = frozenset("WX")
"""Kinds of words that tie no number: any word, and what else has numbers (rows, steps, sizes)."""
_NOUNS: Final = frozenset({"answer", "option", "choice"})
_TURNED_DOWN: Final = re.compile(
    r"(?:fails|violates|breaks|differs|mismatches|is (?:wrong|incorrect|off|invalid|inconsistent)|"
    r"(?:has|have) (?:the |a |an )?(?:wrong|incorrect)|"
    r"(?:does not|doesn\'t|cannot|can\'t) (?:fit|match|work))\b"
)
_UNSURE: Final = re.compile(r"[?？❌✗✘🚫✖❎✓✔✅☑🎯~≠¬<]")
_UNSURE_WORDS: Final = frozenset(
    ["or", "but", "not", "no", "never", "nothing", "wait", "actually", "if", "however"]
)
"""Signs that what is turned down may not be."""
_OTHER_SIGNS: Final = re.compile(r"[^\x00-\u02ff\u2010-\u203a←↑↓\u2200-\u22ff]")
"""Digits and words of other scripts, and arrows."""
_PANELS: Final = frozenset({"panel", "panels"})
_ORDINALS: Final = frozenset(
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
)
_NUMBER_WORDS: Final = _ORDINALS | {
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
}  # fmt: skip
_TELLING: Final = _NUMBER_WORDS | NOT_GIVEN_WORDS
_MARKS: Final = ".,;:!*_`()[]"
_DIGIT: Final = re.compile("[0-9①-➓]")
_DECIMAL: Final = re.compile(r"-?[0-9]++\.[0-9]++")
_BEFORE_A_WORD: Final = frozenset(
    ["by", "and", "with", "of", "to", "from", "in", "at", "for", "this", "that", "each", "no", "as",
     "first", "last"]
)  # fmt: skip
_PLACES: Final = frozenset({"8", "9", "eighth", "ninth"})
_OPERATORS: Final = frozenset("+*×·")
_COPULAS: Final = frozenset(["is", "are", "=", "be"])
_MAX: Final = 400
"""Longer sentences are read."""


def skim(text: str) -> frozenset[int] | None:
    """The choices that a sentence turns down, if it says no more of any; None where it has to be read."""
    return _skim(text) if len(text) <= _MAX else None


def opens_with_the_answer(text: str) -> int:
    """The answer of a first line that is nothing else, above what can all be skimmed; or 0."""
    end = text.find("\n", 0, 100)
    found = PLAIN.fullmatch(text, 0, end) if end > 0 else None
    if found is None or any(word in text for word in _REOPENS):
        return 0
    denied = _skim(text[end:])
    return int(found[1]) if denied is not None and int(found[1]) not in denied else 0


def _skim(text: str) -> frozenset[int] | None:
    if not text.isascii() and _OTHER_SIGNS.search(text) is not None:
        return None
    denied: list[int] = []
    words = text.replace("\n", " . ").split()
    sentence = 0  # where it begins
    missing = False  # the panels it speaks of may be the missing one
    listed = -2  # the last number of a list that is tied to nothing
    for at, word in enumerate(words):
        if word.isalpha():
            if word not in _TELLING:
                continue
            bare = word
        else:
            bare = word.strip(_MARKS)
        if bare in NOT_GIVEN_WORDS:
            missing = missing or bare != "right" or words[at - 1] != "to"
        elif bare.isdigit():
            before = words[at - 1].strip("*_`(") if at else ""
            if before in _NOUNS:
                if bare != word or not _turned_down(words, sentence, at):
                    return None
                denied.append(int(bare) if len(bare) == 1 else 0)
            elif before in _PANELS:
                given = not missing and at > sentence + 1 and bare not in _PLACES
                if not given or not _loose_after(words, at):
                    return None
                listed = at
            elif before in _COPULAS or before[-1:] == ":":
                # "the size is 5", "size: 5"
                subject = before[:-1] if before[-1:] == ":" else words[at - 2].strip("*_`(") if at > 1 else ""
                if kind_of(subject) != "X" or (word == bare and at + 1 < len(words) and words[at + 1] != "."):
                    return None
            elif (
                (listed == at - 1 and words[listed][-1] == ",")
                or (listed == at - 2 and before == "and")
                or kind_of(before) in _LOOSE
                or (at > 1 and before in _OPERATORS)
            ):
                listed = at
            elif not (before == "." and word[-1] == "." and at + 1 < len(words) and words[at + 1].isalpha()):
                return None  # and it is no "1. Compare the panels"
        elif bare in _NUMBER_WORDS:
            before = words[at - 1] if at else ""
            after = words[at + 1].strip(_MARKS) if at + 1 < len(words) and word == bare else ""
            if bare not in _ORDINALS:
                if before not in _BEFORE_A_WORD and kind_of(before) not in _LOOSE:
                    return None
            elif after in _PANELS:
                if missing or at == sentence or bare in _PLACES:
                    return None
            elif (not after and before == "the") or (after and kind_of(after) not in _LOOSE):
                return None
        elif _DIGIT.search(word) is not None and _DECIMAL.fullmatch(bare) is None:
            return None
        if word[-1] in ".!?":
            sentence, missing = at + 1, False
    return None if denied and _UNSURE.search(text) is not None else frozenset(denied)


def _turned_down(words: list[str], start: int, at: int) -> bool:
    """Whether nothing is said of the choice at a place in a sentence but that it is wrong."""
    if _TURNED_DOWN.match(" ".join(words[at + 1 : at + 5])) is None:
        return False
    end = next((n for n in range(at, len(words)) if words[n][-1] in ".!?"), len(words))
    return _UNSURE_WORDS.isdisjoint([word.strip(_MARKS) for word in words[start : end + 1]])


def _loose_after(words: list[str], at: int) -> bool:
    return any(kind_of(word) in _LOOSE for word in words[at + 1 : at + 6])
