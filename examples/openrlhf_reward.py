"""A reward file for OpenRLHF.

    python -m openrlhf.cli.train_ppo_ray ... --reward.remote_url examples/openrlhf_reward.py

The label column holds gold, or ``{"task": "REL-C2", "answer": {...}}``, as JSON text. OpenRLHF passes the
prompts, by which queries are cut.
"""

from relfast.rewards.openrlhf import make_reward

reward_func = make_reward(on_error=0.0)
