"""What a phrase says: its whole text as a value, or the only number in it."""

from __future__ import annotations

import re
from typing import Final

from relfast.tasks.realign.value import Value, same
from relfast.tasks.realign.values import value_of

SENTENCE_END: Final = re.compile(r"[.!?。！？](?=\s|$|[*_\"'”`)$]+(?:\s|$)|[^\W\d_]{2})|[。！]|\n")
_CUT: Final = re.compile(
    r"[,;]?\s+(?:is (?:the )?(?:correct|right)|because|since|as (?:we|the|there|it)|given that|which|where|so that|when|after|from|with|per the|obtained|i\.e\.|due to|porque|car|parce|weil)\b"
    r"|;\s|\s+—\s|:\s+(?=\d*\s*[^\W\d])|</|\s+[-–—]\s+(?=[^\W\d_]{2})|\s*(?:<\||\[/)|,\s*(?:as|not|and (?:we|this|that|it))\b",
    re.IGNORECASE,
)
BOLD: Final = re.compile(r"\*\*([^*\n]{1,200})\*\*|__([^_\n]{1,200})__")
_PARENTHESIS: Final = re.compile(r"(?<![\s∪∩,+*/=-])(?<!\\cup)(?<!\\cap)\s+\([^()]*\)\s*$")
QUANTITY: Final = re.compile(
    r"(?<![a-zA-Z0-9_.,/\\])(?:[-−+]\s?)?(?:\\?\$\s?)?(?:\\[dct]?frac\s*(?:\{[^{}\n]{1,40}\}|\d)\s*(?:\{[^{}\n]{1,40}\}|\d)"
    r"|\d[\d,]*(?:\.\d+)?(?:\s?/\s?\d+(?![\d/]))?|\.\d+)(?:\s?\\?%)?"
    r"(?:(?![a-zA-Z0-9_^])|(?=(?:[ckm]?m|[km]?g|m?[lL]|ft|lbs?|mph|km/h|kWh|oz|in|hrs?|mins?|h|s|pm|am|x)\b(?!\^)))"
)
_BOUND: Final = re.compile(
    r"(?:\b(?:less|more|greater|fewer|larger|smaller|higher|lower|other|rather) than|\bat (?:least|most)|\b(?:over|under|above|below|between"
    r"|up to|not|never)|n['’]t)(?: be| equal to| exactly| the answer)?[\s$*_]*$|[≠<>≤≥][\s$]*$"
    r"|\b(?:problem|step|question|exercise|example|figure|equation|page|chapter|part)[\s#*_]*$",
    re.IGNORECASE,
)
"""Before a number: a bound, a denial or what is numbered, and no value."""
_NUMBER_WORD: Final = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)\b", re.IGNORECASE
)


def read_phrase(line: str) -> tuple[str, Value]:
    """What a statement says: its whole text as a value, or the only number in it."""
    end = SENTENCE_END.search(line)
    phrase = line[: end.start()] if end else line
    cut = _CUT.search(phrase)
    short = phrase[: cut.start()] if cut is not None and phrase[: cut.start()].strip() else phrase
    bold = BOLD.search(short)
    if bold is not None and bold.start() > 0 and (value := one_value(bold[1] or bold[2])):
        return short, value
    value = one_value(short)
    if value.number is None and short != phrase and (whole := one_value(phrase)).number is not None:
        return phrase, whole
    return short, value


def one_value(phrase: str) -> Value:
    phrase = _PARENTHESIS.sub("", phrase.lstrip(" }\t")).strip(" *_`|\"'“”「」\t\r").rstrip("!")
    if phrase.startswith(("$", "\\(")) and phrase.count("$") == 2:
        phrase = phrase.strip(".")
    value = value_of(phrase)
    if value.number is not None or not value:
        return value
    if (only := _only_quantity(phrase)) is not None:
        return only
    return value


def _only_quantity(phrase: str) -> Value | None:
    """The number of a sentence that has one: "Mark weighed 100 pounds"."""
    if "=" in phrase:
        phrase = phrase.rsplit("=", 1)[1]
    elif _NUMBER_WORD.search(phrase):
        return None
    found = [quantity[0] for quantity in QUANTITY.finditer(phrase)]
    values = [value_of(text.rstrip(",")) for text in found]
    if not values or any(not same(values[0], value) for value in values[1:]):
        return None
    first = QUANTITY.search(phrase)
    if first is not None and _BOUND.search(phrase[: first.start()]):
        return None
    if not _words_only(QUANTITY.sub(" ", phrase)):
        return None
    return values[0]


_MATHEMATICS: Final = re.compile(r"\d|[\\^+*/<>|(){}\[\]]|√|π")


def _words_only(rest: str) -> bool:
    return (
        _MATHEMATICS.search(re.sub(r"\\(?:text|mathrm)\s*\{[^{}]*\}|\\[()\[\]]|\\%|\\\$|\*\*", " ", rest))
        is None
    )
