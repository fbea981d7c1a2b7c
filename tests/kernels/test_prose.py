"""Sentences and words sixty-four bytes at a time, as a loop over bytes has them."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from relfast_kernels.text import prose, word_table

from relfast.tasks.rel_a import units

ENDS, WIDE, CLOSERS, BLANKS = ".!?;", "…。！？；", "\"')]*_`~", " \t\n\r\x0b\x0c"

PIECES = [
    *(
        [
            "no",
            "e.g",
            "e",
            ".",
            "!",
            "?",
            ";",
            " ",
            "\n",
            "...",
            '"',
            ")",
            "*",
            "abc",
            "word ",
            "’",
            "→",
            "é",
            "…",
            "。",
            "！",
            "n",
            "o.",
            "g",
            "~",
            "`",
            "no. ",
            "e.g.",
            "É",
            "中",
            "；",
            "•",
            "ß",
            "no. 5",
            "is no. #3",
            "- no.7",
            "1. ",
            "4: no. 5",
        ]
    ),
    "x" * 70,
    " " * 45,
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map(lambda pieces: "".join(pieces).encode())
SPAN = st.tuples(st.integers(0, 300), st.integers(0, 300))


def naive_sentence_start(text: str) -> int:
    """Where the last sentence begins, in bytes."""
    marks = ENDS + WIDE
    found = at = 0
    while at < len(text):
        if text[at] not in marks:
            at += 1
            continue
        first = at
        while at < len(text) and text[at] in marks:
            at += 1
        by_itself = text[first:at].endswith("...") or text[at - 1] in WIDE
        after = at
        while after < min(len(text), at + 4) and text[after] in CLOSERS:
            after += 1
        if after < len(text) and text[after] in BLANKS:
            at = after
        elif not by_itself:
            continue
        while at < len(text) and text[at] in BLANKS:
            at += 1
        if len(text[first:at].encode()) > 40:
            return -1
        if at < len(text):
            found = at
    return len(text[:found].encode())


@given(TEXT, SPAN, st.sampled_from([0, 3, 64, 100]))
def test_sentences_and_tame_lines(text: bytes, span: tuple[int, int], room: int) -> None:
    start, end = sorted(place % (len(text) + 1) for place in span)
    # what stands after the end decides nothing
    data = np.frombuffer(bytearray(text + b".e.g. \xe2no. " * 10), np.uint8)[: len(text) + room]
    own = text[start:end]
    try:
        chars = own.decode()
    except UnicodeDecodeError:
        assert not prose.tamed(data, start, end)
        return
    found = naive_sentence_start(chars)
    assert prose.sentence_start(data, start, end) == (found if found < 0 else start + found)
    can_be_cut = prose.can_be_cut(data, start, end)
    assert can_be_cut or b"no." in own or b"e.g" in own
    if can_be_cut:
        row = chars.lower().strip()
        bullet = units._BULLET.match(row)
        assert bullet is not None
        assert all(units._NUMBER_SIGN.search(part) is None for part in (row, row[bullet.end() :]))
        assert "e.g." not in row
    assert prose.tamed(data, start, end)
    assert bytes(data[start:end]).decode() == "".join(c if c.isascii() else c.lower() for c in chars)


WHITE = "\u00a0\u2009\u202f\u3000"
MIXED = st.text(st.sampled_from([*"ab5:,.)*-( \n", *WHITE, "é", "–", "。"]), max_size=90)


@given(MIXED, SPAN, st.sampled_from([0, 64]))
def test_white_space_within_lines(text: str, span: tuple[int, int], room: int) -> None:
    """What is white beyond ASCII is tame where no line, bullet or sentence begins or ends with it."""
    start, end = sorted(place % (len(text) + 1) for place in span)
    own = text[start:end]
    head = len(text[:start].encode())
    data = np.frombuffer(bytearray(text.encode() + b"\xc2\xa0x" * 30), np.uint8)[: len(text.encode()) + room]
    tame = prose.tamed(data, head, head + len(own.encode()))
    places = [k for k, c in enumerate(own) if c in WHITE]
    assert tame == all(
        0 < k < len(own) - 1 and own[k - 1] in "ab5:,(" and own[k + 1] not in " \n" for k in places
    )
    if tame and places:
        for row in own.split("\n"):
            assert row.strip() == row.strip(" ")
            assert all(unit.text.strip(" ") == unit.text for unit in units.units(row))
            ends = [found.end() for found in units._END_OF_SENTENCE.finditer(row)]
            assert not any(row[end - 1] in WHITE for end in ends)


def test_lower_case_of_every_character() -> None:
    """What is tame becomes what Python makes of it, wherever it stands; what has no one lower case is not."""
    n_tame = 0
    for point in (*range(0x80, 0xD800), *range(0xE000, 0x20100)):
        character = chr(point)
        data = np.frombuffer(bytearray(f"{character}.".encode()), np.uint8)
        if prose.tamed(data, 0, len(data)):
            n_tame += 1
            for text in (f"{character}", f"a{character}", f"{character}b", f"a{character}b"):
                assert text.lower() == text.replace(character, bytes(data[:-1]).decode()), text
            # all that rules know of blanks and numbers
            assert not character.isspace()
            assert re.search(r"\d", character) is None
    assert n_tame > 100_000


LINES = st.lists(st.sampled_from(["\n", "a", "é", "x" * 63, "x" * 64, "\n" + "y" * 64]), max_size=12)


@given(LINES, SPAN)
def test_lines_before(pieces: list[str], span: tuple[int, int]) -> None:
    text = "".join(pieces).encode()
    start, end = sorted(place % (len(text) + 1) for place in span)
    data = np.frombuffer(text, np.uint8)
    assert prose.line_before(data, start, end) == max(text.rfind(b"\n", start, end) + 1, start)


BULLETS = st.lists(st.sampled_from([*"•–-*+>1. 2a)(é中 \t_`", "10"]), max_size=8)


@given(BULLETS)
def test_bullets(pieces: list[str]) -> None:
    row = "".join(pieces).strip()
    data = np.frombuffer(row.encode() + b"x", np.uint8)
    if row:
        left = next(units._sentences(row, 1), None)
        start = prose.without_bullet(data, 0, len(data) - 1)
        begin = prose.sentence_start(data, start, len(data) - 1)
        if left is not None and begin == start:
            assert row.encode()[start:].decode().strip() == left.text


@given(st.binary(min_size=1, max_size=40), st.integers(0, 40), st.integers(0, 8))
def test_letters_as_a_number(text: bytes, start: int, n: int) -> None:
    start = min(start, len(text))
    own = text[start : start + n]
    packed = word_table._packed(np.frombuffer(text, np.uint8), start, start + len(own))
    assert packed == int.from_bytes(own.ljust(8, b"\0"), "little", signed=True)
