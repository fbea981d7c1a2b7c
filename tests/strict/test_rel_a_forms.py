"""Texts that differ in one digit say the same: what the memo of forms rests on."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from relfast_kernels.layouts import FORM_DIGIT, FORM_LEAST, FORM_MOST, SAYS_VALUE
from strict import cases_rel_a
from strict.corpus import samples

from relfast.tasks.rel_a import clause, markup, numbers, sentence, skim, strict, units, walk, words
from relfast.tasks.rel_a.kernel_tables import form_of, says

ALIKE = range(FORM_LEAST, FORM_MOST + 1)
"""Digits that no rule may tell apart."""
_FORM = FORM_DIGIT - ord("0")


def patterns() -> Iterator[re.Pattern[str]]:
    """All that the extractor's modules have."""
    todo: list[Any] = [
        value
        for module in (clause, markup, numbers, sentence, skim, strict, units, walk, words)
        for value in vars(module).values()
    ]
    while todo:
        value = todo.pop()
        if isinstance(value, re.Pattern):
            yield value
        elif isinstance(getattr(value, "__self__", None), re.Pattern):
            yield value.__self__
        elif isinstance(value, tuple | list):
            todo += value


def tells_apart(tree: Any) -> bool:
    """Whether a part of a pattern matches some of `ALIKE`, but not all."""
    if isinstance(tree, tuple) and len(tree) == 2:
        code, value = tree
        if code in (codes.LITERAL, codes.NOT_LITERAL):
            return value in ALIKE
        if code is codes.RANGE:
            shared = range(max(value[0], ALIKE[0]), min(value[1], ALIKE[-1]) + 1)
            return 0 < len(shared) < len(ALIKE)
    if isinstance(tree, tuple | list) or hasattr(tree, "data"):
        return any(map(tells_apart, tree))
    return False


def test_no_pattern_tells_them_apart() -> None:
    found = {pattern.pattern for pattern in patterns()}
    assert len(found) > 40
    assert [source for source in found if tells_apart(parser.parse(source))] == []


@pytest.mark.parametrize(
    ("source", "apart"), [("[1-8]x", False), ("(?:4|a)", True), ("[2-4]", True), ("[89]", False)]
)
def test_which_patterns_do(source: str, apart: bool) -> None:
    assert tells_apart(parser.parse(source)) == apart


def check(text: str) -> bool:
    """Whether a text has a form; then all texts of the form say the same but for the choice."""
    form = form_of(text)
    if form is None:
        return False
    place = form.index(chr(FORM_DIGIT))
    said = says(form)
    for digit in ALIKE:
        other = form[:place] + chr(digit) + form[place + 1 :]
        shift = digit - FORM_DIGIT if said & SAYS_VALUE == _FORM else 0
        assert says(other) == said + shift, other
    return True


@cache
def _sentences() -> list[str]:
    found = set()
    for sample in samples("rel_a", cases_rel_a.cases(), random.Random("forms"), 1):
        text = sample.response.lower().replace("’", "'")
        found.update(line.strip() for line in text.split("\n"))
        found.update(unit.text for unit in units.units(text))
    return sorted(text for text in found if text and len(text) <= 240)


def test_sentences_of_the_corpus() -> None:
    assert sum(map(check, random.Random(0).sample(_sentences(), 1_500))) > 300


PIECES = st.one_of(
    st.sampled_from(sorted(words.TOKEN_OF)),
    st.sampled_from(
        [
            "answer",
            "panel",
            "option",
            "choice",
            "is",
            "the",
            ":",
            "=",
            ".",
            ",",
            "?",
            "(",
            ")",
            "**",
            "-",
            "–",
            "not",
            "or",
            "but",
            "so",
            "'s",
            "st",
            "nd",
            "th",
            "%",
            "\\boxed{",
            "}",
            "'",
            ">",
            "<b>",
            "x",
        ]
    ),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=4),
)


@given(
    st.lists(PIECES, max_size=5),
    st.lists(PIECES, max_size=5),
    st.sampled_from(["", " "]),
    st.sampled_from(["", " "]),
)
def test_anything(before: list[str], after: list[str], left: str, right: str) -> None:
    check((" ".join(before) + left + "3" + right + " ".join(after)).lower())


@pytest.mark.parametrize(
    "text", ["answer 1", "answer 8", "panel 9", "3 or 4", "3 or five", "the fifth: 3", "3 ①", "13", "no"]
)
def test_what_has_no_form(text: str) -> None:
    assert form_of(text) is None
