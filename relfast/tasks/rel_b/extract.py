"""Reading label and taxa out of a response to REL-B1."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from relfast.records import Extracted, Options
from relfast.tasks.reasoning import read_strictly, strip_reasoning


class Homoplasy(NamedTuple):
    """What a response claims: a label (yes, no or None) and taxa as they are written, in order."""

    label: str | None
    taxa: list[str]


def vote(claim: Homoplasy) -> int:
    """A number equal for claims of the same label and set of taxa.

    The sum over distinct taxa of their scattered FNV-1a hashes; `relfast_kernels.text` computes the same.
    """
    total = 3 if claim.label == "yes" else 2
    for taxon in set(claim.taxa):
        value = 2166136261
        for byte in taxon.encode("utf-8", "surrogatepass"):
            value = ((value ^ byte) * 16777619) & 0xFFFF_FFFF
        total += value * 2654435761
    return total & 0xFFFF_FFFF


NOTHING: Final = Homoplasy(None, [])

_TAXON: Final = re.compile(r"taxon[_\s]?(\d+)")
_NUMBER: Final = re.compile(r"\b(\d+)\b")

# strict
_VERDICT: Final = re.compile(r"\b(yes|no)\b", re.IGNORECASE | re.ASCII)
_VERDICT_LINE: Final = re.compile(
    r"^[ \t*_#>`\"'(\[-]*+(?:(?:the )?(?:final )?answer(?: is)?[ \t]*+[:*]*+[ \t*]*+)?+(yes|no)\b",
    re.IGNORECASE | re.ASCII | re.MULTILINE,
)
_BARE_VERDICT: Final = re.compile(r"^[^\w\n]*+(yes|no)[^\w\n]*+$", re.IGNORECASE | re.ASCII | re.MULTILINE)
_TAXON_STRICT: Final = re.compile(r"\btaxon[_ \t]?([0-9]{1,9})\b", re.IGNORECASE | re.ASCII)
# a run of numbers held together by separators, "and" or list bullets only
_LIST: Final = re.compile(
    r"(?<![\w.])[0-9]{1,9}+(?![\w]|\.[0-9])(?:(?:[\s,;&*•()\[\]{}-]|\band\b)++(?<![\w.])[0-9]{1,9}+(?![\w]|\.[0-9]))*+",
    re.IGNORECASE | re.ASCII,
)
_DIGITS: Final = re.compile(r"[0-9]+")


def extract(response: object, options: Options) -> Extracted:
    """A `Homoplasy`, as the policy reads it."""
    if options.strict:
        return _extract_strict(response)
    if not isinstance(response, str):
        return Extracted(NOTHING, found=False, error=f"response is {type(response).__name__}, not text")
    text = (strip_reasoning(response) if options.strip_reasoning else response).lower()
    yes, no = "yes" in text, "no" in text
    label = None if yes == no else "yes" if yes else "no"
    taxa = _TAXON.findall(text) or _NUMBER.findall(text)
    return Extracted(Homoplasy(label, taxa), found=label is not None)


def _extract_strict(response: object) -> Extracted:
    text, reason = read_strictly(response)
    if reason is not None:
        return Extracted(NOTHING, found=False, reason=reason)
    statement, reason = _final_statement(text)
    if reason is not None:
        return Extracted(NOTHING, found=False, reason=reason)
    match = _VERDICT.search(statement)
    assert match is not None  # the statement is the part that begins with its verdict's line
    label = match[1].lower()
    taxa = _TAXON_STRICT.findall(statement)
    if not taxa and label == "yes":
        runs = [_DIGITS.findall(m[0]) for m in _LIST.finditer(statement, match.end())]
        taxa = max(reversed(runs), key=len, default=[])
    return Extracted(Homoplasy(label, list(dict.fromkeys(taxa))))


def _final_statement(text: str) -> tuple[str, str | None]:
    """The text from the line of the final verdict on, or the reason why there is none."""
    bare = {m[1].lower() for m in _BARE_VERDICT.finditer(text)}
    if len(bare) > 1:
        return "", "several_answers"
    start = -1
    for match in _VERDICT_LINE.finditer(text):
        start = match.start()
    if start < 0:
        for match in _VERDICT.finditer(text):
            start = match.start()
        if start < 0:
            return "", "no_answer"
        start = text.rfind("\n", 0, start) + 1
    statement = text[start:].lstrip()
    first_line = statement.split("\n", 1)[0]
    if len({m[1].lower() for m in _VERDICT.finditer(first_line)}) > 1:
        return "", "several_answers"
    return statement, None
