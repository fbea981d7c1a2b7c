"""Plans in responses: every way of writing one, and text that is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from relfast.seqbench import parse_actions

PLAN = [
    "start: A1",
    "move_to: AB12",
    "pick_up_key: 69",
    "use_key: 69",
    "unlock_and_open_door_to: B2",
    "rescue: Al",
]
PAIRS = [tuple(action.split(": ")) for action in PLAN]

WRITTEN = [
    ("python strings", str(PLAN)),
    ("json strings", json.dumps(PLAN)),
    ("the published prompt's tuples", str(PAIRS)),
    ("lists of two, json", json.dumps(PAIRS)),
    ("keys as numbers", str([(name, int(p) if p.isdigit() else p) for name, p in PAIRS])),
    ("prose around", f"Here's what I'd do: {PLAN}. That's it, isn't it?"),
    ("code fence", f"```python\n{json.dumps(PLAN, indent=2)}\n```\n"),
    ("trailing comma, new lines", "[" + ",\n".join(map(repr, PLAN)) + ",\n]"),
    ("spaces anywhere", "[ " + " , ".join(f"' {a.replace(':', ' :  ')} '" for a in PLAN) + " ]"),
    ("within an object", json.dumps({"plan": PLAN, "why": "shortest"})),
    ("the last of several", f"First {PLAN[:3]}, better: {PAIRS}"),
    ("a list of plans", str([PLAN[:2], PLAN])),
    (
        "every character escaped",
        "[" + ", ".join('"' + "".join(f"\\u{ord(c):04x}" for c in a) + '"' for a in PLAN) + "]",
    ),
    (
        "every character escaped, python",
        str(PAIRS).replace("A", "\\x41").replace("B", "\\102").replace("l", "\\U0000006c"),
    ),
    ("escaped blanks around", str([f"\t{a}\r\n".replace(":", "\n:\t") for a in PLAN])),
    ("an unclosed one before it", f"['start: A1', 'move_to: {PLAN}"),
    ("a stray quote before it", f"['tis the plan: {PLAN}"),
    ("a broken one behind it", f"{PLAN} ['start: A1', oops]"),
    ("after thinking", f"<think>['start: Z9']</think>{PLAN}"),
]


@pytest.mark.parametrize(("name", "text"), WRITTEN, ids=[name for name, _ in WRITTEN])
def test_ways_of_writing_a_plan(name: str, text: str) -> None:
    assert parse_actions(text) == PLAN


@pytest.mark.parametrize(
    "text",
    [
        "", "no plan", "[]", "['A1', 'B2']", "[1, 2, 3]", "start: A1, move_to: B2",
        "['start: A1', 'move_to: B2'", "['start: A1' 'move_to: B2']", "[start: A1]",
        "['start:', 'move_to: ']", "[('start', 'A1', 'B2')]", "[('start',)]", "['START: A1']",
        "__import__('os').system('true')", "[__import__('os')]", "[('start', open('x'))]",
        "['start: A1'][0]["[:11], None, 7, b"['start: A1']", ["start: A1"],
    ],
)  # fmt: skip
def test_what_is_no_plan(text: Any) -> None:
    assert parse_actions(text) is None
