"""A reward file for verl.

    python -m verl.trainer.main_ppo ... \\
        reward.custom_reward_function.path=examples/verl_reward.py \\
        reward.custom_reward_function.name=compute_score

(Old releases of verl read these keys without the leading ``reward.``; since 0.9 those are silently ignored.)

Data set rows need ``data_source`` = the task's name (or ``extra_info.task``) and
``reward_model.ground_truth`` = gold, as JSON text or a struct.
"""

from relfast.rewards.verl import make_compute_score

# verl wants a number for every sample. A response that cannot be scored (it hung or crashed the toolkit,
# or gold is broken) is worth nothing here; `unscored` in verl's metrics says how many there are.
compute_score = make_compute_score(on_error=0.0, rewards={"REL-C2": "overlap_metric"})
