"""The recipes of ``examples/`` for trainers without an adapter of their own, called as these call them.

Each inside the trainer's package where that is installed (``make test-trainers``, or the weekly workflow), else
with stand-ins of the names that the recipe imports, as the sources of the version it names have them.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.util
import inspect
import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"

ROWS = [
    {"task": "REL-C1", "answer": {"label": "Yes"}, "question": "isomers? CCO COC"},
    {"task": "REL-C2", "answer": {"smiles": "CCO"}, "question": "motif? CCO CCOC"},
    {"task": "REL-A1", "answer": {"target": 3}, "question": "which panel?"},
    {"task": "REL-C2", "answer": {"smiles": 5}, "question": "broken"},
]
RESPONSES = ["<Yes>", "<smiles>OCC</smiles>", "I do not know.", "<smiles>CC</smiles>"]


@pytest.fixture(scope="module")
def expected() -> list[float | None]:
    """What the rows are worth through an adapter; the last has no score."""
    from relfast.rewards.trl import make_reward

    columns: dict[str, Any] = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    found = make_reward()(prompts=None, completions=RESPONSES, **columns)
    assert found == [1.0, 1.0, 0.0, None]
    return found


def as_text(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "answer": json.dumps(row["answer"])}


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Load a recipe; ``stand_ins`` are modules that it imports where they are not installed."""

    def loaded(name: str, **stand_ins: dict[str, Any]) -> Any:
        for dotted, names in stand_ins.items():
            module = ModuleType(dotted.replace("__", "."))
            vars(module).update(names)
            monkeypatch.setitem(sys.modules, module.__name__, module)
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return loaded


# ms-swift 4.6


def check_ms_swift(recipe: Any, orms: dict[str, Any], expected: list[float | None]) -> None:
    assert orms["relfast"] is recipe.Relfast
    reward = orms["relfast"](args=None)
    assert type(reward).__name__ == "Relfast"  # its name in the log
    columns = {name: [as_text(row)[name] for row in ROWS] for name in ROWS[0]}
    messages = [
        [{"role": "user", "content": row["question"]}, {"role": "assistant", "content": text}]
        for row, text in zip(ROWS, RESPONSES, strict=True)
    ]
    given = {
        "messages": messages,
        "trainer_state": SimpleNamespace(global_step=0),
        "is_truncated": [False] * 4,
    }
    assert reward(RESPONSES, **columns, **given) == expected
    del columns["question"]
    assert reward(completions=RESPONSES, **columns, **given) == expected


@pytest.mark.trainers
@pytest.mark.filterwarnings("ignore")
def test_ms_swift_itself(load: Callable[..., Any], expected: list[float | None]) -> None:
    rewards_of_swift = pytest.importorskip("swift.rewards")
    check_ms_swift(load("ms_swift_reward"), rewards_of_swift.orms, expected)


# SkyRL-Gym 0.4


def check_skyrl(make: Callable[[dict[str, Any]], Any], expected: list[float | None]) -> None:
    for row, text, reward in zip(ROWS, RESPONSES, expected, strict=True):
        told = as_text(row)
        extras = {
            "task": told["task"],
            "question": told["question"],
            "reward_spec": {"method": "rule", "ground_truth": told["answer"]},
        }
        environment = make(extras)
        prompt = [{"role": "user", "content": told["question"]}]
        assert environment.init(prompt) == (prompt, {})
        step = environment.step(text)
        assert step["reward"] == (0.0 if reward is None else reward)
        assert (step["done"], step["observations"], step["metadata"]) == (True, [], {})
        environment.close()


@pytest.mark.trainers
@pytest.mark.filterwarnings("ignore")
def test_skyrl_itself(load: Callable[..., Any], expected: list[float | None]) -> None:
    gym = pytest.importorskip("skyrl_gym")
    from skyrl_gym.envs import deregister, register

    load("skyrl_env")
    register(id="relfast", entry_point="skyrl_env:RelfastEnv")
    try:
        check_skyrl(lambda extras: gym.make("relfast", env_config={}, extras=extras), expected)
    finally:
        deregister("relfast")


# AReaL 1.0

AREAL_CALL = ("prompt", "completions", "prompt_ids", "completion_ids")
"""Parameters that ``areal.api.reward_api.reward_fn`` names; columns follow by name."""


def test_areal(load: Callable[..., Any], expected: list[float | None]) -> None:
    reward = load("areal_reward").relfast_reward
    assert tuple(inspect.signature(reward).parameters)[:4] == AREAL_CALL
    for row, text, value in zip(ROWS, RESPONSES, expected, strict=True):
        for ended in (text, f"{text}<|im_end|>"):
            given = reward("p", ended, [1], [2], messages=[], **as_text(row))
            assert given == (0.0 if value is None else value)
    assert pickle.loads(pickle.dumps(reward)) is reward


# rLLM 0.3


@dataclasses.dataclass
class Signal:
    name: str
    value: float


@dataclasses.dataclass
class EvalOutput:
    reward: float
    is_correct: bool
    signals: list[Any] = dataclasses.field(default_factory=list)
    metadata: dict[str, Any] = dataclasses.field(default_factory=dict)


def test_rllm(load: Callable[..., Any], expected: list[float | None]) -> None:
    names = {"EvalOutput": EvalOutput, "Signal": Signal}
    recipe = load(
        "rllm_evaluator",
        rllm={"evaluator": lambda function: function},
        rllm__eval={},
        rllm__eval__types=names,
    )
    for row, text, value in zip(ROWS, RESPONSES, expected, strict=True):
        steps = [SimpleNamespace(model_response="thinking"), SimpleNamespace(model_response=text)]
        episode = SimpleNamespace(trajectories=[SimpleNamespace(steps=steps)])
        out = recipe.relfast_evaluator(as_text(row), episode)
        assert out.reward == (0.0 if value is None else value)
        assert out.is_correct is (out.reward == 1.0)
        assert out.signals == [Signal("relfast", out.reward)]
    assert recipe.relfast_evaluator(as_text(ROWS[0]), SimpleNamespace(trajectories=[])).reward == 0.0


# NeMo-Gym 0.4


def nemo_row(row: dict[str, Any], text: str) -> dict[str, Any]:
    message = {"role": "user", "content": row["question"], "type": "message"}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    output = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    response = {
        "id": "r",
        "created_at": 0.0,
        "model": "m",
        "object": "response",
        "output": [output],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    return {**row, "responses_create_params": {"input": [message]}, "response": response}


def check_nemo_gym(recipe: Any, server: Any, expected: list[float | None]) -> None:
    for row, text, value in zip(ROWS, RESPONSES, expected, strict=True):
        request = recipe.RelfastVerifyRequest.model_validate(nemo_row(row, text))
        answer = asyncio.run(server.verify(request))
        assert (answer.reward, answer.mask_sample) == (value or 0.0, value is None)
        assert answer.model_dump()["task"] == row["task"]


@pytest.mark.trainers
@pytest.mark.filterwarnings("ignore")
def test_nemo_gym_itself(load: Callable[..., Any], expected: list[float | None]) -> None:
    base = pytest.importorskip("nemo_gym.base_resources_server")
    from nemo_gym.server_utils import ServerClient

    recipe = load("nemo_gym_relfast/app")
    config = base.BaseResourcesServerConfig(host="127.0.0.1", port=1, entrypoint="app.py", name="relfast")
    server = recipe.RelfastResourcesServer(
        config=config, server_client=ServerClient.model_construct(head_server_config=None)
    )
    check_nemo_gym(recipe, server, expected)
    paths = {route.path for route in server.setup_webserver().routes}
    assert {"/verify", "/seed_session"} <= paths
