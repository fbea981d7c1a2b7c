"""The scanner of plans against a parser that tries every bracket."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from relfast_kernels.layouts import ACTIONS, ITEM_COLUMNS
from relfast_kernels.text.plans import scan

from kernels import naive_plans as naive

# whole strings and syntax: no quote stands alone, so every bracket is what it seems
WHOLE = st.lists(
    st.sampled_from(
        [
            *"[](),,,  \n", "[", "]", "'start: A1'", '"move_to: B2"', "'use_key'", "'7'", "7", "-3",
            "'rescue: O\\'Brien'", "'jump: A1'", "''", "'move_to:'", "('rescue', 'Al')",
            '["pick_up_key", 7]', "['start: Q', 'rescue: Al']", "[('start', 'A1')", "'start:\\tA\\x31'",
            '"\\u0072escue\\72 \\ud83d\\ude00"', "prose", "é",
        ]
    ),
    max_size=14,
).map("".join)  # fmt: skip


class Found(NamedTuple):
    """A text as the kernel took it, and what it found: items of the last plan, its place, the number of plans, and
    its vote."""

    text: NDArray[np.uint8]
    rows: NDArray[np.int32]
    begin: int
    end: int
    count: int
    vote: int

    def cut(self, begin: int, end: int) -> str:
        return self.text[begin:end].tobytes().decode("utf-8", "surrogatepass")

    @property
    def items(self) -> list[naive.Item]:
        return [(kind, self.cut(begin, end)) for kind, _, begin, end, _ in self.rows.tolist()]


def read(text: str) -> Found:
    raw = text.encode()
    data = np.frombuffer(bytearray(raw) + bytes(len(raw)), np.uint8)
    room = np.empty((2, len(raw) // 3 + 2, ITEM_COLUMNS), np.int32)
    span = np.zeros((1, 3), np.int64)
    n_items, n_plans = scan(data, 0, len(raw), room[0], room[1], span)
    begin, end, vote = span[0].tolist()
    return Found(data, room[1][:n_items], begin, end, n_plans, vote)


@settings(deadline=None)
@given(st.lists(WHOLE, min_size=1, max_size=4))
@example(
    ["[[('start', 'A1'), ('rescue', 'Al')]]", "[[[('start', 'A1')]]]", "[['start: A1'], [('rescue', 'Al')]]"]
)
@example(["[['start: A1', ('rescue', 'Al')]]", "[('x', ['start: A1'])]", "[('x', ('start', 'A1'))]"])
@example(["[['start: A1', 7]]", "[[7, ['start', 'A1']]]", "[[7, ('start', 'A1')]]", "['start: A1', 7]"])
@example(
    ["['start:\\tA1']", "['\\x73tart\\72 \\u0041']", "['start: A\\\n1']", "['start: A\\d\\x4\\N{DIGIT ONE}']"]
)
def test_same_plans_as_trying_every_bracket(texts: list[str]) -> None:
    for text in texts:
        found = read(text)
        expected = naive.find_plans(text)
        assert found.items == (expected[-1] if expected else [])
        assert found.count == len(expected)


def test_votes_tell_plans_apart() -> None:
    texts = [
        "['start: A1', 'rescue: Bob']",
        'so: [("start", "A1"), ("rescue", "Bob")] ok',
        "['start: A1','rescue:Bob',]",
        '[["start", "\\u0041\\x31"], ["rescue", "\\102ob\\n"]]',
        "['rescue: Bob', 'start: A1']",
        "['start: A1', 'rescue: Bo']",
        "['start: A1']",
        "['start: A1', 'Bob']",
    ]
    votes = [read(text).vote for text in texts]
    assert len(set(votes[:4])) == 1
    assert len(set(votes[3:])) == 5


@settings(deadline=None)
@given(st.text(), st.sampled_from([repr, ascii, json.dumps]))
def test_escapes_are_those_of_python_and_json(text: str, write: Callable[[str], str]) -> None:
    found = read("['start: A1', ('rescue', " + write(f".{text}.") + ")]")
    assert found.items[1] == (ACTIONS.index("rescue"), f".{text}.")
