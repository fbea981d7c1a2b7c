"""REL-C1…C3: constitutional isomers and common motifs of molecules.

C1 asks whether a list is a set of constitutional isomers (a ``<Yes>`` or ``<No>`` tag), C2 for the
largest connected substructure that all molecules share (one ``<smiles>`` tag), C3 for the isomers that
a list leaves out (many ``<smiles>`` tags). The published scorer is `chem_benchmark/evaluation.py` of
REL; two SMILES are the same molecule when, without stereo, each is a substructure of the other.
"""

from __future__ import annotations

from typing import Final

from relfast.tasks.base import Task
from relfast.tasks.rel_c.options import RelCOptions
from relfast.tasks.rel_c.parameters import IsomerSetParameters, MissingIsomersParameters, MotifParameters

C1: Final = Task(
    name="REL-C1",
    summary="are these molecules constitutional isomers: yes or no",
    metrics=(),
    reward_metric="correct",
    revision=2,
    module="relfast.tasks.rel_c.isomer_set",
    engine="text",
    generator="relfast.tasks.rel_c.generate",
    parameters=IsomerSetParameters,
)

C2: Final = Task(
    name="REL-C2",
    summary="largest connected motif that all molecules share",
    metrics=(
        "response_is_substructure_of_correct",
        "correct_is_substructure_of_response",
        "overlap_metric",
    ),
    reward_metric="overlap_metric",
    revision=2,
    module="relfast.tasks.rel_c.motif",
    engine="chem",
    options=RelCOptions,
    generator="relfast.tasks.rel_c.generate",
    parameters=MotifParameters,
)

C3: Final = Task(
    name="REL-C3",
    summary="the constitutional isomers that the list leaves out",
    metrics=("tp", "fp", "fn", "precision", "recall", "f1"),
    reward_metric="f1",
    revision=2,
    module="relfast.tasks.rel_c.missing_isomers",
    engine="chem",
    options=RelCOptions,
    generator="relfast.tasks.rel_c.generate",
    parameters=MissingIsomersParameters,
)
