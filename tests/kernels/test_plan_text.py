"""The scanner of plans against a parser that tries every bracket."""

from __future__ import annotations

from functools import partial

import numba
import numpy as np
import pytest
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from relfast_kernels.plan_text import ACTIONS, BAD, N_COLUMNS, Plans, hash_bytes, read_plans, scan

from kernels import naive_seqbench as naive

INTERPRETED = bool(numba.config.DISABLE_JIT)

# whole strings and syntax: no quote stands alone, so every bracket is what it seems
WHOLE = st.lists(
    st.sampled_from(
        [
            *"[](),,,  \n",
            "[",
            "]",
            "'start: A1'",
            '"move_to: B2"',
            "'use_key'",
            "'7'",
            "7",
            "-3",
            "'rescue: O\\'Brien'",
            "'jump: A1'",
            "''",
            "'move_to:'",
            "('rescue', 'Al')",
            '["pick_up_key", 7]',
            "['start: Q', 'rescue: Al']",
            "prose",
            "é",
        ]
    ),
    max_size=14,
).map("".join)
# anything, stray quotes and backslashes included
BROKEN = st.lists(
    st.sampled_from([*"[](),'\"\\ \n:7x", "'start: A'", "['use_key', 3]", '"', "['"]), max_size=25
).map("".join)


def read(texts: list[str]) -> tuple[bytes, Plans]:
    parts = [text.encode() for text in texts]
    raw = b"".join(parts)
    return raw, read_plans(
        np.frombuffer(raw, np.uint8), np.cumsum([len(part) for part in parts], dtype=np.int64)
    )


def items_of(raw: bytes, plans: Plans, row: int) -> list[naive.Item]:
    rows = plans.items[plans.offsets[row] : plans.offsets[row + 1]].tolist()
    return [(kind, raw[begin:end].decode()) for kind, _, begin, end, _ in rows]


def test_names_of_actions() -> None:
    assert tuple(name.decode() for name in ACTIONS) == naive.ACTIONS
    assert naive.BAD == BAD


@settings(deadline=None)
@given(st.lists(WHOLE, min_size=1, max_size=4))
def test_same_plans_as_trying_every_bracket(texts: list[str]) -> None:
    raw, plans = read(texts)
    for row, text in enumerate(texts):
        expected = naive.find_plans(text)
        assert items_of(raw, plans, row) == (expected[-1] if expected else [])
        assert plans.lists[row, 2] == len(expected)


@settings(deadline=None)
@given(BROKEN)
def test_what_is_found_is_a_plan(text: str) -> None:
    raw, plans = read([text])
    begin, end, count = plans.lists[0].tolist()
    items = items_of(raw, plans, 0)
    assert bool(items) == bool(count)
    if items:
        whole = raw[begin:end].decode()
        assert naive.read_sequence(whole, 0, "]", True) == (items, len(whole))
    if not naive.find_plans(text):
        assert not items


@settings(deadline=None)
@given(st.lists(WHOLE, min_size=2, max_size=5))
def test_a_text_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    raw, plans = read(texts)
    for row, text in enumerate(texts):
        alone_raw, alone = read([text])
        assert items_of(raw, plans, row) == items_of(alone_raw, alone, 0)
        assert plans.votes[row] == alone.votes[0]


def test_votes_tell_plans_apart() -> None:
    texts = [
        "['start: A1', 'rescue: Bob']",
        'so: [("start", "A1"), ("rescue", "Bob")] ok',
        "['start: A1','rescue:Bob',]",
        "['rescue: Bob', 'start: A1']",
        "['start: A1', 'rescue: Bo']",
        "['start: A1']",
        "['start: A1', 'Bob']",
    ]
    _, plans = read(texts)
    assert plans.votes[0] == plans.votes[1] == plans.votes[2]
    assert len(set(plans.votes[2:].tolist())) == 5


def test_all_plans_of_a_text() -> None:
    two = b"[['start: B', 'rescue: B'], ['start: C', 'rescue: C']]"
    text = b"['start: A'] x " + two + b" y ['start: D', ['start: E', 'start: F']]"
    raw = np.frombuffer(text, np.uint8)
    spans = np.zeros((8, 3), np.int64)
    room = np.zeros((2, 40, N_COLUMNS), np.int32)
    n_items, n_plans = scan(raw, 0, len(raw), room[0], room[1], spans)
    assert (n_items, n_plans) == (2, 4)
    found = [text[begin:end] for begin, end, _ in spans[:n_plans].tolist()]
    assert found[:3] == [b"['start: A']", b"['start: B', 'rescue: B']", b"['start: C', 'rescue: C']"]
    assert found[3].startswith(b"['start: D'")


@settings(deadline=None)
@given(st.text(alphabet="ab'\\", max_size=12))
def test_escapes_do_not_change_the_hash(text: str) -> None:
    plain = text.replace("\\", "").encode()
    escaped = plain.replace(b"'", b"\\'")
    assert hash_bytes(np.frombuffer(plain, np.uint8), 0, len(plain)) == hash_bytes(
        np.frombuffer(escaped, np.uint8), 0, len(escaped)
    )


HOSTILE = [
    "[",
    "]",
    "move_to",
    "['",
    "[\"['",
    "['a',",
    "['a', [",
    '["\\"[',
    "['start: A'],",
    "[('start','A'),",
    "[[[['start: A']",
    "('",
    "'[",
    "\\'[\\",
    "['start: A', ",
    "[1,",
    "['\\",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_linear_time(unit: str) -> None:
    assert_linear(lambda n: partial(read, [unit * (n // len(unit))]), 20_000 if INTERPRETED else 2_000_000)


@settings(max_examples=30, deadline=None)
@given(st.lists(WHOLE, max_size=3))
def test_empty_texts_among_others(texts: list[str]) -> None:
    _, plans = read(["", *texts, ""])
    assert len(plans.offsets) == len(texts) + 3
    assert plans.offsets[1] == 0
    assert plans.offsets[-1] == plans.offsets[-2] == len(plans.items)
