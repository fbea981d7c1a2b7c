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

No trainer is imported; each module also has a factory for other options (``make_reward(**options)`` and
the like), whose results travel by pickle. All adapters of a process with the same options share one
`relfast.Scorer`: its workers, and the answers it has scored.

The policy is ``strict`` unless you say otherwise: what a policy is rewarded for must not be cheaper to fake
than to do. A policy under optimisation finds the holes of the
published scorers within a few hundred steps (``all-~`` skeletons, lists of everything), and ``strict``
closes them.

Under ``strict`` a response that runs into its deadline or ends its workers is worth the lowest reward of its
task (`relfast.tasks.base.Task.lowest_reward`): a policy must not learn to hang where it does not know. What
else has no score (bad gold, unknown task, no workers, an interrupted call, a machine so busy that the
deadline says nothing) gets ``on_error``: None, a number, or ``"raise"``; it is never 0 unless you choose 0. A
mapping ``{"response": …, "machinery": …}`` says both. `stats` counts responses by status.

All give a response the same reward, if they are given the same record: task, gold and, where strict looks at
it (`relfast.tasks.base.Task.strict_needs`), the question. One that has no question where it is needed says
so.
"""

from __future__ import annotations

from relfast.rewards.shared import close, stats

__all__ = ["close", "stats"]
