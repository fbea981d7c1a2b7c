"""Reading the label out of a response to REL-C1.

As published, the first ``<Yes>`` or ``<No>`` tag. Under ``strict`` the verdict that the text ends with, in a
tag or not: the question asks for a tag, but a reader of "**Yes**" has no doubt what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from relfast.records import Extracted, Options
from relfast.tasks.reasoning import lower, read_strictly, strip_reasoning
from relfast.tasks.verdict import MAX_TEXT, obvious, read_verdict
from relfast.tasks.yes_no import ANSWERED, STATED, Verdict

# case is ignored the way Python's `re` does on text, where ``ı`` is an ``i``
_YES_NO: Final = re.compile(r"<\s*+(yes|no)\s*+>", re.IGNORECASE)

_TRUE_FALSE: Final = re.compile(
    r"[\"'`]?\b(?:answer|label|verdict|result|is_?isomer_?set|(?:is_|are_)?(?:a_set_of_)?(?:constitutional_?)?isomers|"
    r"is_set_of_constitutional_isomers|all_isomers|(?:constitutional|structural)_isomers|isomer_set|set)[\"'`]?\s*[:=]\s*[\"'`]?(true|false)\b"
)
_ISOMERS: Final = (
    r"(?:(?:an?|the|one|single|complete|valid|true|proper|all|set|list|group|of|these|mutual|structural)\s+){0,6}"
    r"constitutional\s+isomers"
)
_PHRASE: Final = re.compile(
    rf"(?:molecules|compounds|list|they|structures|smiles|these|this|set|all|entries|it)\s+(?:\w+\s+)?(?:are|is|form|forms|constitutes?|represents?)\s+"
    rf"(?P<not>(?:not|no)\s+)?(?:all\s+|indeed\s+|in fact\s+|actually\s+|therefore\s+|thus\s+)?{_ISOMERS}"
    rf"|(?:isn['’]?t|aren['’]?t|(?:do|does) not (?:form|constitute|represent)|don['’]?t form|"
    rf"doesn['’]?t form|cannot be)\s+{_ISOMERS}"
)
_NO_PHRASE: Final = re.compile(
    r"\b(?:if|whether|when|is|are|unless|suppose|claim\w*|would|not all|none)\s+(?:\w+\s+){0,3}$"
)
_VERB: Final = re.compile(r"\b(?:are|is|forms?|constitutes?|represents?)\s")
_REFUSES: Final = re.compile(r"isn|aren|do|cannot")


def extract_label(response: object, options: Options) -> Extracted[str | None]:
    """``Yes``, ``No`` or None."""
    if options.strict:
        return _extract_strict(response, options.reasoning)
    if not isinstance(response, str):
        return Extracted(None, found=False)
    match = _YES_NO.search(
        strip_reasoning(response, options.reasoning) if options.strip_reasoning else response
    )
    if match is None:
        return Extracted(None, found=False)
    return Extracted(match[1].capitalize())


def _extract_strict(response: object, reasoning: tuple[tuple[str, str], ...]) -> Extracted[str | None]:
    text, reason = read_strictly(response, reasoning)
    if reason is not None:
        return Extracted(None, found=False, reason=reason)
    label = obvious(text)
    if label is not None:
        return Extracted(label.capitalize())
    text = lower(text[-MAX_TEXT:])
    reading = read_verdict(text, _truths(text), _phrases)
    if reading.verdict is None:
        return Extracted(None, found=False, reason=reading.reason)
    return Extracted("Yes" if reading.verdict.yes else "No")


def _truths(text: str) -> Sequence[Verdict]:
    """``"isomers": true`` and the like."""
    if "true" not in text and "false" not in text:
        return ()
    return [
        Verdict(found.start(1), found.end(1), found[1] == "true", ANSWERED)
        for found in _TRUE_FALSE.finditer(text)
    ]


def _phrases(text: str) -> Sequence[Verdict]:
    """Statements without yes or no: "These are not constitutional isomers."."""
    found = []
    for match in _PHRASE.finditer(text):
        before = text[max(0, match.start() - 40) : match.start()]
        end = text.find("\n", match.end())
        asks = "?" in text[match.end() : end if 0 <= end < match.end() + 80 else match.end() + 80]
        if _NO_PHRASE.search(before) or asks:
            continue
        no = match["not"] is not None or not _VERB.search(match[0][:40])
        no = no or _REFUSES.match(match[0]) is not None
        found.append(Verdict(match.start(), match.end(), not no, STATED))
    return found
