"""ReAlign: how closely the steps of a math solution follow a reference solution.

Both solutions are split into steps; the steps are embedded and aligned by Needleman-Wunsch on their cosine
similarities. The boxed answers are compared separately.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from relfast.parameters import Choice, Text, parameter
from relfast.records import Options
from relfast.tasks.base import Gold, Metric, Prompt, Task

QUADRANTS: Final = ("robust", "lucky", "hallucination", "failure")
_NO_BOX: Final = (
    "the published rule finds no gold answer, since the reference has no \\boxed{…}: no response is right"
    " there, and none has a quadrant; --policy strict also reads '#### 132', 'Answer: 132' and gold's"
    " final_answer"
)

Grader = Literal["symbolic", "math-verify"]


@dataclass(frozen=True)
class RealignOptions(Options):
    """The options that decide a score of ReAlign.

    ``embedder`` and ``device`` are not part of the signature: it has the hash of the model's weights instead.
    """

    embedder: str = parameter("auto", Text(), "Embedding model of ReAlign.", metavar="NAME|DIR", shown=False)
    device: str = parameter("cpu", Text(), "Device of the embedding model.", shown=False)
    grader: Grader = parameter("symbolic", Choice(get_args(Grader)), "ReAlign's answer comparison.")


_PROBLEM: Final = """Solve the following math problem. Write one step of your reasoning per line, and put \
your final answer into \\boxed{{}}.

Problem:
{question}

Solution:
"""


def steps_and_box(question: str, row: Mapping[str, Any]) -> str:
    """The prompt that asks a model to solve a problem with a step per line and a box; ``row`` is unused."""
    return _PROBLEM.format(question=question)


TASK: Final = Task(
    name="ReAlign",
    summary="alignment of a math solution's steps with the reference's",
    metric_objects=(
        Metric("alignment_score"),
        Metric("weighted_score"),
        Metric("coverage"),
        Metric("symbolic_correct", "flag"),
        Metric("first_divergence"),
        Metric("quadrant", "label", None, labels=QUADRANTS, beside="symbolic_correct", lacks=_NO_BOX),
        Metric("n_benchmark_steps", higher_is_better=None),
        Metric("n_llm_steps", higher_is_better=None),
        Metric("n_matches"),
        Metric("gated_score", strict_only=True),
        Metric("step_f1", optional=True),
    ),
    reward_metric="alignment_score",
    strict_reward_metric="gated_score",
    revision=10,  # strict compares answers as trees, and reads forms as all tasks do: docs/strict.md
    row_fields=("llm_correct", "final_correct", "subset"),
    blind="relfast.tasks.realign.blind:STRATEGIES",
    module="relfast.tasks.realign.score",
    gold=Gold(keys=(("benchmark_solution",), ("benchmark_steps",), ("solution",))),
    strict_needs=("question",),
    embeds=True,
    plain_seconds=(("text", 0.0001), ("align", 0.0005)),
    options=RealignOptions,
    prompts=(Prompt("realign", 1, "relfast.tasks.realign:steps_and_box"),),
    forms="a box, a tag or a label with the final answer",
    mock="relfast.tasks.realign.blind:answer",
    shown="relfast.tasks.realign.display:DISPLAY",
)
