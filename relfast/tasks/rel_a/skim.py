"""Sentences that need no reading: their numbers are tied to nothing, or their choices plainly turned down.

Explanations are full of them ("panels 6 and 7 have 3 and 4 entities"), and `sentence.read` is some hundred times
slower. What is skimmed here says of the choices what reading would.
"""

from __future__ import annotations

import re
from typing import Final

from relfast.tasks.rel_a.words import is_of_a_given_panel, kind_of, ordinals

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
_OTHER_SIGNS: Final = re.compile(r"[^\x00-\u02ff\u2010-\u203a\u2190-\u22ff]|[→⇒]")
"""Digits and words of other scripts, and arrows."""
_PANELS: Final = frozenset({"panel", "panels"})
_WORD: Final = re.compile(r"\s([a-z]++)")
_OPERATORS: Final = frozenset("+*×·")
_COPULAS: Final = frozenset(["is", "are", "=", "be"])
_MAX: Final = 400
"""Longer sentences are read."""
_ENDS: Final = frozenset({"", " ", ",", ".", ";", ":", ")"})
_STOPS: Final = frozenset({"", ",", ".", ";", ")"})


def skim(text: str) -> frozenset[int] | None:
    """The choices that a sentence turns down, if it says nothing else of any; None where it has to be read."""
    if len(text) > _MAX:
        return None
    denied: list[int] = []
    panels = 0
    for match in _NUMBERS.finditer(text):
        start, end = match.span()
        if text[start - 1 : start] != " ":
            return None
        at = text.rfind(" ", 0, start - 1) + 1
        before, after = text[at : start - 1], text[end : end + 1]
        if before in _NOUNS:
            if end - start > 1 or _TURNED_DOWN.match(text, end) is None:
                return None
            denied.append(int(match[0]))
        elif before in _PANELS:
            if after != " ":
                return None
            panels = max(panels, end)
        elif before in _COPULAS:
            # "the size is 5"
            subject = text[text.rfind(" ", 0, max(at - 1, 0)) + 1 : max(at - 1, 0)]
            if kind_of(subject) != "X" or after not in _STOPS:
                return None
        elif after not in _ENDS or not (kind_of(before) in _LOOSE or (at and before in _OPERATORS)):
            return None
    for match in ordinals(text):
        noun = _WORD.match(text, match.end())
        if noun is None:
            return None
        if noun[1] in _PANELS:
            panels = max(panels, noun.end())
        elif kind_of(noun[1]) not in _LOOSE:
            return None
    if panels and not is_of_a_given_panel(text[:panels]):
        return None
    if _OTHER_SIGNS.search(text) is not None or (denied and _UNSURE.search(text) is not None):
        return None
    return frozenset(denied)
