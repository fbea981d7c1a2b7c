"""Completions and prompts as trainers hand them over: texts, mappings, objects of any make. One reading for all."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
from collections import UserDict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pydantic
import pytest
from reward_cases import Sample

import relfast
from relfast.formats.entry import plain_messages
from relfast.rewards import nemo_rl, openrlhf, reasoning_gym, slime, trl, verifiers, verl
from relfast.rewards.shared import question_of

GOLD = {"label": "Yes"}


class Extra(pydantic.BaseModel):
    """verifiers' own messages: members by attribute, further ones allowed."""

    model_config = pydantic.ConfigDict(extra="allow")
    role: str | None
    content: Any = None


@dataclasses.dataclass
class Data:
    role: str | None
    content: Any = None
    tool_calls: Any = None
    reasoning_content: Any = None
    type: Any = None
    name: Any = None


class Slots:
    __slots__ = ("content", "name", "reasoning_content", "role", "tool_calls", "type")

    def __init__(self, role: str, content: Any = None, **more: Any) -> None:
        self.role, self.content = role, content
        for name, value in more.items():
            setattr(self, name, value)


class Dumped:
    """One that only ``model_dump`` tells about."""

    def __init__(self, **members: Any) -> None:
        self._members = members

    def model_dump(self, **kwargs: Any) -> dict[str, Any]:
        return self._members


class Role(enum.Enum):
    assistant = "assistant"
    user = "user"
    tool = "tool"


MAKES: dict[str, Callable[..., Any]] = {
    "mapping": dict,
    "another mapping": lambda **members: UserDict(members),
    "namespace": SimpleNamespace,
    "pydantic": Extra,
    "dataclass": Data,
    "slots": Slots,
    "model_dump": Dumped,
    "enum": lambda role, **members: SimpleNamespace(role=role and Role(role), **members),
}
BOXES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": lambda messages: np.array([*messages, None], dtype=object)[:-1],
}

CALL = [{"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
CHATS: dict[str, tuple[list[dict[str, Any]], float | None]] = {
    "right": ([{"role": "assistant", "content": "<Yes>"}], 1.0),
    "wrong": ([{"role": "assistant", "content": "<No>"}], 0.0),
    "empty": ([{"role": "assistant", "content": ""}], 0.0),
    "the last counts": (
        [{"role": "assistant", "content": "<No>"}, {"role": "user", "content": "?"}, {"role": "assistant", "content": "<Yes>"}],
        1.0,
    ),
    "parts": ([{"role": "assistant", "content": [{"type": "text", "text": "<Y"}, {"type": "text", "text": "es>"}]}], 1.0),
    "only a call": ([{"role": "assistant", "content": None, "tool_calls": CALL}], None),
    "only a call, empty": ([{"role": "assistant", "content": " \n", "tool_calls": CALL}], None),
    "a call at last": (
        [{"role": "assistant", "content": "<Yes>"}, {"role": "assistant", "content": "", "tool_calls": CALL}],
        None,
    ),
    "a call with its result": (
        [{"role": "assistant", "content": "", "tool_calls": CALL}, {"role": "tool", "content": "<Yes>"}],
        None,
    ),
    "what follows a call": (
        [
            {"role": "assistant", "content": "", "tool_calls": CALL},
            {"role": "tool", "content": "<No>"},
            {"role": "assistant", "content": "<Yes>"},
        ],
        1.0,
    ),
    "a call of a server's list at last": (
        [{"role": "assistant", "content": "<Yes>"}, {"role": None, "type": "function_call", "name": "look"}],
        None,
    ),
    "a text and a call": ([{"role": "assistant", "content": "<Yes>", "tool_calls": CALL}], 1.0),
    "no calls": ([{"role": "assistant", "content": "<Yes>", "tool_calls": []}], 1.0),
    "no content": ([{"role": "assistant"}], 0.0),
    "nobody": ([], 0.0),
    "nobody said anything": ([{"role": "user", "content": "<Yes>"}], 0.0),
    "only reasoning": ([{"role": "assistant", "content": None, "reasoning_content": "<Yes>"}], None),
    "a call after reasoning": (
        [
            {"role": "assistant", "content": "<Yes>"},
            {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": CALL},
        ],
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("chat", CHATS)
def test_every_make(chat: str, make: str, box: str) -> None:
    told, reward = CHATS[chat]
    messages = BOXES[box]([MAKES[make](**message) for message in told])
    assert trl.reward(completions=[messages], answer=[GOLD]) == [reward]


@pytest.mark.parametrize("make", MAKES)
def test_parts_and_prompts_of_every_make(make: str) -> None:
    part = (
        SimpleNamespace(type="text", text="<Yes>") if make != "mapping" else {"type": "text", "text": "<Yes>"}
    )
    assert trl.reward(completions=[[MAKES[make](role="assistant", content=[part])]], answer=[GOLD]) == [1.0]
    asked = [MAKES[make](role=role, content=text) for role, text in (("user", "a?"), ("assistant", "b"))]
    assert question_of(asked) == "a?"
    assert question_of(np.array([*asked, None], dtype=object)[:-1]) == "a?"


@pytest.mark.parametrize(
    "kind", ["tool_use", "tool_call", "tool-call", "toolUse", "function_call", "functionCall", "mcp_tool_use"]
)
def test_parts_that_only_call_a_tool(kind: str) -> None:
    for part in ({"type": kind, "name": "look"}, {kind: {"name": "look"}}):
        said = [{"role": "assistant", "content": [part]}]
        assert trl.reward(completions=[said], answer=[GOLD]) == [None]
        said[0]["content"] = [part, {"type": "text", "text": "<Yes>"}]
        assert trl.reward(completions=[said], answer=[GOLD]) == [1.0]


class Raises:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


UNREADABLE = [
    5, 5.0, True, float("nan"), b"<Yes>", {"text": "<Yes>"}, {"role": "assistant", "content": "<Yes>"}, ["<Yes>"], [["<Yes>"]], [None], object(),
    SimpleNamespace(text="<Yes>"), [SimpleNamespace(text="<Yes>")], Dumped(a=1), [Dumped(a=1)], Raises(), [Raises()],
    Ellipsis, lambda: "<Yes>", {"<Yes>"},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:relfast. neither the prompt")
@pytest.mark.parametrize("completion", UNREADABLE, ids=lambda value: type(value).__name__)
def test_what_cannot_be_read_has_no_score_at_any_door(completion: Any) -> None:
    """And never a reason such as not_text, which would be worth 0."""
    row = {"task": "REL-C1", "answer": GOLD, "question": "isomers?"}
    assert trl.reward(completions=[completion], answer=[GOLD]) == [None]
    assert asyncio.run(trl.reward_async(completions=[completion], answer=[GOLD])) == [None]
    assert trl.make_reward(on_error=-1.0)(completions=[completion] * 3, answer=[GOLD] * 3) == [-1.0] * 3
    assert verl.compute_score("REL-C1", completion, GOLD, None, on_error=0.25)["score"] == 0.25
    assert verl.compute_score_batched(["REL-C1"], [completion], [GOLD], on_error=0.25)[0]["score"] == 0.25
    assert verifiers.make_reward(on_error=0.25)(prompt="q", completion=completion, answer=GOLD) == 0.25
    made = slime.make_reward(on_error=0.25)
    assert asyncio.run(made(None, Sample("q", completion, GOLD))) == 0.25
    assert nemo_rl.make_environment(on_error=0.25).step([completion], [row]).rewards == [0.25]
    assert reasoning_gym.make_reward(on_error=0.25)(completion, row) == 0.25
    given = openrlhf.make_reward(on_error=0.25)([completion], ["q"], [json.dumps(GOLD)])
    assert list(given["rewards"]) == [0.25]
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        assert scorer.score_one("REL-C1", GOLD, completion).status == "invalid_record"


def test_items_of_a_servers_output() -> None:
    from relfast.serve.nemo_gym import record_of

    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "<Yes>"}]}
    call, result = (
        {"type": "function_call", "name": "look"},
        {"type": "function_call_output", "output": "<No>"},
    )
    row = {"task": "REL-C1", "answer": GOLD, "question": "q", "responses_create_params": {}}
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        for items, reward in (
            ([said], 1.0),
            ([call, result, said], 1.0),
            ([said, call], None),
            ([call, result], None),
            ([], 0.0),
        ):
            assert scorer.reward(*record_of({**row, "response": {"output": items}})) == reward
            if items:
                assert trl.reward(completions=[items], answer=[GOLD]) == [reward]


def test_texts_and_what_is_none_stay_what_they_are() -> None:
    for value in ("<Yes>", None, 5, b"x", ["a"]):
        assert plain_messages(value) is value
