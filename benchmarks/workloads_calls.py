"""Single reward calls as trainers make them: prose of 2 kB, gold as the trainer carries it, the question at hand."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import orjson

import relfast
from relfast.rewards import nemo_rl, openrlhf, reasoning_gym, slime, trl, verifiers, verl

from .workloads_dumps import DUMPS, data_of

TASKS: Final = ("REL-A1", "REL-B1", "REL-C1")


class Call(NamedTuple):
    """A response with its record."""

    task: str
    answer: dict[str, Any]
    gold: str
    response: str
    question: str


class Door(NamedTuple):
    """A trainer's call.

    Attributes
    ----------
    arguments
        What it has at hand of a response before it asks.
    reward
        The reward of that; or, ``awaited``, what gives it.
    """

    arguments: Callable[[Call], tuple[Any, ...]]
    reward: Callable[..., Any]
    awaited: bool = False

    @property
    def call(self) -> Callable[..., Any]:
        """The reward as a plain function."""
        return (lambda *row: _result(self.reward(*row))) if self.awaited else self.reward


def calls(task: str, n: int) -> list[Call]:
    """``n`` responses of about 2 kB to published records of a task, half of them right."""
    made: list[Call] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calls.jsonl"
        DUMPS[r"native, 15 % with \uXXXX, 20 % REL-B1"].write(path, 12 * n + 40)
        records = {row["id"]: row for row in map(orjson.loads, data_of(path).read_bytes().splitlines())}
        for row in map(orjson.loads, path.read_bytes().splitlines()):
            if row["task"] == task and len(made) < n:
                answer = row["answer"]
                question = records[row["id"]]["question"]
                made.append(Call(task, answer, json.dumps(answer), row["response"], question))
    return made


def _scorer() -> Door:
    scorer = relfast.Scorer(policy="strict")
    return Door(lambda call: (call.task, call.answer, call.response, call.question), scorer.reward)


def _verl() -> Door:
    function = verl.make_compute_score(on_error=0.0)
    return Door(
        lambda call: (call.task, call.response, call.gold, {"question": call.question}),
        lambda *row: function(*row)["score"],
    )


def _trl() -> Door:
    return Door(
        lambda call: ([call.question], [call.response], [call.task], [call.gold]),
        lambda prompts, completions, tasks, answers: trl.reward(
            prompts, completions, task=tasks, answer=answers
        )[0],
    )


def _openrlhf() -> Door:
    function = openrlhf.make_reward(on_error=0.0)
    return Door(
        lambda call: (
            [call.question + call.response],
            [call.question],
            [json.dumps({"task": call.task, "answer": call.answer})],
        ),
        lambda *columns: float(function(*columns)["rewards"][0]),
    )


def _verifiers() -> Door:
    return Door(lambda call: (*_messages(call), call.gold, {"task": call.task}), verifiers.reward)


def _verifiers_trace() -> Door:
    """Its v1: awaited, with a task's data and a trace."""
    function = verifiers.make_trace_reward(on_error=0.0)

    def arguments(call: Call) -> tuple[Any, ...]:
        data = SimpleNamespace(
            answer=call.gold, question=call.question, benchmark=call.task, info=None, prompt=None
        )
        return data, SimpleNamespace(last_reply=call.response)

    return Door(arguments, function, awaited=True)


def _reasoning_gym() -> Door:
    function = reasoning_gym.make_reward(on_error=0.0)
    return Door(
        lambda call: (
            call.response,
            {"answer": call.gold, "question": call.question, "metadata": {"task": call.task}},
        ),
        function,
    )


def _nemo_rl() -> Door:
    environment = nemo_rl.make_environment(on_error=0.0)
    return Door(
        lambda call: (
            [[message for said in _messages(call) for message in said]],
            [{"task": call.task, "answer": call.gold}],
        ),
        lambda *columns: float(environment.step(*columns).rewards[0]),
    )


def _slime() -> Door:
    function = slime.make_reward(on_error=0.0)

    def arguments(call: Call) -> tuple[Any, ...]:
        label = {"task": call.task, "answer": call.answer}
        return None, SimpleNamespace(label=label, response=call.response, prompt=call.question, metadata={})

    return Door(arguments, function, awaited=True)


def _messages(call: Call) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Prompt and completion of a chat."""
    return (
        [{"role": "user", "content": call.question}],
        [{"role": "assistant", "content": call.response}],
    )


async def nothing(*row: Any) -> float:
    """A reward that is awaited and does nothing."""
    return 0.0


def _result(awaited: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine gives that waits for nothing."""
    try:
        awaited.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the reward of a text waits for something")


DOORS: Final[dict[str, Callable[[], Door]]] = {
    "Scorer": _scorer,
    "verl": _verl,
    "TRL": _trl,
    "OpenRLHF": _openrlhf,
    "verifiers": _verifiers,
    "verifiers v1": _verifiers_trace,
    "reasoning-gym": _reasoning_gym,
    "NeMo-RL": _nemo_rl,
    "slime": _slime,
}
"""Whose call it is → a function that makes one. What slime and verifiers' v1 await is there at once: no event loop
has a turn in it."""


def columns(chosen: Sequence[Call]) -> tuple[list[Any], ...]:
    """Tasks, golds, responses and questions of a batch."""
    return (
        [call.task for call in chosen],
        [call.gold for call in chosen],
        [call.response for call in chosen],
        [call.question for call in chosen],
    )
