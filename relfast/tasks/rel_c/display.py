"""What a report shows of REL-C1…C3: rates by number of molecules, and the tables of the paper's notebooks.

The published numbers are in `paper_results/chemistry` of REL: `analyse_c1`, `analyse_c2`, `analyse_c3` and
`plot_relational_complexity`, whose columns and bins these are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from relfast.records import Record
from relfast.tasks.display import Axis, Column, Display, Layout, Measures, verdict_columns

MOLECULES: Final = Axis("n_molecules", "number of molecules", (20, 40))
GIVEN: Final = Axis("n_molecules", "number of given molecules", (20, 40))

_SHOWN: Final = "relfast.tasks.rel_c.display"
_COMPLETION: Final = "Task Completion"

C1: Final = Display(
    axes=(MOLECULES,),
    measure=f"{_SHOWN}:molecules",
    mistake=f"{_SHOWN}:label_mistake",
    exhibit="relfast.tasks.rel_c.exhibit:isomer_set",
    layouts=(
        Layout(
            "Performance by number of molecules",
            "n_molecules",
            "N_molecules",
            verdict_columns("Yes", "No"),
        ),
        Layout(
            "Task completion", "n_molecules", "n_mol bin", (Column(_COMPLETION, decimals=6),), True, False
        ),
    ),
)

_DIRECTIONS: Final = ("response_is_substructure_of_correct", "correct_is_substructure_of_response")

C2: Final = Display(
    completion=_DIRECTIONS,
    shown=("overlap_metric",),
    axes=(MOLECULES,),
    measure=f"{_SHOWN}:molecules",
    mistake=f"{_SHOWN}:motif_mistake",
    exhibit="relfast.tasks.rel_c.exhibit:motif",
    layouts=(
        Layout(
            "Exact and overlap",
            None,
            "",
            (Column("correct", decimals=6), Column("overlap_metric", ("overlap_metric",), decimals=6)),
            count=False,
        ),
        Layout(
            "By n bin",
            "n_molecules",
            "n_mol bin",
            (
                Column("correct", decimals=6),
                *(Column(name, (name,), decimals=6) for name in (*_DIRECTIONS, "overlap_metric")),
            ),
            True,
            False,
        ),
        Layout(
            "Task completion",
            "n_molecules",
            "n_mol bin",
            (Column(_COMPLETION, _DIRECTIONS, decimals=6, each=2),),
            True,
            False,
        ),
    ),
)

_COUNTS: Final = (
    Column("Avg_TP", ("tp",), decimals=1),
    Column("Avg_FP", ("fp",), decimals=1),
    Column("Avg_FN", ("fn",), decimals=1),
)

C3: Final = Display(
    completion=("recall",),
    shown=("f1",),
    axes=(GIVEN,),
    measure=f"{_SHOWN}:molecules",
    mistake=f"{_SHOWN}:isomers_mistake",
    exhibit="relfast.tasks.rel_c.exhibit:missing_isomers",
    layouts=(
        Layout(
            "Overall",
            None,
            "",
            (
                Column("Exact_Match"),
                Column("Precision", ("precision",)),
                Column("Recall", ("recall",)),
                Column("F1", ("f1",)),
                Column("Avg_Missing", ("tp", "fn"), decimals=1),
                Column("Avg_Predicted", ("tp", "fp"), decimals=1),
                *_COUNTS,
                Column("No_Predictions", ("no_answer",)),
            ),
        ),
        Layout(
            "Performance by number of given molecules",
            "n_molecules",
            "N_given",
            (
                Column("Avg_Missing", ("tp", "fn"), decimals=1),
                Column("Precision", ("precision",)),
                Column("Recall", ("recall",)),
                Column("F1", ("f1",)),
                Column("Exact_Match"),
                *_COUNTS,
            ),
        ),
        Layout(
            "Task completion",
            "n_molecules",
            "n_mol bin",
            (Column(_COMPLETION, ("recall",), decimals=6),),
            True,
            False,
        ),
    ),
)


# Sizes of REL-C's problems, and what is wrong with a wrong answer, from what rows say.


_LISTED: Final = re.compile(r"^\d+\. \S", re.MULTILINE)
_MOLECULE: Final = re.compile(r"^\d+\. (\S+)$", re.MULTILINE)
_IN_ID: Final = re.compile(r"_(?:n|given)(\d{1,4})_")
"""Published ids tell the number: ``q2_n25_00428``, ``q3_given35_02737``."""


def listed(question: object) -> list[str]:
    """The molecules that a question lists, a numbered line each with nothing else on it."""
    return _MOLECULE.findall(question) if isinstance(question, str) else []


def molecules(record: Record, metrics: Mapping[str, Any]) -> Measures:
    """How many molecules the question lists; the class is C1's label."""
    answer = record.answer if isinstance(record.answer, Mapping) else {}
    given = answer.get("molecules")
    count = len(given) if isinstance(given, list) else 0
    if not count and isinstance(record.question, str):
        count = len(_LISTED.findall(record.question))
    if not count and isinstance(record.id, str) and (found := _IN_ID.search(record.id)):
        count = int(found[1])
    label = answer.get("label")
    return Measures({"n_molecules": count} if count else {}, label if label in ("Yes", "No") else None)


def label_mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """C1: which of the two mistakes it is, where gold is known."""
    if gold is None:
        return "wrong verdict"
    return "took isomers for none" if gold == "Yes" else "took others for isomers"


def motif_mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """C2: how the named molecule stands to the motif."""
    if metrics["response_is_substructure_of_correct"]:
        return "only a part of the motif"
    if metrics["correct_is_substructure_of_response"]:
        return "more than the motif"
    overlap = metrics["overlap_metric"]
    if overlap <= 0:
        return "nothing in common, or no molecule"
    return "shares half of the motif or more" if overlap >= 0.5 else "shares less than half of the motif"


def isomers_mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """C3: whether isomers are missing, or too many are named."""
    if not metrics["tp"]:
        return "none of the missing isomers"
    if not metrics["fp"]:
        return "some missing, none too many"
    return "some missing, some too many" if metrics["fn"] else "all found, some too many"
