"""The scanner of plans against a parser that tries every bracket."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from relfast_kernels.layouts import ACTIONS, ITEM_COLUMNS
from relfast_kernels.text.plans import scan

from relfast.seqbench import parse_actions

Item = tuple[int, str]
"""Action code and parameter; for `BAD` the item's text."""

BAD: Final = len(ACTIONS)
SPACE: Final = " \t\r\n"
STRING: Final = r"""(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
VALUE: Final = re.compile(rf"{STRING}|[-0-9][0-9]*", re.DOTALL)


def _sequence(item: str, left: str, right: str) -> str:
    s = f"[{SPACE}]*"
    return rf"{left}{s}(?:{item}{s}(?:,{s}{item}{s})*(?:,{s})?)?{right}"


_INNER: Final = "|".join(
    _sequence(f"(?:{VALUE.pattern})", *ends) for ends in ((r"\[", r"\]"), (r"\(", r"\)"))
)
ITEM: Final = re.compile(f"{STRING}|{_INNER}", re.DOTALL)
A_PLAN: Final = re.compile(_sequence(f"(?:{ITEM.pattern})", r"\[", r"\]"), re.DOTALL)
ESCAPE: Final = re.compile(
    r"\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
    r"|U[0-9a-fA-F]{8}|[abfnrtv'\"/\\])"
)
LETTERS: Final = dict(zip("abfnrtv'\"/\\\n", [*"\a\b\f\n\r\t\v'\"/\\", ""], strict=True))


def _undo(match: re.Match[str]) -> str:
    escape = match[1]
    if escape in LETTERS:
        return LETTERS[escape]
    if escape[0] == "u":
        return bytes.fromhex(escape.replace("\\u", "")[1:]).decode("utf-16-be", "surrogatepass")
    point = int(escape[1:], 16) if escape[0] in "xU" else int(escape, 8)
    return chr(point) if point < 0x110000 else match[0]


def _item(text: str) -> Item:
    """An item of a plan, as it stands: ``"action: parameter"``, or both in a sequence of two."""
    values = [ESCAPE.sub(_undo, each[1:-1]) if each[0] in "'\"" else each for each in VALUE.findall(text)]
    if len(values) == 1:
        name, colon, parameter = values[0].strip(SPACE).partition(":")
        values, text = ([name, parameter] if colon else []), values[0].strip(SPACE)
    name, parameter = (value.strip(SPACE) for value in (values if len(values) == 2 else ("", "")))
    return (ACTIONS.index(name), parameter) if name in ACTIONS and parameter else (BAD, text)


def plans_of(text: str) -> list[list[Item]]:
    """The plans in a text, by trying every bracket; those within a plan do not count."""
    plans, at = [], 0
    while (at := text.find("[", at)) >= 0:
        whole = A_PLAN.match(text, at)
        items = [_item(each) for each in ITEM.findall(whole[0], 1, len(whole[0]) - 1)] if whole else []
        if whole and any(kind != BAD for kind, _ in items):
            plans.append(items)
            at = whole.end()
        else:
            at += 1
    return plans


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
        expected = plans_of(text)
        assert found.items == (expected[-1] if expected else [])
        assert found.count == len(expected)
        said = [f"{ACTIONS[kind]}: {rest}" if kind != BAD else rest for kind, rest in found.items]
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
    """Quotes that stand alone among them, which the texts above lack."""
    assert parse_actions(text) == PLAN
    assert parse_actions(text.encode()) is parse_actions(PLAN) is None


def test_a_lone_surrogate_is_no_reason_to_fail() -> None:
    assert (
        parse_actions("\ud800 ['rescue: \ud800']")
        == parse_actions("['rescue: \\ud800']")
        == ["rescue: \ud800"]
    )


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
