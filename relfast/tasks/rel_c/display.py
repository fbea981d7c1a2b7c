"""What a report shows of REL-C1…C3: rates by number of molecules, and the tables of the paper's notebooks.

The published numbers are in `paper_results/chemistry` of REL: `analyse_c1`, `analyse_c2`, `analyse_c3` and
`plot_relational_complexity`, whose columns and bins these are.
"""

from __future__ import annotations

from typing import Final

from relfast.tasks.display import Axis, Column, Display, Layout

MOLECULES: Final = Axis("n_molecules", "number of molecules", (20, 40))
GIVEN: Final = Axis("n_molecules", "number of given molecules", (20, 40))

_SHOWN: Final = "relfast.tasks.rel_c.measure"
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
            (
                Column("Accuracy"),
                Column("Acc_Yes", of="Yes"),
                Column("Acc_No", of="No"),
                Column("No_Response", ("no_answer",)),
            ),
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
