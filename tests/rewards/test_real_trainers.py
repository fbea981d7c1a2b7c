"""Adapters and the recipes of ``examples/`` inside the real packages, each skipped where its package is not installed
(``make test-trainers``); recipes for AReaL and rLLM with stand-ins of the names that they import, as the sources of the
version they name have them. Others run in `tests/lines`. What ran with which release: docs/training.md."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import json
import math
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from relfast import rewards
from relfast.rewards import reasoning_gym


def inside(test: Any) -> Any:
    """What needs a trainer's package; its warnings are its own."""
    return pytest.mark.trainers(pytest.mark.filterwarnings("ignore")(test))


@inside
@pytest.mark.parametrize("name", ["rel_a2", "rel_b1", "rel_c1", "rel_c2", "seqbench"])
def test_reasoning_gym_itself(name: str) -> None:
    gym = pytest.importorskip("reasoning_gym")
    assert name in reasoning_gym.register()
    made, again = (gym.create_dataset(name, size=3, seed=5) for _ in range(2))
    for beyond in (-1, 3):
        with pytest.raises(IndexError):
            made[beyond]
    entries, score = list(made), gym.get_score_answer_fn(name)
    assert entries == list(again)
    assert len({entry["question"] for entry in entries}) == 3
    for entry in entries:
        gold = json.loads(entry["answer"])
        right = {"rel_c2": f"<smiles>{gold.get('smiles')}</smiles>", "seqbench": gold.get("completion")}
        assert score(answer=None, entry=entry) == 0.0
        assert score(answer=right.get(name, ""), entry=entry) == float(name in right)


@inside
def test_nemo_rl_makes_a_ray_actor_of_the_class() -> None:
    """What its ``create_env`` does with the class of its registry; the package itself is not on PyPI."""
    ray = pytest.importorskip("ray")
    from relfast.rewards.nemo_rl import RelfastEnvironment

    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        actor = RelfastEnvironment.options(num_cpus=0.5).remote({"on_error": 0.25, "num_workers": 1})
        log = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "<Yes>"}]
        about = [{"task": "REL-C1", "answer": {"label": "Yes"}}, {"task": "REL-C1", "answer": {}}]
        given = ray.get(actor.step.remote([log, log], about))
        assert [float(value) for value in given.rewards] == [1.0, 0.25]
        ray.get(actor.shutdown.remote())
    finally:
        ray.shutdown()


# recipes for trainers without an adapter of their own


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


# SkyRL-Gym 0.4


@inside
def test_skyrl_itself(load: Callable[..., Any], expected: list[float | None]) -> None:
    gym = pytest.importorskip("skyrl_gym")
    from skyrl_gym.envs import deregister, register

    load("skyrl_env")
    register(id="relfast", entry_point="skyrl_env:RelfastEnv")
    try:
        for row, text, reward in zip(map(as_text, ROWS), RESPONSES, expected, strict=True):
            spec = {"method": "rule", "ground_truth": row["answer"]}
            extras = {"task": row["task"], "question": row["question"], "reward_spec": spec}
            step = gym.make("relfast", env_config={}, extras=extras).step(text)
            assert (step["reward"], step["done"], step["observations"]) == (reward or 0.0, True, [])
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


# two steps of TRL's GRPOTrainer on a CPU


@inside
def test_two_steps_with_mixed_tasks_and_bad_gold(load: Callable[..., Any], tmp_path: Path) -> None:
    from datasets import Dataset

    example = load("trl_grpo")
    # what `datasets` makes of golds with different keys: the union, filled with None
    rows: list[dict[str, Any]] = [
        {"prompt": "isomers? CCO COC", "task": "REL-C1", "answer": {"label": "Yes", "smiles": None}},
        {"prompt": "motif? CCO CCN", "task": "REL-C2", "answer": {"label": None, "smiles": "CC"}},
        {"prompt": "unknown? CCO", "task": "no-such-task", "answer": {"label": "Yes", "smiles": None}},
        {"prompt": "broken? CCO", "task": "REL-C2", "answer": {"label": None, "smiles": None}},
    ]
    before = rewards.stats()
    log = example.train(2, str(tmp_path), Dataset.from_list(rows * 4))
    after = rewards.stats()
    rewards.close()

    assert [entry["step"] for entry in log] == [1, 2]
    for entry in log:
        assert 0 <= entry["reward"] <= 1
        assert math.isfinite(entry["loss"])
    # 32 completions a step; those that cannot be scored are left out of the mean, and counted
    unscored = after["invalid_record"] - before.get("invalid_record", 0)
    assert unscored == sum(entry["relfast/unscored"] for entry in log) * 32 > 0
    assert (
        after["ok"] + after["no_answer"] - before.get("ok", 0) - before.get("no_answer", 0) == 64 - unscored
    )
