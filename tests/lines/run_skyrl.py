"""SkyRL-Gym: the page's line, with which its ``make`` finds the recipe."""

from __future__ import annotations

import json
import sys

import skyrl_gym
from skyrl_gym.envs import register

sys.path.insert(0, "examples")


def step(response):
    spec = {"method": "rule", "ground_truth": '{"label": "Yes"}'}
    extras = {"task": "REL-C1", "question": "isomers?", "reward_spec": spec}
    environment = skyrl_gym.make("relfast", env_config={}, extras=extras)
    environment.init([{"role": "user", "content": "isomers?"}])
    return environment.step(response)["reward"]


if __name__ == "__main__":
    exec(sys.argv[1], {"register": register})
    print(json.dumps([step("<Yes>"), step("<No>")]))
