r"""Which sentences of a solution are working of its own: what ``strict`` aligns with the reference.

What the problem says already, what was said before, and what only states the answer is none. Told by
the share of new n-grams of words, numbers and signs; no model needed. Linear time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

N: Final = 3
"""Words that are looked up together."""

MIN_NEW_GRAMS: Final = 0.5
"""Share of a sentence's n-grams that neither the problem nor an earlier sentence has. Of the sentences of
right solutions, 5 % (GPT-3 on GSM8K) to 18 % (Qwen2.5, which writes its sums in displays and again) have
fewer."""

MIN_NEW_WORDS: Final = 0.15
"""The same of single words, where no number or sign is new: shuffling the problem makes n-grams only."""

MIN_WORDS: Final = 4
"""Shorter ones without a sign are filler ("We get (1).")."""

_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?|[-+*/=<>^×÷−√%]")
_NOT_SAID: Final = re.compile(
    r"<<[^<>]*>>|\*\*|(?<=\d),(?=\d{3})|\\(?:left|right|text|mathrm|boxed|frac|dfrac|quad|begin|end)\b"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z]|[$\\(*])|(?<=[。！？])")
_SIGNS: Final = frozenset("+*/=<>^×÷−√%-")
_STOCK: Final = frozenset(
    [
        "a",
        "an",
        "the",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "of",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "with",
        "as",
        "so",
        "therefore",
        "thus",
        "hence",
        "then",
        "now",
        "and",
        "or",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "there",
        "which",
        "who",
        "he",
        "she",
        "they",
        "we",
        "i",
        "you",
        "our",
        "his",
        "her",
        "their",
        "have",
        "has",
        "had",
        "get",
        "gets",
        "got",
        "do",
        "does",
        "did",
        "let",
        "us",
        "first",
        "next",
        "finally",
        "final",
        "answer",
        "ans",
        "answers",
        "boxed",
        "correct",
        "result",
        "total",
        "value",
        "equal",
        "equals",
        "sum",
        "step",
        "problem",
        "solution",
        "must",
        "can",
        "will",
        "would",
        "need",
        "needs",
        "find",
        "given",
        "since",
        "because",
        "if",
        "what",
        "how",
        "many",
        "much",
        "all",
    ]
)


class Working(NamedTuple):
    """The sentences of a solution.

    Attributes
    ----------
    own
        Those that are working of its own, in order.
    weights
        Characters of each of ``own``.
    idle
        Characters of those that say nothing new: copies, repeats. Statements of the answer are neither.
    """

    own: list[str]
    weights: list[int]
    idle: int


def tokens(text: str) -> list[str]:
    """Words, numbers and signs, in lower case."""
    return _TOKEN.findall(_NOT_SAID.sub("", text.lower()))


def sentences(steps: Sequence[str]) -> list[str]:
    """The sentences of steps, so that it does not matter where lines end."""
    return [part for step in steps for part in _SENTENCE.split(step)]


def working(steps: Sequence[str], question: str, answer: str) -> Working:
    """What of a solution's steps is working of its own.

    Parameters
    ----------
    question
        The problem statement; "" for a reference, which may quote it.
    answer
        The final answer's text.
    """
    asked, asked_grams = _asked(question)
    seen = set(asked_grams)
    answered = set(tokens(answer))
    known = answered.union(asked, _STOCK)
    own: list[str] = []
    weights: list[int] = []
    idle = 0
    for sentence in sentences(steps):
        said = tokens(sentence)
        if not said:
            continue
        grams = _grams(said)
        new = len(grams) - sum(map(seen.__contains__, grams))
        seen.update(grams)
        new_words = [word for word in said if word not in known]
        if not new_words and not answered.isdisjoint(said) and (len(said) < N or 2 * new > len(grams)):
            continue  # a statement of the answer
        worked = any(word in _SIGNS or word[0].isdigit() for word in new_words) or (
            bool(new_words) and len(new_words) >= MIN_NEW_WORDS * len(said)
        )
        enough = len(said) >= MIN_WORDS or not _SIGNS.isdisjoint(said)
        if new >= MIN_NEW_GRAMS * len(grams) and worked and enough:
            own.append(sentence)
            weights.append(len(sentence))
        else:
            idle += len(sentence)
    return Working(own, weights, idle)


@lru_cache(maxsize=256)
def working_of_reference(steps: tuple[str, ...], answer: str) -> Working:
    """The working of a reference, found once for all responses to its problem."""
    return working(steps, "", answer)


@lru_cache(maxsize=256)
def _asked(question: str) -> tuple[frozenset[str], frozenset[tuple[str, ...]]]:
    """The tokens and n-grams of a question, worked out once for all responses to it."""
    said = tokens(question)
    return frozenset(said), frozenset(_grams(said))


def _grams(said: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(said[at:] for at in range(N)), strict=False)) or [tuple(said)]
