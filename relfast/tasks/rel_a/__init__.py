"""REL-A1…A7: Raven's progressive matrices of numbers.

A question shows eight context panels and eight choices; the model names the choice that completes the matrix.
Gold is ``answer.target``, 0-based, while the question counts from 1. The published scorer
(`algebra_benchmark/evaluation.py` of REL) reads the first "Answer N", else the first lone digit, else takes
choice 1; so an empty response is right one time in eight. See `relfast.tasks.rel_a.score.extract`.
"""

from __future__ import annotations

from typing import Final

from relfast.tasks.base import AS_IT_STANDS, Gold, Prompt, Task, TextKernel

_RULES: Final = {
    "REL-A1": "constant panels",
    "REL-A2": "arithmetic progression over panels",
    "REL-A3": "distribute three",
    "REL-A4": "arithmetic within rows",
    "REL-A5": "spatio-temporal rule",
    "REL-A6": "spatio-temporal rule",
    "REL-A7": "neighbourhood sum",
}

_BOXED: Final = Prompt.boxed(
    1,
    "You may think first. End your response with the number of the missing panel's answer, 1 to 8, in a box:"
    " \\boxed{number}",
)

TASKS: Final = tuple(
    Task(
        name=name,
        summary=f"Raven matrix, {rule}: which of 8 choices fits",
        metric_objects=(),
        reward_metric="correct",
        revision=7,  # what strict reads as an answer: docs/strict.md
        blind="relfast.tasks.rel_a.generate:STRATEGIES",
        forms="a box, a tag, a label or a line with 1 to 8",
        prompts=(AS_IT_STANDS, _BOXED),
        mock="relfast.tasks.rel_a.generate:answer",
        module="relfast.tasks.rel_a.score",
        gold=Gold(
            keys=(("target",),),
            exact=("target",),
            domain="algebra",
            check="relfast.tasks.rel_a.score:check",
            check_metadata="relfast.tasks.rel_a.score:check_matrices" if name <= "REL-A4" else None,
        ),
        text_kernel=TextKernel(number, "relfast.tasks.rel_a.score:details"),
        kernels="relfast.tasks.text_scorer:TextScorer",
        generator="relfast.tasks.rel_a.generate" if name <= "REL-A4" else None,
        generated_with="relfast.tasks.rel_a.generate:MatrixParameters" if name <= "REL-A4" else None,
        shown="relfast.tasks.rel_a.display:DISPLAY",
    )
    for number, (name, rule) in enumerate(_RULES.items())
)
