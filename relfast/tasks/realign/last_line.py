"""What the last line of a text says, where no statement of an answer does."""

from __future__ import annotations

import re
from typing import Final

from relfast.tasks.realign.phrases import BOLD, QUANTITY, SENTENCE_END, one_value, read_phrase
from relfast.tasks.realign.statements import NOT_BEFORE, unasserted
from relfast.tasks.realign.value import NONE, FinalAnswer, Value, same
from relfast.tasks.realign.values import value_of

RETRACTION: Final = re.compile(
    r"\b(?:wait|actually|scratch that|on second thought|correction|i made (?:a|an) (?:mistake|error)|i was wrong|that(?:['’]s| is| was) (?:wrong|incorrect|not right)"
    r"|i was mistaken|let me (?:start over|start again|try again)|never ?mind|i take (?:that|it) back|(?:just |only )?(?:kidding|joking)|forget (?:that|it)"
    r"|this is (?:wrong|incorrect)|disregard|ignore that|sorry|oops|no,|but (?:no|it|that|maybe|perhaps)|or (?:maybe|perhaps|possibly)|could also be|might also be|alternatively)(?![a-z])",
    re.IGNORECASE,
)
_FORMULA: Final = re.compile(r"\$([^$\n]{1,200})\$|\\\(((?:(?!\\\)).){1,200})\\\)")
_IN_WORDS: Final = re.compile(r"(?<![\\a-zA-Z])(?!sqrt|sin|cos|tan|log)[a-zA-Z]{3,} ")
_SAYS: Final = re.compile(rf"{QUANTITY.pattern}|{BOLD.pattern}|{_FORMULA.pattern}")
_OFFERED: Final = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|could|might|may|between|not|if)\b", re.IGNORECASE
)
_CLAUSE_END: Final = re.compile(r",\s+|\s+(?:so|thus|hence|therefore)\s+")
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|gets?|got|equals?|will|makes?|costs?|needs?|pays?|earns?|takes?|remains?|left)\b",
    re.IGNORECASE,
)
_CALCULATED: Final = re.compile(r"<<[^<>\n]{0,200}>>")
_A_WORD: Final = re.compile(r"[\s$)}\\]*[^\W\d_]{2}")
_TALK: Final = re.compile(
    r"\W*(?:let me know|i hope|hope (?:this|that)|feel free|if you (?:have|need|would)|is there anything|good luck|great (?:job|work)|please|thank|happy|does (?:this|that)|would you)",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 3
"""Words of a response that says an answer in words and nothing else."""

_LOOKED_BACK: Final = 4
"""Lines from the end on that are looked at for one with a value."""
_LONGEST_LINE: Final = 1_000


_BRACKETED: Final = re.compile(r"[(\[{](?:[^\W\d_]?(?![^\W\d_])|\\[a-zA-Z]+|[^a-zA-Z])*[)\]}]")
"""A line that is a point, a set or a list in brackets, and no words."""


def read_last_line(text: str, denied: list[tuple[str, Value]], reference: bool) -> FinalAnswer:
    """What the last line with a value says."""
    lines = [line for line in text[-8 * _LONGEST_LINE :].split("\n") if line.strip(" \t\r*_`#$|[]\\-=")]
    lines = [line for line in lines if not _TALK.match(line)]
    for line in lines[: -_LOOKED_BACK - 1 : -1]:
        line = _CALCULATED.sub("", line.strip()[-_LONGEST_LINE:])
        if not reference and line.rstrip("*_ ").endswith(("?", "？")):
            return FinalAnswer(None, NONE, "no_answer")
        sentences = [part for part in _sentences(line) if _SAYS.search(part)]
        if not sentences:
            if (
                line == lines[-1].strip()
                and len(lines) == 1
                and len(line.split()) <= _MOST_WORDS
                and not reference
            ):
                value = NONE if denied or "\\boxed" in line else one_value(line)  # a response of one word
                return FinalAnswer(line, value) if value else FinalAnswer(None, NONE, "no_answer")
            continue
        sentence = sentences[-1]
        phrase, value = read_phrase(sentence)
        formula = None
        if "=" not in sentence and (value.number is None or phrase != sentence):
            value = _last_clause(sentence) or value
        bold = [found[1] or found[2] for found in BOLD.finditer(sentence)]
        bold = [text for text in bold if not text.rstrip().endswith((":", "："))]
        if bold and (read := one_value(bold[-1])):
            value = read
        elif (formula := _last_formula(sentence)) is not None:
            value = formula
        elif "=" in sentence and (tail := _result(sentence)).number is not None:
            value = tail
        if value.number is None and reference:
            value = (
                value_of(QUANTITY.findall(sentence)[-1].rstrip(",")) if QUANTITY.search(sentence) else value
            )
        if value.number is None and denied:
            return FinalAnswer(None, NONE, "denied")
        if value.number is None and not (bold or formula or _BRACKETED.fullmatch(line)) and len(lines) > 1:
            return FinalAnswer(None, NONE, "no_answer")
        if not value:
            return FinalAnswer(None, NONE, "no_answer")
        if any(same(value, other) for _, other in denied) or (
            not reference and (_unasserted_within(sentence) or RETRACTION.match(sentence))
        ):
            return FinalAnswer(None, NONE, "denied")
        return FinalAnswer(phrase, value)
    return FinalAnswer(None, NONE, "no_answer")


def _last_clause(sentence: str) -> Value | None:
    """What the last clause says: "With 6 boxes of 7 apples, we have 42"."""
    if _OFFERED.search(sentence):
        return None
    clause = _CLAUSE_END.split(sentence)[-1]
    if clause == sentence or not _VERB.search(clause) or len(QUANTITY.findall(clause)) != 1:
        return None
    value = one_value(clause)
    return value if value.number is not None else None


def _last_formula(sentence: str) -> Value | None:
    """What the formula says that ends a sentence: "So we get $7\\pi$ square inches"."""
    spans = list(_FORMULA.finditer(sentence))
    if (
        not spans
        or _IN_WORDS.search(spans[-1][1] or spans[-1][2])
        or QUANTITY.search(sentence, spans[-1].end())
    ):
        return None
    inside = (spans[-1][1] or spans[-1][2]).rsplit("=", 1)[-1]
    others = {(span[1] or span[2]).rsplit("=", 1)[-1].strip() for span in spans[:-1]}
    if any(any(map(str.isdigit, other)) for other in others - {inside.strip()}) and "=" not in spans[-1][0]:
        return None  # "from $3$ to $5$"
    return value_of(inside) or None


def _unasserted_within(sentence: str) -> bool:
    """Whether the clause that holds a sentence's last number denies or supposes it."""
    at = max((quantity.start() for quantity in QUANTITY.finditer(sentence)), default=len(sentence))
    return unasserted(sentence, at) or NOT_BEFORE.search(sentence[max(0, at - 60) : at]) is not None


def _result(sentence: str) -> Value:
    """What stands after the last sign of equality: "40 - 24 = 16 people that think horse #12 will win"."""
    tail = sentence.rsplit("=", 1)[1].strip(" $\\({*")
    first = QUANTITY.match(tail)
    if first is not None and _A_WORD.match(tail, first.end()):
        return value_of(first[0].rstrip(","))
    return value_of(tail)


def _sentences(line: str) -> list[str]:
    parts = []
    begin = 0
    for end in SENTENCE_END.finditer(line):
        parts.append(line[begin : end.start()])
        begin = end.end()
    parts.append(line[begin:])
    return [part for part in parts if part.strip()]
