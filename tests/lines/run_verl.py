"""verl: the page's overrides through its own configuration and reward manager, on the page's row."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import sys

WORDS = ["<pad>", "<Yes>", "<No>"]


class Words:
    """A tokenizer of three words: verl's managers call ``decode``."""

    def decode(self, ids, skip_special_tokens=True):
        return "".join(WORDS[int(at)] for at in ids)


def scores(line, code):
    import numpy
    import torch
    from hydra import compose, initialize_config_module
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    path = subprocess.run(
        ["relfast", "path", "verl"], check=True, capture_output=True, text=True
    ).stdout.strip()
    line = line.replace("$(relfast path verl)", path)
    overrides = [word for word in shlex.split(line) if "=" in word]
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", overrides=overrides)
    assert config.reward.custom_reward_function.path == path
    names = {}
    exec(code, names)
    row = names["row"]
    batch = DataProto.from_dict(
        tensors={
            "prompts": torch.zeros((2, 1), dtype=torch.long),
            "responses": torch.tensor([[1], [2]]),
            "attention_mask": torch.ones((2, 2), dtype=torch.long),
        },
        non_tensors={
            key: numpy.array([row[key]] * 2, dtype=object)
            for key in ("data_source", "reward_model", "extra_info")
        },
    )
    manager = load_reward_manager(config, Words())

    async def both():
        return [await manager.run_single(batch[at : at + 1]) for at in range(2)]

    return [one["reward_score"] for one in manager.loop.run_until_complete(both())]


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        found = scores(*sys.argv[1:])
    print(json.dumps(found))
