"""A reward file for verl.

    python -m verl.trainer.main_ppo ... \\
        reward.custom_reward_function.path=examples/verl_reward.py \\
        reward.custom_reward_function.name=compute_score

(Old releases of verl read these keys without the leading ``reward.``; since 0.9 those are silently ignored.)

Data set rows need ``data_source`` = the task's name (or ``extra_info.task``) and
``reward_model.ground_truth`` = gold, as JSON text or a struct; ``extra_info.question`` = the question, which
verl does not pass on by itself and strict looks at::

    {
        "data_source": "REL-B1",
        "prompt": [{"role": "user", "content": record["question"]}],
        "reward_model": {"style": "rule", "ground_truth": json.dumps(record["answer"])},
        "extra_info": {"index": 0, "question": record["question"]},
    }
"""

from relfast.rewards.verl import make_compute_score

# verl wants a number for every sample. One that hangs or crashes the toolkit is worth 0.0 anyway; so is one
# here whose gold is broken. `unscored` in verl's metrics says how many there are.
compute_score = make_compute_score(on_error=0.0, rewards={"REL-C2": "overlap_metric"})
