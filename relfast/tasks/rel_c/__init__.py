"""REL-C1…C3: constitutional isomers and common motifs of molecules.

C1 asks whether a list is a set of constitutional isomers (answer: a ``<Yes>`` or ``<No>`` tag), C2 for the
largest connected substructure that all molecules share (one ``<smiles>`` tag), C3 for the isomers missing
from a list (many ``<smiles>`` tags). The published scorer is `chem_benchmark/evaluation.py` of REL; to it,
two SMILES are the same molecule if, without stereo, each is a substructure of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from relfast.parameters import Choice, Whole, parameter
from relfast.records import Options
from relfast.tasks.base import AS_IT_STANDS, Gold, Metric, Prompt, Task, TextKernel

Tautomers = Literal["apart", "joined"]

MCS_TIMEOUT: Final = 5
"""Time limit in seconds that the published scorer sets for RDKit's MCS search."""


def mcs_timeout_within(timeout: float) -> int:
    """The time limit in whole seconds for RDKit's MCS search, if the record's time limit is ``timeout``.

    The search must end before the record's deadline, so that its partial result, flagged as such, becomes a
    row. So it gets a second less than the record if that is less than the published `MCS_TIMEOUT`.
    """
    if timeout <= 0:
        return MCS_TIMEOUT
    return max(1, min(MCS_TIMEOUT, int(timeout) - 1))


@dataclass(frozen=True)
class RelCOptions(Options):
    """The options that decide a score of REL-C1…C3."""

    tautomers: Tautomers = parameter(
        "apart", Choice(get_args(Tautomers)), "strict: are tautomers one molecule?", strict_only=True
    )
    mcs_timeout: int = parameter(
        MCS_TIMEOUT,
        Whole(0),
        "Seconds RDKit's search of a maximum common substructure may take.",
        flag=None,
        shown=False,
        within=mcs_timeout_within,
    )


_COMPARES_MOLECULES: Final[dict[str, Any]] = {
    "can_hang": True,
    "loads": ("relfast.chem.matching", "relfast.chem.clean"),
    "packages": ("rdkit",),
    "options": RelCOptions,
}


def _gold(key: str, check: str) -> Gold:
    return Gold(((key,),), precedence=0, domain="chemistry", check=f"relfast.tasks.rel_c.gold:{check}")


C1: Final = Task(
    name="REL-C1",
    summary="are these molecules constitutional isomers: yes or no",
    metric_objects=(),
    reward_metric="correct",
    revision=7,  # what strict reads as an answer: docs/strict.md
    blind="relfast.tasks.rel_c.blind:STRATEGIES",
    forms="<Yes> or <No>, or a box, a tag, a label or a line with yes or no",
    prompts=(
        AS_IT_STANDS,
        Prompt.boxed(
            1,
            "You may explain, but not below your answer. End your response with it in a box: \\boxed{Yes} or"
            " \\boxed{No}",
        ),
    ),
    mock="relfast.tasks.rel_c.blind:isomer_set",
    module="relfast.tasks.rel_c.isomer_set",
    gold=_gold("label", "check_isomer_set"),
    text_kernel=TextKernel(8, "relfast.tasks.rel_c.isomer_set:details"),
    kernels="relfast.tasks.text_scorer:TextScorer",
    generator="relfast.tasks.rel_c.generate",
    generated_with="relfast.tasks.rel_c.parameters:IsomerSetParameters",
    shown="relfast.tasks.rel_c.display:C1",
)

C2: Final = Task(
    name="REL-C2",
    summary="largest connected motif that all molecules share",
    metric_objects=(
        Metric("response_is_substructure_of_correct", "flag"),
        Metric("correct_is_substructure_of_response", "flag"),
        Metric("overlap_metric"),
        Metric("overlap_skill", strict_only=True),
        Metric("mcs_canceled", "flag", None, optional=True, unsettled=True),
    ),
    reward_metric="overlap_metric",
    strict_reward_metric="overlap_skill",
    # strict reads what docs/strict.md says and pays for any part of gold; its searches in RDKit depend
    # on no clock
    revision=10,
    blind="relfast.tasks.rel_c.blind:MOTIF",
    forms="<smiles>…</smiles>, or a box, a tag or a label that holds one SMILES",
    prompts=(
        AS_IT_STANDS,
        Prompt.boxed(
            1,
            "You may explain, but not below your answer. End your response with the motif's SMILES in a box,"
            " without tags: \\boxed{SMILES}",
        ),
    ),
    mock="relfast.tasks.rel_c.blind:motif",
    module="relfast.tasks.rel_c.motif",
    gold=_gold("smiles", "check_motif"),
    kernels="relfast.tasks.rel_c.tag_scorers:MotifScorer",
    plain_seconds=(("text", 0.0001), ("smiles", 0.002), ("mcs", 0.004), ("tags", 0.001)),
    making_seconds=(("motif", 4.0),),
    **_COMPARES_MOLECULES,
    generator="relfast.tasks.rel_c.generate",
    generated_with="relfast.tasks.rel_c.parameters:MotifParameters",
    shown="relfast.tasks.rel_c.display:C2",
)

C3: Final = Task(
    name="REL-C3",
    summary="the constitutional isomers that the list leaves out",
    metric_objects=(
        Metric("tp"),
        Metric("fp", higher_is_better=False),
        Metric("fn", higher_is_better=False),
        Metric("precision"),
        Metric("recall"),
        Metric("f1"),
    ),
    reward_metric="f1",
    revision=9,  # what strict reads as an answer: docs/strict.md
    blind="relfast.tasks.rel_c.blind:ISOMERS",
    forms="<smiles>…</smiles> tags, below a line that announces the final list if there is one",
    prompts=(
        AS_IT_STANDS,
        # a list does not fit in a box: the line above marks it
        Prompt.boxed(
            1,
            'You may explain, but not below your answer. End your response with the line "Final list:" and,'
            " below it, each missing molecule in its own tag: <smiles>SMILES</smiles>",
        ),
    ),
    mock="relfast.tasks.rel_c.blind:missing_isomers",
    module="relfast.tasks.rel_c.missing_isomers",
    gold=_gold("missing_smiles", "check_missing_isomers"),
    kernels="relfast.tasks.rel_c.tag_scorers:IsomersScorer",
    plain_seconds=(("text", 0.0001), ("smiles", 0.009), ("tags", 0.001)),
    making_seconds=(("isomers", 0.005),),
    **_COMPARES_MOLECULES,
    generator="relfast.tasks.rel_c.generate",
    generated_with="relfast.tasks.rel_c.parameters:MissingIsomersParameters",
    shown="relfast.tasks.rel_c.display:C3",
)
