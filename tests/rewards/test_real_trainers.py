"""Adapters and the recipes of ``examples/`` inside the real packages, each skipped where its package is not installed
(``make test-trainers``); recipes for AReaL and rLLM with stand-ins of the names that they import, as the sources of the
version they name have them. Others run in `tests/lines`. What ran with which release: docs/training.md."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import importlib.util
import inspect
import json
import math
import os
import pickle
import subprocess
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


# open-instruct, torchforge, miles: on no package index (torchforge's package is empty)


def test_open_instruct(load: Callable[..., Any], expected: list[float | None]) -> None:
    """``await verifier.async_call(tokens, prediction, label, query)`` of `apply_verifiable_reward`."""

    @dataclasses.dataclass
    class Result:
        score: float
        cost: float = 0.0
        reasoning: str | None = None

    class Verifier:
        def __init__(self, name: str, weight: float = 1.0, verifier_config: Any = None) -> None:
            self.name, self.weight = name, weight

    names = {"VerificationResult": Result, "VerifierFunction": Verifier}
    recipe = load("open_instruct_verifier", open_instruct={}, open_instruct__ground_truth_utils=names)
    (verifier,) = [found() for found in Verifier.__subclasses__()]
    assert type(verifier) is recipe.RelfastVerifier
    assert verifier.name == "relfast"
    for row, text, value in zip(ROWS, RESPONSES, expected, strict=True):
        for label in (json.dumps(row), [json.dumps(row)], row):
            given = verifier([1], text, label, "asked", rollout_state={})
            assert given == asyncio.run(verifier.async_call([1], text, label, query="asked"))
            assert given.score == (0.0 if value is None else value)


def test_torchforge(load: Callable[..., Any], expected: list[float | None]) -> None:
    """``reward_fn(prompt, response, target)`` of its `RewardActor`, which names the function in its metrics."""
    reward = load("torchforge_reward").Relfast()
    assert getattr(reward, "__name__", reward.__class__.__name__) == "relfast"
    for row, text, value in zip(ROWS, RESPONSES, expected, strict=True):
        assert reward(prompt="asked", response=text, target=json.dumps(row)) == (value or 0.0)
    assert pickle.loads(pickle.dumps(reward))("q", "<Yes>", '{"label": "Yes"}') == 1.0


def test_miles(expected: list[float | None]) -> None:
    """``--custom-rm-path``: `load_function` of a dotted path, awaited for a sample, or for a list of them in its
    batched mode; its ``remote_rm`` asks what slime's does."""
    module, _, name = "relfast.rewards.slime.custom_rm".rpartition(".")
    function = getattr(importlib.import_module(module), name)
    samples = [
        SimpleNamespace(
            prompt="asked", response=text, label=json.dumps(row), metadata=None, status="completed"
        )
        for row, text in zip(ROWS, RESPONSES, strict=True)
    ][:3]
    args = SimpleNamespace(custom_rm_path="relfast.rewards.slime.custom_rm", rm_type=None)
    assert asyncio.run(function(args, samples)) == expected[:3]
    assert [asyncio.run(function(args, sample, evaluation=True)) for sample in samples] == expected[:3]


# verifiers' own Rubric and SingleTurnEnv, 0.1.11 to 0.3.1: `make test-releases` runs this in an environment of each


@inside
def test_a_rubric_of_verifiers_itself() -> None:
    vf = pytest.importorskip("verifiers")
    if not hasattr(vf, "SingleTurnEnv"):
        pytest.skip("verifiers 0.4 has no Rubric")
    from datasets import Dataset
    from openai import AsyncOpenAI
    from openai_server import Server, running
    from verifiers.clients import OpenAIChatCompletionsClient

    from relfast.rewards import verifiers

    said = {row["question"]: text for row, text in zip(ROWS, RESPONSES, strict=True)}
    rows = [
        {
            "question": row["question"],
            "answer": as_text(row)["answer"],
            "info": json.dumps({"benchmark": row["task"]}),
        }
        for row in ROWS[:3]
    ]

    async def evaluated(url: str) -> list[Any]:
        client = OpenAIChatCompletionsClient(AsyncOpenAI(api_key="none", base_url=url))
        found = []
        for function in (verifiers.reward, verifiers.reward_async):
            rubric = vf.Rubric(funcs=[function])
            environment = vf.SingleTurnEnv(eval_dataset=Dataset.from_list(rows), rubric=rubric)
            results = await environment.evaluate(client=client, model="m", num_examples=3)
            found.append(sorted(results["outputs"], key=lambda one: one["example_id"]))
        await client.close()
        return found

    with running(Server(solve=lambda prompt: said[prompt])) as server:
        for outputs in asyncio.run(evaluated(server.url)):
            assert [one["reward"] for one in outputs] == [1.0, 1.0, 0.0]
            assert all(one["error"] is None for one in outputs)


# verl's own reward managers


@inside
@pytest.mark.parametrize("manager", ["naive", "dapo", "gdpo"])
@pytest.mark.parametrize("function", ["compute_score", "acompute_score"])
def test_a_reward_manager_of_verl_itself(manager: str, function: str) -> None:
    """By ``pkg://``, with options of the configuration, a path as data_source, and components for GDPO."""
    pytest.importorskip("verl")
    import numpy
    import torch
    from hydra import compose, initialize_config_module
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    overrides = [
        "reward.custom_reward_function.path=pkg://relfast.rewards.verl",
        f"reward.custom_reward_function.name={function}",
        "+reward.custom_reward_function.reward_kwargs.on_error=0.0",
        "+reward.custom_reward_function.reward_kwargs.components=[f1,precision]",
        f"reward.reward_manager.name={manager}",
    ]
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", overrides=overrides)

    class Words:
        def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
            return "".join(["<pad>", "<Yes>", "<smiles>CCO</smiles>"][int(at)] for at in ids)

    gold = ['{"label": "Yes"}', '{"missing_smiles": ["CCO", "COC"]}', '{"smiles": 5}']
    columns: dict[str, list[Any]] = {
        "data_source": ["ada-f/rel"] * 3,
        "reward_model": [{"ground_truth": text} for text in gold],
        "extra_info": [{"question": "asked"} for _ in gold],
    }
    batch = DataProto.from_dict(
        tensors={
            "prompts": torch.zeros((3, 1), dtype=torch.long),
            "responses": torch.tensor([[1], [2], [2]]),
            "attention_mask": torch.ones((3, 2), dtype=torch.long),
        },
        non_tensors={key: numpy.array(column, dtype=object) for key, column in columns.items()},
    )
    loaded = load_reward_manager(config, Words())

    async def each() -> list[Any]:
        return [await loaded.run_single(batch[at : at + 1]) for at in range(3)]

    given = loaded.loop.run_until_complete(each())
    assert [one["reward_score"] for one in given] == [1.0, pytest.approx(2 / 3), 0.0]
    told = [one["reward_extra_info"] for one in given]
    assert len({tuple(one) for one in told}) == 1
    assert [one["f1"] for one in told] == [0.0, pytest.approx(2 / 3), 0.0]
    assert [one["unscored"] for one in told] == [0.0, 0.0, 1.0]


# TRL's GRPOTrainer on a CPU: in one process, and in two


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


@inside
@pytest.mark.parametrize("options", [{"asynchronous": True}, {"component": "correct"}])
def test_functions_with_options(options: Any, load: Callable[..., Any], tmp_path: Path) -> None:
    """As TRL finds out whether to await them, and by which name it logs them."""
    from relfast.rewards import trl

    example = load("trl_grpo")
    example.reward = trl.make_reward(**options, name="mine")
    (entry,) = example.train(1, str(tmp_path), example.make_dataset())
    assert 0 <= entry["rewards/mine/mean"] <= 1
    assert entry["mine/unscored"] == 0


@inside
def test_two_processes(tmp_path: Path) -> None:
    """They log names that differ: TRL up to 1.13 waited for ever at the first call where they did."""
    trl = pytest.importorskip("trl")
    script = Path(__file__).with_name("two_processes.py")
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        str(script),
    ]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "RELFAST_WORKERS": "0", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, "5", str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    log = json.loads(done.stdout.splitlines()[-1])
    assert [entry["step"] for entry in log] == [1, 2, 3, 4, 5]
    names = {name for entry in log for name in entry if name.startswith("relfast/")}
    release = tuple(map(int, trl.__version__.split(".")[:2]))
    if release < (1, 14):
        assert not names
        assert done.stderr.count("nothing is logged") == 2  # once a process
    else:
        assert {"relfast/correct", "relfast/REL-C3/f1", "relfast/REL-C2/overlap_metric"} <= names
        assert all(entry[name] == entry[name] for entry in log for name in entry if name in names)
        # means over all completions of both processes, of which a share had no score
        assert sum(entry["relfast/unscored"] for entry in log) > 0
