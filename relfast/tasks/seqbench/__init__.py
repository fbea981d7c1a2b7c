"""The task SeqBench: plans through mazes with keys and doors.

The question states facts about rooms, doors and keys; the response is a list of actions from start to rescue,
and gold is the shortest plan. The published metrics compare a plan with gold action by action; relfast also
runs the plan in the maze.
"""

from __future__ import annotations

from typing import Final

from relfast.tasks.base import Breakdown, Gold, Metric, Prompt, Task

TASK: Final = Task(
    name="SeqBench",
    summary="plan through a maze with keys and doors",
    metric_objects=(
        Metric("exact_match", "flag"),
        Metric("progress_ratio"),
        Metric("precision"),
        Metric("recall"),
        Metric("f1"),
        Metric("valid", "flag"),
        Metric("optimal", "flag"),
        Metric("legal_ratio"),
        Metric("violation", "label", None),
        Metric("violation_index"),
        Metric("n_actions", higher_is_better=None),
        Metric("logical_depth", higher_is_better=None),
        Metric("backtracking", higher_is_better=None),
        Metric("noise", higher_is_better=None),
        Metric("maze", "label", None),
        Metric("walk_score", strict_only=True),
    ),
    reward_metric="progress_ratio",
    strict_needs=("question", "structural_details"),
    row_fields=("completion", "structural_details", "context", "instance_metadata", "complexity_parameters"),
    strict_reward_metric="walk_score",
    revision=7,  # what strict reads as an answer: docs/strict.md
    blind="relfast.tasks.seqbench.blind:STRATEGIES",
    module="relfast.tasks.seqbench.score",
    gold=Gold(keys=(("actions",), ("structural_details",), ("completion",))),
    plain_seconds=(("text", 0.0001), ("maze", 0.03)),
    making_seconds=(("maze", 0.05),),
    loads=("relfast.tasks.seqbench.machine:machine",),
    generator="relfast.tasks.seqbench.generate",
    generated_with="relfast.tasks.seqbench.parameters:Parameters",
    shown="relfast.tasks.seqbench.display:DISPLAY",
    prompts=(
        Prompt("seqbench-few-shot", 1, "relfast.tasks.seqbench.prompt:few_shot"),
        Prompt("seqbench-zero-shot", 1, "relfast.tasks.seqbench.prompt:zero_shot"),
    ),
    forms="a list of actions, from start to rescue",
    mock="relfast.tasks.seqbench.blind:mock",
    steps="relfast.tasks.seqbench.walk:Walk",
    breakdown=Breakdown(
        "complexity",
        by=("logical_depth", "backtracking", "noise"),
        sums=("exact_match", "progress_ratio"),
        aggregate="relfast.tasks.seqbench.l0:aggregate",
        tables="relfast.tasks.seqbench.l0:tables",
    ),
)
