"""Single reward calls as trainers make them: prose of 2 kB, gold as the trainer carries it, the question at hand."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
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


Reward = Callable[[Call], Any]


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


def _scorer() -> Reward:
    scorer = relfast.Scorer(policy="strict")
    return lambda call: scorer.reward(call.task, call.answer, call.response, call.question)


def _verl() -> Reward:
    function = verl.make_compute_score(on_error=0.0)
    return lambda call: function(call.task, call.response, call.gold, {"question": call.question})["score"]


def _trl() -> Reward:
    def reward(call: Call) -> Any:
        return trl.reward([call.question], [call.response], task=[call.task], answer=[call.gold])[0]

    return reward


def _openrlhf() -> Reward:
    function = openrlhf.make_reward(on_error=0.0)

    def reward(call: Call) -> Any:
        label = {"task": call.task, "answer": call.answer}
        return float(function([call.question + call.response], [call.question], [label])["rewards"][0])

    return reward


def _verifiers() -> Reward:
    def reward(call: Call) -> Any:
        prompt = [{"role": "user", "content": call.question}]
        completion = [{"role": "assistant", "content": call.response}]
        return verifiers.reward(prompt, completion, call.gold, {"task": call.task})

    return reward


def _reasoning_gym() -> Reward:
    function = reasoning_gym.make_reward(on_error=0.0)

    def reward(call: Call) -> Any:
        metadata = {"task": call.task}
        return function(call.response, {"answer": call.gold, "question": call.question, "metadata": metadata})

    return reward


def _nemo_rl() -> Reward:
    environment = nemo_rl.make_environment(on_error=0.0)

    def reward(call: Call) -> Any:
        log = [{"role": "user", "content": call.question}, {"role": "assistant", "content": call.response}]
        return float(environment.step([log], [{"task": call.task, "answer": call.gold}]).rewards[0])

    return reward


def _slime() -> Reward:
    function = slime.make_reward(on_error=0.0)

    def reward(call: Call) -> Any:
        label = {"task": call.task, "answer": call.answer}
        sample = SimpleNamespace(label=label, response=call.response, prompt=call.question, metadata={})
        awaited = function(None, sample)
        try:
            awaited.send(None)
        except StopIteration as done:
            return done.value
        raise RuntimeError("the reward of a text waits for something")

    return reward


DOORS: Final[dict[str, Callable[[], Reward]]] = {
    "Scorer": _scorer,
    "verl": _verl,
    "TRL": _trl,
    "OpenRLHF": _openrlhf,
    "verifiers": _verifiers,
    "reasoning-gym": _reasoning_gym,
    "NeMo-RL": _nemo_rl,
    "slime": _slime,
}
"""Whose call it is → a function that makes one. What slime awaits is there at once: no event loop has a turn in it."""


def columns(chosen: Sequence[Call]) -> tuple[list[Any], ...]:
    """Tasks, golds, responses and questions of a batch."""
    return (
        [call.task for call in chosen],
        [call.gold for call in chosen],
        [call.response for call in chosen],
        [call.question for call in chosen],
    )
