"""What a report shows for REL-A1…A7: accuracy by size of the panels; the chosen and the right panel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from relfast.records import Record
from relfast.tasks.display import Axis, Display, Exhibit, Listing, Mark, Measures, Shown

DISPLAY: Final = Display(
    axes=(Axis("gridsize", "rows of a panel"), Axis("magnitude", "largest value of the panels, at most")),
    measure="relfast.tasks.rel_a.display:measure",
    exhibit="relfast.tasks.rel_a.display:exhibit",
)

MAX_READ: Final = 20_000
"""Maximum characters of a question that `measure` searches."""

_PANEL: Final = re.compile(r"^Panel 0:\n((?:\[[^\]\n]*+\]\n?)++)", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d++(?:\.\d++)?")
_CHOICES: Final = re.compile(r"^Answer (\d+):\s*((?:\[[^\]\n]*+\]\n?)++)", re.MULTILINE)
_SAID: Final = re.compile(r"\b(\d)\b")


def measure(record: Record, metrics: Mapping[str, Any]) -> Measures:
    """The number of rows of the first panel, and the smallest power of ten not below its largest value."""
    question = record.question
    found = _PANEL.search(question[:MAX_READ]) if isinstance(question, str) else None
    if found is None:
        return Measures({})
    largest = max((float(number) for number in _NUMBER.findall(found[1])), default=0.0)
    magnitude = 10.0
    while magnitude < largest and magnitude < 1e18:
        magnitude *= 10
    return Measures({"gridsize": found[1].count("["), "magnitude": magnitude})


def exhibit(shown: Shown) -> Exhibit:
    """Show the chosen and the right panel, and mark the choice in the response."""
    from relfast.tasks.rel_a.score import extract

    target, response = shown.answer.get("target"), shown.record.response
    if not isinstance(target, int):
        return Exhibit()
    extracted = extract(response, shown.options)
    choice = extracted.value if extracted.found else None
    why = ""
    if not shown.correct:
        named = "no choice" if choice is None else f"choice {choice + 1}"
        why = f"It names {named}; the right one is choice {target + 1}."
        if not extracted.found and not shown.strict:
            why += " The published scorer takes silence for choice 1."
    choices: dict[int, str] = {}
    if isinstance(shown.record.question, str):
        choices = {int(number): panel for number, panel in _CHOICES.findall(shown.record.question)}
    rows = [("right", str(target + 1), choices.get(target + 1, ""))]
    if choice is not None and choice != target:
        rows.append(("chosen", str(choice + 1), choices.get(choice + 1, "")))
    listing = Listing("Choices", ("", "choice", "panel"), tuple(rows))
    return Exhibit(_marks(response, choice, shown.strict), why, (), (listing,))


def _marks(response: object, choice: int | None, strict: bool) -> tuple[Mark, ...]:
    """Mark where the response names the choice: the first place, or the last under ``strict``."""
    if choice is None or not isinstance(response, str):
        return ()
    named = re.compile(rf"Answer\s*+#?+\s*+0*+{choice + 1}(?!\d)", re.IGNORECASE)
    found = list(named.finditer(response)) or [
        one for one in _SAID.finditer(response) if one[1] == str(choice + 1)
    ]
    return (Mark(*found[-1 if strict else 0].span()),) if found else ()
