"""The property: a row is scored from a text that was read as the response, or it is not scored. In every dialect, at
every door, whatever stands in the place of the response."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import tool_rows
from both_ways import Ways
from engine_runs import write_dump
from failed_rows import places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relfast
from relfast.engine.job import Job
from relfast.tasks import AllOptions

RIGHT, WRONG = "I say <Yes>", "<No>"
RECORD: Final = {
    "id": "r0",
    "task": "REL-C1",
    "question": "Are these two isomers of each other?",
    "answer": {"label": "Yes"},
}


def native(record: dict[str, Any], responses: list[str], number: int) -> dict[str, Any]:
    return {**record, "response": responses[0]}


def sampled(record: dict[str, Any], responses: list[str], number: int) -> dict[str, Any]:
    return {**record, "response": [responses[0], responses[0]]}


TOOLS: Final = {tool.__name__: tool for tool in (native, sampled, tool_rows.lm_eval, *tool_rows.ALL)}

# nothing in these is an answer, and every text in them is wrong: a row that reads one of them is found out
_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(), st.just(WRONG))
_KINDS = st.sampled_from(
    ["thinking", "reasoning", "cot", "tool_use", "function_call", "image", "redacted_thinking"]
)
_KEYS = st.sampled_from(
    ["a", "text", "content", "value", "output", "thought", "reasoning_content", "parts", "label"]
)
_OBJECTS = st.recursive(
    st.dictionaries(_KEYS, _LEAVES, max_size=3),
    lambda inner: st.dictionaries(_KEYS, inner | st.lists(inner, max_size=2), max_size=3),
    max_leaves=6,
)
_PARTS = st.builds(lambda kind, part: {**part, "type": kind}, _KINDS, _OBJECTS)
_THOUGHTS = st.builds(
    lambda kind, text: {"role": "assistant", "content": text, **kind},
    st.sampled_from(
        [
            {"type": "cot"},
            {"type": "thinking"},
            {"channel": "analysis"},
            {"phase": "commentary"},
            {"thought": True},
        ]
    ),
    st.sampled_from([WRONG, None]),
)
_ASKED = st.just({"role": "user", "content": WRONG})
_SCALARS = st.booleans() | st.integers(-9, 9) | st.floats()
_NONE = (
    _SCALARS
    | _OBJECTS
    | st.lists(_PARTS, min_size=1, max_size=3)
    | st.lists(_THOUGHTS | _ASKED, min_size=1, max_size=3)
)
NOTHING = _NONE | st.lists(_OBJECTS | _SCALARS, min_size=1, max_size=3) | st.none()
SAID: Final = [
    RIGHT,
    [{"role": "user", "content": WRONG}, {"role": "assistant", "content": RIGHT}],
    [{"role": "assistant", "content": RIGHT}, {"role": "assistant", "content": WRONG, "type": "reasoning"}],
    [{"role": "assistant", "content": [{"type": "thinking", "thinking": WRONG}, {"type": "text", "text": RIGHT}]}],
    [{"type": "reasoning", "summary": [{"type": "summary_text", "text": WRONG}]},
     {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": RIGHT}]}],
    [{"type": "thinking", "thinking": WRONG}, {"type": "text", "text": RIGHT}],
]  # fmt: skip


def with_response(tool: str, value: Any) -> dict[str, Any]:
    """A tool's row with a value in the place of the response, wherever the row repeats it."""
    row = copy.deepcopy(TOOLS[tool](RECORD, [RIGHT], 0))
    for container, name in [*places(row)]:
        if container[name] == RIGHT:
            container[name] = copy.deepcopy(value)
    return row


GOLD: Final[list[Path]] = []
"""The file of gold, which rows without their own are joined with."""


@pytest.fixture(autouse=True, scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> None:
    GOLD.append(write_dump(tmp_path_factory.mktemp("gold") / "gold.jsonl", [RECORD]))


@cache
def ways(policy: Any) -> Ways:
    return Ways.of_job(Job(options=AllOptions(policy=policy), data=(str(GOLD[0]),)))


@cache
def scorer(policy: Any) -> relfast.Scorer:
    return relfast.Scorer(workers=0, policy=policy, data=GOLD[0])


def scored(row: dict[str, Any], policy: Any) -> Iterator[tuple[str, bool | None]]:
    """Status and score of a row's samples, as records and as lines, both of which must be the same."""
    line = json.dumps(row).encode()
    rows = ways(policy).same([line]).rows
    records = scorer(policy).score([json.loads(line)])
    assert [each.to_row() for each in records] == rows
    return ((each["status"], each["correct"]) for each in rows)


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(value=NOTHING)
def test_what_is_no_answer_has_no_score(tool: str, policy: str, value: Any) -> None:
    for status, correct in scored(with_response(tool, value), policy):
        assert (status, correct) == ("invalid_record", None)


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_scored_is_what_was_said(tool: str, policy: str) -> None:
    for value in SAID:
        for status, correct in scored(with_response(tool, value), policy):
            assert (status, correct) in (("ok", True), ("invalid_record", None)), value
    assert all(correct for _, correct in scored(with_response(tool, RIGHT), policy))


@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_wrong_with_a_row_is_told_in_words_of_ours(tool: str) -> None:
    """Whatever stands wherever: never the name of an exception of Python's."""
    row = TOOLS[tool](RECORD, [RIGHT], 0)
    odd = (["x"], [["x"]], [1], [None], {"content": ["x"]}, [{"type": "text", "text": 1}], "[1", 1.5)
    rows = []
    for at, (container, name) in enumerate([*places(row)]):
        was = container[name]
        for value in odd:
            container[name] = value
            rows.append(copy.deepcopy(row))
        container[name] = was
        assert [*places(row)][at][1] == name
    kinds = {score.error["type"] for score in scorer("reference").score(rows) if score.error}
    assert not kinds & {kind.__name__ for kind in (*Exception.__subclasses__(), KeyError, IndexError)}
