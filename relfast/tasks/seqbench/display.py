"""What a report shows of SeqBench: rates by doors and noise, and the maze with both plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relfast.errors import InputError
from relfast.records import Record
from relfast.tasks.display import Axis, Display, Drawing, Exhibit, Group, Mark, Measures, Shown

DISPLAY: Final = Display(
    shown=("progress_ratio", "legal_ratio"),
    axes=(
        Axis("backtracking", "locked doors on the way (B)"),
        Axis("noise", "share of distracting facts (N)"),
    ),
    measure="relfast.tasks.seqbench.display:measure",
    mistake="relfast.tasks.seqbench.display:mistake",
    exhibit="relfast.tasks.seqbench.display:exhibit",
    columns=("progress_ratio", "violation_index", "logical_depth", "n_actions"),
    section="relfast.report.seqbench_section:draw",
)

_VIOLATIONS: Final = {"unparsable": "no plan", "no_rescue": "stops before the rescue"}


def measure(record: Record, metrics: Mapping[str, Any]) -> Measures:
    """Backtracking and noise, as rows have them."""
    known = {axis.name: metrics.get(axis.name) for axis in DISPLAY.axes}
    return Measures({name: value for name, value in known.items() if isinstance(value, int | float)})


def mistake(metrics: Mapping[str, Any], gold: str | None) -> str:
    """The rule that the plan breaks; or how a legal plan differs."""
    violation = metrics["violation"]
    if violation is not None:
        return _VIOLATIONS.get(violation, str(violation).replace("_", " "))
    if metrics["valid"]:
        return "legal, another plan as short" if metrics["optimal"] else "legal, but longer than needed"
    return "not gold's plan"


def exhibit(shown: Shown) -> Exhibit:
    """The plan where it stands, and the maze with gold's and the model's path."""
    from relfast.tasks.seqbench.actions import find_plans
    from relfast.tasks.seqbench.drawing import to_svg
    from relfast.tasks.seqbench.picture import describe, picture_of

    record, response = shown.record, shown.record.response
    marks: tuple[Mark, ...] = ()
    if isinstance(response, str):
        plans = find_plans(response)
        marks = tuple(Mark(begin, end, "plan") for begin, end, _ in plans[-1:])
    try:
        picture = picture_of(record.question, record.answer, response, record.row)
    except InputError as error:
        return Exhibit(
            marks, "" if shown.correct else mistake(shown.metrics, None), (Group("Maze", (), str(error)),)
        )
    why = ""
    if not shown.correct:
        why = f"{describe(picture.verdict).capitalize().replace('_', ' ')}."
        if picture.verdict is not None and picture.verdict.valid:
            why = f"The plan is legal, but {mistake(shown.metrics, None).removeprefix('legal, ')}."
    drawing = Drawing(to_svg(picture, page=True), "gold's path and the model's; ✗ is where it breaks a rule")
    return Exhibit(marks, why, (Group("Maze", (drawing,), wide=True),))
