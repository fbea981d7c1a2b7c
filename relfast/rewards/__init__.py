"""Reward functions for training loops, one module a trainer.

=====================  ==========================================================================
`.trl`                 ``reward``: a TRL reward function (``GRPOTrainer`` and its relatives)
`.verl`                ``compute_score``, ``compute_score_batched``: ``reward.custom_reward_function``
`.openrlhf`            ``reward_func``: a reward file; its HTTP form is ``relfast serve``
`.verifiers`           ``reward``: a function of a ``Rubric``
`.slime`               ``custom_rm``
`.nemo_rl`             ``RelfastEnvironment``
`.reasoning_gym`       ``score_answer``
=====================  ==========================================================================

No module imports its trainer. Each also has a factory for other options (``make_reward(**options)`` and the
like), which returns a picklable reward function. All adapters of a process with the same options share one
`relfast.Scorer`, and with it the workers and the cache of scores.

The scoring policy is ``strict`` unless you choose another: a reward must not be cheaper to fake than to earn.
A model in training finds the holes of the published scorers within a few hundred steps (``all-~`` skeletons,
lists of everything), and ``strict`` closes them.

Under ``strict`` a response that exceeds its deadline or crashes its worker gets the lowest reward of its task
(`relfast.tasks.base.Task.lowest_reward`): a model must not learn to hang the scorer where it does not know
the answer. Any other response without a score (bad gold, unknown task, no workers, an interrupted call, a
machine too busy for the deadline to mean anything) gets ``on_error``: None, a number, or ``"raise"``; never 0
unless you choose 0. A mapping ``{"response": …, "machinery": …}`` sets a value for each kind of cause.
`stats` counts responses by status. `prepare` loads models and starts workers before training begins.

All adapters give a response the same reward if they get the same record: task, gold and, for rules of strict
that use it (`relfast.tasks.base.Task.strict_needs`), the question. An adapter that gets no question where
strict needs one warns.
"""

from __future__ import annotations

from relfast.rewards.shared import close, prepare, stats

__all__ = ["close", "prepare", "stats"]
