"""REL-B1: homoplasy in an alignment.

A question shows a FASTA alignment and a Newick tree: is there structured convergence (yes/no), and between
which taxa? Gold is ``answer.label`` with ``answer.taxa``. The published scorer
(`bio_benchmark/evaluation.py` of REL) looks for yes and no as substrings and for numbers anywhere, so
"eyes 15" is a yes. See `relfast.tasks.rel_b.score.extract`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from relfast.parameters import Number, parameter
from relfast.records import Options
from relfast.tasks.base import AS_IT_STANDS, Gold, Metric, Prompt, Task, TextKernel

UNDEFINED: Final = -1
"""The published scorer's value of precision, recall and F1 if gold has no taxa."""


@dataclass(frozen=True)
class RelBOptions(Options):
    """The options that decide a score of REL-B1."""

    b1_min_f1: float = parameter(
        0.5, Number(0, 1), "strict: smallest F1 of a right REL-B1 yes.", strict_only=True
    )


TASK: Final = Task(
    name="REL-B1",
    summary="homoplasy in an alignment: yes or no, and which taxa",
    metric_objects=tuple(Metric(name, undefined=UNDEFINED) for name in ("precision", "recall", "f1")),
    reward_metric="correct",
    revision=8,  # what strict reads as an answer: docs/strict.md
    blind="relfast.tasks.rel_b.generate:STRATEGIES",
    forms="a box, a tag, a label or a line with no, or with yes and its taxa",
    prompts=(
        AS_IT_STANDS,
        Prompt.boxed(
            1,
            "You may think first. End your response with your answer in a box: \\boxed{No}, or"
            " \\boxed{Yes: name, name} with the names of the taxa involved.",
        ),
    ),
    mock="relfast.tasks.rel_b.generate:answer",
    module="relfast.tasks.rel_b.score",
    gold=Gold(
        keys=(("label", "taxa"),),
        precedence=0,
        exact=("taxa",),
        domain="biology",
        check="relfast.tasks.rel_b.score:check",
    ),
    strict_needs=("question",),
    text_kernel=TextKernel(
        7,
        "relfast.tasks.rel_b.score:details",
        "relfast.tasks.rel_b.score:metrics_of_counts",
        least="b1_min_f1",
    ),
    kernels="relfast.tasks.text_scorer:TextScorer",
    options=RelBOptions,
    generator="relfast.tasks.rel_b.generate",
    generated_with="relfast.tasks.rel_b.parameters:HomoplasyParameters",
    shown="relfast.tasks.rel_b.display:DISPLAY",
)
