"""What one sentence says of the choices: which it states, denies, or speaks of.

A sentence is cut into clauses. In each, a number is tied to a word for a choice ("Answer 4", "the answer is
4", "4 is correct"), and what stands before and after it in the clause decides how much is said of it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from relfast.tasks.rel_a.clause import clauses as cut_into_clauses
from relfast.tasks.rel_a.clause import read_clause, turns_down
from relfast.tasks.rel_a.markup import clean
from relfast.tasks.rel_a.numbering import grouped_numbers, plain_numbers
from relfast.tasks.rel_a.said import DENIED, SEVERAL, SUPPOSED, Said, Sentence
from relfast.tasks.rel_a.words import tokens

_KEPT: Final = 32
"""Sentences that are not read again: a response's last one is asked about from several sides."""

NEVER_PLAIN: Final = frozenset("WXJMDBN")
"""Kinds of tokens that a sentence which is nothing but an answer does not have."""

_LETTER_A: Final = re.compile(r"\ba:")
_NOTHING: Final = Sentence((), False, False, False, False, ())
_DRAFTS: Final = (
    "first thought", "first guess", "first idea", "first choice was", "first instinct", "first impression",
    "at first", "initially", "originally", "draft", "tentative", "first answer was", "previous answer",
    "earlier i", "seemed to be", "for example", "e.g.",
    "old answer", "they say", "used to be", "user said", "model said",
    "friend", "colleague", "teacher", "student", "classmate", "to the user",
    "example answer", "format:", "previous question", "last question", "were the ", "i wish",
)  # fmt: skip
_UNREAL: Final = re.compile(
    r"^\W*+(?:the |your |expected |required ){0,2}(?:answer )?format (?:is|should)\b|"
    r"^\W*+had (?:the|it|this|that|there|we|i)\b|\bif (?=[^.]{0,200} (?:were|had been|weren't)\b)"
)
"""What an answer looks like, and what would be so if something else were so."""


@lru_cache(maxsize=_KEPT)
def read(text: str) -> Sentence:
    """Read a sentence (lower case, markup and all)."""
    cleaned = clean(text)
    if " b:" in cleaned:
        cleaned = _LETTER_A.sub("x:", cleaned)
    found = tokens(cleaned)
    if not found:
        return _NOTHING
    asks = found[-1].kind == "?"
    found = plain_numbers(found)
    grouped, values = grouped_numbers(found)
    clauses = list(cut_into_clauses(grouped))
    draft = any(mark in cleaned for mark in _DRAFTS) or _UNREAL.search(cleaned) is not None
    said: list[Said] = []
    subject = ""
    previous_n = 0
    for number, clause in enumerate(clauses):
        before = len(said)
        subject = read_clause(clause, number, values, subject, said)
        if draft and not any(c.opener in "TR" and c.opener for c in clauses[: number + 1]):
            said[before:] = [s._replace(force=min(s.force, SUPPOSED)) for s in said[before:]]
        if len(said) == before and previous_n:
            if turns_down(clause):
                said[-1] = said[-1]._replace(force=DENIED)
            elif "U" in clause.opener and any(t.text in _ANY_OTHER or t.kind == "N" for t in clause.tokens):
                said[-1] = said[-1]._replace(value=SEVERAL)
        previous_n = len(said)
    if asks:
        said = [s._replace(force=min(s.force, SUPPOSED)) for s in said]
    kinds = {token.kind for token in found}
    first = next((t.kind for t in found if t.kind not in "F,-"), "")
    return Sentence(
        tuple(said),
        bool(said) and not kinds & NEVER_PLAIN,
        first in ("R", "Z"),
        bool(kinds & {"S"}) or any(t.text == "final" for t in found),
        asks,
        tuple(found),
    )


_ANY_OTHER: Final = frozenset({"whichever", "whatever", "any", "another", "other", "none"})
