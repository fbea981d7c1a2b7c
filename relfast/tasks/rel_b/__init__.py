"""REL-B1: homoplasy in an alignment.

A FASTA alignment and a Newick tree; is there structured convergence (yes/no), and between which taxa?
Gold is ``answer.label`` with ``answer.taxa``. The published scorer (`bio_benchmark/evaluation.py` of
REL) looks for yes and no as substrings and for numbers anywhere, so "eyes 15" is a yes. See `extract`.
"""

from __future__ import annotations

from typing import Final

from relfast.tasks.base import Task
from relfast.tasks.rel_b.options import RelBOptions
from relfast.tasks.rel_b.parameters import HomoplasyParameters

TASK: Final = Task(
    name="REL-B1",
    summary="homoplasy in an alignment: yes or no, and which taxa",
    metrics=("precision", "recall", "f1"),
    reward_metric="correct",
    revision=2,
    module="relfast.tasks.rel_b.score",
    engine="text",
    options=RelBOptions,
    generator="relfast.tasks.rel_b.generate",
    parameters=HomoplasyParameters,
)
