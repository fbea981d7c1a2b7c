"""SeqBench: plans through mazes with keys and doors.

Facts about rooms, doors and keys in; a list of actions out, from start to rescue. Gold is the shortest
plan. The published measures compare with gold action by action; ours also run the plan in the maze.
"""

from __future__ import annotations

from typing import Final

from relfast.tasks.base import Task
from relfast.tasks.seqbench.parameters import Parameters

TASK: Final = Task(
    name="SeqBench",
    summary="plan through a maze with keys and doors",
    metrics=(
        "exact_match",
        "progress_ratio",
        "precision",
        "recall",
        "f1",
        "valid",
        "optimal",
        "legal_ratio",
        "violation",
        "violation_index",
        "n_actions",
        "logical_depth",
        "backtracking",
        "noise",
        "maze",
    ),
    reward_metric="progress_ratio",
    revision=2,
    module="relfast.tasks.seqbench.score",
    engine="maze",
    kernels=("maze", "maze_search", "plan_text"),
    generator="relfast.tasks.seqbench.generate",
    parameters=Parameters,
    bulk="relfast.tasks.seqbench.bulk",
)
