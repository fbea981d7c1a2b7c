"""Sentences that need no reading: their numbers are tied to nothing, or their choices plainly turned down.

Explanations are full of them ("panels 6 and 7 have 3 and 4 entities"), and `sentence.read` is some hundred times
slower. What is skimmed here says of the choices what reading would.
"""

from __future__ import annotations

import re
from typing import Final

from relfast.tasks.rel_a.words import is_of_a_given_panel, kind_of

PLAIN: Final = re.compile(
    r"[\s>*_`#$\[({\"'✅]*+(?:\\[(\[]\s*+)?(?:(?:so|therefore|thus|hence),?\s++)?"
    r"(?:(?:the\s)?(?:final\s|correct\s|right\s|best\s)?(?:answer|missing\spanel(?:\sindex)?|option|"
    r"choice)(?:\sis|\smust\sbe|\s?:)[\s*_`:$]*+)?"
    r"(?:\\boxed\{)?(?:(?:answer|option|choice)[\s*_#:]*+)?(?:\\boxed\{)?([1-8])[\s*_`$\])}\"'.!✅\\]*+"
)
"""A line that is nothing but an answer, in the forms of most responses."""

_REOPENS: Final = (
    "wait", "oops", "actually", "hold on", "scratch", "never", "kidding", "joking", "mistake", "wrong.", "error",
    "lie", "ignore", "disregard", "forget", "back", "hmm", "sorry", "psych", "no,", "no.", "isn't", "wasn't",
    "s not", "m not", "t doesn't", "s doesn't", "can't be", "not.", "not right", "not correct", "not be", "t does",
    "s does", "t can", "s can", "correction", "?", "false", "incorrect.", "jk",
)  # fmt: skip
"""Where one of these comes after an answer, it may be taken back."""
_ENUMERATES: Final = re.compile(r"\. [*_`]{0,3}+[a-z]")
_NUMBERS: Final = re.compile(
    r"[0-9]++(?:\.[0-9]++)?+(?:(?:, (?:and )?| and )[0-9]++(?:\.[0-9]++)?+(?![a-z0-9]))*+"
)
_LOOSE: Final = frozenset("WX")
"""Kinds of words that tie no number: any word, and what else has numbers (rows, steps, sizes)."""
_NOUNS: Final = frozenset({"answer", "option", "choice"})
_TURNED_DOWN: Final = re.compile(
    r" (?:fails|violates|breaks|differs|mismatches|is (?:wrong|incorrect|off|invalid|inconsistent)|"
    r"(?:has|have) (?:the |a |an )?(?:wrong|incorrect)|(?:does not|doesn\'t|cannot|can\'t) (?:fit|match|work))\b"
)
_UNSURE: Final = re.compile(
    r"[?？❌✗✘🚫✖❎✓✔✅☑🎯~≠¬<]|\b(?:or|but|not|no|never|nothing|wait|actually|if|however)\b"
)
"""Signs that what is turned down may not be."""
_OTHER_SIGNS: Final = re.compile(r"[^\x00-\u02ff\u2010-\u203a←↑↓\u2200-\u22ff]")
"""Digits and words of other scripts, and arrows."""
_PANELS: Final = frozenset({"panel", "panels"})
_NUMBER_WORDS: Final = re.compile(
    r"(?:(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|one|two|three|four|five|six|seven|eight|nine)\b"
)
_BEFORE_A_WORD: Final = frozenset("by and with of to from in at for this that each no as".split())
_WORD: Final = re.compile(r"\s([a-z]++)")
_OPERATORS: Final = frozenset("+*×·")
_COPULAS: Final = frozenset(["is", "are", "=", "be"])
_MAX: Final = 400
"""Longer sentences are read."""
_ENDS: Final = frozenset({"", " ", ",", ".", ";", ":", ")", "\n", "*"})
_STOPS: Final = frozenset({"", ",", ".", ";", ")", "\n"})


def skim(text: str) -> frozenset[int] | None:
    """The choices that a sentence turns down, if it says nothing else of any; None where it has to be read."""
    return _skim(text) if len(text) <= _MAX else None


def opens_with_the_answer(text: str) -> int:
    """The answer of a first line that is nothing else, above an explanation that says nothing to skim over; or 0."""
    end = text.find("\n", 0, 100)
    found = PLAIN.fullmatch(text, 0, end) if end > 0 else None
    if found is None or any(word in text for word in _REOPENS):
        return 0
    denied = _skim(text[end:])
    return int(found[1]) if denied is not None and int(found[1]) not in denied else 0


def _skim(text: str) -> frozenset[int] | None:
    denied: list[int] = []
    for match in _NUMBERS.finditer(text):
        start, end = match.span()
        if text[start - 1 : start] != " ":
            if text[start - 1 : start] == "\n" and _ENUMERATES.match(text, end) is not None:
                continue
            return None
        at = max(text.rfind(" ", 0, start - 1), text.rfind("\n", max(0, start - 30), start - 1)) + 1
        before, after = text[at : start - 1].lstrip("*_`("), text[end : end + 1]
        if before in _NOUNS:
            if end - start > 1 or _TURNED_DOWN.match(text, end) is None:
                return None
            denied.append(int(match[0]))
        elif before in _PANELS:
            if after != " " or not _of_a_given_panel(text, end):
                return None
        elif before in _COPULAS:
            # "the size is 5"
            subject = text[text.rfind(" ", 0, max(at - 1, 0)) + 1 : max(at - 1, 0)]
            if kind_of(subject.lstrip("*_`(\n")) != "X" or after not in _STOPS:
                return None
        elif before[-1:] == ":":
            # "size: 5"
            if kind_of(before[:-1]) != "X" or after not in _STOPS:
                return None
        elif after not in _ENDS or not (kind_of(before) in _LOOSE or (at and before in _OPERATORS)):
            return None
    for match in _NUMBER_WORDS.finditer(text):
        start = match.start()
        if text[start - 1 : start].isalpha() and start:
            continue
        before = text[text.rfind(" ", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)]
        if match.lastindex == 1:
            noun = _WORD.match(text, match.end())
            if noun is not None and noun[1] in _PANELS:
                if not _of_a_given_panel(text, noun.end()):
                    return None
            elif (noun is None and before == "the") or (noun is not None and kind_of(noun[1]) not in _LOOSE):
                return None
        elif kind_of(before) not in _LOOSE and before not in _BEFORE_A_WORD:
            return None
    if (not text.isascii() and _OTHER_SIGNS.search(text) is not None) or (
        denied and _UNSURE.search(text) is not None):
        return None
    return frozenset(denied)


def _of_a_given_panel(text: str, end: int) -> bool:
    start = max(text.rfind(". ", 0, end), text.rfind("\n", 0, end)) + 1
    return is_of_a_given_panel(text[start:end])
