"""Reading the chosen panel out of a response to REL-A1…A7."""

from __future__ import annotations

import re
from typing import Final

from relfast.records import Extracted, Options
from relfast.tasks.final import Candidate, final_candidates
from relfast.tasks.reasoning import read_strictly, strip_reasoning

N_CHOICES: Final = 8

# The published pattern with possessive quantifiers: white space, '#' and digits exclude one another, so
# giving back can never help, and "Answer" before 32,000 spaces takes 0.1 ms instead of 9.8 s.
_ANSWER: Final = re.compile(r"Answer\s*+#?+\s*+(\d++)", re.IGNORECASE)
_FROM_ONE: Final = re.compile(r"\b([1-8])\b")
_FROM_ZERO: Final = re.compile(r"\b([0-7])\b")

MAX_INT_DIGITS: Final = 4300
"""CPython's own limit for int(text); the published scorer raises ValueError beyond it."""

# strict: a whole ASCII number, joined to its word by nothing but filler
_TIED: Final = re.compile(
    r"\b(answer|option|choice|panel)s?"
    r"(?:[\s:=#*_`\"'(\[{$\\]++|(?:is|be|will|must|should|no\.|number|index|boxed|text|the|correct|final|"
    r"missing|answer|option|choice|panel)\b){0,10}+"
    r"(?<![\w.])([0-9]{1,9}+)(?![\w]|\.[0-9]|,[0-9])",
    re.IGNORECASE | re.ASCII,
)
_ALONE: Final = re.compile(
    r"^[ \t*_`\"'$(\[{\\#]*+(?:boxed\{)?+([0-9]{1,9}+)[ \t*_`\"'$)\]}.!\\]*+$", re.ASCII | re.MULTILINE
)


def extract(response: object, options: Options) -> Extracted:
    """The chosen panel, 0-based, as the policy reads it."""
    if options.strict:
        return _extract_strict(response)
    if options.strip_reasoning and isinstance(response, str):
        response = strip_reasoning(response)
    return _extract_reference(response)


def _extract_reference(response: object) -> Extracted:
    if not response:
        return Extracted(0, found=False)
    if not isinstance(response, str):
        return Extracted(None, found=False, error=f"response is {type(response).__name__}, not text")
    text = response.strip()
    match = _ANSWER.search(text)
    if match is not None:
        digits = match[1]
        if len(digits) > MAX_INT_DIGITS:
            return Extracted(None, found=False, error=f"answer number has more than {MAX_INT_DIGITS} digits")
        number = int(digits)
        return Extracted(number - 1 if 1 <= number <= N_CHOICES else 0)
    match = _FROM_ONE.search(text)
    if match is not None:
        return Extracted(int(match[1]) - 1)
    match = _FROM_ZERO.search(text)
    if match is not None:
        return Extracted(int(match[1]))
    return Extracted(0, found=False)


def _extract_strict(response: object) -> Extracted:
    text, reason = read_strictly(response)
    if reason is not None:
        return Extracted(None, found=False, reason=reason)
    ties = [(m.start(), m.end(), int(m[2]), m[1].lower() == "panel") for m in _TIED.finditer(text)]
    last_line_start = text.rstrip().rfind("\n") + 1
    alone = _ALONE.search(text, last_line_start)
    if alone is not None:
        # numbers alone on the lines just above belong to the same statement
        ties += [
            (m.start(), m.end(), int(m[1]), False)
            for m in _ALONE.finditer(text)
            if not any(start <= m.start(1) < end for start, end, _, _ in ties[-1:])
        ]
        ties.sort()
    found = [Candidate(start, end, (value, panel)) for start, end, value, panel in ties]
    final = [c.value for c in final_candidates(text, found)]
    if not final:
        return Extracted(None, found=False, reason="no_answer")
    # "panel 7 follows panel 6, so the answer is 3": context panels before an answer are reasoning
    (value, value_is_panel), *earlier = final
    if not value_is_panel:
        earlier = [(other, is_panel) for other, is_panel in earlier if not is_panel]
    if any(other != value for other, _ in earlier):
        return Extracted(None, found=False, reason="several_answers")
    if not 1 <= value <= N_CHOICES:
        return Extracted(None, found=False, reason="out_of_range")
    return Extracted(value - 1)
