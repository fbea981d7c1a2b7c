"""What the kernel proves of a sentence by its words and numbers, held against the extractor."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from relfast_kernels.layouts import WORD_SLOTS
from relfast_kernels.text import proofs

from relfast.engine.strict_reader import _strict_tables
from relfast.tasks.rel_a import numbers, walk, words
from relfast.tasks.rel_a.kernel_tables import SAYS_PLAIN, SAYS_QUIET, _as_last, says
from relfast.tasks.rel_a.skim import PLAIN


@cache
def _words() -> Any:
    return np.frombuffer(_strict_tables()[0], np.int64).reshape(WORD_SLOTS, 3)


def _look(data: Any, end: int, asked: int) -> int:
    with np.errstate(over="ignore"):  # hashes wrap around
        return int(proofs.look(data, 0, end, _words(), asked))


def check(text: str) -> int:
    """Hold each proof against what the extractor says; the proofs."""
    data = np.frombuffer(text.encode() + b" 5 or answer", np.uint8)
    end = len(text.encode())
    found = _look(data, end, 0)
    names = numbers.names_a_choice(text)
    if found & proofs.NAMELESS:
        assert not names, text
        if found & proofs.QUIET:
            assert _as_last(text) & SAYS_QUIET, text
    if found & proofs.NAMED:
        assert names, text
    if found & proofs.NOT_OR:
        assert walk.OR.match(text) is None, text
    if not found & proofs.PLAIN_WORDS:
        assert PLAIN.fullmatch(text) is None, text
    if found & proofs.WORDY:
        assert not says(text) & SAYS_PLAIN, text
    # less is read where less is asked
    short = _look(data, end, proofs.IF_PLAIN)
    assert short & proofs.PLAIN_WORDS == found & proofs.PLAIN_WORDS, text
    short = _look(data, end, proofs.IF_NAMELESS)
    asked = proofs.NAMELESS | proofs.QUIET | proofs.NOT_OR
    if found & proofs.NAMELESS:
        assert short & asked == found & asked, text
    else:
        assert not short & proofs.NAMELESS, text
        assert not short & ~found & proofs.NAMED, text
    short = _look(data, end, proofs.IF_OTHER)
    asked = proofs.NAMELESS | proofs.WORDY | proofs.FAR
    assert short & asked == found & asked, text
    return found


TEXTS = [
    "", "-", "\\]", "or", "or,", "and or", "if not", "orange", "or_", "15.0", "1,500", "3.5 or", "x2", "2x", "2nd", "2 nd", "answer5", "answer 5",
    "panel 3", "missing panel 3", "panel3", "panel 15.0", "15.", "15. ", "15.x", "_5", "5_", "5-6", "-5", "+5", "a-5", "5\u20e3", "5\ufe0f\u20e3",
    "15é", "é5", "第5", "①", "5①", "123456789", "1234567890", "1234567890x", "5th", "5sth", "5s", "five", "phone", "fiveé", "the first", "é yes", "yes é",
    "a: 15.0", "<<3+4=7.0>>", "boxed{15.0}", "boxed{5}", "[5]", "(5)", "0.5", ".5", ",5", "5,", "5.5.5", "l 5", " 5", "5 ", "wait", "no é", "wasn't", "12 or 13",
    "\u00a05", "5\u00a0", "12%", "5%", "5°", "<b>x</b> 5", "three 5", "x 12", "jada made 5 and x", "the answer is 5", "so 5",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_proofs(text: str) -> None:
    check(text)


PIECES = st.one_of(
    st.sampled_from(TEXTS),
    st.sampled_from(
        [
            *"0123456789.,-+_ :<>(){}%'éи中。\u00a0",
            "panel ",
            "answer",
            "option",
            "one",
            "st",
            "nd",
            "th",
            "or",
            "no",
            "yes ",
        ]
    ),
    st.sampled_from(sorted(word for word in words.TOKEN_OF if word.isascii())),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=3),
)


@given(st.lists(PIECES, max_size=8))
def test_proofs_of_anything(pieces: list[str]) -> None:
    check("".join(pieces).lower().strip())


def test_much_is_proved() -> None:
    assert (
        check("cayley will earn $15.0$ dollars") & (proofs.NAMELESS | proofs.NOT_OR)
        == proofs.NAMELESS | proofs.NOT_OR
    )
    assert check("the shadow is 18 feet") & (proofs.NAMED | proofs.WORDY) == proofs.NAMED | proofs.WORDY
    assert (
        check("первая строка") & (proofs.NAMELESS | proofs.QUIET | proofs.NOT_OR)
        == proofs.NAMELESS | proofs.QUIET | proofs.NOT_OR
    )
