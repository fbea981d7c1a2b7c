"""Sentences and words sixty-four bytes at a time, as a loop over bytes has them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from relfast_kernels.text import prose, word_table

ENDS, CLOSERS, BLANKS = b".!?;", b"\"')]*_`~", b" \t\n\r\x0b\x0c"

PIECES = [
    *(
        'no|e.g|e|.|!|?|;| |\n|...|"|)|*|abc|word |’|→|é|…|。|！|n|o.|g|~|`|no. |e.g.'.split("|")  # noqa: SIM905
    ),
    "x" * 70,
    " " * 45,
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map(lambda pieces: "".join(pieces).encode())
SPAN = st.tuples(st.integers(0, 300), st.integers(0, 300))


def naive_sentence_start(text: bytes) -> int:
    found = at = 0
    while at < len(text):
        if text[at] not in ENDS:
            at += 1
            continue
        first = at
        while at < len(text) and text[at] in ENDS:
            at += 1
        dots = text[first:at].endswith(b"...")
        after = at
        while after < min(len(text), at + 4) and text[after] in CLOSERS:
            after += 1
        if after < len(text) and text[after] in BLANKS:
            at = after
        elif not dots:
            continue
        while at < len(text) and text[at] in BLANKS:
            at += 1
        if at - first > 40:
            return -1
        if at < len(text):
            found = at
    return found


@given(TEXT, SPAN, st.sampled_from([0, 3, 64, 100]))
def test_sentences_and_tame_lines(text: bytes, span: tuple[int, int], room: int) -> None:
    start, end = sorted(place % (len(text) + 1) for place in span)
    # what stands after the end decides nothing
    data = np.frombuffer(text + b".e.g. \xe2no. " * 10, np.uint8)[: len(text) + room]
    own = text[start:end]
    found = naive_sentence_start(own)
    assert prose.sentence_start(data, start, end) == (found if found < 0 else start + found)
    if own.isascii():
        assert prose.is_tame(data, start, end)
        assert prose.can_be_cut(data, start, end) == (b"no." not in own and b"e.g" not in own)
    elif any(character in own.decode("utf-8", "replace") for character in "é…。！"):
        assert not prose.is_tame(data, start, end)
        assert not prose.can_be_cut(data, start, end)


@given(st.binary(min_size=1, max_size=40), st.integers(0, 40), st.integers(0, 8))
def test_letters_as_a_number(text: bytes, start: int, n: int) -> None:
    start = min(start, len(text))
    own = text[start : start + n]
    packed = word_table._packed(np.frombuffer(text, np.uint8), start, start + len(own))
    assert packed == int.from_bytes(own.ljust(8, b"\0"), "little", signed=True)
