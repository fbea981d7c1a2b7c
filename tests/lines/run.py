"""What the pages' lines are given to, inside an environment of one tool: ``python run.py TOOL ARGUMENTS`` prints
what the tool gave as JSON. Each tool's imports are there only in its own environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import importlib
import importlib.util
import json
import shlex
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

COLUMNS = {"task": ["REL-C1"] * 2, "answer": ['{"label": "Yes"}'] * 2, "question": ["isomers?"] * 2}
TRAINING = {
    "max_steps": 2,
    "per_device_train_batch_size": 16,
    "num_generations": 8,
    "max_completion_length": 6,
    "logging_steps": 1,
    "gradient_checkpointing": False,
    "save_strategy": "no",
    "report_to": [],
    "use_cpu": True,
    "bf16": False,
    "disable_tqdm": True,
    "output_dir": "trained",
}


def loaded(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def trl_reward(code):
    """The page's block with a tiny model of ours, on which it trains for two steps."""
    from trl import GRPOConfig

    ours = loaded("trl_grpo", "examples/trl_grpo.py")
    dataset = ours.make_dataset()
    words = ours.make_tokenizer(dataset)
    rest = {"model": ours.make_model(words), "processing_class": words, "args": GRPOConfig(**TRAINING)}
    return trained(code, "...,", "**rest,", {"dataset": dataset, "rest": rest})


def trl_walk(code):
    """The same of mazes walked in."""
    from trl import GRPOConfig

    from relfast.rewards.curriculum import Problems

    ours = loaded("trl_walk", "examples/trl_walk.py")
    words = ours.make_tokenizer()
    settings = GRPOConfig(**{**TRAINING, "max_steps": 1, "max_completion_length": 24})
    rest = {"model": ours.make_model(words), "processing_class": words, "args": settings}
    problems = Problems("SeqBench", seed=0, curriculum=ours.CURRICULUM)
    return trained(code, "\n    ...,", "\n    **rest,", {"problems": problems, "rest": rest})


def trained(code, gap, filled, names):
    exec(code.replace(f"GRPOTrainer({gap}", f"trainer = GRPOTrainer({filled}"), names)
    names["trainer"].train()
    return [entry for entry in names["trainer"].state.log_history if "reward" in entry]


def verl(line, code):
    """The page's overrides through verl's own configuration and reward manager, on the page's row."""
    import numpy
    import torch
    from hydra import compose, initialize_config_module
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    class Words:
        """A tokenizer of three words: verl's managers call ``decode``."""

        def decode(self, ids, skip_special_tokens=True):
            return "".join(["<pad>", "<Yes>", "<No>"][int(at)] for at in ids)

    path = subprocess.run(
        ["relfast", "path", "verl"], check=True, capture_output=True, text=True
    ).stdout.strip()
    overrides = [word for word in shlex.split(line.replace("$(relfast path verl)", path)) if "=" in word]
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", overrides=overrides)
    assert config.reward.custom_reward_function.path == path
    names = {}
    exec(code, names)
    columns = ("data_source", "reward_model", "extra_info")
    batch = DataProto.from_dict(
        tensors={
            "prompts": torch.zeros((2, 1), dtype=torch.long),
            "responses": torch.tensor([[1], [2]]),
            "attention_mask": torch.ones((2, 2), dtype=torch.long),
        },
        non_tensors={key: numpy.array([names["row"][key]] * 2, dtype=object) for key in columns},
    )
    manager = load_reward_manager(config, Words())

    async def both():
        return [await manager.run_single(batch[at : at + 1]) for at in range(2)]

    return [one["reward_score"] for one in manager.loop.run_until_complete(both())]


def openrlhf(line):
    """The page's ``--reward.remote_url`` in the executor that OpenRLHF's trainer gives it to."""
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    words = shlex.split(line)
    url = words[words.index("--reward.remote_url") + 1]
    executor = SingleTurnAgentExecutor(url)
    fetch = executor._fetch_rewards_via_http if url.startswith("http") else executor._fetch_rewards_via_func
    label = json.dumps({"task": "REL-C1", "answer": {"label": "Yes"}})
    given = asyncio.run(fetch(["isomers? <Yes>", "isomers? <No>"], ["isomers? "] * 2, [label] * 2))
    rewards = [one["rewards"] for one in given]
    return [float(value) for one in rewards for value in (one if hasattr(one, "__len__") else [one])]


def reasoning_gym(register, named):
    """What the page calls, and what it names as a scoring function."""
    import reasoning_gym as gym

    def looked_up(dotted):
        module, _, name = dotted.rpartition(".")
        return getattr(importlib.import_module(module), name)

    assert "rel_c2" in looked_up(register.removesuffix("()"))()
    data = gym.create_dataset("rel_c2", size=2, seed=1)
    entry = data[0]
    right = f"<smiles>{json.loads(entry['answer'])['smiles']}</smiles>"
    return [data.score_answer(right, entry), data.score_answer("?", entry), looked_up(named)(right, entry)]


def verifiers(name):
    """The installed taskset by its name, through verifiers' loader; a trace of a right and of a wrong answer."""
    import verifiers.v1 as vf
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.utils.loaders import load_taskset, taskset_class

    def taskset(**config):
        declared = taskset_class(name).__orig_bases__[0].__args__[1]
        return load_taskset(declared.model_validate({"id": name, **config}))

    def score(task, reply):
        trace = vf.Trace(
            task=vf.TraceTask(type=type(task).__name__, data=task.data, hash=task.hash, key=task.key),
            agent=vf.AgentInfo.model_construct(),
        )
        message = vf.AssistantMessage(content=reply)
        trace.nodes.append(MessageNode.model_construct(message=message, sampled=True))
        asyncio.run(task.score(trace))
        return trace.rewards["relfast"].value

    (made,) = taskset(benchmark="REL-C1").take(1)
    label = made.data.answer["label"]
    other = {"Yes": "No", "No": "Yes"}[label]
    records = [task for task in taskset(file="records.jsonl") if task.data.benchmark == "REL-C1"]
    return [score(made, f"<{label}>"), score(made, f"<{other}>"), len(records)]


def lighteval():
    """A tiny model, and, where there is no network, what lighteval's tasks fetch: its registry imports a task that
    fetches a file whenever it is not there; no task here reads it."""
    import lighteval as installed

    try:
        socket.create_connection(("raw.githubusercontent.com", 443), timeout=5).close()
    except OSError:
        (Path(installed.__file__).parent / "tasks" / "tasks" / "tinyBenchmarks.pkl").touch()
    tiny_model()


def tiny_model():
    """A tiny random model, one token a byte, in the folder ``model``, for harnesses."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = {letter: n for n, letter in enumerate(["<eos>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer = Tokenizer(models.BPE(vocab=letters, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    words = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>")
    words.save_pretrained("model")
    layers = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    ends = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    config = LlamaConfig(vocab_size=len(letters), max_position_embeddings=2048, **layers, **ends)
    LlamaForCausalLM(config).save_pretrained("model")


def records():
    """Three records of each task of the set that the package ships, in ``records.jsonl``."""
    import relfast

    seen = Counter()
    data = Path(relfast.__file__).parent / "data" / "rel_built_in.jsonl.gz"
    with gzip.open(data, "rt") as file, open("records.jsonl", "w") as out:
        for line in file:
            task = json.loads(line)["task"]
            seen[task] += 1
            if seen[task] <= 3:
                out.write(line)


def skyrl(line):
    """The page's line, with which SkyRL-Gym's ``make`` finds the recipe."""
    import skyrl_gym
    from skyrl_gym.envs import register

    def step(response):
        spec = {"method": "rule", "ground_truth": '{"label": "Yes"}'}
        extras = {"task": "REL-C1", "question": "isomers?", "reward_spec": spec}
        environment = skyrl_gym.make("relfast", env_config={}, extras=extras)
        environment.init([{"role": "user", "content": "isomers?"}])
        reward = environment.step(response)["reward"]
        metrics.append(environment.get_metrics())
        return reward

    sys.path.insert(0, "examples")
    exec(line, {"register": register})
    metrics = []
    given = [step("<Yes>"), step("<No>"), step("?")]
    return [given, importlib.import_module("skyrl_env").RelfastEnv.aggregate_metrics(metrics)]


def tinker(path):
    """The page's environment, stepped through by the cookbook's own `ProblemEnv` with a renderer of two words."""
    from types import SimpleNamespace

    import tinker_cookbook.rl.problem_env as cookbook

    class Renderer:
        def get_stop_sequences(self):
            return ["<end>"]

        def build_generation_prompt(self, convo):
            return convo

        def parse_response(self, action):
            ended = SimpleNamespace(is_stop_sequence=True, is_clean=True)
            return {"role": "assistant", "content": ["<Yes>", "<No>", "?"][action[0]]}, ended

    row = {"task": "REL-C1", "answer": '{"label": "Yes"}', "question": "isomers?"}
    problem = loaded("tinker_env", path).RelfastProblem(Renderer(), row)
    assert isinstance(problem, cookbook.ProblemEnv)

    async def steps():
        asked, _ = await problem.initial_observation()
        assert asked == [{"role": "user", "content": "isomers?"}]
        return [await problem.step([at]) for at in range(3)]

    return [[step.reward, step.metrics] for step in asyncio.run(steps())]


def art(path):
    """The page's function on ART's own trajectories: a right one, a wrong one, one that only calls a tool."""
    import art as package
    from openai.types.chat.chat_completion import Choice

    def trajectory(**said):
        message = {"role": "assistant", "content": None, **said}
        choice = Choice.model_validate({"index": 0, "finish_reason": "stop", "message": message})
        asked = {"role": "user", "content": "isomers?"}
        return package.Trajectory(messages_and_choices=[asked, choice], reward=0.0)

    row = {"task": "REL-C1", "answer": '{"label": "Yes"}', "question": "isomers?"}
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    made = [trajectory(content="<Yes>"), trajectory(content="<No>"), trajectory(tool_calls=[call])]
    module = loaded("art_rollout", path)

    async def all_of_them():
        return await asyncio.gather(*(module.scored(one, row) for one in made), return_exceptions=True)

    group = package.TrajectoryGroup(asyncio.run(all_of_them()))
    return [[one.reward for one in group.trajectories], len(group.exceptions)]


def atropos(path):
    """The page's function from Atropos' registry, with texts and with messages."""
    from atroposlib.envs.reward_fns.registry import registry

    loaded("atropos_reward", path)
    reward = registry.create("relfast")
    chats = [[{"role": "assistant", "content": text}] for text in ("<Yes>", "<No>")]
    return [reward(["<Yes>", "<No>"], **COLUMNS), reward(chats, **COLUMNS)]


def swift(line):
    """The page's options through ms-swift's own parser, its import of plugins and its table of rewards."""
    from swift.arguments import RLHFArguments
    from swift.rewards import orms

    given = dict(zip(*[iter(shlex.split(line)[2:])] * 2, strict=True))
    arguments = object.__new__(RLHFArguments)
    arguments.external_plugins = [given["--external_plugins"]]
    arguments.custom_register_path = []
    arguments._import_external_plugins()
    return orms[given["--reward_funcs"]](args=arguments)(["<Yes>", "<No>"], **COLUMNS)


def nemo_gym(folder):
    """The page's resources server as its own class starts it, asked for what two responses are worth."""
    from nemo_gym.base_resources_server import BaseResourcesServerConfig
    from nemo_gym.server_utils import ServerClient

    def row(text):
        message = {"role": "user", "content": "isomers?", "type": "message"}
        content = [{"type": "output_text", "text": text, "annotations": []}]
        output = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
        response = {"id": "r", "created_at": 0.0, "model": "m", "object": "response", "output": [output]}
        response |= {"parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
        asked = {"task": "REL-C1", "answer": {"label": "Yes"}, "question": "isomers?"}
        return {**asked, "responses_create_params": {"input": [message]}, "response": response}

    module = loaded("app", f"{folder}/app.py")
    config = BaseResourcesServerConfig(host="127.0.0.1", port=1, entrypoint="app.py", name="relfast")
    client = ServerClient.model_construct(head_server_config=None)
    server = module.RelfastResourcesServer(config=config, server_client=client)
    assert "/verify" in {route.path for route in server.setup_webserver().routes}
    asked = [module.RelfastVerifyRequest.model_validate(row(text)) for text in ("<Yes>", "<No>")]
    return [asyncio.run(server.verify(each)).reward for each in asked]


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        found = globals()[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(found))
