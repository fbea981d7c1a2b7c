"""TRL: the page's block with a tiny model of ours, on which it trains for a step or two."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys

SETTINGS = {
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


def example(name):
    spec = importlib.util.spec_from_file_location(name, f"examples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reward(code):
    from trl import GRPOConfig

    ours = example("trl_grpo")
    dataset = ours.make_dataset()
    words = ours.make_tokenizer(dataset)
    rest = {
        "model": ours.make_model(words),
        "processing_class": words,
        "args": GRPOConfig(**SETTINGS),
    }
    names = {"dataset": dataset, "rest": rest}
    exec(code.replace("GRPOTrainer(...,", "trainer = GRPOTrainer(**rest,"), names)
    names["trainer"].train()
    return names["trainer"].state.log_history


def walk(code):
    from trl import GRPOConfig

    from relfast.rewards.curriculum import Problems

    ours = example("trl_walk")
    words = ours.make_tokenizer()
    rest = {
        "model": ours.make_model(words),
        "processing_class": words,
        "args": GRPOConfig(**{**SETTINGS, "max_steps": 1, "max_completion_length": 24}),
    }
    names = {"problems": Problems("SeqBench", seed=0, curriculum=ours.CURRICULUM), "rest": rest}
    exec(code.replace("GRPOTrainer(\n    ...,", "trainer = GRPOTrainer(\n    **rest,"), names)
    names["trainer"].train()
    return names["trainer"].state.log_history


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        log = {"reward": reward, "walk": walk}[sys.argv[1]](sys.argv[2])
    print(json.dumps([entry for entry in log if "reward" in entry]))
