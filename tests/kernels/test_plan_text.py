"""The scanner of plans: what is one, whatever writes it and stands around it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from relfast_kernels.layouts import ACTIONS, ITEM_COLUMNS
from relfast_kernels.text.plans import scan

from relfast.seqbench import parse_actions

Item = tuple[int, str]
"""Action code and parameter; for `BAD` the item's text."""

BAD: Final = len(ACTIONS)


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
    def items(self) -> list[Item]:
        return [(kind, self.cut(begin, end)) for kind, _, begin, end, _ in self.rows.tolist()]


def read(text: str) -> Found:
    raw = text.encode()
    data = np.frombuffer(bytearray(raw) + bytes(len(raw)), np.uint8)
    room = np.empty((2, len(raw) // 3 + 2, ITEM_COLUMNS), np.int32)
    span = np.zeros((1, 3), np.int64)
    n_items, n_plans = scan(data, 0, len(raw), room[0], room[1], span)
    begin, end, vote = span[0].tolist()
    return Found(data, room[1][:n_items], begin, end, n_plans, vote)


READ: Final = [
    ("[[('start', 'A1'), ('rescue', 'Al')]]", ["start: A1", "rescue: Al"]),
    ("[[[('start', 'A1')]]]", ["start: A1"]),
    ("[['start: A1', ('rescue', 'Al')]]", ["start: A1", "rescue: Al"]),
    ("[['start: A1', ('rescue', 'Al')], 'x']", ["start: A1", "rescue: Al"]),
    ("[('x', ['start: A1'])]", ["start: A1"]),
    (r"['start:\tA1', '\x73tart:\72 \u0041']", ["start: A1", "start: : A"]),
    ("['start: A\\\n1']", ["start: A1"]),
    (r"['start: A\d\x4\N{DIGIT ONE}']", [r"start: A\d\x4\N{DIGIT ONE}"]),
    (r"['\u0072escue: \ud83d\ude00']", ["rescue: \U0001f600"]),
    (r"['start: \U0001F600\/\"']", ['start: \U0001f600/"']),
    (r"['start: \ud83d\u0041 \377\4000']", ["start: \ud83dA \xff\u01000"]),
    ("['start: A1', ('rescue', 'Al'), ]", ["start: A1", "rescue: Al"]),
    ("[('start', 'A1',), ['pick_up_key', 7]]", ["start: A1", "pick_up_key: 7"]),
    ("[('start', -3)]", ["start: -3"]),
    ("[('start',), 'start: A1']", ["start", "start: A1"]),
    ("['start:', 'jump: A1', 'rescue: Al']", ["start:", "jump: A1", "rescue: Al"]),
    ("[('start', ''), 'use_key: 1']", ["('start', '')", "use_key: 1"]),
    ("['start: A1'] ['x'] ['rescue: Al'", ["start: A1"]),
    ("[] ['start: A1']", ["start: A1"]),
    ("['start: A1', [], ()]", ["start: A1", "[]", "()"]),
    ("['start: A1', ['start: B', 'use_key: 2']]", ["start: A1", "['start: B', 'use_key: 2']"]),
    ("['  start :  A1  ', (' start ', ' A: 1 ')]", ["start: A1", "start: A: 1"]),
]
NO_PLANS: Final = r"""
'start: A1']
[('x', ('start', 'A1'))]
[['start: A1', 7]]
[[7, ['start', 'A1']]]
[[7, ('start', 'A1')]]
['start: A1', 7]
['start: A1',, 'rescue: Al']
[, 'start: A1']
['start: A1' 'rescue: Al']
[('start', 'A1', 'B')]
['start: A1')
[('start', 'A1'])
[('start', 'A1']
['start: A1', prose]
[ 'use_key' ]
""".strip().split("\n")


@pytest.mark.parametrize(("text", "said"), [*READ, *((text, []) for text in NO_PLANS)])
def test_what_is_a_plan(text: str, said: list[str]) -> None:
    found = read(text)
    assert [f"{ACTIONS[kind]}: {rest}" if kind != BAD else rest for kind, rest in found.items] == said
    assert found.count == bool(said)
    assert parse_actions(text) == (said or None)


PLAN: Final = [
    "start: A1",
    "move_to: AB12",
    "pick_up_key: 69",
    "use_key: 69",
    "unlock_and_open_door_to: B2",
    "rescue: Al",
]
ESCAPED: Final = ", ".join(
    '"' + "".join(f"\\u{ord(letter):04x}" for letter in action) + '"' for action in PLAN
)


@pytest.mark.parametrize(
    "text",
    [
        str(PLAN), str([tuple(action.split(": ")) for action in PLAN]), f"```python\n{json.dumps(PLAN, indent=2)}\n```\n", f"[{ESCAPED}]",
        json.dumps({"plan": PLAN, "why": "shortest"}), f"Here's what I'd do: {PLAN}. That's it, isn't it?", f"['start: A1', 'move_to: {PLAN}",
        f"['tis the plan: {PLAN}", f"{PLAN} ['start: A1', oops]", f"<think>['start: Z9']</think>{PLAN}", str([PLAN[:2], PLAN]),
    ],
)  # fmt: skip
def test_ways_of_writing_a_plan(text: str) -> None:
    assert parse_actions(text) == PLAN
    assert parse_actions(text.encode()) is parse_actions(PLAN) is None


def test_a_lone_surrogate_is_no_reason_to_fail() -> None:
    for text in ("\ud800 ['rescue: \ud800']", "['rescue: \\ud800']"):
        assert parse_actions(text) == ["rescue: \ud800"]


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
    assert read(" ".join(texts)).count == len(texts)
    assert read("[['start: A1'], [('rescue', 'Al')]]").count == 2
    assert len(set(votes[:4])) == 1
    assert len(set(votes[3:])) == 5


@settings(deadline=None)
@given(st.text(), st.sampled_from([repr, ascii, json.dumps]))
def test_escapes_are_those_of_python_and_json(text: str, write: Callable[[str], str]) -> None:
    found = read("['start: A1', ('rescue', " + write(f".{text}.") + ")]")
    assert found.items[1] == (ACTIONS.index("rescue"), f".{text}.")
